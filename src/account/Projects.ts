import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { NewProject, ProjectChange } from "../../schemas/management/Projects.ts"
import type { RoutingPolicy } from "../../schemas/Routing.ts"
import { conflict, type Failure, failure, invalid } from "../domain/Failure.ts"
import { type Page, readPage } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type Actor, Audit } from "./Audit.ts"
import { Budgets, type BudgetState } from "./Budgets.ts"
import { differences } from "./Differences.ts"
import { lockAccount } from "./KeysSql.ts"
import {
  archiveProject,
  countProjects,
  insertProject,
  isSlugTaken,
  projectById,
  type ProjectRow,
  projectsOf,
  revokeKeysOf,
  slugsFrom,
  updateProject
} from "./ProjectsSql.ts"

/** Archived projects count, because projects are never deleted. */
export const MAX_PROJECTS_PER_ACCOUNT = 1_000

/** A project with the current state of its budget, if it has one. */
export interface Project extends ProjectRow {
  readonly budget: BudgetState | undefined
}

/** A project, its account, and the actor that changes it. */
interface ProjectAction {
  readonly accountId: string
  readonly id: string
  readonly actor: Actor
}

/**
 * The projects of accounts. Keys in a project share its budget and settings. An account has at most 1,000 projects, and each slug
 * is unique within the account. Each method treats a project of another account as not found.
 */
export class Projects extends Context.Service<
  Projects,
  {
    /** Returns projects, newest first, that come after the cursor, and the cursor of the next page. */
    readonly list: (
      accountId: string,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<Page<Project>, Unavailable>
    /** Fails with `NotFound`. */
    readonly get: (accountId: string, id: string) => Effect.Effect<Project, Failure | Unavailable>
    /**
     * Creates a project with this ID. Fails with `Conflict` when its slug is taken or the account has the maximum number of
     * projects, and with `ValidationError` when it names a period without a budget.
     */
    readonly create: (
      input: ProjectAction & { readonly project: NewProject }
    ) => Effect.Effect<Project, Failure | Unavailable>
    /** Fails as `create` does, with `NotFound`, and with `Conflict` when the project is archived. */
    readonly update: (
      input: ProjectAction & { readonly change: ProjectChange }
    ) => Effect.Effect<Project, Failure | Unavailable>
    /**
     * Archives a project permanently and revokes its keys at once, on every node. An archived project stays unchanged. Fails with
     * `NotFound`.
     */
    readonly archive: (input: ProjectAction) => Effect.Effect<Project, Failure | Unavailable>
  }
>()("tollgate/account/Projects") {
  static readonly layer = Layer.effect(
    Projects,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const deps: Deps = { sql, audit: yield* Audit, budgets: yield* Budgets }
      return Projects.of({
        list: Effect.fnUntraced(function* (accountId, { cursor, limit }) {
          const request = { limit, cursor: cursor ?? null }
          const { next, rows } = yield* readPage(request, (page) => projectsOf(sql, accountId, page))
          return { rows: yield* withBudgets(deps, rows), next }
        }, storeErrors),
        get: (accountId, id) => storeErrors(read(deps, accountId, id)),
        create: (input) => storeErrors(create(deps, input)),
        update: (input) => storeErrors(update(deps, input)),
        archive: (input) => storeErrors(archive(deps, input))
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly budgets: Budgets["Service"]
}

const withBudgets = ({ budgets }: Deps, rows: ReadonlyArray<ProjectRow>) =>
  Effect.map(
    budgets.statesOf(rows.flatMap(({ budget_id: id }) => (id === null ? [] : [id]))),
    (states): ReadonlyArray<Project> =>
      rows.map((row) => ({ ...row, budget: row.budget_id === null ? undefined : states.get(row.budget_id) }))
  )

const read = (deps: Deps, accountId: string, id: string) =>
  Effect.gen(function* () {
    const row = yield* projectById(deps.sql, accountId, id)
    const [project] = row === undefined ? [] : yield* withBudgets(deps, [row])
    return project ?? (yield* failure({ _tag: "NotFound", what: "project", id }))
  })

const append = ({ audit }: Deps, { accountId, actor, id }: ProjectAction, type: string, changes: object) =>
  audit.append({ accountId, type: `project.${type}`, actor, resource: { type: "project", id }, changes })

/** Returns the fields of a project that the audit log records. */
const shown = ({ budget, data_policy, name, routing, slug }: Project) => ({
  name,
  slug,
  routing,
  data_policy,
  budget_cents: budget?.budgetCents ?? null,
  budget_period: budget?.period ?? null
})

const textOf = (routing: RoutingPolicy | null): string | null => (routing === null ? null : JSON.stringify(routing))

/** Leaves room for a hyphen and the largest number that a unique slug may need. */
const MAX_MADE_SLUG = 63 - String(-MAX_PROJECTS_PER_ACCOUNT).length

/** Makes a slug from a name: its Latin letters and digits, including letters that decompose into Latin ones. */
const slugOf = (name: string): string => {
  const letters = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
  return letters.replace(/^-+/, "").slice(0, MAX_MADE_SLUG).replace(/-+$/, "") || "project"
}

/** Returns the first free slug of the account: the one made from the name, or that slug with the smallest free number appended. */
const freeSlug = ({ sql }: Deps, accountId: string, name: string) =>
  Effect.map(slugsFrom(sql, accountId, slugOf(name)), (slugs) => {
    const usedSlugs = new Set(slugs)
    const own = slugOf(name)
    let slug = own
    for (let number = 2; usedSlugs.has(slug); number++) slug = `${own}-${number}`
    return slug
  })

const checkSlug = (
  { sql }: Deps,
  project: { readonly accountId: string; readonly id: string; readonly slug: string }
) =>
  Effect.flatMap(isSlugTaken(sql, project), (taken) =>
    taken ? Effect.fail(conflict(`The account already has a project with the slug ${project.slug}.`)) : Effect.void
  )

/** Returns the period for a budget with this limit. `null` beside a `null` limit is allowed and means nothing. */
const periodOf = (limitCents: number | null, period: NewProject["budget_period"]) => {
  if (limitCents === null && period != null) return invalid("budget_period", "requires `budget_cents`")
  if (limitCents !== null && period === null)
    return invalid("budget_period", "must not be null when the project has a budget")
  return Effect.succeed(period ?? undefined)
}

/**
 * Holds the account's lock, so that two requests cannot find the same slug free and no key joins a project while it is archived.
 */
const create = (deps: Deps, { project, ...action }: Parameters<Projects["Service"]["create"]>[0]) =>
  Effect.gen(function* () {
    const { accountId, id } = action
    const { budget_cents: limitCents = null, data_policy: dataPolicy = "default" } = project
    const { name, routing = null } = project
    const period = yield* periodOf(limitCents, project.budget_period)
    yield* lockAccount(deps.sql, accountId)
    if ((yield* countProjects(deps.sql, accountId)) >= MAX_PROJECTS_PER_ACCOUNT) {
      return yield* conflict(`An account has at most ${MAX_PROJECTS_PER_ACCOUNT} projects, including archived ones.`)
    }
    const slug = project.slug ?? (yield* freeSlug(deps, accountId, name))
    yield* checkSlug(deps, { accountId, id, slug })
    const owner = { scope: "project", id } as const
    const settings = { accountId, owner, budgetId: null, limitCents, period: period ?? "lifetime" }
    const budgetId = yield* deps.budgets.set(settings)
    yield* insertProject(deps.sql, { id, accountId, name, slug, budgetId, routing: textOf(routing), dataPolicy })
    const created = yield* read(deps, accountId, id)
    yield* append(deps, action, "created", shown(created))
    return created
  }).pipe(deps.sql.withTransaction)

/** Returns the budget ID after the change. A change without budget fields keeps the current budget. */
const budgetOf = ({ budgets }: Deps, { accountId, id }: ProjectAction, before: Project, change: ProjectChange) =>
  Effect.gen(function* () {
    const { budget_cents: limitCents = before.budget?.budgetCents ?? null } = change
    if (change.budget_cents === undefined && change.budget_period === undefined) return before.budget_id
    const period = yield* periodOf(limitCents, change.budget_period)
    return yield* budgets.set({
      accountId,
      owner: { scope: "project", id } as const,
      budgetId: before.budget_id,
      limitCents,
      period: period ?? before.budget?.period ?? "lifetime"
    })
  })

const update = (deps: Deps, { change, ...action }: Parameters<Projects["Service"]["update"]>[0]) =>
  Effect.gen(function* () {
    const { accountId, id } = action
    yield* lockAccount(deps.sql, accountId)
    const before = yield* read(deps, accountId, id)
    if (before.archived_at !== null) return yield* conflict("This project is archived. Create a new project.")
    const { data_policy: dataPolicy = before.data_policy, name = before.name } = change
    const { routing = before.routing, slug = before.slug } = change
    yield* checkSlug(deps, { accountId, id, slug })
    const budgetId = yield* budgetOf(deps, action, before, change)
    yield* updateProject(deps.sql, { id, accountId, name, slug, budgetId, routing: textOf(routing), dataPolicy })
    const after = yield* read(deps, accountId, id)
    yield* append(deps, action, "updated", differences(shown(before), shown(after)))
    return after
  }).pipe(deps.sql.withTransaction)

const archive = (deps: Deps, action: ProjectAction) =>
  Effect.gen(function* () {
    const { accountId, id } = action
    yield* lockAccount(deps.sql, accountId)
    const before = yield* read(deps, accountId, id)
    if (before.archived_at !== null) return before
    yield* archiveProject(deps.sql, accountId, id)
    yield* append(deps, action, "archived", { keys: yield* revokeKeysOf(deps.sql, accountId, id) })
    return yield* read(deps, accountId, id)
  }).pipe(deps.sql.withTransaction)

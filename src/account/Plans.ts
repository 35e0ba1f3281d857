import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { conflict, type Failure, failure } from "../domain/Failure.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type Actor, Audit } from "./Audit.ts"
import { outdateKeys } from "./KeysSql.ts"
import { type OperatorActor, OperatorEvents } from "./OperatorEvents.ts"
import {
  allPlans,
  deletePlan,
  insertPlan,
  lockPlan,
  outdateKeysOfPlan,
  type PlanFacts,
  planNamed,
  type PlanRow,
  setDailyBudgets,
  setPlanOf,
  updatePlan
} from "./PlansSql.ts"

type Lookup<A> = Effect.Effect<A, Failure | Unavailable>

/**
 * Named price plans: a markup, fixed prices and limits. An account belongs to at most one. A hold names the version of the prices with
 * which it was planned, so a change applies to every hold after its commit on all nodes, and never to a request that is running.
 */
export class Plans extends Context.Service<
  Plans,
  {
    readonly list: Effect.Effect<ReadonlyArray<PlanRow>, Unavailable>
    /** Returns the plan with this ID or name. Fails with `NotFound`. */
    readonly find: (name: string) => Lookup<PlanRow>
    /** Fails with `Conflict` when another plan has this name. */
    readonly create: (plan: PlanFacts, actor: OperatorActor) => Lookup<PlanRow>
    /** Fails with `NotFound`, or with `Conflict` when another plan has the new name. Records nothing when nothing changes. */
    readonly change: (id: string, changes: Partial<PlanFacts>, actor: OperatorActor) => Lookup<PlanRow>
    /** Fails with `NotFound`, or with `Conflict` when accounts belong to it. */
    readonly remove: (id: string, actor: OperatorActor) => Lookup<void>
    /** Moves an account to a plan; null ends its plan. Fails with `NotFound` for an unknown plan. */
    readonly assign: (account: { readonly id: string }, planId: string | null, actor: Actor) => Lookup<void>
  }
>()("tollgate/account/Plans") {
  static readonly layer = Layer.effect(
    Plans,
    Effect.gen(function* () {
      const deps: Deps = { sql: yield* SqlClient.SqlClient, audit: yield* Audit, events: yield* OperatorEvents }
      const { sql } = deps
      return Plans.of({
        list: storeErrors(allPlans(sql)),
        find: (name) =>
          Effect.flatMap(storeErrors(planNamed(sql, name)), (found) =>
            found === undefined ? Effect.fail(missing(name)) : Effect.succeed(found)
          ),
        create: (plan, actor) => create(deps, plan, actor),
        change: (id, changes, actor) => change(deps, id, changes, actor),
        remove: (id, actor) => remove(deps, id, actor),
        assign: (account, planId, actor) => assign(deps, account.id, planId, actor)
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly events: OperatorEvents["Service"]
}

const missing = (id: string): Failure => failure({ _tag: "NotFound", what: "plan", id })

/** Plan amounts in the audit log are JSON numbers and texts. */
const shown = (plan: Partial<PlanFacts>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(plan).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value])
  )

/** Returns a plan's change as `{ property: { from, to } }`, without unchanged properties. */
const differencesOf = (before: PlanFacts, after: PlanFacts): object => {
  const [from, to] = [shown(before), shown(after)]
  const names = Object.keys(after).filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
  return Object.fromEntries(names.map((name) => [name, { from: from[name], to: to[name] }]))
}

const factsOf = (row: PlanRow): PlanFacts => ({
  name: row.name,
  markup_bp: row.markup_bp,
  prices: row.prices,
  requests_per_minute: row.requests_per_minute,
  running_videos: row.running_videos,
  running_batches: row.running_batches,
  daily_spend: row.daily_spend
})

const uniquely = <A, E>(work: Effect.Effect<A, E | SqlError.SqlError>, name: string) =>
  Effect.catchIf(
    work,
    (error): error is Extract<typeof error, SqlError.SqlError> =>
      error instanceof Object && "_tag" in error && error._tag === "SqlError" && isTaken(error as SqlError.SqlError),
    () => Effect.fail(conflict(`Another plan has the name ${name}.`))
  )

const isTaken = (error: SqlError.SqlError): boolean => error.reason._tag === "UniqueViolation"

const create = ({ events, sql }: Deps, plan: PlanFacts, actor: OperatorActor): Lookup<PlanRow> =>
  Effect.gen(function* () {
    const id = newResourceId()
    yield* insertPlan(sql, id, plan)
    yield* events.append({ type: "plan.created", actor, resource: { type: "plan", id }, changes: shown(plan) })
    const stored = yield* planNamed(sql, id)
    return stored === undefined ? yield* missing(id) : stored
  }).pipe(sql.withTransaction, (work) => uniquely(work, plan.name), storeErrors)

const change = (
  { events, sql }: Deps,
  id: string,
  changes: Partial<PlanFacts>,
  actor: OperatorActor
): Lookup<PlanRow> =>
  Effect.gen(function* () {
    const before = yield* lockPlan(sql, id)
    if (before === undefined) return yield* missing(id)
    const after = { ...factsOf(before), ...changes }
    const differences = differencesOf(factsOf(before), after)
    if (Object.keys(differences).length === 0) return before
    yield* updatePlan(sql, id, after)
    yield* setDailyBudgets(sql, id)
    yield* outdateKeysOfPlan(sql, id)
    yield* events.append({ type: "plan.changed", actor, resource: { type: "plan", id }, changes: differences })
    return { ...before, ...after }
  }).pipe(sql.withTransaction, (work) => uniquely(work, changes.name ?? id), storeErrors)

const remove = ({ events, sql }: Deps, id: string, actor: OperatorActor): Lookup<void> =>
  Effect.gen(function* () {
    const plan = yield* lockPlan(sql, id)
    if (plan === undefined) return yield* missing(id)
    if (plan.accounts > 0) {
      const accounts = `${plan.accounts} account${plan.accounts === 1 ? "" : "s"}`
      const detail = `The plan ${plan.name} has ${accounts}. Move them to another plan first.`
      return yield* conflict(detail)
    }
    yield* deletePlan(sql, id)
    yield* events.append({ type: "plan.removed", actor, resource: { type: "plan", id }, changes: { name: plan.name } })
  }).pipe(sql.withTransaction, storeErrors)

const assign = ({ audit, sql }: Deps, accountId: string, planId: string | null, actor: Actor): Lookup<void> =>
  Effect.gen(function* () {
    const plan = planId === null ? undefined : yield* lockPlan(sql, planId)
    if (planId !== null && plan === undefined) return yield* missing(planId)
    const former = yield* setPlanOf(sql, accountId, planId)
    if (former === undefined) return
    if (planId !== null) yield* setDailyBudgets(sql, planId)
    // Holds that know the former prices are refused, so that every node reads the account's keys again.
    yield* outdateKeys(sql, accountId)
    yield* audit.append({
      accountId,
      actor,
      type: "account.plan_changed",
      resource: { type: "account", id: accountId },
      changes: {
        plan_id: { from: former, to: planId },
        // The names, because a plan can be renamed or removed.
        plan: { from: former === null ? null : ((yield* planNamed(sql, former))?.name ?? null), to: plan?.name ?? null }
      }
    })
  }).pipe(sql.withTransaction, storeErrors)

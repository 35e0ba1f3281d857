import { Effect } from "effect"
import { Caller } from "../../../../schemas/Access.ts"
import {
  NewProject,
  type Project as ShownProject,
  ProjectChange,
  type ProjectResult
} from "../../../../schemas/management/Projects.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { type Project, Projects } from "../../../account/Projects.ts"
import { Auth } from "../../../auth/Auth.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { newResourceId } from "../../../platform/Ids.ts"
import { readJson } from "../../edge/Body.ts"
import { answer, asCaller, makeMutate, mayRoute, pageOf, withoutBody } from "./Answers.ts"
import { operations } from "../../edge/Operations.ts"

/** A project as the API shows it. */
const projectOf = (row: Project): ShownProject => ({
  id: row.id,
  object: "project",
  name: row.name,
  slug: row.slug,
  status: row.archived_at === null ? "active" : "archived",
  budget_cents: row.budget?.budgetCents ?? null,
  budget_period: row.budget?.period ?? null,
  spent_cents: row.budget?.spentCents ?? null,
  routing: row.routing,
  data_policy: row.data_policy,
  created_at: secondsOf(row.created_at),
  updated_at: secondsOf(row.updated_at),
  archived_at: secondsOf(row.archived_at)
})

const resultOf = (row: Project): typeof ProjectResult.Type => ({ data: projectOf(row) })

const decodeNew = decoder(NewProject, { strict: true })
const decodeChange = decoder(ProjectChange, { strict: true })

/** `/management/projects` and everything under it. */
export const managementProjectsHandlers = Effect.gen(function* () {
  const auth = yield* Auth
  const projects = yield* Projects
  const mutate = makeMutate(yield* Mutations)
  /** Drops the cached keys of the project, which are outdated. */
  const forget = (id: string) => Effect.sync(() => auth.forgetProject(id))
  return operations("managementProjects", {
    createProject: ({ request }) =>
      Effect.gen(function* () {
        const body = yield* readJson(request)
        yield* mayRoute(body)
        const project = yield* Effect.fromResult(decodeNew(body))
        const id = newResourceId()
        const write = { request, body, type: "project.created", resource: { type: "project", id } }
        return yield* mutate(asCaller, write, (caller) =>
          Effect.map(projects.create({ ...caller, id, project }), resultOf)
        )
      }),
    updateProject: ({ params: { project_id: id }, request }) =>
      Effect.gen(function* () {
        const body = yield* readJson(request)
        yield* mayRoute(body)
        const change = yield* Effect.fromResult(decodeChange(body))
        const resource = { type: "project", id }
        const write = { request, body, type: "project.updated", resource, afterwards: forget(id) }
        return yield* mutate(asCaller, write, (caller) =>
          Effect.map(projects.update({ ...caller, id, change }), resultOf)
        )
      }),
    listProjects: ({ query }) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => projects.list(accountId, pageOf(query))),
        ({ next, rows }) => ({ object: "list", data: rows.map(projectOf), next_cursor: next })
      ),
    getProject: ({ params }) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => projects.get(accountId, params.project_id)),
        resultOf
      ),
    archiveProject: ({ params: { project_id: id }, request }) =>
      withoutBody(
        request,
        mutate(
          asCaller,
          { request, type: "project.archived", resource: { type: "project", id }, afterwards: forget(id) },
          (caller) => Effect.map(projects.archive({ ...caller, id }), resultOf)
        )
      )
  })
})

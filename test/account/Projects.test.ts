import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Budgets } from "../../src/account/Budgets.ts"
import { Keys } from "../../src/account/Keys.ts"
import { MAX_PROJECTS_PER_ACCOUNT, Projects } from "../../src/account/Projects.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { layer as database } from "../support/Database.ts"

const actor = { type: "operator", id: "test" } as const
const rooms = Layer.mergeAll(Accounts.layer, Keys.layer, Projects.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Audit.layer, Budgets.layer)),
  Layer.provideMerge(database)
)

let accounts = 0

const scene = Effect.gen(function* () {
  const { id: accountId } = yield* (yield* Accounts).create(`projects-${accounts++}@example.com`, actor)
  const projects = yield* Projects
  const create = (name: string, more: object = {}) =>
    projects.create({ accountId, id: newResourceId(), actor, project: { name, ...more } })
  return { accountId, projects, create, keys: yield* Keys }
})

const reasonOf = (error: { readonly _tag: string; readonly reason?: { readonly _tag: string } }) =>
  error.reason?._tag ?? error._tag

layer(rooms, { excludeTestServices: true })("Projects", (it) => {
  it.effect("with the same name that are created at once get different slugs", () =>
    Effect.gen(function* () {
      const { create } = yield* scene
      const made = yield* Effect.all(
        Array.from({ length: 8 }, () => create("p")),
        { concurrency: "unbounded" }
      )
      const slugs = made.map(({ slug }) => slug).toSorted()
      assert.deepStrictEqual(slugs, ["p", ...Array.from({ length: 7 }, (_, at) => `p-${at + 2}`)])
    })
  )

  it.effect("never leave a working key in an archived project, whichever request comes first", () =>
    Effect.gen(function* () {
      const { accountId, create, keys, projects } = yield* scene
      for (let round = 0; round < 20; round++) {
        const { id: projectId } = yield* create("p")
        const key = keys.create({ accountId, kind: "inference", name: "k", scopes: [], actor, projectId })
        const [archived, made] = yield* Effect.all(
          [projects.archive({ accountId, id: projectId, actor }), Effect.result(key)],
          { concurrency: "unbounded" }
        )
        assert.isNotNull(archived.archived_at)
        if (made._tag === "Success") assert.isFalse(yield* keys.isActive(made.success.id))
        else assert.strictEqual(reasonOf(made.failure), "ValidationError")
      }
    })
  )

  it.effect("keep their budget while its limit changes, until it is removed", () =>
    Effect.gen(function* () {
      const { accountId, create, projects } = yield* scene
      const { budget, budget_id, id } = yield* create("p", { budget_cents: 500 })
      assert.deepInclude(budget, { budgetCents: 500, period: "lifetime", spentCents: 0 })
      const update = (change: object) => projects.update({ accountId, id, actor, change })
      const more = yield* update({ budget_cents: 900 })
      assert.deepStrictEqual([more.budget_id, more.budget?.budgetCents], [budget_id, 900])
      assert.strictEqual((yield* update({ name: "q" })).budget_id, budget_id)
      const daily = yield* update({ budget_period: "daily" })
      assert.notStrictEqual(daily.budget_id, budget_id)
      assert.deepInclude(daily.budget, { budgetCents: 900, period: "daily" })
      const none = yield* update({ budget_cents: null })
      assert.deepStrictEqual([none.budget_id, none.budget], [null, undefined])
      assert.strictEqual(reasonOf(yield* Effect.flip(update({ budget_period: "daily" }))), "ValidationError")
    })
  )

  it.effect("are limited to a thousand per account", () =>
    Effect.gen(function* () {
      const { accountId, create } = yield* scene
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO project (id, account_id, name, slug)
        SELECT ${accountId.slice(0, 20)} || lpad(to_hex(n), 4, '0'), ${accountId}, 'p', 'p-' || n
        FROM generate_series(2, ${MAX_PROJECTS_PER_ACCOUNT}::int) n`
      assert.strictEqual((yield* create("p")).slug, "p")
      assert.strictEqual(reasonOf(yield* Effect.flip(create("q"))), "Conflict")
    })
  )

  it.effect("refuse a key of another account, even when called incorrectly", () =>
    Effect.gen(function* () {
      const { create } = yield* scene
      const { id } = yield* create("p")
      const other = yield* scene
      const key = { accountId: other.accountId, kind: "inference", name: "k", scopes: [], actor } as const
      assert.strictEqual(reasonOf(yield* Effect.flip(other.keys.create({ ...key, projectId: id }))), "ValidationError")
      const own = yield* other.keys.create(key)
      const sql = yield* SqlClient.SqlClient
      const forced = yield* Effect.flip(sql`UPDATE api_key SET project_id = ${id} WHERE id = ${own.id}`)
      assert.strictEqual(forced.reason._tag, "ConstraintError")
    })
  )
})

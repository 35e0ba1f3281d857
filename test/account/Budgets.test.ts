import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Budgets, MAX_BUDGET_CENTS } from "../../src/account/Budgets.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { customer } from "../ledger/Fixture.ts"
import * as Database from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"

const inDatabase = <A, E>(test: Effect.Effect<A, E, Budgets | SqlClient.SqlClient>) =>
  test.pipe(Effect.provide(Budgets.layer.pipe(Layer.provideMerge(Database.layer))))

const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const budgets = yield* Budgets
  const { accountId, keyId } = yield* customer(sql, 0n)
  const settings = { accountId, owner: { scope: "key", id: keyId }, period: "monthly" } as const
  return { sql, budgets, accountId, keyId, settings }
})

describe("Budgets", () => {
  it.live("keep their spending when the limit changes, and start anew with another period", () =>
    inDatabase(
      Effect.gen(function* () {
        const { budgets, sql, settings } = yield* scene
        const id = yield* budgets.set({ ...settings, budgetId: null, limitCents: 500 })
        assert.match(id!, /^[0-9a-f]{24}$/)
        yield* sql`INSERT INTO budget_period (budget_id, period_start, spent, held)
          VALUES (${id}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 15000000, 5000000), (${id}, '2026-01-01', 7, 0)`
        assert.deepStrictEqual(
          [...(yield* budgets.statesOf([id!, newResourceId()]))],
          [[id, { period: "monthly", budgetCents: 500, spentCents: 1.5, remainingCents: 498 }]]
        )
        assert.strictEqual(yield* budgets.set({ ...settings, budgetId: id, limitCents: 1 }), id)
        assert.deepInclude((yield* budgets.statesOf([id!])).get(id!), {
          budgetCents: 1,
          spentCents: 1.5,
          remainingCents: 0
        })

        const daily = yield* budgets.set({ ...settings, budgetId: id, limitCents: MAX_BUDGET_CENTS, period: "daily" })
        assert.notStrictEqual(daily, id)
        assert.deepStrictEqual(
          [...(yield* budgets.statesOf([daily!]))],
          [[daily, { period: "daily", budgetCents: MAX_BUDGET_CENTS, spentCents: 0, remainingCents: MAX_BUDGET_CENTS }]]
        )
        assert.isNull(yield* budgets.set({ ...settings, budgetId: daily, limitCents: null }))
        assert.strictEqual((yield* budgets.statesOf([])).size, 0)
      })
    )
  )

  it.live("belong to one account, and to the scope they were created for", () =>
    inDatabase(
      Effect.gen(function* () {
        const { budgets, sql, settings } = yield* scene
        const id = yield* budgets.set({ ...settings, budgetId: null, limitCents: 500 })
        const other = yield* customer(sql, 0n)
        const stolen = yield* budgets.set({ ...settings, accountId: other.accountId, budgetId: id, limitCents: 9 })
        assert.notStrictEqual(stolen, id)
        const owner = { scope: "project", id: newResourceId() } as const
        const project = yield* budgets.set({ ...settings, owner, budgetId: id, limitCents: 9 })
        assert.notStrictEqual(project, id)
        assert.deepInclude((yield* budgets.statesOf([id!])).get(id!), { budgetCents: 500 })
      })
    )
  )

  it.live("make the key count its budget changes, and no other changes", () =>
    inDatabase(
      Effect.gen(function* () {
        const { budgets, keyId, sql, settings } = yield* scene
        const epochOf = Effect.map(
          sql<{ budgets_epoch: number }>`SELECT budgets_epoch FROM api_key WHERE id = ${keyId}`,
          (rows) => rows[0]?.budgets_epoch
        )
        const write = (id: string | null) => sql`UPDATE api_key SET budget_id = ${id}, name = 'x' WHERE id = ${keyId}`
        assert.strictEqual(yield* epochOf, 0)
        const id = yield* budgets.set({ ...settings, budgetId: null, limitCents: 500 })
        yield* write(id)
        assert.strictEqual(yield* epochOf, 1)
        yield* write(yield* budgets.set({ ...settings, budgetId: id, limitCents: 400 }))
        assert.strictEqual(yield* epochOf, 1)
        yield* write(yield* budgets.set({ ...settings, budgetId: id, limitCents: null }))
        assert.strictEqual(yield* epochOf, 2)
        yield* sql`UPDATE api_key SET last4 = 'abcd' WHERE id = ${keyId}`
        assert.strictEqual(yield* epochOf, 2)
      })
    )
  )

  for (const first of ["the key", "the project"] as const) {
    it.live(`make a key know its project's budget created at the same moment, ${first} first`, () =>
      inDatabase(
        Effect.gen(function* () {
          const { accountId, budgets, keyId, sql, settings } = yield* scene
          const projectId = newResourceId()
          yield* sql`INSERT INTO project (id, account_id, name, slug) VALUES (${projectId}, ${accountId}, 'p', 'p')`
          const entering = Effect.asVoid(sql`UPDATE api_key SET project_id = ${projectId} WHERE id = ${keyId}`)
          const setting = Effect.gen(function* () {
            const owner = { scope: "project", id: projectId } as const
            const id = yield* budgets.set({ ...settings, owner, budgetId: null, limitCents: 1 })
            yield* sql`UPDATE project SET budget_id = ${id} WHERE id = ${projectId}`
          }).pipe(sql.withTransaction)
          const [one, other] = first === "the key" ? [entering, setting] : [setting, entering]
          const waits = Effect.map(
            sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            (rows) => rows.length > 0
          )
          const begun = yield* Deferred.make<void>()
          const waiting = yield* Deferred.make<void>()
          const transaction = one.pipe(
            Effect.andThen(Deferred.succeed(begun, undefined)),
            Effect.andThen(Deferred.await(waiting)),
            sql.withTransaction
          )
          const running = yield* Effect.forkChild(transaction)
          yield* Deferred.await(begun)
          const late = yield* Effect.forkChild(other)
          yield* eventually(waits, (found) => found)
          yield* Deferred.succeed(waiting, undefined)
          yield* Fiber.join(running)
          yield* Fiber.join(late)
          // A reader of the key after the first change would not read it again before the second.
          const [key] = yield* sql`SELECT budgets_epoch, project_id FROM api_key WHERE id = ${keyId}`
          assert.deepStrictEqual(key, { budgets_epoch: first === "the key" ? 2 : 1, project_id: projectId })
        })
      )
    )
  }
})

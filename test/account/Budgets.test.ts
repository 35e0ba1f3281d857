import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Budgets, MAX_BUDGET_CENTS } from "../../src/account/Budgets.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { customer } from "../ledger/Fixture.ts"
import * as Database from "../support/Database.ts"

const inDatabase = <A, E>(test: Effect.Effect<A, E, Budgets | SqlClient.SqlClient>) =>
  test.pipe(Effect.provide(Budgets.layer.pipe(Layer.provideMerge(Database.layer))))

const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const budgets = yield* Budgets
  const { accountId, keyId } = yield* customer(sql, 0n)
  const wish = { accountId, owner: { scope: "key", id: keyId }, period: "monthly" } as const
  return { sql, budgets, accountId, keyId, wish }
})

describe("Budgets", () => {
  it.live("keep what is spent when the limit changes, and begin anew with another period", () =>
    inDatabase(
      Effect.gen(function* () {
        const { budgets, sql, wish } = yield* scene
        const id = yield* budgets.set({ ...wish, budgetId: null, limitCents: 500 })
        assert.match(id!, /^[0-9a-f]{24}$/)
        yield* sql`INSERT INTO budget_period (budget_id, period_start, spent, held)
          VALUES (${id}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 15000000, 5000000), (${id}, '2026-01-01', 7, 0)`
        assert.deepStrictEqual(
          [...(yield* budgets.statesOf([id!, newResourceId()]))],
          [[id, { period: "monthly", budgetCents: 500, spentCents: 1.5, remainingCents: 498 }]]
        )
        assert.strictEqual(yield* budgets.set({ ...wish, budgetId: id, limitCents: 1 }), id)
        assert.deepInclude((yield* budgets.statesOf([id!])).get(id!), {
          ...{ budgetCents: 1, spentCents: 1.5, remainingCents: 0 }
        })

        const daily = yield* budgets.set({ ...wish, budgetId: id, limitCents: MAX_BUDGET_CENTS, period: "daily" })
        assert.notStrictEqual(daily, id)
        assert.deepStrictEqual(
          [...(yield* budgets.statesOf([daily!]))],
          [[daily, { period: "daily", budgetCents: MAX_BUDGET_CENTS, spentCents: 0, remainingCents: MAX_BUDGET_CENTS }]]
        )
        assert.isNull(yield* budgets.set({ ...wish, budgetId: daily, limitCents: null }))
        assert.strictEqual((yield* budgets.statesOf([])).size, 0)
      })
    )
  )

  it.live("are the account's own, and of the scope they were made for", () =>
    inDatabase(
      Effect.gen(function* () {
        const { budgets, sql, wish } = yield* scene
        const id = yield* budgets.set({ ...wish, budgetId: null, limitCents: 500 })
        const other = yield* customer(sql, 0n)
        const stolen = yield* budgets.set({ ...wish, accountId: other.accountId, budgetId: id, limitCents: 9 })
        assert.notStrictEqual(stolen, id)
        const owner = { scope: "project", id: newResourceId() } as const
        const project = yield* budgets.set({ ...wish, owner, budgetId: id, limitCents: 9 })
        assert.notStrictEqual(project, id)
        assert.deepInclude((yield* budgets.statesOf([id!])).get(id!), { budgetCents: 500 })
      })
    )
  )

  it.live("have the key count its changes, and those alone", () =>
    inDatabase(
      Effect.gen(function* () {
        const { budgets, keyId, sql, wish } = yield* scene
        const epochOf = Effect.map(
          sql<{ budgets_epoch: number }>`SELECT budgets_epoch FROM api_key WHERE id = ${keyId}`,
          (rows) => rows[0]?.budgets_epoch
        )
        const write = (id: string | null) => sql`UPDATE api_key SET budget_id = ${id}, name = 'x' WHERE id = ${keyId}`
        assert.strictEqual(yield* epochOf, 0)
        const id = yield* budgets.set({ ...wish, budgetId: null, limitCents: 500 })
        yield* write(id)
        assert.strictEqual(yield* epochOf, 1)
        yield* write(yield* budgets.set({ ...wish, budgetId: id, limitCents: 400 }))
        assert.strictEqual(yield* epochOf, 1)
        yield* write(yield* budgets.set({ ...wish, budgetId: id, limitCents: null }))
        assert.strictEqual(yield* epochOf, 2)
        yield* sql`UPDATE api_key SET last4 = 'abcd' WHERE id = ${keyId}`
        assert.strictEqual(yield* epochOf, 2)
      })
    )
  )
})

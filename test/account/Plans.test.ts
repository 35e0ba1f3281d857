import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { CHAT_REQUESTS } from "../../src/account/KeysSql.ts"
import { OperatorEvents } from "../../src/account/OperatorEvents.ts"
import { Plans } from "../../src/account/Plans.ts"
import { limits } from "../../src/ratelimit/Limits.ts"
import { layer as database } from "../support/Database.ts"

const actor = { type: "operator", id: "test" } as const
const rooms = Layer.mergeAll(Accounts.layer, Plans.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Audit.layer, OperatorEvents.layer)),
  Layer.provideMerge(database)
)
const none = { requests_per_minute: null, running_videos: null, running_batches: null, daily_spend: null }

describe("the daily budget of a plan's accounts", () => {
  it.live("begins with the account or with the limit, follows its changes, and survives its removal and return", () =>
    Effect.gen(function* () {
      const plans = yield* Plans
      const sql = yield* SqlClient.SqlClient
      const [ann, ben] = [
        yield* (yield* Accounts).create("ann@example.com", actor),
        yield* (yield* Accounts).create("ben@example.com", actor)
      ]
      const budgets = sql<{ id: string; email: string; limit_nano: bigint }>`SELECT b.id, a.email, b.limit_nano
        FROM account a JOIN budget b ON b.id = a.daily_budget_id ORDER BY a.email`
      const { id } = yield* plans.create({ name: "gold", markup_bp: 0, prices: [], ...none }, actor)
      yield* plans.assign(ann, id, actor)
      assert.deepStrictEqual(yield* budgets, [])
      yield* plans.change(id, { daily_spend: 5n }, actor)
      yield* plans.assign(ben, id, actor)
      const both = yield* budgets
      assert.deepStrictEqual(
        both.map(({ email, limit_nano }) => [email, limit_nano]),
        [
          ["ann@example.com", 5n],
          ["ben@example.com", 5n]
        ]
      )
      yield* plans.change(id, { daily_spend: null }, actor)
      yield* plans.change(id, { daily_spend: 7n }, actor)
      assert.deepStrictEqual(
        yield* budgets,
        both.map((row) => ({ ...row, limit_nano: 7n }))
      )
    }).pipe(Effect.provide(rooms))
  )

  it("counts requests a minute from the limit of chat", () => assert.strictEqual(CHAT_REQUESTS, limits.chat.requests))
})

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ReadTurns } from "../../src/usage/ReadTurns.ts"
import { Receipts } from "../../src/usage/Receipts.ts"
import { close, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const rooms = Receipts.layer.pipe(Layer.provideMerge(ReadTurns.layerOf({ waitMs: 20 })), Layer.provideMerge(database))

const all = { limit: 2, cursor: undefined, model: undefined, status: undefined }

describe("receipts of an account", () => {
  it.live("come newest first, page by page, of one model or status if that is asked for", () =>
    Effect.gen(function* () {
      const [sql, receipts] = [yield* SqlClient.SqlClient, yield* Receipts]
      const owner = yield* customer(sql, 1_000n)
      const made = Array.from({ length: 5 }, () => hold(owner, 10n))
      for (const one of made) yield* run(sql, one)
      yield* run(sql, close(made[1]!, 5n))
      const ids = made
        .map(({ requestId }) => requestId)
        .toSorted()
        .toReversed()
      const page = (more: object) => receipts.page(owner.accountId, { ...all, ...more })
      const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)
      const first = yield* page({})
      assert.deepStrictEqual([idsOf(first.rows), first.next], [ids.slice(0, 2), ids[1]!])
      const rest = yield* page({ cursor: first.next!, limit: 3 })
      assert.deepStrictEqual([idsOf(rest.rows), rest.next], [ids.slice(2), null])
      const open = yield* page({ status: "open", limit: 10 })
      assert.deepStrictEqual(
        idsOf(open.rows),
        ids.filter((id) => id !== made[1]!.requestId)
      )
      const { model } = first.rows[0]!
      assert.deepStrictEqual(idsOf((yield* page({ model, limit: 10 })).rows), ids)
      assert.deepStrictEqual((yield* page({ model: "no-such-model" })).rows, [])
    }).pipe(Effect.provide(rooms))
  )

  it.live("wait for their turn where they may have to pass by all of them, and only there", () =>
    Effect.gen(function* () {
      const [receipts, turns] = [yield* Receipts, yield* ReadTurns]
      const [begun, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const reading = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(over))
      const other = yield* Effect.forkChild(turns.read("one", reading))
      yield* Deferred.await(begun)
      for (const chosen of [{ model: "gpt-4o-mini" }, { status: "failed" }]) {
        const refused = yield* Effect.flip(receipts.page("one", { ...all, ...chosen }))
        assert.strictEqual(refused._tag === "Failure" && refused.reason._tag, "RateLimitExceeded")
      }
      assert.deepStrictEqual((yield* receipts.page("one", all)).rows, [])
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(other)
      assert.deepStrictEqual((yield* receipts.page("one", { ...all, status: "failed" })).rows, [])
    }).pipe(Effect.provide(rooms))
  )
})

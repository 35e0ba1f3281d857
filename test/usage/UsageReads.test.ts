import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Failure } from "../../src/domain/Failure.ts"
import { UsageReads } from "../../src/usage/UsageReads.ts"
import { layer as database } from "../support/Database.ts"

const rooms = UsageReads.layerOf({ ofNode: 2, waitMs: 20, statementMs: 100 }).pipe(Layer.provideMerge(database))

/** Returns why a read was refused, or `read`. */
const outcome = (read: Effect.Effect<unknown, Failure | SqlError.SqlError>) =>
  Effect.match(read, {
    onSuccess: () => "read",
    onFailure: (error) => (error._tag === "Failure" ? error.reason._tag : error._tag)
  })

describe("reads of usage", () => {
  it.live("run one at a time per account and a few per node, and the others wait briefly", () =>
    Effect.gen(function* () {
      const reads = yield* UsageReads
      const over = yield* Deferred.make<void>()
      const begin = Effect.fnUntraced(function* (accountId: string) {
        const begun = yield* Deferred.make<void>()
        const read = reads.read(accountId, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(over)))
        const fiber = yield* Effect.forkChild(outcome(read))
        yield* Deferred.await(begun)
        return fiber
      })
      const refused = (accountId: string) => outcome(reads.read(accountId, Effect.die("it ran too early")))
      const first = yield* begin("first")
      assert.strictEqual(yield* refused("first"), "RateLimitExceeded")
      const second = yield* begin("second")
      assert.strictEqual(yield* refused("third"), "Overloaded")
      // An abandoned read makes room for the next one.
      yield* Fiber.interrupt(second)
      const third = yield* begin("third")
      assert.strictEqual(yield* refused("second"), "Overloaded")
      yield* Deferred.succeed(over, undefined)
      assert.deepStrictEqual(yield* Effect.all([Fiber.join(first), Fiber.join(third)]), ["read", "read"])
      for (const accountId of ["first", "second", "third"]) {
        assert.strictEqual(yield* outcome(reads.read(accountId, Effect.void)), "read")
      }
    }).pipe(Effect.provide(rooms))
  )

  it.live("follow one another when they are short", () =>
    Effect.gen(function* () {
      const [sql, reads] = [yield* SqlClient.SqlClient, yield* UsageReads]
      const all = Array.from({ length: 20 }, () => outcome(reads.read("one", sql`SELECT 1`)))
      assert.deepStrictEqual([...new Set(yield* Effect.all(all, { concurrency: "unbounded" }))], ["read"])
    }).pipe(Effect.provide(UsageReads.layerOf({ waitMs: 30_000 }).pipe(Layer.provideMerge(database))))
  )

  it.live("end when the database takes too long, and leave its connection intact", () =>
    Effect.gen(function* () {
      const [sql, reads] = [yield* SqlClient.SqlClient, yield* UsageReads]
      assert.strictEqual(yield* outcome(reads.read("one", sql`SELECT pg_sleep(60)`)), "ServiceUnavailable")
      assert.strictEqual(yield* outcome(reads.read("one", sql`SELECT 1`)), "read")
      const left = sql<{ ms: string }>`SELECT current_setting('statement_timeout') AS ms`
      assert.deepStrictEqual((yield* left)[0], { ms: "30s" })
    }).pipe(Effect.provide(rooms))
  )
})

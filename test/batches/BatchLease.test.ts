import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertBatch, mayBeginLine, startBatch } from "../../src/batches/BatchesSql.ts"
import type { Outcome } from "../../src/jobs/Jobs.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { later, withLease } from "../../src/batches/BatchLease.ts"
import { customer } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const done: Effect.Effect<Outcome> = Effect.succeed("done")

describe("the lease of a batch", () => {
  it.live("belongs to one worker at a time, which begins no line after losing the lease or after a cancellation", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* customer(sql, 0n)
      const id = newResourceId()
      yield* insertBatch(sql, {
        id,
        account_id: accountId,
        endpoint: "/v1/messages",
        input_file_id: "file",
        principal: "{}",
        metadata: null,
        output_ttl_seconds: null,
        claim: null,
        fingerprint: null,
        window_ms: 60_000
      })
      yield* startBatch(sql, id, 1)
      const seen: Array<unknown> = []
      const outcome = yield* withLease(sql, id, (batch) =>
        Effect.gen(function* () {
          const may = Effect.orDie(mayBeginLine(sql, batch))
          seen.push(yield* may)
          seen.push(yield* withLease(sql, id, () => Effect.die("a second worker got the lease")))
          // The worker has been silent for the whole lease, so another worker may take it.
          yield* Effect.orDie(sql`UPDATE batch SET worker_until = now() WHERE id = ${id}`)
          seen.push(yield* may)
          seen.push(yield* withLease(sql, id, () => done))
          return "done" as const
        })
      )
      assert.strictEqual(outcome, "done")
      assert.deepStrictEqual(seen, [true, later, false, "done"])
      const cancelled = yield* withLease(sql, id, (batch) =>
        Effect.gen(function* () {
          yield* Effect.orDie(sql`UPDATE batch SET status = 'cancelling' WHERE id = ${id}`)
          seen.push(yield* Effect.orDie(mayBeginLine(sql, batch)))
          return "done" as const
        })
      )
      assert.deepStrictEqual([cancelled, seen.at(-1)], ["done", false])
      yield* sql`UPDATE batch SET status = 'cancelled' WHERE id = ${id}`
      assert.deepStrictEqual(
        yield* withLease(sql, id, () => Effect.die("a worker got the lease of an ended batch")),
        later
      )
    }).pipe(Effect.provide(database), Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { Jobs, type Outcome } from "../../src/jobs/Jobs.ts"
import { layer as database } from "../support/Database.ts"

/** Polls seldom: what a test waits for comes because somebody was woken, or not in time. */
const seldom = { lease: "30 seconds", pollInterval: "1 hour", grace: "20 seconds" } as const

const jobs = Jobs.layerFrom(seldom).pipe(Layer.provideMerge(database))

/** Turns of the job, the oldest first. */
const turns = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ id: string; state: string; attempts: number }>`SELECT id, state, attempts FROM job ORDER BY sequence`
)

/** Works on videos with these outcomes, one after the other; answers what was delivered. */
const working = (outcomes: ReadonlyArray<Effect.Effect<Outcome, unknown>>) =>
  Effect.gen(function* () {
    const delivered = yield* Queue.unbounded<string>()
    let turn = 0
    const { work } = yield* Jobs
    yield* Effect.forkScoped(
      work("videos", 2, (id, attempt) =>
        Effect.andThen(
          Queue.offer(delivered, `${id} ${attempt}`),
          Effect.suspend(() => outcomes[turn++] ?? Effect.succeed("done" as const))
        )
      )
    )
    return delivered
  })

describe("a job", () => {
  it.live("is worked on once its transaction has committed, and never if that is undone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { enqueue } = yield* Jobs
      const delivered = yield* working([])
      yield* Effect.exit(sql.withTransaction(Effect.andThen(enqueue("videos", "undone"), Effect.fail("no"))))
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* enqueue("videos", "kept")
          assert.strictEqual(yield* Queue.size(delivered), 0)
        })
      )
      assert.strictEqual(yield* Queue.take(delivered), "kept 1")
      yield* Effect.repeat(turns, { until: (rows) => rows.length === 1 && rows[0]?.state === "completed" })
    }).pipe(Effect.scoped, Effect.provide(jobs))
  )

  it.live("comes again for as long as its steps say so, each time as new", () =>
    Effect.gen(function* () {
      const { enqueue } = yield* Jobs
      const again = Effect.succeed({ again: 0 })
      const delivered = yield* working([again, again])
      yield* enqueue("videos", "v")
      for (let turn = 0; turn < 3; turn++) assert.strictEqual(yield* Queue.take(delivered), "v 1")
      const rows = yield* Effect.repeat(turns, { until: (all) => all.every(({ state }) => state === "completed") })
      assert.deepStrictEqual(
        rows.map(({ id }) => id),
        ["v.0", "v.1", "v.2"]
      )
    }).pipe(Effect.scoped, Effect.provide(jobs))
  )
})

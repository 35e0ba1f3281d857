import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { TopUps } from "../../src/billing/TopUps.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { layer as sweeps } from "../../src/workers/TopUpSweeps.ts"

const unused = Effect.die("not a part of this test")

/** Top-ups of which nothing is swept but what this answers. */
const swept = (sweep: TopUps["Service"]["sweep"]) =>
  Layer.succeed(
    TopUps,
    TopUps.of({
      create: () => unused,
      checkout: () => unused,
      get: () => unused,
      list: () => unused,
      receive: () => unused,
      simulate: () => unused,
      simulateCheckout: () => unused,
      sweep
    })
  )

describe("sweeps of top-ups", () => {
  it.live("continue until nothing is due, and after a failure", () =>
    Effect.gen(function* () {
      const rounds = [20, 3, 0, undefined, 1, 0]
      const seen: Array<number | undefined> = []
      const last = yield* Deferred.make<void>()
      const sweep = Effect.gen(function* () {
        if (rounds.length === 0) return yield* Effect.as(Deferred.succeed(last, undefined), 0)
        const due = rounds.shift()
        seen.push(due)
        return due === undefined ? yield* new Unavailable({ store: "database" }) : due
      })
      yield* Layer.build(sweeps("1 millis").pipe(Layer.provide(swept(sweep))))
      yield* Deferred.await(last)
      assert.deepStrictEqual(seen, [20, 3, 0, undefined, 1, 0])
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { Media } from "../../src/platform/files/Media.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { layer as fileSweeps } from "../../src/workers/FileSweeps.ts"

const unused = Effect.die(new Error("not of a sweep"))

/** What a sweep asks for, and nothing else: files themselves are swept in the test of Media. */
const media = (sweep: Media["Service"]["sweep"], sweepStrays: Media["Service"]["sweepStrays"]) =>
  Layer.succeed(
    Media,
    Media.of({
      store: () => unused,
      storeWithin: () => unused,
      read: () => unused,
      look: () => unused,
      open: () => unused,
      find: () => unused,
      remove: () => unused,
      list: () => unused,
      urlOf: (id) => id,
      sweep,
      sweepStrays
    })
  )

describe("FileSweeps", () => {
  it.live("continue until nothing is left, and after a failure", () =>
    Effect.gen(function* () {
      const [done, strays] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const outcomes = ["fail", "die", 100, 100, 7, 0]
      const calls: Array<unknown> = []
      const sweep = Effect.suspend((): Media["Service"]["sweep"] => {
        const next = outcomes.shift()
        calls.push(next)
        if (next === "fail") return Effect.fail(new Unavailable({ store: "file store" }))
        if (next === "die") return Effect.die(new Error("a bug"))
        if (typeof next === "number") return Effect.succeed(next)
        return Effect.as(Deferred.succeed(done, undefined), 0)
      })
      let looks = 0
      const sweepStrays = Effect.suspend((): Media["Service"]["sweepStrays"] => {
        looks += 1
        if (looks === 1) return Effect.fail(new Unavailable({ store: "database" }))
        return Effect.as(Deferred.succeed(strays, undefined), 0)
      })
      yield* Layer.build(fileSweeps("1 millis", "1 millis").pipe(Layer.provide(media(sweep, sweepStrays))))
      yield* Deferred.await(done)
      yield* Deferred.await(strays)
      assert.deepStrictEqual(calls.slice(0, 6), ["fail", "die", 100, 100, 7, 0])
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { repeatForever } from "../../src/platform/RepeatForever.ts"

describe("repeatForever", () => {
  it.effect("goes on after runs that fail or die, which it logs, and ends with its scope", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => void logged.push(message))
      let runs = 0
      const task = Effect.suspend(() => {
        runs++
        return runs === 1 ? Effect.fail("no") : runs === 2 ? Effect.die("never") : Effect.void
      })
      yield* Effect.gen(function* () {
        yield* repeatForever(task, { every: "1 minute", after: "10 minutes", warning: "it failed" })
        yield* TestClock.adjust("9 minutes")
        assert.strictEqual(runs, 0)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(runs, 1)
        yield* TestClock.adjust("10 minutes")
        assert.isAtLeast(runs, 3)
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([logger])))
      assert.lengthOf(logged, 2)
      assert.include(JSON.stringify(logged), "it failed")
      const ended = runs
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(runs, ended)
    })
  )
})

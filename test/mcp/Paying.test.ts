import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { callCostOf, reportWhile } from "../../src/mcp/Paying.ts"

describe("reportWhile", () => {
  it.effect("reports the progress of a call once a second, and only when it has increased", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      let progress = 0
      const report = (at: number, message: string) => Effect.sync(() => void told.push(`${at} ${message}`))
      const said = (seconds: number) => ({ progress, message: `after ${seconds} s` })
      const running = yield* Effect.forkChild(
        reportWhile({ report }, said, Effect.as(Effect.sleep("3500 millis"), "done")),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 second")
      progress = 5
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Fiber.join(running), "done")
      assert.deepStrictEqual(told, ["0 after 0 s", "5 after 2 s"])
    })
  )

  it.effect("reports nothing to a client that does not ask for progress", () =>
    Effect.gen(function* () {
      const said = () => assert.fail("the progress was computed")
      assert.strictEqual(yield* reportWhile({ report: undefined }, said, Effect.succeed(1)), 1)
    })
  )
})

describe("callCostOf", () => {
  it("takes the cost and the request id from an answer of the API", () => {
    const paid = callCostOf({ cost_usd: 0.5, request_id: "req_1" }, true)
    assert.deepStrictEqual(paid, { costUsd: 0.5, requestId: "req_1", replayed: true })
  })
})

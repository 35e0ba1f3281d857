import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { playWork } from "../../../src/providers/sandbox/WorkPlay.ts"
import { workCall } from "../work.ts"

const play = (steering?: string) =>
  playWork("up", workCall({ steering }), ({ fault }) => Effect.succeed(fault === "empty" ? "nothing" : "an answer"))

const faultOf = (steering: string) => Effect.map(Effect.flip(play(steering)), ({ fault }) => fault)

describe("the sandbox's work other than chat", () => {
  it.effect("answers, with an empty answer when steered so, and ignores faults for another provider", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* play(), "an answer")
      assert.strictEqual(yield* play("fault=empty"), "nothing")
      assert.strictEqual(yield* play("provider=other,fault=error"), "an answer")
    })
  )

  it.effect("fails as steered", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* faultOf("fault=rate_limit"), { _tag: "RateLimited", retryAfterSeconds: 1 })
      assert.strictEqual((yield* faultOf("fault=error"))._tag, "ServerError")
      assert.strictEqual((yield* faultOf("fault=malformed"))._tag, "Malformed")
      assert.strictEqual((yield* faultOf("provider=up,fault=break"))._tag, "Broken")
      assert.strictEqual((yield* faultOf("nonsense"))._tag, "Refused")
    })
  )

  it.effect("takes the steered latency, within its time limit", () =>
    Effect.gen(function* () {
      for (const [steering, ms, outcome] of [
        ["latency_ms=500", 500, "an answer"],
        ["fault=slow", 2_000, "an answer"],
        ["fault=error,latency_ms=300", 300, "ServerError"],
        ["fault=stall", 60_000, "TimedOut"],
        ["latency_ms=60000", 60_000, "TimedOut"]
      ] as const) {
        const fiber = yield* Effect.forkChild(
          Effect.match(play(steering), { onFailure: ({ fault }) => fault._tag, onSuccess: (answer) => answer })
        )
        yield* TestClock.adjust(ms - 1)
        assert.isUndefined(fiber.pollUnsafe(), steering)
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* Fiber.join(fiber), outcome)
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { AnswerTimes } from "../../../src/providers/pool/AnswerClock.ts"
import { candidate } from "../calls.ts"
import { double, outcomes, poolCall, pooled } from "../pools.ts"

const kind = { provider: "a", model: "m", size: "10", leastMs: 30_000 }
const [a, b] = [candidate("a"), candidate("b")]

describe("the time limit of an attempt at a complete answer", () => {
  it.effect("is the minimum until such answers are known to take longer", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const times = new AnswerTimes()
      const told = (size = "10") => {
        const { known, ms } = times.clockOf({ ...kind, size }, clock)
        return [ms, known]
      }
      assert.deepStrictEqual(told(), [30_000, false])
      for (const ms of [1_000, 2_000, 3_000, 4_000, 5_000]) times.answered(kind, ms, clock)
      assert.deepStrictEqual(told(), [30_000, true])
      for (let answer = 0; answer < 40; answer++) times.answered(kind, 20_000, clock)
      assert.deepStrictEqual(
        [told(), told("14")],
        [
          [80_000, true],
          [30_000, false]
        ]
      )
    })
  )

  it.effect("doubles while no such answer has arrived, so that slow kinds can complete", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const times = new AnswerTimes()
      const left = () => {
        const { ms } = times.clockOf(kind, clock)
        times.timedOut(kind, ms, clock)
        return ms
      }
      assert.deepStrictEqual([left(), left(), left()], [30_000, 60_000, 120_000])
      times.answered(kind, 50_000, clock)
      assert.strictEqual(times.clockOf(kind, clock).ms, 200_000)
    })
  )
})

describe("a host that hangs on a complete answer", () => {
  const asked = Effect.fnUntraced(function* (
    policy: Parameters<typeof poolCall>[1],
    ...steering: ReadonlyArray<string>
  ) {
    const [first = "", second = ""] = steering
    const { pool } = yield* pooled(double("a", first), double("b", second))
    return yield* Effect.forkChild(Effect.result(pool.chat(poolCall([a, b], policy))), { startImmediately: true })
  })

  it.effect("is abandoned for the next candidate after 30 seconds; the last candidate has the full time", () =>
    Effect.gen(function* () {
      const fiber = yield* asked({}, "fault=stall", "latency_ms=29000")
      yield* TestClock.adjust(29_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(29_001)
      const served = yield* Fiber.join(fiber)
      assert.strictEqual(served._tag, "Success")
      if (served._tag === "Success") {
        assert.deepStrictEqual(outcomes(served.success.attempts), ["a failed_over", "b served"])
      }
    })
  )

  it.effect("is abandoned after the caller's first-token limit, unless the answer starts within it", () =>
    Effect.gen(function* () {
      const timeouts = { firstTokenMs: 1_500 }
      const hung = yield* asked({ timeouts }, "fault=stall", "latency_ms=1000,chunk_ms=400")
      yield* TestClock.adjust(1_500)
      yield* TestClock.adjust(20_000)
      const served = yield* Fiber.join(hung)
      assert.strictEqual(served._tag, "Success")
      if (served._tag === "Success") {
        assert.deepStrictEqual(outcomes(served.success.attempts), ["a failed_over", "b served"])
      }
      const both = yield* asked({ timeouts }, "fault=stall", "fault=stall")
      yield* TestClock.adjust(3_000)
      const late = yield* Fiber.join(both)
      assert.deepStrictEqual(late._tag === "Failure" && late.failure.reason, {
        _tag: "UpstreamTimeout",
        clock: "first_token"
      })
    })
  )

  it.effect("is abandoned when it falls silent before the gateway has sent any output", () =>
    Effect.gen(function* () {
      const fiber = yield* asked({ timeouts: { firstTokenMs: 1_500 } }, "fault=stall,after=2", "text=hi")
      yield* TestClock.adjust(20_000)
      const served = yield* Fiber.join(fiber)
      assert.strictEqual(served._tag === "Success" && served.success.output.text, "hi")
    })
  )
})

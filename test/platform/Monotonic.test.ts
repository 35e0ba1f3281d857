import { assert, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { millisOf } from "../../src/platform/Monotonic.ts"

it.effect("millisOf follows the clock, in milliseconds", () =>
  Effect.gen(function* () {
    const now = Effect.map(Clock.Clock, millisOf)
    const before = yield* now
    yield* TestClock.adjust("1500 millis")
    assert.strictEqual((yield* now) - before, 1_500)
  })
)

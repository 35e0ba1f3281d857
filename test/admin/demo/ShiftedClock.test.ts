import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runBehind, shiftClock } from "../../../src/admin/demo/ShiftedClock.ts"
import { newRequestId, timeOfRequestId } from "../../../src/platform/Ids.ts"

const DAY_MS = 86_400_000

describe("a clock that runs behind", () => {
  it.effect("dates ids and new times by it, and leaves given dates unchanged", () =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const real = Date
        shiftClock()
        return real
      }),
      (real) =>
        Effect.sync(() => {
          runBehind(3 * DAY_MS)
          const behind = real.now() - 3 * DAY_MS
          assert.closeTo(Date.now(), behind, 1_000)
          assert.closeTo(new Date().getTime(), behind, 1_000)
          assert.closeTo(timeOfRequestId(newRequestId()), behind, 1_000)
          assert.strictEqual(new Date("2026-03-04T00:00:00Z").toISOString(), "2026-03-04T00:00:00.000Z")
          assert.isTrue(new Date() instanceof Date)
          assert.strictEqual(Date.UTC(1970, 0, 2), DAY_MS)
        }),
      (real) =>
        Effect.sync(() => {
          runBehind(0)
          globalThis.Date = real
        })
    )
  )
})

import { assert, describe, it } from "@effect/vitest"
import { DAY_MS, dayOf, isDay, untilTomorrowMs } from "../../src/domain/Day.ts"

describe("a UTC day", () => {
  it("is a day of the calendar in the form YYYY-MM-DD", () => {
    const days = ["2026-02-28", "2026-02-29", "2024-02-29", "2026-02-30", "2026-13-01", "2026-1-1", "today", "", "2026"]
    assert.deepStrictEqual(days.filter(isDay), ["2026-02-28", "2024-02-29"])
  })

  it("contains every moment until midnight UTC", () => {
    assert.strictEqual(dayOf(Date.parse("2026-12-24T23:59:59Z")), "2026-12-24")
    assert.strictEqual(dayOf(Date.parse("2026-12-24T23:59:59-01:00")), "2026-12-25")
    assert.strictEqual(untilTomorrowMs(Date.parse("2026-12-24T23:59:59Z")), 1_000)
    assert.strictEqual(untilTomorrowMs(Date.parse("2026-12-24T00:00:00Z")), DAY_MS)
  })
})

import { assert, describe, it } from "@effect/vitest"
import {
  dayOf,
  intervalOf,
  intervalsOf,
  dayBefore,
  isCustom,
  isDay,
  timesBefore,
  timesOf
} from "../../../src/console/data/Ranges.ts"

const noon = Date.parse("2026-03-05T12:00:00Z") / 1_000
const DAY = 86_400

describe("a range of time", () => {
  it("of a length ends now, and a range of two days ends with the second", () => {
    assert.deepStrictEqual(timesOf({ range: "24h" }, "7d", noon), { start: noon - DAY + 3_600, end: noon + 1 })
    assert.deepStrictEqual(timesOf({}, "7d", noon), { start: noon - 6.5 * DAY, end: noon + 1 })
    const days = timesOf({ range: "1h", from: "2026-03-01", to: "2026-03-02" }, "7d", noon)
    assert.deepStrictEqual([dayOf(days.start), days.end - days.start], ["2026-03-01", 2 * DAY])
    assert.isFalse(isCustom({ from: "2026-03-02", to: "2026-03-01" }))
    assert.deepStrictEqual(timesOf({ from: "2026-03-02", to: "2026-03-01" }, "1h", noon).start, noon - 3_540)
  })

  it("is compared with the same length of time before it", () => {
    assert.deepStrictEqual(timesBefore({ start: 7_200, end: 9_001 }), { start: 3_600, end: 5_401 })
    assert.deepStrictEqual(timesBefore({ start: 7_200, end: 14_400 }), { start: 0, end: 7_200 })
  })

  it("is divided by intervals that give neither a single bar nor too many", () => {
    const of = (days: number) => ({ start: noon - days * DAY, end: noon })
    assert.deepStrictEqual(intervalsOf(of(1 / 24)), ["minute"])
    assert.deepStrictEqual(intervalsOf(of(7)), ["hour", "day"])
    assert.deepStrictEqual(intervalsOf(of(90)), ["day", "week"])
    assert.strictEqual(intervalOf(of(7), undefined), "day")
    assert.strictEqual(intervalOf(of(7), "hour"), "hour")
    assert.strictEqual(intervalOf(of(90), "hour"), "day")
    assert.strictEqual(intervalOf(of(1), undefined), "hour")
  })

  it("accepts only valid calendar days, and gives the days before them", () => {
    assert.strictEqual(dayBefore("2026-03-01", 1), "2026-02-28")
    assert.deepStrictEqual(["2026-02-28", "2026-02-30", "2026-2-3", "today"].map(isDay), [true, false, false, false])
  })
})

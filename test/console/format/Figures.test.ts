import { assert, describe, it } from "@effect/vitest"
import {
  ago,
  brief,
  change,
  count,
  duration,
  monthName,
  share,
  signedPercent,
  utcDate
} from "../../../src/console/format/Figures.ts"

describe("figures", () => {
  it("writes counts in full, and abbreviates large ones", () => {
    assert.strictEqual(count(1_234_567), "1,234,567")
    assert.strictEqual(brief(99_999), "99,999")
    assert.strictEqual(brief(1_234_567), "1.2M")
    assert.deepStrictEqual([share(0.125), share(0.11), share(1)], ["12.5%", "11.0%", "100.0%"])
  })

  it("writes durations with the unit that fits", () => {
    assert.deepStrictEqual([0.25, 4.61, 276.4, 1_234, 61_000].map(duration), [
      "0.25 ms",
      "4.6 ms",
      "276 ms",
      "1.23 s",
      "1 min 1 s"
    ])
  })

  it("carries a duration over to the next unit when rounding reaches it", () => {
    assert.deepStrictEqual([9.96, 999.6, 59_996, 119_600, 3_599_700, 3_700_000].map(duration), [
      "10 ms",
      "1.00 s",
      "1 min 0 s",
      "2 min 0 s",
      "1 h 0 min",
      "1 h 1 min"
    ])
  })

  it("writes markups with their sign", () =>
    assert.deepStrictEqual([1_250, -500, 100_000].map(signedPercent), ["+12.5%", "−5%", "+1,000%"]))

  it("names days and months in UTC, whatever the reader's time zone", () => {
    assert.deepStrictEqual(
      ["2026-03-31T23:30:00Z", "2026-04-01T00:30:00Z"].map((text) => utcDate(Date.parse(text) / 1_000)),
      ["Mar 31, 2026", "Apr 1, 2026"]
    )
    assert.strictEqual(monthName("2026-03"), "March 2026")
  })

  it("says how long ago a moment is", () => {
    assert.deepStrictEqual(
      [2, 30, 120, 7_200, 172_800].map((seconds) => ago(1_000_000 - seconds, 1_000_000)),
      ["now", "30s ago", "2m ago", "2h ago", "2d ago"]
    )
  })

  it("compares with the period before, and says when that was zero", () => {
    const changed = (now: number, before: number) => change(now, before, count)
    assert.strictEqual(changed(3, 2), "▲ 50% vs before")
    assert.strictEqual(changed(1, 2), "▼ 50% vs before")
    assert.strictEqual(changed(19, 2), "▲ 850% vs before")
    assert.strictEqual(changed(940, 2), "▲ from 2")
    assert.strictEqual(changed(100.1, 100), "As before")
    assert.strictEqual(changed(1, 0), "0 in the range before")
  })
})

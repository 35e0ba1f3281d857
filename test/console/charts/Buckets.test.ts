import { assert, describe, it } from "@effect/vitest"
import { bucketsOf } from "../../../src/console/charts/Buckets.ts"

const start = Date.parse("2026-03-04T23:00:00Z") / 1_000

describe("the names of buckets", () => {
  it("are those of UTC days and weeks, whatever the reader's time zone", () => {
    const [day] = bucketsOf([start - 23 * 3_600], "day")
    assert.include(day?.short, "4")
    assert.include(day?.long, "UTC")
    assert.match(bucketsOf([start - 23 * 3_600], "week")[0]?.long ?? "", /^Week from /)
  })

  it("have the day beside the hour when they span more than a day", () => {
    const hours = (count: number) =>
      bucketsOf(
        Array.from({ length: count }, (_, at) => start + at * 3_600),
        "hour"
      )
    assert.isAbove(hours(48)[0]!.short.length, hours(24)[0]!.short.length)
    assert.strictEqual(new Set(hours(48).map(({ long }) => long)).size, 48)
  })
})

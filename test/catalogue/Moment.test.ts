import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { millisOf, Moment } from "../../src/catalogue/Moment.ts"

const allowed = Schema.is(Moment)

describe("Moment", () => {
  it("accepts a day, or a time with a time zone", () => {
    for (const [text, iso] of [
      ["2026-12-24", "2026-12-24T00:00:00.000Z"],
      ["2026-12-24T18:30Z", "2026-12-24T18:30:00.000Z"],
      ["2026-12-24T18:30:15.5+02:00", "2026-12-24T16:30:15.500Z"],
      ["2028-02-29", "2028-02-29T00:00:00.000Z"]
    ] as const) {
      assert.isTrue(allowed(text), text)
      assert.strictEqual(new Date(millisOf(text)).toISOString(), iso)
    }
  })

  it("rejects impossible dates, other formats, and times without a time zone", () => {
    const doubtful = [
      "2026-12-24T18:30",
      "24.12.2026",
      "2026-02-30",
      "2026-13-01",
      "2026-12-24T25:00Z",
      "2026",
      "",
      "soon"
    ]
    for (const text of doubtful) assert.isFalse(allowed(text), text)
  })
})

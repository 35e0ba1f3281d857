import { assert, describe, it } from "@effect/vitest"
import { periodStart } from "../../src/domain/Budget.ts"

describe("periodStart", () => {
  it("returns a UTC day for every period", () => {
    const sunday = Date.parse("2026-11-22T23:59:59.999Z")
    assert.strictEqual(periodStart("daily", sunday), "2026-11-22")
    assert.strictEqual(periodStart("weekly", sunday), "2026-11-16")
    assert.strictEqual(periodStart("monthly", sunday), "2026-11-01")
    assert.strictEqual(periodStart("lifetime", sunday), "1970-01-01")
  })
  it("advances at midnight UTC, on Mondays and on the first of the month", () => {
    const monday = Date.parse("2026-11-23T00:00:00.000Z")
    assert.strictEqual(periodStart("weekly", monday), "2026-11-23")
    assert.strictEqual(periodStart("weekly", monday - 1), "2026-11-16")
    assert.strictEqual(periodStart("monthly", Date.parse("2027-01-01T00:00:00Z")), "2027-01-01")
    assert.strictEqual(periodStart("monthly", Date.parse("2027-01-01T00:00:00Z") - 1), "2026-12-01")
  })
})

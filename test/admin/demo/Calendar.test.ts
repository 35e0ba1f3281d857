import { assert, describe, it } from "@effect/vitest"
import { makeRandom, momentsOf } from "../../../src/admin/demo/Calendar.ts"

const HOUR_MS = 3_600_000
const now = Date.parse("2026-03-05T12:00:00Z")

describe("the demo's calendar", () => {
  it("covers the first day up to now, every hour of the last day and every five minutes of the last hour", () => {
    const moments = momentsOf(30, 3_000, now, makeRandom(1))
    const behind = moments.map(({ behindMs }) => behindMs)
    assert.deepStrictEqual(
      behind,
      behind.toSorted((one, other) => other - one)
    )
    assert.isAbove(behind[0]!, 29 * 24 * HOUR_MS)
    assert.isAtMost(behind[0]!, 30 * 24 * HOUR_MS)
    const hours = new Set(behind.filter((ms) => ms < 24 * HOUR_MS).map((ms) => Math.floor(ms / HOUR_MS)))
    assert.strictEqual(hours.size, 24)
    assert.strictEqual(behind.filter((ms) => ms < HOUR_MS).length, 12)
    const sent = moments.reduce((sum, { requests }) => sum + requests, 0)
    assert.closeTo(sent, 3_000, 150)
  })

  it("is the same for the same seed", () => {
    assert.deepStrictEqual(momentsOf(3, 60, now, makeRandom(7)), momentsOf(3, 60, now, makeRandom(7)))
    assert.notDeepEqual(momentsOf(3, 60, now, makeRandom(7)), momentsOf(3, 60, now, makeRandom(8)))
  })
})

import { assert, describe, it } from "@effect/vitest"
import type { Failure } from "../../src/domain/Failure.ts"
import { type RangeQuestion, emptyRange, rangeProblem } from "../../src/usage/Range.ts"

const nothing: RangeQuestion = { period: undefined, startMs: undefined, endMs: undefined }

const fieldOf = (problem: Failure | undefined): string | undefined =>
  problem?.reason._tag === "ValidationError" ? problem.reason.problems[0].field : undefined

const PAST = Date.parse("2026-05-01T00:00:00Z")

describe("a range of usage", () => {
  it("is a period, a start, or a start and an end", () => {
    const named = [
      nothing,
      { ...nothing, period: "7d" },
      { ...nothing, startMs: PAST },
      { ...nothing, startMs: PAST, endMs: PAST + 1 }
    ]
    for (const asked of named) assert.isUndefined(rangeProblem(asked))
  })

  it("cannot be a period with a time, or an end alone", () => {
    assert.strictEqual(fieldOf(rangeProblem({ ...nothing, period: "7d", startMs: PAST })), "period")
    assert.strictEqual(fieldOf(rangeProblem({ ...nothing, period: "7d", endMs: PAST })), "period")
    assert.strictEqual(fieldOf(rangeProblem({ ...nothing, endMs: PAST })), "end_time")
  })

  it("has a failure that names the end when it is empty, or the start when no end was given", () => {
    assert.strictEqual(fieldOf(emptyRange({ endMs: PAST })), "end_time")
    assert.strictEqual(fieldOf(emptyRange({ endMs: undefined })), "start_time")
  })
})

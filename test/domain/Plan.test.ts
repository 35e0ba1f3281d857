import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RoutingSummary } from "../../schemas/Routing.ts"
import { defaultPolicy, summaryOf } from "../../src/domain/Plan.ts"

describe("summaryOf", () => {
  it("returns a valid routing summary without further fields", () => {
    const outcome = {
      policy: { ...defaultPolicy, strategy: "cost", caching: "auto", source: "request" } as const,
      requestedModels: ["a", "b"],
      resolvedModel: "b",
      provider: "p",
      attempts: [
        { provider: "q", model: "a", outcome: "failed_over", index: 0, startedAt: 1, endedAt: 2 },
        { provider: "p", model: "b", outcome: "served", index: 1, startedAt: 2 }
      ] as const
    }
    const decode = Schema.decodeUnknownSync(RoutingSummary, { onExcessProperty: "error" })
    const summary = decode(summaryOf(outcome))
    assert.deepStrictEqual(summary, summaryOf(outcome))
    assert.strictEqual(summary.caching, "auto")
    assert.deepStrictEqual(
      summary.provider_attempts?.map((attempt) => attempt.attempt_index),
      [0, 1]
    )
    assert.notProperty(decode(summaryOf({ ...outcome, policy: defaultPolicy, provider: null })), "caching")
  })
})

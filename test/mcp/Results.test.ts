import { assert, describe, it } from "@effect/vitest"
import { failure } from "../../src/domain/Failure.ts"
import { failedResultOf, resultOf } from "../../src/mcp/Results.ts"

const textOf = ({ content }: { readonly content: ReadonlyArray<{ readonly type: string }> }) =>
  (content[0] as { readonly text?: string } | undefined)?.text

describe("resultOf", () => {
  it("contains its structured content as JSON text, and the cost and the request id in `_meta`", () => {
    const result = resultOf({ structured: { a: 1 }, cost: { requestId: "req_1", costUsd: 0.5, replayed: true } })
    assert.strictEqual(textOf(result), '{"a":1}')
    assert.deepStrictEqual(result._meta, { request_id: "req_1", cost_usd: 0.5, idempotency_replayed: true })
  })
})

describe("failedResultOf", () => {
  it("tells the client whether and when to repeat the call", () => {
    const result = failedResultOf(failure({ _tag: "RateLimitExceeded", limit: 2, retryAfterSeconds: 9 }), "req_1")
    assert.isTrue(result.isError)
    // Clients check structured content against the output schema, even when the call failed.
    assert.isUndefined(result.structuredContent)
    assert.deepInclude(result._meta as object, { retry: true, retry_after_seconds: 9, request_id: "req_1" })
    assert.match(textOf(result) ?? "", /^rate_limit_exceeded: .*You may repeat the call in 9 s\.$/)
  })

  it("names the arguments of the tool, not the fields and headers of the API", () => {
    const budget = failedResultOf(failure({ _tag: "NoModelInBudget", budgetCents: 1, least: 20_000_000n }), "req_1")
    const { error } = budget._meta as unknown as { readonly error: { readonly param: string } }
    assert.strictEqual(error.param, "max_cost_usd")
    assert.match(textOf(budget) ?? "", /Do not repeat the call unchanged\.$/)
    const key = failedResultOf(failure({ _tag: "IdempotencyKeyReused" }), "req_1")
    assert.strictEqual((key._meta as unknown as { readonly error: typeof error }).error.param, "idempotency_key")
  })
})

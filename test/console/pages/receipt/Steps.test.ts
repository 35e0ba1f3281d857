import { assert, describe, it } from "@effect/vitest"
import type { RequestReceipt } from "../../../../src/client/Contract.ts"
import { stepsOf } from "../../../../src/console/pages/receipt/Steps.ts"

const timings = { queue_ms: 1, hold_ms: 5, first_token_ms: 20, total_ms: 40, settle_ms: 3, overhead_ms: 8 }

const receipt = (more: object) =>
  ({ provider: "openai", held_usd: 0.5, settled_usd: 0.1, routing: null, timings, ...more }) as RequestReceipt

describe("the steps of a request", () => {
  it("run from hold over the provider to settle, one after the other", () =>
    assert.deepStrictEqual(
      stepsOf(receipt({})).map(({ from, kind, name, to }) => [kind, name, from, to]),
      [
        ["wait", "Read and checked", 0, 1],
        ["hold", "Hold", 1, 5],
        ["run", "openai", 5, 40],
        ["settle", "Settle", 40, 43]
      ]
    ))

  it("name the providers that failed before", () => {
    const attempts = [
      { provider: "azure", outcome: "failed_over", attempt_index: 0 },
      { provider: "openai", outcome: "served", attempt_index: 1 }
    ]
    const names = stepsOf(receipt({ routing: { provider_attempts: attempts } })).map(({ name }) => name)
    assert.deepStrictEqual(names, ["Read and checked", "Hold", "azure", "openai", "Settle"])
  })

  it("end with the hold while the request runs", () => {
    const open = { ...timings, first_token_ms: null, total_ms: null, settle_ms: null }
    assert.deepStrictEqual(
      stepsOf(receipt({ timings: open, provider: null })).map(({ name }) => name),
      ["Read and checked", "Hold"]
    )
  })
})

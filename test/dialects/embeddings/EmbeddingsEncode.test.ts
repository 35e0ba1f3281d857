import { assert, it } from "@effect/vitest"
import { afterList, beforeList } from "../../../src/dialects/embeddings/EmbeddingsEncode.ts"

it("beforeList and afterList enclose the list of an embeddings answer", () => {
  const facts = { used: 7, cost: 140n, requestId: "req_1" }
  const before = beforeList('a "model"')
  const expected = {
    object: "list",
    model: 'a "model"',
    data: [1],
    usage: { prompt_tokens: 7, total_tokens: 7 },
    cost_usd: 0.00000014,
    request_id: "req_1"
  }
  assert.deepStrictEqual(JSON.parse(`${before}[1]${afterList({ ...facts, balanceWarning: undefined })}`), expected)
  assert.deepStrictEqual(JSON.parse(`${before}[1]${afterList({ ...facts, balanceWarning: "low" })}`), {
    ...expected,
    balance_warning: { warning: "low_balance", threshold: "low" }
  })
})

import { assert, it } from "@effect/vitest"
import { encodeEmbeddings } from "../../../src/dialects/embeddings/EmbeddingsEncode.ts"

it("puts the list between what else is said", () => {
  const facts = { model: 'a "model"', tokens: 7, cost: 140n, requestId: "req_1" }
  const { after, before } = encodeEmbeddings({ ...facts, balanceWarning: undefined })
  const expected = {
    object: "list",
    model: 'a "model"',
    data: [1],
    usage: { prompt_tokens: 7, total_tokens: 7 },
    cost_usd: 0.00000014,
    request_id: "req_1"
  }
  assert.deepStrictEqual(JSON.parse(`${before}[1]${after}`), expected)
  const warned = encodeEmbeddings({ ...facts, balanceWarning: "low" })
  assert.deepStrictEqual(JSON.parse(`${warned.before}[1]${warned.after}`), {
    ...expected,
    balance_warning: { warning: "low_balance", threshold: "low" }
  })
})

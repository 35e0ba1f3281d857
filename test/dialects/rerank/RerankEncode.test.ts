import { assert, it } from "@effect/vitest"
import { encodeRerank } from "../../../src/dialects/rerank/RerankEncode.ts"

it("encodeRerank includes the documents when the request asks for them", () => {
  const work = { query: "q", documents: ["a", "b"], topN: undefined, truncation: false }
  const results = [
    { index: 1, score: 0.75 },
    { index: 0, score: 0.25 }
  ]
  const facts = { provider: "voyage", results, tokens: 9, cost: 450n, requestId: "req_1", balanceWarning: undefined }
  const plain = { model: "rerank-2.5", work, returnDocuments: false }
  const expected = {
    model: "rerank-2.5",
    provider: "voyage",
    results: [
      { index: 1, relevance_score: 0.75 },
      { index: 0, relevance_score: 0.25 }
    ],
    usage: { total_tokens: 9 },
    cost_usd: 0.00000045,
    request_id: "req_1"
  }
  assert.deepStrictEqual(encodeRerank(plain, facts), expected)
  const full = encodeRerank({ ...plain, returnDocuments: true }, { ...facts, balanceWarning: "low" })
  assert.deepStrictEqual(full, {
    ...expected,
    results: [
      { index: 1, relevance_score: 0.75, document: { text: "b" } },
      { index: 0, relevance_score: 0.25, document: { text: "a" } }
    ],
    balance_warning: { warning: "low_balance", threshold: "low" }
  })
})

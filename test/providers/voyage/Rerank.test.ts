import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { faultOfError } from "../../../src/providers/openai/Failure.ts"
import { decodeRerank, encodeRerank } from "../../../src/providers/voyage/Rerank.ts"
import { rerankWork, modelCall } from "../retrieval.ts"

const decode = (body: unknown, topN?: number) =>
  decodeRerank(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), rerankWork({ topN }), faultOfError)

describe("a rerank request to Voyage", () => {
  it("states whether to truncate long documents, and requests none of them back", () => {
    const common = {
      model: "rerank-2.5",
      query: "cats",
      documents: ["about dogs", "about cats"],
      return_documents: false
    }
    const encode = (more: Parameters<typeof rerankWork>[0]) =>
      JSON.parse(encodeRerank(modelCall("rerank-2.5"), rerankWork(more))) as unknown
    assert.deepStrictEqual(encode({}), { ...common, truncation: false })
    assert.deepStrictEqual(encode({ topN: 1, truncation: true }), { ...common, top_k: 1, truncation: true })
  })

  it("returns the best results first, and the usage", () => {
    const data = [
      { index: 0, relevance_score: 0.25, document: "x" },
      { index: 1, relevance_score: 0.75 }
    ]
    assert.deepStrictEqual(Result.getOrThrow(decode({ object: "list", data, usage: { total_tokens: 12 } })), {
      results: [
        { index: 1, score: 0.75 },
        { index: 0, score: 0.25 }
      ],
      tokens: 12
    })
    assert.isUndefined(Result.getOrThrow(decode({ data: [data[1]] }, 1)).tokens)
  })

  it("fails when the results do not match the documents", () => {
    const result = (index: unknown, relevance_score: unknown) => ({ index, relevance_score })
    const bad = [
      "no JSON",
      {},
      { data: [result(0, 1)] },
      { data: [result(0, 1), result(0, 1)] },
      { data: [result(0, 1), result(2, 1)] },
      { data: [result(0, 1), result(1, "1")] },
      { data: [result(0, 1), result(1, 1), result(0, 1)] }
    ]
    for (const body of bad) {
      const decoded = decode(body)
      assert.strictEqual(
        Result.isFailure(decoded) ? decoded.failure._tag : "accepted",
        "Malformed",
        JSON.stringify(body)
      )
    }
    for (const body of [{ error: { message: "busy", code: 503 } }, { object: "error", message: "busy", code: 503 }]) {
      const error = decode(body)
      assert.strictEqual(Result.isFailure(error) ? error.failure._tag : "accepted", "ServerError")
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeRerank } from "../../../src/dialects/rerank/RerankDecode.ts"

const asked = { model: "rerank-2.5", query: "q", documents: ["a", "b"] }

const wrong = (body: unknown): ReadonlyArray<string> => {
  const decoded = decodeRerank(body)
  if (Result.isSuccess(decoded)) return []
  const { reason } = decoded.failure
  return reason._tag === "ValidationError" ? reason.problems.map(({ field }) => field) : [reason._tag]
}

describe("a rerank request", () => {
  it("has defaults for the fields that it does not set", () => {
    const work = { query: "q", documents: ["a", "b"], topN: undefined, truncation: false }
    const defaults = { model: "rerank-2.5", work, returnDocuments: false }
    assert.deepStrictEqual(Result.getOrThrow(decodeRerank(asked)), defaults)
    const nulls = { top_n: null, return_documents: null, truncation: null }
    assert.deepStrictEqual(Result.getOrThrow(decodeRerank({ ...asked, ...nulls })), defaults)
    const all = { top_n: 1, return_documents: true, truncation: true }
    assert.deepStrictEqual(Result.getOrThrow(decodeRerank({ ...asked, ...all })), {
      ...defaults,
      work: { ...work, topN: 1, truncation: true },
      returnDocuments: true
    })
  })

  it("is rejected with the names of its invalid fields", () => {
    const rows: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
      ["a", ["body"]],
      [{ ...asked, query: "" }, ["query"]],
      [{ ...asked, documents: [] }, ["documents"]],
      [{ ...asked, documents: ["a", ""] }, ["documents[1]"]],
      [{ ...asked, documents: Array.from({ length: 1_001 }, () => "a") }, ["documents"]],
      [{ ...asked, documents: [{ text: "a" }] }, ["documents[0]"]],
      [{ ...asked, top_n: 0 }, ["top_n"]],
      [{ ...asked, return_documents: 1 }, ["return_documents"]],
      [{ ...asked, truncation: 1 }, ["truncation"]],
      [{ ...asked, top_k: 1 }, ["top_k"]]
    ]
    for (const [body, fields] of rows) assert.deepStrictEqual(wrong(body), fields)
  })
})

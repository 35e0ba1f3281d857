import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeEmbeddings } from "../../../src/dialects/embeddings/EmbeddingsDecode.ts"

const model = "text-embedding-3-small"

const workOf = (more: object) => Result.getOrThrow(decodeEmbeddings({ model, ...more })).work

/** Returns the fields that the error names as invalid. */
const wrong = (body: unknown): ReadonlyArray<string> => {
  const decoded = decodeEmbeddings(body)
  if (Result.isSuccess(decoded)) return []
  const { reason } = decoded.failure
  return reason._tag === "ValidationError" ? reason.problems.map(({ field }) => field) : [reason._tag]
}

describe("an embeddings request", () => {
  it("accepts inputs of four shapes, which become a list", () => {
    assert.deepStrictEqual(workOf({ input: "a" }).inputs, ["a"])
    assert.deepStrictEqual(workOf({ input: ["a", "b"] }).inputs, ["a", "b"])
    assert.deepStrictEqual(workOf({ input: [1, 0] }).inputs, [[1, 0]])
    assert.deepStrictEqual(workOf({ input: [[1], [2, 3]] }).inputs, [[1], [2, 3]])
    assert.lengthOf(workOf({ input: Array.from({ length: 5_000 }, () => 1) }).inputs, 1)
  })

  it("has defaults for the fields that it does not set", () => {
    const defaults = {
      inputs: ["a"],
      dimensions: undefined,
      format: "float",
      inputType: undefined,
      truncation: false,
      user: undefined
    } as const
    assert.deepStrictEqual(workOf({ input: "a" }), defaults)
    const nulls = { dimensions: null, encoding_format: null, input_type: null, truncation: null, user: null }
    assert.deepStrictEqual(workOf({ input: "a", ...nulls }), defaults)
    const all = { dimensions: 8, encoding_format: "base64", input_type: "query", truncation: true, user: "u" }
    assert.deepStrictEqual(workOf({ input: "a", ...all }), {
      inputs: ["a"],
      dimensions: 8,
      format: "base64",
      inputType: "query",
      truncation: true,
      user: "u"
    })
  })

  const rows: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
    [[], ["body"]],
    [{ input: "a" }, ["model"]],
    [{ model, input: "" }, ["input"]],
    [{ model }, ["input"]],
    [{ model, input: [] }, ["input"]],
    [{ model, input: 5 }, ["input"]],
    [{ model, input: [{}] }, ["input"]],
    [{ model, input: ["a", ""] }, ["input[1]"]],
    [{ model, input: ["a", 1] }, ["input[1]"]],
    [{ model, input: [1, -1] }, ["input[1]"]],
    [{ model, input: [1, 1.5] }, ["input[1]"]],
    [{ model, input: [1, "a"] }, ["input[1]"]],
    [{ model, input: [[1], []] }, ["input[1]"]],
    [{ model, input: [[1], [2, "a"]] }, ["input[1][1]"]],
    [{ model, input: [[1], 2] }, ["input[1]"]],
    [{ model, input: Array.from({ length: 2_049 }, () => "a") }, ["input"]],
    [{ model, input: Array.from({ length: 2_049 }, () => [1]) }, ["input"]],
    [{ model, input: "a", dimensions: 0 }, ["dimensions"]],
    [{ model, input: "a", dimensions: 1.5 }, ["dimensions"]],
    [{ model, input: "a", encoding_format: "int8" }, ["encoding_format"]],
    [{ model, input: "a", input_type: "text" }, ["input_type"]],
    [{ model, input: "a", truncation: "yes" }, ["truncation"]],
    [{ model, input: "a", user: "u".repeat(257) }, ["user"]],
    [{ model, input: "a", output_dimension: 8 }, ["output_dimension"]],
    [{ model: "", input: "a", dimensions: -1, more: 1 }, ["more", "model", "dimensions"]]
  ]

  it("is rejected with the names of its invalid fields", () => {
    for (const [body, fields] of rows) {
      assert.deepStrictEqual(wrong(body).toSorted(), fields.toSorted(), JSON.stringify(body).slice(0, 200))
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeWorkEstimate } from "../../src/dialects/WorkEstimate.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import { embedBound, rerankBound } from "../../src/domain/WorkSize.ts"

type Modality = Parameters<typeof decodeWorkEstimate>[1]

const decoded = (modality: Modality, body: object) =>
  decodeWorkEstimate({ model: "m", ...body }, modality, defaultPolicy)

const boundOf = (modality: Modality, body: object) => Result.getOrThrow(decoded(modality, body)).bound

const fieldsOf = (modality: Modality, body: object): ReadonlyArray<string> => {
  const result = decoded(modality, body)
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    assert.fail("the decoder accepted it")
  return result.failure.reason.problems.map(({ field }) => field)
}

describe("the bound of work other than chat", () => {
  it("is its number of units", () => {
    const units = (modality: Modality, body: object) => {
      const bound = boundOf(modality, body)
      return bound.kind === "units" ? bound.units : assert.fail("tokens")
    }
    assert.strictEqual(units("audio", { characters: 7 }), 7)
    assert.strictEqual(units("audio", { input: "a😀" }), 2)
    assert.strictEqual(units("audio", { prompt: "abc" }), 3)
    assert.strictEqual(units("image", { prompt: "a kite" }), 1)
    assert.strictEqual(units("image_edit", { n: 4 }), 4)
    assert.strictEqual(units("video", { duration: 15 }), 15)
    assert.strictEqual(units("search", {}), 1)
    assert.strictEqual(units("search", { input: ["a", "b"] }), 2)
  })

  it("is the bound of its tokens, or 125% of `input_tokens`", () => {
    const tokens = (modality: Modality, body: object) => {
      const bound = boundOf(modality, body)
      return bound.kind === "tokens" ? bound.prompt.most : assert.fail("units")
    }
    const inputs = ["cat", "a dog"]
    const query = "pets"
    assert.strictEqual(tokens("embedding", { input: inputs }), embedBound({ inputs }).most)
    assert.strictEqual(tokens("embedding", { prompt: "cat" }), embedBound({ inputs: ["cat"] }).most)
    assert.strictEqual(
      tokens("rerank", { input: query, documents: inputs }),
      rerankBound({ query, documents: inputs }).most
    )
    for (const kind of ["embedding", "rerank"] as const) {
      assert.strictEqual(tokens(kind, { input_tokens: 1_000 }), 1_250)
    }
  })

  it("fails with the names of missing, invalid and inapplicable fields", () => {
    assert.deepStrictEqual(fieldsOf("embedding", {}), ["input"])
    assert.deepStrictEqual(fieldsOf("rerank", { input: "a" }), ["documents"])
    assert.deepStrictEqual(fieldsOf("rerank", { input: ["a", "b"], documents: ["c"] }), ["input"])
    assert.deepStrictEqual(fieldsOf("audio", {}), ["characters"])
    assert.deepStrictEqual(fieldsOf("audio", { prompt: "a".repeat(4_097) }), ["prompt"])
    assert.deepStrictEqual(fieldsOf("video", { duration: 3 }), ["duration"])
    assert.deepStrictEqual(fieldsOf("image", { n: 1.5 }), ["n"])
    assert.deepStrictEqual(fieldsOf("image", { duration: 4, colour: 1 }), ["duration", "colour"])
  })
})

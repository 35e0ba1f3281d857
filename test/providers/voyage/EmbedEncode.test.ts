import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { encodeEmbeddings } from "../../../src/providers/voyage/EmbedEncode.ts"
import { embedWork, modelCall } from "../retrieval.ts"

const encode = (more: Parameters<typeof embedWork>[0]) => encodeEmbeddings(modelCall("voyage-4"), embedWork(more))

describe("an embeddings request to Voyage", () => {
  it("states whether to truncate long inputs, and a format unless it is floats", () => {
    assert.deepStrictEqual(JSON.parse(Result.getOrThrow(encode({}))), {
      model: "voyage-4",
      input: ["a cat", "a dog"],
      truncation: false
    })
    const all = { dimensions: 256, format: "base64", inputType: "document", truncation: true, user: "u" } as const
    assert.deepStrictEqual(JSON.parse(Result.getOrThrow(encode(all))), {
      model: "voyage-4",
      input: ["a cat", "a dog"],
      input_type: "document",
      truncation: true,
      output_dimension: 256,
      encoding_format: "base64"
    })
  })

  it("is rejected for token inputs and for more than 1,000 inputs", () => {
    const many = Array.from({ length: 1_001 }, () => "a")
    for (const inputs of [[[1, 2]], many]) {
      const encoded = encode({ inputs })
      assert.isTrue(Result.isFailure(encoded))
      if (Result.isFailure(encoded))
        assert.deepInclude(encoded.failure, { _tag: "Refused", status: 400, param: "input" })
    }
    assert.isTrue(Result.isSuccess(encode({ inputs: many.slice(1) })))
  })
})

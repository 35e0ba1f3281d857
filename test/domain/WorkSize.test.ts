import { assert, describe, it } from "@effect/vitest"
import { decode, encode } from "gpt-tokenizer/encoding/cl100k_base"
import { readFileSync } from "node:fs"
import { countTokens } from "../../src/domain/Tokens.ts"
import {
  countEmbed,
  countRerank,
  embedBound,
  fits,
  longestInput,
  longestPair,
  rerankBound
} from "../../src/domain/WorkSize.ts"

const small = { id: "text-embedding-3-small", vendor: "openai", modality: "embedding" } as const

const TEXT = "Straße, Ωμέγα and 😀 – whatever else people write."

describe("the tokens of embeddings", () => {
  it("are counted text by text, or equal the token ids given", () => {
    assert.strictEqual(countEmbed({ inputs: [TEXT, "cat"] }), countTokens(TEXT) + countTokens("cat"))
    assert.strictEqual(countEmbed({ inputs: [[1, 2, 3], [4]] }), 4)
    const many = Array.from({ length: 200 }, () => TEXT)
    assert.approximately(countEmbed({ inputs: many }), 200 * countTokens(TEXT), 220)
  })

  it("never exceed the bound", () => {
    for (const inputs of [[TEXT], ["a"], Array.from({ length: 200 }, () => TEXT)]) {
      assert.isAtLeast(embedBound({ inputs }).at(small), countEmbed({ inputs }))
    }
    assert.isAtLeast(embedBound({ inputs: [[1, 2, 3], [4]] }).at(small), 4)
  })

  it("of the longest input decide whether a request fits the context window", () => {
    const longest = longestInput({ inputs: ["a", "word ".repeat(100), "cat"] })
    assert.approximately(longest.tokens(), 100, 2)
    assert.deepStrictEqual([fits(longest, 500), fits(longest, 110), fits(longest, 90)], [true, true, false])
    const tokens = longestInput({ inputs: [[1], [1, 2, 3]] })
    assert.deepStrictEqual([fits(tokens, 3), fits(tokens, 2), tokens.tokens()], [true, false, 3])
  })

  it("admit a text that fills the context window by its model's tokenizer", () => {
    for (const file of ["README.md", "src/http/FailureRows.ts", "schemas/published/openapi.json"]) {
      const tokens = encode(readFileSync(file, "utf8").repeat(2))
      for (const window of [1_000, 8_191, 32_000]) {
        const text = decode(tokens.slice(0, window))
        assert.isTrue(fits(longestInput({ inputs: [text] }), encode(text).length), `${window} tokens of ${file}`)
      }
    }
  })
})

describe("the tokens of reranking", () => {
  const work = { query: "which cat?", documents: [TEXT, "cat"] }

  it("count the query once per document, plus the documents", () => {
    const counted = 2 * countTokens("which cat?") + countTokens(TEXT) + countTokens("cat")
    assert.strictEqual(countRerank(work), counted)
    assert.isAtLeast(rerankBound(work).most, counted)
  })

  it("of the query with the longest document decide whether a request fits the context window", () => {
    const longest = longestPair(work)
    assert.strictEqual(longest.tokens(), countTokens("which cat?") + countTokens(TEXT))
    assert.deepStrictEqual([fits(longest, longest.tokens()), fits(longest, longest.tokens() / 1.1)], [true, false])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { matcherOf, patternTest } from "../../src/router/ModelPatterns.ts"

describe("a model pattern", () => {
  it("matches any characters with *, including none", () => {
    const cases: ReadonlyArray<readonly [string, string, boolean]> = [
      ["gpt-4o", "gpt-4o", true],
      ["gpt-4o", "gpt-4o-mini", false],
      ["gpt-4o*", "gpt-4o", true],
      ["gpt-4o*", "gpt-4o-mini", true],
      ["*mini", "gpt-4o-mini", true],
      ["*mini", "gpt-4o-mini-2", false],
      ["gpt-*-mini", "gpt-4o-mini", true],
      ["gpt-*-mini", "gpt-mini", false],
      ["a*a", "a", false],
      ["*a*b*a*", "xaxbxax", true],
      ["*a*b*a*", "xbxax", false],
      ["a*bc*c", "abc", false],
      ["**", "", true],
      ["", "a", false],
      ["gpt.4o", "gpt-4o", false]
    ]
    for (const [pattern, text, expected] of cases) {
      assert.strictEqual(patternTest(pattern)(text), expected, `${pattern} on ${text}`)
    }
  })

  it("matches a model by its ID, or by its vendor before a slash", () => {
    const mini = { id: "gpt-4o-mini", vendor: "openai" }
    const llama = { id: "meta-llama/llama-3.3-70b-instruct", vendor: "meta-llama" }
    for (const pattern of ["gpt-4o-mini", "openai/gpt-4o-mini", "openai/*", "gpt-*", "openai/gpt-*", "*"]) {
      assert.isTrue(matcherOf(["nothing", pattern])(mini), pattern)
    }
    for (const pattern of ["openai", "openai/", "anthropic/*", "mini", "openai/mini"]) {
      assert.isFalse(matcherOf([pattern])(mini), pattern)
    }
    for (const pattern of ["meta-llama/*", "*llama-3.3*", llama.id]) assert.isTrue(matcherOf([pattern])(llama), pattern)
    assert.isFalse(matcherOf([])(mini))
  })

  it("matches a prefix by the same rule as any other pattern", () => {
    const models = ["gpt-4o", "gpt-4o-mini", "meta-llama/llama-3", "o"].flatMap((id) =>
      ["openai", "meta-llama", "o"].map((vendor) => ({ id, vendor }))
    )
    const starts = [
      "",
      "o",
      "gpt",
      "gpt-4o",
      "gpt-4o-mini-2",
      "openai",
      "openai/",
      "openai/gpt",
      "meta-llama",
      "o/o",
      "/"
    ]
    for (const start of starts) {
      const [plain, general] = [`${start}*`, `${start}**`]
      for (const model of models) {
        assert.strictEqual(matcherOf([plain])(model), matcherOf([general])(model), `${plain} ${JSON.stringify(model)}`)
      }
    }
  })

  it("is compiled once per list of a request", () => {
    const list = ["openai/*", "*mini"]
    assert.strictEqual(matcherOf(list), matcherOf(list))
    assert.notStrictEqual(matcherOf(list), matcherOf([...list]))
  })
})

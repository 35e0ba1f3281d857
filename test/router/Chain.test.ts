import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseChain, presetNamed } from "../../src/router/Chain.ts"

const chainOf = (model?: string, models?: ReadonlyArray<string>) => Result.getOrThrow(parseChain(model, models))
const tagOf = (model?: string, models?: ReadonlyArray<string>) =>
  Result.getOrThrow(Result.flip(parseChain(model, models))).reason._tag

describe("parseChain", () => {
  it("reads one id, a chain with blanks around its commas, and a list", () => {
    assert.deepStrictEqual(chainOf("a"), ["a"])
    assert.deepStrictEqual(chainOf("a, b ,c"), ["a", "b", "c"])
    assert.deepStrictEqual(chainOf(undefined, ["x/y", "b"]), ["x/y", "b"])
  })
  it("puts what model names before the list, each once", () => {
    assert.deepStrictEqual(chainOf("a", ["b", "a"]), ["a", "b"])
  })
  it("refuses a malformed chain", () => {
    for (const chain of [
      "",
      "a,",
      ",a",
      "a,,b",
      "a,b,a",
      "@p,a",
      Array.from({ length: 16 }, (_, i) => `m${i}`).join(",")
    ]) {
      assert.strictEqual(tagOf(chain), "InvalidFallbackChain", chain)
    }
    assert.strictEqual(tagOf(undefined, ["a", ""]), "InvalidFallbackChain")
  })
  it("misses the model, and takes no preset for one", () => {
    assert.strictEqual(tagOf(), "ValidationError")
    for (const [model, models] of [["@mine"], ["a", ["@mine"]], [undefined, ["@mine"]]] as const) {
      assert.strictEqual(tagOf(model, models), "InvalidFallbackChain")
    }
  })
})

describe("presetNamed", () => {
  it("is what stands alone behind an @", () => {
    assert.strictEqual(presetNamed("@mine"), "mine")
    assert.strictEqual(presetNamed(" @mine "), "mine")
    assert.strictEqual(presetNamed("@"), "")
    const blank = " ".repeat(1_000_000)
    assert.strictEqual(presetNamed(`@${blank}x${blank}`), `${blank}x`, "nor does a long one take long")
    for (const model of ["mine", "a@b", "@mine,a", "a,@mine", "", 7, null, undefined]) {
      assert.isUndefined(presetNamed(model), String(model))
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseChain, presetNamed } from "../../src/domain/Chain.ts"

const chainOf = (model?: string, models?: ReadonlyArray<string>) => Result.getOrThrow(parseChain(model, models))
const tagOf = (model?: string, models?: ReadonlyArray<string>) =>
  Result.getOrThrow(Result.flip(parseChain(model, models))).reason._tag

describe("parseChain", () => {
  it("reads one ID, a chain with spaces around its commas, and a list", () => {
    assert.deepStrictEqual(chainOf("a"), ["a"])
    assert.deepStrictEqual(chainOf("a, b ,c"), ["a", "b", "c"])
    assert.deepStrictEqual(chainOf(undefined, ["x/y", "b"]), ["x/y", "b"])
  })
  it("puts the models of `model` before the list, each once", () => {
    assert.deepStrictEqual(chainOf("a", ["b", "a"]), ["a", "b"])
  })
  it("rejects a malformed chain", () => {
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
  it("reports a missing model, and does not treat a preset as a model", () => {
    assert.strictEqual(tagOf(), "ValidationError")
    for (const [model, models] of [["@mine"], ["a", ["@mine"]], [undefined, ["@mine"]]] as const) {
      assert.strictEqual(tagOf(model, models), "InvalidFallbackChain")
    }
  })
})

describe("presetNamed", () => {
  it("returns the slug of a single entry with a leading @", () => {
    assert.strictEqual(presetNamed("@mine"), "mine")
    assert.strictEqual(presetNamed(" @mine "), "mine")
    assert.strictEqual(presetNamed("@"), "")
    const blank = " ".repeat(1_000_000)
    assert.strictEqual(presetNamed(`@${blank}x${blank}`), `${blank}x`, "a long name")
    for (const model of ["mine", "a@b", "@mine,a", "a,@mine", "", 7, null, undefined]) {
      assert.isUndefined(presetNamed(model), String(model))
    }
  })
})

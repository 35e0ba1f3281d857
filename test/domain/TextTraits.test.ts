import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { addTraits, noTraits, TRAITS } from "../../src/domain/TextTraits.ts"
import { weights } from "../../src/domain/TokenWeights.ts"

const traitsOf = (...texts: ReadonlyArray<string>): Uint32Array => {
  const traits = noTraits()
  for (const text of texts) addTraits(traits, text)
  return traits
}

const sum = (traits: Uint32Array): number => traits.reduce((total, count) => total + count, 0)

/** The number of traits that two texts do not share. */
const apart = (one: string, other: string): number => {
  const [a, b] = [traitsOf(one), traitsOf(other)]
  return a.reduce((total, count, trait) => total + Math.abs(count - b[trait]!), 0)
}

describe("the traits of a text", () => {
  it.prop("are one per character, and one more per number", [Schema.String], ([text]) => {
    assert.strictEqual(sum(traitsOf(text)), text.length + (text.match(/[0-9]+/g) ?? []).length)
  })

  it("add up over several texts", () => {
    const both = traitsOf("a cat 12", "東京 is")
    const each = traitsOf("a cat 12").map((count, trait) => count + traitsOf("東京 is")[trait]!)
    assert.deepStrictEqual(both, each)
  })

  it("differ between words and random letters, between scripts, and between common and rare characters", () => {
    for (const [one, other] of [
      ["interest", "xqzvkwpj"],
      ["camelcase", "camelCase"],
      ["привет", "γειασου"],
      ["的", "魑"],
      ["123", "1 2 3"],
      ["();", "@#~"]
    ] as const) {
      assert.isAbove(apart(one, other), 0, `${one} ${other}`)
    }
    assert.strictEqual(apart("123 456", "789 012"), 0)
  })

  it("have a weight of at least zero in every vocabulary", () => {
    for (const [vocabulary, weight] of Object.entries(weights)) {
      assert.lengthOf(weight, TRAITS, vocabulary)
      assert.isAtLeast(Math.min(...weight), 0, vocabulary)
    }
  })
})

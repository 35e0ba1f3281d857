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

/** How many traits two texts do not share. */
const apart = (one: string, other: string): number => {
  const [a, b] = [traitsOf(one), traitsOf(other)]
  return a.reduce((total, count, trait) => total + Math.abs(count - b[trait]!), 0)
}

describe("the traits of a text", () => {
  it.prop("are one for each of its characters, and one more for each number", [Schema.String], ([text]) => {
    assert.strictEqual(sum(traitsOf(text)), text.length + (text.match(/[0-9]+/g) ?? []).length)
  })

  it("of several texts are those of each", () => {
    const both = traitsOf("a cat 12", "東京 is")
    const each = traitsOf("a cat 12").map((count, trait) => count + traitsOf("東京 is")[trait]!)
    assert.deepStrictEqual(both, each)
  })

  it("tell words from random letters, scripts from each other, and common characters from rare ones", () => {
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

  it("have a weight each in every vocabulary, none of them below zero", () => {
    for (const [vocabulary, weight] of Object.entries(weights)) {
      assert.lengthOf(weight, TRAITS, vocabulary)
      assert.isAtLeast(Math.min(...weight), 0, vocabulary)
    }
  })
})

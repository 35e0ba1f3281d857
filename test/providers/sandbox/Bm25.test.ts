import { describe, expect, it } from "@effect/vitest"
import { bm25, wordsOf } from "../../../src/providers/sandbox/Bm25.ts"

describe("Bm25", () => {
  it("splits text of any script into words without case and accents", () => {
    expect(wordsOf("Café-au-lait, 2 Straßen; Ελλάδα!")).toStrictEqual(["cafe", "au", "lait", "2", "straßen", "ελλαδα"])
    expect(wordsOf(" … ")).toStrictEqual([])
  })

  it("scores by the formula", () => {
    // Two documents of two words each: a word in one of them has the rarity ln(1 + 1.5 / 1.5), and the weight 1.
    expect(bm25("apple", ["apple tree", "pear tree"])).toStrictEqual([Math.log(2), 0])
    // A word in both documents scores little, but never below zero.
    const both = bm25("tree", ["apple tree", "pear tree"])
    expect(both[0]).toBeCloseTo(Math.log(1 + 0.5 / 2.5), 12)
    expect(both[1]).toBe(both[0])
  })

  it("scores rarer words and denser texts higher, and ignores repeated query words", () => {
    const documents = ["the cat sat on the mat", "the dog sat on the log", "the cat chased the cat", "a bird sings"]
    const cats = bm25("Cat", documents)
    expect(cats[2]).toBeGreaterThan(cats[0] ?? 0)
    expect(cats[1]).toBe(0)
    const mixed = bm25("the bird", documents)
    expect(Math.max(...mixed)).toBe(mixed[3])
    expect(bm25("cat cat cat", documents)).toStrictEqual(cats)
  })

  it("scores zero without matching words", () => {
    expect(bm25("cat", [])).toStrictEqual([])
    expect(bm25("", ["a cat"])).toStrictEqual([0])
    expect(bm25("cat", ["", ""])).toStrictEqual([0, 0])
  })
})

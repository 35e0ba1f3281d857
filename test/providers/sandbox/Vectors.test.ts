import { assert, describe, it } from "@effect/vitest"
import { vectorOf } from "../../../src/providers/sandbox/Vectors.ts"

const cosine = (a: string | ReadonlyArray<number>, b: string | ReadonlyArray<number>, dimensions = 1_024) => {
  const [left, right] = [vectorOf(a, dimensions), vectorOf(b, dimensions)]
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
}

describe("the sandbox's embedding vectors", () => {
  it("have length one and the requested dimensions, and are the same for the same text", () => {
    for (const input of ["the cat sat on the mat", "!", "Ωμέγα", [1, 2, 3]]) {
      for (const dimensions of [1, 8, 1_536]) {
        const vector = vectorOf(input, dimensions)
        assert.lengthOf(vector, dimensions)
        assert.approximately(Math.hypot(...vector), 1, 1e-5)
        assert.deepStrictEqual(vectorOf(input, dimensions), vector)
      }
    }
  })

  it("are closer the more words the texts share", () => {
    const text = "the quick brown fox jumps over the lazy dog"
    const texts = [
      text,
      "the quick brown fox jumps over the lazy cat",
      "a quick brown fox ran past my lazy cat",
      "my brown cat ran away",
      "interest rates will go up again soon"
    ]
    const likeness = texts.map((one) => cosine(text, one))
    assert.deepStrictEqual(
      likeness.toSorted((a, b) => b - a),
      likeness
    )
    assert.approximately(likeness[0]!, 1, 1e-5)
    assert.isBelow(likeness[4]!, 0.2)
  })

  it("are close for forms of one word, and equal for texts in any case", () => {
    assert.isAbove(cosine("painting", "paintings"), 0.3)
    assert.isBelow(cosine("painting", "economy"), 0.1)
    assert.approximately(cosine("Cats AND Dogs", "cats and dogs"), 1, 1e-5)
  })

  it("of token lists are closer the more tokens the lists share", () => {
    assert.approximately(cosine([1, 2, 3], [3, 2, 1]), 1, 1e-5)
    assert.isAbove(cosine([1, 2, 3, 4], [1, 2, 3, 5]), cosine([1, 2, 3, 4], [1, 6, 7, 5]))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { imageTypeOf } from "../../../src/domain/ImageType.ts"
import { drawPng, drawRgba, type Drawing } from "../../../src/providers/sandbox/Drawing.ts"

const drawing: Drawing = { width: 320, height: 240, lines: ["a red kite"], seed: 7 }

/** How many pixels of two pictures of one size differ. */
const differing = (a: Uint8Array, b: Uint8Array): number => {
  let count = 0
  for (let at = 0; at < a.length; at += 4) {
    if (a[at] !== b[at] || a[at + 1] !== b[at + 1] || a[at + 2] !== b[at + 2]) count += 1
  }
  return count
}

describe("drawRgba", () => {
  it("returns every pixel, the same for the same drawing", async () => {
    const first = await drawRgba(drawing)
    assert.strictEqual(first.length, 320 * 240 * 4)
    assert.strictEqual(differing(first, await drawRgba(drawing)), 0)
  })

  it("draws the text and the seed", async () => {
    const bare = await drawRgba({ ...drawing, lines: [] })
    assert.isAbove(differing(bare, await drawRgba(drawing)), 100)
    assert.isAbove(differing(bare, await drawRgba({ ...drawing, lines: [], seed: 8_000_000 })), 10_000)
  })

  it("draws letters of many scripts distinctly", async () => {
    const pictures = await Promise.all(
      ["А", "ש", "ع", "Ժ", "Ω"].map((letter) => drawRgba({ ...drawing, lines: [letter] }))
    )
    for (const [index, picture] of pictures.entries()) {
      for (const other of pictures.slice(index + 1)) assert.isAbove(differing(picture, other), 5)
    }
  })

  it("stays within the picture, whatever the text is", async () => {
    const markup = { ...drawing, lines: [`</text><rect width="320" height="240" fill="#f0f"/>&amp;<!--`] }
    assert.isBelow(differing(await drawRgba({ ...drawing, lines: [] }), await drawRgba(markup)), 20_000)
    for (const text of [
      "]]>",
      "\u0000\u0008\uD800\uFFFF",
      "word ".repeat(20_000),
      "x".repeat(100_000),
      "😀".repeat(5_000)
    ]) {
      assert.strictEqual((await drawRgba({ ...drawing, lines: [text] })).length, 320 * 240 * 4)
    }
  })

  it("leaves out the background when it is transparent", async () => {
    const clear = await drawRgba({ ...drawing, lines: [], transparent: true })
    assert.isTrue(clear.every((byte) => byte === 0))
  })
})

describe("drawPng", () => {
  it("returns a PNG", async () => {
    assert.strictEqual(imageTypeOf(await drawPng(drawing)), "image/png")
  })
})

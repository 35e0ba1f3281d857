import { assert, describe, it } from "@effect/vitest"
import { IMAGE_HEAD_BYTES, imageTypeOf, inlineImage } from "../../src/domain/ImageType.ts"

const heads = {
  "image/png": "89504e470d0a1a0a0000000d",
  "image/jpeg": "ffd8ffe000104a4649460001",
  "image/gif": "474946383961010001008000",
  "image/webp": "524946462400000057454250"
}
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))

describe("imageTypeOf", () => {
  it("recognizes an image by its first bytes, and needs no more than IMAGE_HEAD_BYTES", () => {
    for (const [type, hex] of Object.entries(heads)) {
      assert.strictEqual(hex.length, 2 * IMAGE_HEAD_BYTES)
      assert.strictEqual(imageTypeOf(bytes(hex)), type)
      assert.strictEqual(imageTypeOf(bytes(`${hex}000000`)), type)
    }
    assert.strictEqual(imageTypeOf(bytes("474946383761")), "image/gif")
  })
  it("returns undefined for any other data", () => {
    const others = [
      "",
      "ff",
      "ffd8",
      "89504e47",
      "474946383861",
      "3c73766720",
      "25504446",
      "424d",
      "0000001c667479706865"
    ]
    // Other kinds of RIFF files are videos or sounds.
    for (const hex of [...others, "524946462400000057415645", "5249464624000000"]) {
      assert.isUndefined(imageTypeOf(bytes(hex)), hex)
    }
  })
})

describe("inlineImage", () => {
  it("splits a data URL into data and type, and corrects the type by the bytes", () => {
    assert.deepStrictEqual(inlineImage("data:image/png;base64,AA+/=="), { type: "image/png", data: "AA+/==" })
    assert.deepStrictEqual(inlineImage("DATA:image/JPG;BASE64,AAAA"), { type: "image/jpeg", data: "AAAA" })
    const png = Buffer.from("89504e470d0a1a0a0000000d", "hex").toString("base64")
    assert.deepStrictEqual(inlineImage(`data:image/jpeg;base64,${png}`), { type: "image/png", data: png })
  })
})

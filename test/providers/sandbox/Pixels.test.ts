import { assert, describe, it } from "@effect/vitest"
import { drawPng } from "../../../src/providers/sandbox/Drawing.ts"
import { pixelsOf } from "../../../src/providers/sandbox/Pixels.ts"

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex")

describe("pixelsOf", () => {
  it("reads the size from the header of an image", async () => {
    assert.strictEqual(pixelsOf(await drawPng({ width: 30, height: 20, lines: [], seed: 1 })), 600)
    assert.strictEqual(pixelsOf(Buffer.concat([Buffer.from("GIF89a"), hex("0300 0500 0000")])), 15)
    // Two bytes of an application's data, a fill byte, and a frame of 300 by 200.
    assert.strictEqual(pixelsOf(hex("ffd8 ffe0 0004 0000 ffff c2 0011 08 00c8 012c 03")), 60_000)
  })

  it("returns undefined when the header lacks the size", () => {
    for (const head of [
      "89504e470d0a1a0a0000000d",
      "474946383961 0300",
      "ffd8ff",
      "ffd8 ffda 0008 0000 0000 0000 0000",
      "52494646 00000000 57454250",
      "00"
    ]) {
      assert.isUndefined(pixelsOf(hex(head)), head)
    }
  })
})

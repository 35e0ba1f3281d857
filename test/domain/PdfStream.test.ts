import { assert, describe, it } from "@effect/vitest"
import { deflateSync } from "node:zlib"
import { decodeStream } from "../../src/domain/PdfStream.ts"

const MOST = 100_000
const text = "Many words, and many words more. ".repeat(300)
const plain = Buffer.from(text)
const decoded = (data: Buffer, filter: string | ReadonlyArray<string> | undefined, parameters?: object) =>
  decodeStream(data, filter, parameters === undefined ? undefined : new Map(Object.entries(parameters)), MOST)

/** Encodes as specified, with codes of 9 to 12 bits. */
const lzw = (data: Buffer, early: number): Buffer => {
  let bits = ""
  let table = new Map<string, number>()
  let width = 9
  const clear = () => {
    table = new Map(Array.from({ length: 256 }, (_, code) => [String.fromCharCode(code), code]))
    width = 9
  }
  const put = (code: number) => (bits += code.toString(2).padStart(width, "0"))
  clear()
  put(256)
  let [next, held] = [258, ""]
  for (const character of data.toString("latin1")) {
    if (table.has(held + character)) {
      held += character
      continue
    }
    put(table.get(held)!)
    table.set(held + character, next++)
    if (next + early > 1 << width) width += 1
    if (next === 4_094) {
      put(256)
      clear()
      next = 258
    }
    held = character
  }
  put(table.get(held)!)
  put(257)
  return Buffer.from(
    (bits.padEnd(Math.ceil(bits.length / 8) * 8, "0").match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2))
  )
}

const ascii85 = (data: Buffer): Buffer => {
  let out = ""
  for (let at = 0; at < data.length; at += 4) {
    const part = data.subarray(at, at + 4)
    let value = Buffer.concat([part, Buffer.alloc(4 - part.length)]).readUInt32BE()
    if (value === 0 && part.length === 4) {
      out += "z"
      continue
    }
    let group = ""
    for (let place = 0; place < 5; place++) {
      group = String.fromCharCode(33 + (value % 85)) + group
      value = Math.floor(value / 85)
    }
    out += `${group.slice(0, part.length + 1)}\n`
  }
  return Buffer.from(`${out}~>`)
}

describe("a stream of a PDF file", () => {
  it("is decoded through every data filter", () => {
    const deflated = deflateSync(plain)
    assert.deepStrictEqual(decoded(plain, undefined), plain)
    assert.deepStrictEqual(decoded(Buffer.concat([deflated, Buffer.from("\nendstream")]), "FlateDecode"), plain)
    assert.deepStrictEqual(decoded(Buffer.from(`${plain.toString("hex")}>`), ["ASCIIHexDecode"]), plain)
    assert.deepStrictEqual(decoded(ascii85(deflated), ["ASCII85Decode", "FlateDecode"]), plain)
    assert.deepStrictEqual(
      decoded(Buffer.from([2, 97, 98, 99, 254, 100, 128, 1]), "RunLengthDecode"),
      Buffer.from("abcddd")
    )
    for (let length = 0; length < 9; length++) {
      const some = Buffer.concat([Buffer.alloc(4), plain.subarray(0, length)])
      assert.deepStrictEqual(decoded(ascii85(some), "A85"), some)
    }
    const varied = Buffer.from(Array.from({ length: 20_000 }, (_, index) => (index * index * 7) % 251))
    assert.deepStrictEqual(decoded(lzw(varied, 1), "LZWDecode"), varied)
    assert.deepStrictEqual(decoded(lzw(varied, 0), "LZWDecode", { EarlyChange: 0 }), varied)
  })

  it("is decoded with a predictor", () => {
    const rows = [
      [0, 1, 2, 3],
      [1, 1, 1, 1],
      [2, 1, 1, 1],
      [3, 1, 1, 1],
      [4, 1, 1, 1]
    ]
    const predicted = deflateSync(Buffer.from(rows.flat()))
    const expected = [1, 2, 3, 1, 2, 3, 2, 3, 4, 2, 3, 4, 3, 4, 5]
    assert.deepStrictEqual([...decoded(predicted, "FlateDecode", { Predictor: 12, Columns: 3 })!], expected)
    assert.isUndefined(decoded(predicted, "FlateDecode", { Predictor: 2 }))
  })

  it("is decoded up to the point where its data is truncated", () => {
    const half = deflateSync(plain).subarray(0, 60)
    const begun = decoded(half, "FlateDecode")
    assert.isDefined(begun)
    assert.isTrue(text.startsWith(begun!.toString()))
  })

  it("is not decoded with an unknown filter, with invalid data or beyond the size limit", () => {
    assert.isUndefined(decoded(plain, "DCTDecode"))
    assert.isUndefined(decoded(plain, "Crypt"))
    assert.isUndefined(decoded(plain, "FlateDecode"))
    assert.isUndefined(decoded(Buffer.from([255, 255, 255]), "LZWDecode"))
    assert.isUndefined(decoded(deflateSync(Buffer.alloc(MOST + 1)), "FlateDecode"))
    assert.isUndefined(decoded(Buffer.alloc(2_000, 129), "RunLengthDecode"))
    assert.isUndefined(decoded(lzw(Buffer.alloc(MOST + 1), 1), "LZWDecode"))
    assert.isUndefined(decoded(Buffer.alloc(MOST + 1), undefined))
    assert.isUndefined(decoded(plain, ["A85", "A85", "A85", "A85", "A85"]))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { EmbedPieces } from "../../../src/providers/wire/EmbedPieces.ts"
import { Random, seeds } from "../../ledger/Random.ts"

const asked = (count: number, format: "float" | "base64" = "float") =>
  ({ inputs: Array.from({ length: count }, () => "a"), format }) as const

const vectors = (count: number, width = 3) =>
  Array.from(
    { length: count },
    (_, index) =>
      `{"object":"embedding","index":${index},"embedding":[${Array.from({ length: width }, () => "-0.25").join()}]}`
  )

/** The result of reading an answer in pieces of these lengths. */
const read = (text: string, lengths: () => number, pieces = new EmbedPieces(asked(3))) => {
  const bytes = Buffer.from(text)
  const given: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length && !pieces.wrong;) {
    const length = lengths()
    given.push(...pieces.push(bytes.subarray(at, at + length)))
    at += length
  }
  return { given: Buffer.concat(given).toString(), wrong: pieces.wrong, end: pieces.end() }
}

const answer = (list: string, behind = `,"model":"m","usage":{"prompt_tokens":5,"total_tokens":5}}`) =>
  `{"object":"list","data":${list}${behind}`

describe("a list of embeddings that arrives in pieces", () => {
  for (const seed of seeds(20)) {
    it(`is passed on completely however it is split (seed ${seed})`, () => {
      const random = new Random(seed)
      const blank = () => [" ", "\n", "", "", ""][random.below(5)]!
      const list = `[${blank()}${vectors(3, 1 + random.below(40)).join(`${blank()},${blank()}`)}${blank()}]`
      const most = 1 + random.below(200)
      const { end, given, wrong } = read(answer(list), () => 1 + random.below(most))
      assert.deepStrictEqual([wrong, end], [false, { tokens: 5 }])
      // The closing bracket, and whitespace before it, are left to the caller that knows that the answer is complete.
      assert.strictEqual(`${given}]`, `${list.slice(0, -1).trimEnd()}]`)
      assert.lengthOf(JSON.parse(`${given}]`), 3)
    })
  }

  it("is passed on before its end, and only in complete vectors", () => {
    const pieces = new EmbedPieces(asked(3))
    const [first = "", second = ""] = vectors(3)
    const push = (text: string) => Buffer.concat(pieces.push(Buffer.from(text))).toString()
    assert.strictEqual(push(`{"data":[${first.slice(0, 20)}`), "")
    assert.strictEqual(push(`${first.slice(20)},${second.slice(0, 5)}`), `[${first}`)
    assert.strictEqual(push(second.slice(5)), `,${second}`)
    assert.isUndefined(pieces.end())
  })

  it("accepts wide vectors in large chunks", () => {
    const wide = vectors(3, 20_000)
    const { end, given } = read(answer(`[${wide.join()}]`), () => 230_000)
    assert.deepStrictEqual([given.length, end], [wide.join().length + 1, { tokens: 5 }])
  })

  it("accepts vectors in base64", () => {
    const list = `[{"object":"embedding","index":0,"embedding":"AACAPw=="}]`
    const { end, given } = read(answer(list, "}"), () => 7, new EmbedPieces(asked(1, "base64")))
    assert.deepStrictEqual([`${given}]`, end], [list, { tokens: undefined }])
  })

  it("is reported as invalid when out of order, of the wrong length, with other fields, without a list, or without an end", () => {
    const [first = "", second = "", third = ""] = vectors(3)
    const wrong = [
      answer(`[${second},${first},${third}]`),
      answer(`[${first},${second},${third},${third}]`),
      answer(`[${first},${second}]`),
      answer(`[${first},${second},${third.replace("object", "other")}]`),
      answer(`[${first} ${second}]`),
      answer("7"),
      answer("[]"),
      answer(`[{"object":"embedding","index":0,"embedding":[1e999]}]`),
      `{"usage":{},"data":[${first},${second},${third}]}`,
      `{"error":{"message":"busy"}}`
    ]
    for (const text of wrong) {
      const { end } = read(text, () => 11)
      assert.isUndefined(end, text)
    }
    for (const behind of ["", "}x", ',"usage":}']) {
      assert.isUndefined(read(answer(`[${first},${second},${third}]`, behind), () => 11).end, behind)
    }
  })

  it("is rejected when it continues without a complete vector", () => {
    const endless = `{"data":[{"object":"embedding","index":0,"embedding":[${"1,".repeat(200_000)}`
    assert.isTrue(read(endless, () => 65_536).wrong)
    assert.isTrue(read(`{"x":"${"a".repeat(100_000)}`, () => 4_096).wrong)
  })
})

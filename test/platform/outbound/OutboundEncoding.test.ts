import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import type { OutboundStream } from "../../../src/platform/outbound/OutboundCall.ts"
import {
  codecOf,
  plainStream,
  unpackedAnswer,
  unpackedStream
} from "../../../src/platform/outbound/OutboundEncoding.ts"

const text = `{"words":"${"Grüß dich ".repeat(200)}"}`
const packs = {
  gzip: gzipSync(text),
  zstd: zstdCompressSync(text),
  br: brotliCompressSync(text),
  deflate: deflateSync(text),
  "deflate-raw": deflateRawSync(text)
} as const

/** A stream of these pieces. */
const streamOf = (pieces: ReadonlyArray<Uint8Array>, headers: Record<string, string> = {}): OutboundStream => {
  const left = [...pieces]
  const read = Effect.sync(() => left.shift())
  return { status: 200, headers, read, each: () => Effect.succeed(false), started: () => {}, finished: () => {} }
}

/** The whole content of a stream. */
const allOf = Effect.fnUntraced(function* ({ each }: OutboundStream) {
  const pieces: Array<Uint8Array> = []
  assert.isFalse(yield* each((bytes) => pieces.push(bytes) > 0))
  return Buffer.concat(pieces).toString()
})

describe("the compression of a body", () => {
  it("is detected from its first bytes, whatever its headers say", () => {
    for (const headers of [{}, { "content-encoding": "br" }, { "content-encoding": "identity" }]) {
      assert.strictEqual(codecOf(headers, packs.gzip, true), "gzip")
      assert.strictEqual(codecOf(headers, packs.zstd, false), "zstd")
      for (const plain of ["data: 1\n\n", '{"a":1}', ' [ {"a":1}]', "[]", ": hi", "\uFEFFevent: a\n"]) {
        assert.isUndefined(codecOf(headers, Buffer.from(plain), true), plain)
      }
    }
  })

  it("is taken from the header when the codec has no magic number", () => {
    assert.strictEqual(codecOf({ "content-encoding": "br" }, packs.br, false), "br")
    assert.strictEqual(codecOf({ "content-encoding": "Deflate" }, packs.deflate, false), "deflate")
    assert.strictEqual(codecOf({ "content-encoding": "deflate" }, packs["deflate-raw"], false), "deflate-raw")
  })

  it("is assumed to be Brotli when text is expected and the body is not text", () => {
    assert.strictEqual(codecOf({}, packs.br, true), "br")
    assert.isUndefined(codecOf({}, packs.br, false))
    assert.isUndefined(codecOf({}, Buffer.from("<html>"), true))
  })
})

describe("a compressed body", () => {
  for (const [codec, pack] of Object.entries(packs)) {
    const named = { "content-encoding": codec === "deflate-raw" ? "deflate" : codec }

    it.effect(`is decompressed as a whole: ${codec}`, () =>
      Effect.gen(function* () {
        const answer = { status: 200, headers: named, body: pack }
        const { body } = yield* unpackedAnswer(answer, 10_000, true)
        assert.strictEqual(Buffer.from(body).toString(), text)
        const long = yield* Effect.flip(unpackedAnswer(answer, 100, true))
        assert.deepStrictEqual(long.reason, { _tag: "TooLarge", limitBytes: 100 })
        const cut = yield* Effect.flip(unpackedAnswer({ ...answer, body: pack.subarray(0, 20) }, 10_000, true))
        assert.strictEqual(cut.reason._tag, "Broken")
      })
    )

    it.effect(`is decompressed piece by piece, to its end: ${codec}`, () =>
      Effect.gen(function* () {
        const pieces = [...pack].map((_, at) => pack.subarray(at, at + 1))
        const [start = pack, ...rest] = pieces
        const stream = unpackedStream(streamOf(rest, named), start, codec as keyof typeof packs)
        assert.strictEqual(yield* allOf(stream), text)
        assert.isUndefined(yield* stream.read)
        const cut = unpackedStream(streamOf([pack.subarray(1, 20)]), start, codec as keyof typeof packs)
        assert.strictEqual((yield* Effect.flip(allOf(cut))).reason._tag, "Broken")
        const plain = yield* plainStream(streamOf([pack], named))
        assert.strictEqual(yield* allOf(plain), text)
      })
    )
  }

  it.effect("is distinguished from an uncompressed body, which stays unchanged", () =>
    Effect.gen(function* () {
      const pieces = [Buffer.from("a"), Buffer.from("b")]
      assert.strictEqual(yield* allOf(yield* plainStream(streamOf(pieces))), "ab")
      const none = yield* plainStream(streamOf([]))
      assert.isUndefined(yield* none.read)
    })
  )

  it.effect("fails when it decompresses beyond the limit", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024))
      const error = yield* Effect.flip(allOf(unpackedStream(streamOf([]), bomb, "gzip")))
      assert.strictEqual(error.reason._tag, "TooLarge")
    })
  )
})

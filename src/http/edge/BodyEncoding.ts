/** Decompresses request bodies. */
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib"
import { type Failure, failure } from "../../domain/Failure.ts"

/** The compression of a body, by its `Content-Encoding`. */
export type Encoding = "gzip" | "deflate" | "br" | "zstd"

const NAMES: ReadonlyMap<string, Encoding | undefined> = new Map([
  ["", undefined],
  ["identity", undefined],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
  ["zstd", "zstd"]
])

/** The encoding of a body; undefined for an uncompressed one. Rejects unknown encodings, and several at once. */
export const encodingOf = (named: string | undefined): Result.Result<Encoding | undefined, Failure> => {
  const name = (named ?? "").trim().toLowerCase()
  return NAMES.has(name)
    ? Result.succeed(NAMES.get(name))
    : Result.fail(failure({ _tag: "UnsupportedMediaType", wanted: "it is, or with one of gzip, deflate, br and zstd" }))
}

/** Clients send deflate with and without the header that its standard requires. */
const hasHead = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0

const unpackerOf = (encoding: Encoding, bytes: Uint8Array): Duplex => {
  switch (encoding) {
    case "gzip":
      return createGunzip()
    case "br":
      return createBrotliDecompress()
    case "zstd":
      return createZstdDecompress()
    case "deflate":
      return hasHead(bytes) ? createInflate() : createInflateRaw()
  }
}

/**
 * Decompresses a body chunk by chunk. `keep` takes each chunk or returns a failure, which ends the work: a small body may decompress to
 * far more than the available memory.
 */
export const unpack = (
  bytes: Uint8Array,
  encoding: Encoding,
  keep: (piece: Uint8Array) => Failure | undefined
): Effect.Effect<void, Failure> =>
  Effect.callback((resume) => {
    const through = unpackerOf(encoding, bytes)
    const stop = (failed: Failure) => {
      through.destroy()
      resume(Effect.fail(failed))
    }
    through.on("data", (piece: Uint8Array) => {
      const failed = keep(piece)
      if (failed !== undefined) stop(failed)
    })
    through.on("end", () => resume(Effect.void))
    through.on("error", () => stop(failure({ _tag: "InvalidJson", detail: `it is not valid ${encoding}` })))
    through.end(bytes)
    return Effect.sync(() => through.destroy())
  })

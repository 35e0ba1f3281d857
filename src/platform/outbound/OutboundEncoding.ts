/**
 * Decompresses bodies that a host compresses although the gateway did not ask for it. The first bytes of a body identify its
 * compression.
 */
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import {
  brotliDecompress,
  type CompressCallback,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzip,
  inflate,
  inflateRaw,
  zstdDecompress
} from "node:zlib"
import {
  codeOf,
  headerOf,
  OutboundError,
  type OutboundHeaders,
  type OutboundResponse,
  type OutboundStream
} from "./OutboundCall.ts"

export type Codec = "gzip" | "br" | "zstd" | "deflate" | "deflate-raw"

/** The number of bytes that is enough to identify every codec and any text. */
export const SNIFF_BYTES = 16

/** Matches the start of JSON and of server-sent events. A Brotli body can start with `[` as well. */
const TEXT_BEGINS = /^(?:\xEF\xBB\xBF)?\s*(?:$|[{:"]|\[\s*(?:$|[[{"\]\d])|data|event|id|retry)/

const beginsAsText = (start: Uint8Array): boolean =>
  TEXT_BEGINS.test(Buffer.from(start.buffer, start.byteOffset, Math.min(start.length, SNIFF_BYTES)).toString("latin1"))

/** Whether no text starts with this byte. */
const beginsNoText = (byte: number): boolean => byte < 0x09 || (byte > 0x0d && byte < 0x20) || byte > 0x7e

/**
 * The compression of a body that starts with these bytes; undefined for an uncompressed body, whatever its headers say. Brotli and
 * deflate have no magic number: the function believes the header where the body is not text. In place of a text (`isText`), it also
 * detects Brotli without a header.
 */
export const codecOf = (headers: OutboundHeaders, start: Uint8Array, isText: boolean): Codec | undefined => {
  const [first, second] = start
  if (first === undefined || second === undefined) return undefined
  if (first === 0x1f && second === 0x8b) return "gzip"
  if (first === 0x28 && second === 0xb5 && start[2] === 0x2f && start[3] === 0xfd) return "zstd"
  const named = headerOf(headers, "content-encoding")?.trim().toLowerCase()
  if (named === "br") return beginsAsText(start) ? undefined : "br"
  if (named === "deflate" && !beginsAsText(start)) {
    const hasHead = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
    return hasHead ? "deflate" : "deflate-raw"
  }
  return isText && first !== 0xef && beginsNoText(first) ? "br" : undefined
}

const unpackers: Readonly<Record<Codec, () => Duplex>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
  deflate: createInflate,
  "deflate-raw": createInflateRaw
}

type Unpack = (body: Uint8Array, options: { readonly maxOutputLength: number }, done: CompressCallback) => void

const wholeUnpackers: Readonly<Record<Codec, Unpack>> = {
  gzip: gunzip,
  br: brotliDecompress,
  zstd: zstdDecompress,
  deflate: inflate,
  "deflate-raw": inflateRaw
}

const failureOf = (error: Error, limitBytes: number): OutboundError => {
  const detail = codeOf(error)
  return new OutboundError({
    reason:
      detail === "ERR_BUFFER_TOO_LARGE" ? { _tag: "TooLarge", limitBytes } : { _tag: "Broken", detail, answered: true }
  })
}

/** A complete response with its body decompressed, up to the size limit. */
export const unpackedAnswer = (
  answer: OutboundResponse,
  limitBytes: number,
  isText: boolean
): Effect.Effect<OutboundResponse, OutboundError> => {
  const codec = codecOf(answer.headers, answer.body, isText)
  if (codec === undefined) return Effect.succeed(answer)
  return Effect.callback((resume) => {
    wholeUnpackers[codec](answer.body, { maxOutputLength: limitBytes }, (error, body) =>
      resume(error === null ? Effect.succeed({ ...answer, body }) : Effect.fail(failureOf(error, limitBytes)))
    )
  })
}

/** The largest size that one chunk of a stream may decompress to, in bytes. */
const MAX_PIECE_BYTES = 16 * 1024 * 1024

/** Decompresses chunk by chunk. It returns the output that one chunk completes before it takes the next. */
class Unpacker {
  readonly #through: Duplex
  #out: Array<Uint8Array> = []
  #length = 0
  #error: OutboundError | undefined
  #wake: (() => void) | undefined

  constructor(codec: Codec) {
    this.#through = unpackers[codec]()
    this.#through.on("data", (piece: Uint8Array) => {
      this.#out.push(piece)
      this.#length += piece.length
      if (this.#length > MAX_PIECE_BYTES) {
        this.#fail(new OutboundError({ reason: { _tag: "TooLarge", limitBytes: MAX_PIECE_BYTES } }))
      }
    })
    this.#through.on("error", (error) => this.#fail(failureOf(error, MAX_PIECE_BYTES)))
    this.#through.on("end", () => this.#woken())
  }

  push(piece: Uint8Array): Effect.Effect<Uint8Array, OutboundError> {
    return this.#after(() =>
      this.#through.write(piece, (error) => (error ? this.#fail(failureOf(error, MAX_PIECE_BYTES)) : this.#woken()))
    )
  }

  /** The output that the end of the body completes. */
  readonly end: Effect.Effect<Uint8Array, OutboundError> = Effect.suspend(() => this.#after(() => this.#through.end()))

  #after(act: () => void): Effect.Effect<Uint8Array, OutboundError> {
    return Effect.callback((resume) => {
      const wake = () => resume(this.#error === undefined ? Effect.succeed(this.#take()) : Effect.fail(this.#error))
      this.#wake = wake
      if (this.#error === undefined) act()
      else this.#woken()
      return Effect.sync(() => void this.#through.destroy())
    })
  }

  #take(): Uint8Array {
    // Also returns output that is ready and only waits for its turn of the event loop.
    while (this.#through.read() !== null);
    const all = Buffer.concat(this.#out)
    this.#out = []
    this.#length = 0
    return all
  }

  #fail(error: OutboundError): void {
    this.#error ??= error
    this.#through.destroy()
    this.#woken()
  }

  #woken(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

/** A stream with its body decompressed. `start` has already been read from it. */
export const unpackedStream = (stream: OutboundStream, start: Uint8Array, codec: Codec): OutboundStream => {
  const unpacker = new Unpacker(codec)
  let first: Uint8Array | undefined = start
  let over = false
  const read: OutboundStream["read"] = Effect.suspend(() => {
    if (over) return Effect.undefined
    const chunk = first
    first = undefined
    const packed = chunk === undefined ? stream.read : Effect.succeed(chunk)
    const unpacked = Effect.flatMap(packed, (bytes) => {
      over = bytes === undefined
      return bytes === undefined ? unpacker.end : unpacker.push(bytes)
    })
    return Effect.flatMap(unpacked, (bytes) => (bytes.length > 0 ? Effect.succeed(bytes) : read))
  })
  return readBy(stream, read)
}

/** A stream with an `each` that uses the given `read`. */
const readBy = (stream: OutboundStream, read: OutboundStream["read"]): OutboundStream => {
  const each: OutboundStream["each"] = (take) =>
    Effect.flatMap(read, (bytes) => {
      if (bytes === undefined) return Effect.succeed(false)
      return take(bytes) ? each(take) : Effect.succeed(true)
    })
  const { finished, started, status } = stream
  const { "content-encoding": _, ...headers } = stream.headers
  return { status, headers, read, each, started, finished }
}

/** A stream after its beginning has been read. */
export const resumedStream = (stream: OutboundStream, start: Uint8Array): OutboundStream => {
  let first: Uint8Array | undefined = start
  return readBy(
    stream,
    Effect.suspend(() => {
      const chunk = first
      first = undefined
      return chunk === undefined ? stream.read : Effect.succeed(chunk)
    })
  )
}

/** A stream with its body decompressed if it is compressed. Waits for the first bytes. */
export const plainStream = (stream: OutboundStream): Effect.Effect<OutboundStream, OutboundError> =>
  Effect.map(stream.read, (start) => {
    if (start === undefined) return stream
    const codec = codecOf(stream.headers, start, false)
    return codec === undefined ? resumedStream(stream, start) : unpackedStream(stream, start, codec)
  })

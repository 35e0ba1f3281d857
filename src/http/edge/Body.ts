import { Effect, Result, Stream } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import { exactInputs } from "../../domain/ExactJson.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import type { ApiRequest } from "./ApiRequest.ts"
import { type BodyBudget, NodeBodyBudget } from "./BodyBudget.ts"
import { type Encoding, encodingOf, unpack } from "./BodyEncoding.ts"

/** The largest request body the gateway accepts: 32 MiB, enough for a conversation with inline images. */
export const MAX_BODY_BYTES = 32 * 1_048_576

/** The maximum nesting depth of a body. It allows code that walks a value to recurse. */
const MAX_DEPTH = 256

/** The maximum number of members of an object. One with a million takes seconds to parse, and again in all code that walks it. */
const MAX_MEMBERS = 10_000

const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined || /^application\/([a-z0-9.+-]+\+)?json\s*(;|$)/i.test(contentType)

/** The failure of reading a body, if the client caused it. */
export const bodyFailure = (error: unknown): Failure | undefined => {
  if (!HttpServerError.isHttpServerError(error) || error.reason._tag !== "RequestParseError") return undefined
  return error.reason.reason === "BodyTooLarge"
    ? failure({ _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES })
    : lost
}

const unreadable = (detail: string): Failure => failure({ _tag: "InvalidJson", detail })

/** Whether `what` occurs more than `more` times in a text. */
const occurs = (text: string, what: string, more: number): boolean => {
  let left = more
  for (let at = text.indexOf(what); at !== -1; at = text.indexOf(what, at + 1)) if (left-- === 0) return true
  return false
}

/** Having more brackets than levels does not prove depth, but having fewer rules it out, and counting is fast. */
const mayBeDeep = (text: string): boolean => occurs(text, "[", MAX_DEPTH / 2) || occurs(text, "{", MAX_DEPTH / 2)

/** The end of the string that starts at `start`. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end
    while (first > start && text[first - 1] === "\\") first--
    if ((end - first) % 2 === 0) return end
  }
  return text.length
}

/** Whether an object of a JSON text has too many members, found without parsing it. */
const isCrowded = (text: string): boolean => {
  if (!occurs(text, ":", MAX_MEMBERS)) return false
  const around: Array<number> = []
  let members = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at + 1)
        break
      case "{":
      case "[":
        around.push(members)
        members = 0
        break
      case "}":
      case "]":
        members = around.pop() ?? 0
        break
      case ":":
        if (++members > MAX_MEMBERS) return true
    }
  }
  return false
}

const isDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((one) =>
      Object.values(one as object).filter((member) => typeof member === "object" && member)
    )
    if (level.length === 0) return false
  }
  return true
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const parse = (bytes: Uint8Array): Effect.Effect<unknown, Failure> => {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return Effect.fail(unreadable("it is not UTF-8"))
  }
  if (text.trim() === "") return Effect.fail(unreadable("it is empty"))
  try {
    if (isCrowded(text))
      return Effect.fail(
        invalid("body", `must have at most ${MAX_MEMBERS.toLocaleString("en-US")} members in each object`)
      )
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && mayBeDeep(text) && isDeep(value)) {
      return Effect.fail(unreadable(`it is nested more than ${MAX_DEPTH} levels deep`))
    }
    return Effect.succeed(exactInputs(text, value))
  } catch (error) {
    // The parser's message quotes the text around the fault. Its first clause names the position without quoting.
    const detail =
      error instanceof Error ? error.message.replace(/, "?\.{3}[\s\S]*$|, "[\s\S]*$/, "") : "it cannot be parsed"
    return Effect.fail(unreadable(detail))
  }
}

const tooLarge = (limitBytes: number): Failure => failure({ _tag: "RequestTooLarge", limitBytes })
const overloaded = failure({ _tag: "Overloaded" })
const lost = unreadable("it could not be read")

/** The initial buffer for a body that arrives in pieces. It doubles as more arrives. */
const FIRST_ROOM = 16_384

/**
 * The received part of one body. It takes from the budget what has arrived, not the announced length; otherwise a client that announces
 * much and sends nothing would use the budget up. The first chunk, which is usually the only one, is kept as it is. When a second one
 * arrives, all chunks are copied into one buffer, because a client may send chunks so small that each takes far more memory than its
 * bytes.
 */
class Received {
  readonly #budget: BodyBudget
  readonly #limitBytes: number
  #room: Uint8Array = empty
  #taken = 0

  constructor(budget: BodyBudget, limitBytes: number) {
    this.#budget = budget
    this.#limitBytes = limitBytes
  }

  /** Keeps one more chunk, or returns the failure. */
  keep(piece: Uint8Array): Failure | undefined {
    const bytes = this.#taken + piece.length
    if (bytes > this.#limitBytes) return tooLarge(this.#limitBytes)
    if (!this.#budget.take(piece.length)) return overloaded
    if (this.#taken === 0) this.#room = piece
    else this.#append(piece)
    this.#taken = bytes
    return undefined
  }

  #append(piece: Uint8Array): void {
    const bytes = this.#taken + piece.length
    if (bytes > this.#room.length) {
      const wider = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#room.length, FIRST_ROOM))
      wider.set(this.#room.subarray(0, this.#taken))
      this.#room = wider
    }
    this.#room.set(piece, this.#taken)
  }

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#taken)
  }

  /** Returns to the budget what was taken from it. */
  drop(): void {
    this.#budget.give(this.#taken)
    this.#taken = 0
  }
}

const empty = new Uint8Array()

/** Processes the complete body while its budget is still taken. It never throws. */
type Made<A> = (bytes: Uint8Array) => Effect.Effect<A, Failure>

/** Reads Node's own stream, because a stream of effects around it costs more than everything else that an ordinary body needs. */
const receiveDirect = <A>(source: IncomingMessage, received: Received, made: Made<A>): Effect.Effect<A, Failure> =>
  Effect.callback((resume) => {
    const leave = () => {
      source.off("data", onData).off("end", onEnd).off("error", onLost).off("close", onLost)
      received.drop()
    }
    const onEnd = () => {
      const whole = made(received.bytes)
      leave()
      resume(whole)
    }
    const stop = (failed: Failure) => {
      leave()
      source.pause()
      resume(Effect.fail(failed))
    }
    const onLost = () => stop(lost)
    const onData = (piece: Buffer) => {
      const failed = received.keep(piece)
      if (failed !== undefined) stop(failed)
    }
    if (source.destroyed) return stop(lost)
    source.on("end", onEnd).on("error", onLost).on("close", onLost).on("data", onData)
    return Effect.sync(leave)
  })

const receiveStream = <A>(
  stream: HttpServerRequest.HttpServerRequest["stream"],
  received: Received,
  made: Made<A>
): Effect.Effect<A, Failure> =>
  stream.pipe(
    Stream.mapError((error) => bodyFailure(error) ?? lost),
    Stream.runForEachArray((pieces) => {
      for (const piece of pieces) {
        const failed = received.keep(piece)
        if (failed !== undefined) return Effect.fail(failed)
      }
      return Effect.void
    }),
    Effect.flatMap(() => made(received.bytes)),
    Effect.ensuring(Effect.sync(() => received.drop()))
  )

/** The used parts of a request: of an operation's, or of the platform's. */
export type Arrived = Pick<ApiRequest, "headers" | "method"> &
  Partial<Pick<ApiRequest, "proceed">> &
  Partial<Pick<HttpServerRequest.HttpServerRequest, "stream">> & { readonly source: object }

/** Whether Node's request is read. A client that waits for the platform's `100 Continue` gets it only from the platform's stream. */
const isDirect = ({ headers, source, stream }: Arrived): boolean =>
  source instanceof IncomingMessage && (stream === undefined || headers["expect"] === undefined)

/** The failure of a compressed form, which is not supported. */
export const packed = ({ headers }: Pick<Arrived, "headers">): Failure | undefined =>
  /^\s*(?:identity\s*)?$/i.test(headers["content-encoding"] ?? "")
    ? undefined
    : failure({ _tag: "UnsupportedMediaType", wanted: "it is, without a Content-Encoding" })

/** Decompresses the body before it is processed. The size limit and the budget also apply to the result. */
const unpacking =
  <A>(encoding: Encoding, budget: BodyBudget, limitBytes: number, made: Made<A>): Made<A> =>
  (bytes) =>
    Effect.suspend(() => {
      if (!budget.take(bytes.length)) return Effect.fail(overloaded)
      const unpacked = new Received(budget, limitBytes)
      const back = Effect.sync(() => {
        unpacked.drop()
        budget.give(bytes.length)
      })
      return Effect.ensuring(
        Effect.flatMap(
          unpack(bytes, encoding, (piece) => unpacked.keep(piece)),
          () => made(unpacked.bytes)
        ),
        back
      )
    })

const receive = <A>(request: Arrived, limitBytes: number, made: Made<A>): Effect.Effect<A, Failure> => {
  const { headers, proceed, source, stream } = request
  const encoded = encodingOf(headers["content-encoding"])
  if (Result.isFailure(encoded)) return Effect.fail(encoded.failure)
  const encoding = encoded.success
  const declared = Number(headers["content-length"] ?? 0)
  if (declared > limitBytes) return Effect.fail(tooLarge(limitBytes))
  return Effect.withFiber((fiber) => {
    const budget = fiber.getRef(NodeBodyBudget)
    const received = new Received(budget, limitBytes)
    const plain = encoding === undefined ? made : unpacking(encoding, budget, limitBytes, made)
    if (stream !== undefined && !isDirect(request)) return receiveStream(stream, received, plain)
    proceed?.()
    return receiveDirect(source as IncomingMessage, received, plain)
  })
}

const receiveJson = (request: Arrived, made: Made<unknown>): Effect.Effect<unknown, Failure> =>
  isJson(request.headers["content-type"])
    ? receive(request, MAX_BODY_BYTES, made)
    : Effect.fail(failure({ _tag: "UnsupportedMediaType" }))

/**
 * Reads the body of a request as JSON. Fails with `UnsupportedMediaType`, `RequestTooLarge` or `InvalidJson`, and with `Overloaded`
 * when this node's memory for bodies is used up.
 */
export const readJson = (request: Arrived): Effect.Effect<unknown, Failure> => receiveJson(request, parse)

/** The same with the text that the value was read from: the MCP server takes a text and parses it itself. */
export const readJsonText = (
  request: Arrived
): Effect.Effect<{ readonly text: string; readonly value: unknown }, Failure> => {
  let text = ""
  const read = receiveJson(request, (bytes) =>
    Effect.tap(parse(bytes), () => Effect.sync(() => (text = utf8.decode(bytes))))
  )
  return Effect.map(read, (value) => ({ text, value }))
}

/** The same for a request with an optional body: undefined when no bytes arrive, in any framing. */
export const readJsonIfAny = (request: Arrived): Effect.Effect<unknown, Failure> => {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers
  if (length === "0" && encoding === undefined) return Effect.undefined
  return receiveJson(request, (bytes) => (bytes.length === 0 ? Effect.undefined : parse(bytes)))
}

/** Reads the body of a request as bytes, up to this length. Fails like `readJson`. */
export const readBytes = (request: Arrived, limitBytes: number): Effect.Effect<Uint8Array, Failure> =>
  receive(request, limitBytes, Effect.succeed)

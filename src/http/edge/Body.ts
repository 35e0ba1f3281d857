import { Effect, Result, Stream } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import { exactInputs } from "../../domain/ExactJson.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import { type ShapeProblem, shapeProblemOf } from "../../domain/JsonShape.ts"
import type { ApiRequest } from "./ApiRequest.ts"
import { type BodyBudget, NodeBodyBudget } from "./BodyBudget.ts"
import { type Encoding, encodingOf, unpack } from "./BodyEncoding.ts"

/** The largest request body the gateway accepts: 32 MiB, enough for a conversation with inline images. */
export const MAX_BODY_BYTES = 32 * 1_048_576

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

const failureOfShape = ({ limit, message }: ShapeProblem): Failure =>
  limit === "depth" ? unreadable(`it ${message}`) : invalid("body", message)

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
    const problem = shapeProblemOf(text)
    return problem === undefined
      ? Effect.succeed(exactInputs(text, JSON.parse(text)))
      : Effect.fail(failureOfShape(problem))
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
class BodyBuffer {
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
type ProcessBody<A> = (bytes: Uint8Array) => Effect.Effect<A, Failure>

/** Reads Node's own stream, because a stream of effects around it costs more than everything else that an ordinary body needs. */
const receiveDirect = <A>(
  source: IncomingMessage,
  received: BodyBuffer,
  made: ProcessBody<A>
): Effect.Effect<A, Failure> =>
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
  received: BodyBuffer,
  made: ProcessBody<A>
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
export type BodyRequest = Pick<ApiRequest, "headers" | "method"> &
  Partial<Pick<ApiRequest, "proceed">> &
  Partial<Pick<HttpServerRequest.HttpServerRequest, "stream">> & { readonly source: object }

/** Whether Node's request is read. A client that waits for the platform's `100 Continue` gets it only from the platform's stream. */
const isDirect = ({ headers, source, stream }: BodyRequest): boolean =>
  source instanceof IncomingMessage && (stream === undefined || headers["expect"] === undefined)

/** The failure of a compressed form, which is not supported. */
export const compressedBodyFailure = ({ headers }: Pick<BodyRequest, "headers">): Failure | undefined =>
  /^\s*(?:identity\s*)?$/i.test(headers["content-encoding"] ?? "")
    ? undefined
    : failure({ _tag: "UnsupportedMediaType", wanted: "it is, without a Content-Encoding" })

/** Decompresses the body before it is processed. The size limit and the budget also apply to the result. */
const unpacking =
  <A>(encoding: Encoding, budget: BodyBudget, limitBytes: number, made: ProcessBody<A>): ProcessBody<A> =>
  (bytes) =>
    Effect.suspend(() => {
      if (!budget.take(bytes.length)) return Effect.fail(overloaded)
      const unpacked = new BodyBuffer(budget, limitBytes)
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

const receive = <A>(request: BodyRequest, limitBytes: number, made: ProcessBody<A>): Effect.Effect<A, Failure> => {
  const { headers, proceed, source, stream } = request
  const encoded = encodingOf(headers["content-encoding"])
  if (Result.isFailure(encoded)) return Effect.fail(encoded.failure)
  const encoding = encoded.success
  const declared = Number(headers["content-length"] ?? 0)
  if (declared > limitBytes) return Effect.fail(tooLarge(limitBytes))
  return Effect.withFiber((fiber) => {
    const budget = fiber.getRef(NodeBodyBudget)
    const received = new BodyBuffer(budget, limitBytes)
    const plain = encoding === undefined ? made : unpacking(encoding, budget, limitBytes, made)
    if (stream !== undefined && !isDirect(request)) return receiveStream(stream, received, plain)
    proceed?.()
    return receiveDirect(source as IncomingMessage, received, plain)
  })
}

const receiveJson = (request: BodyRequest, made: ProcessBody<unknown>): Effect.Effect<unknown, Failure> =>
  isJson(request.headers["content-type"])
    ? receive(request, MAX_BODY_BYTES, made)
    : Effect.fail(failure({ _tag: "UnsupportedMediaType" }))

/**
 * Reads the body of a request as JSON. Fails with `UnsupportedMediaType`, `RequestTooLarge` or `InvalidJson`, and with `Overloaded`
 * when this node's memory for bodies is used up.
 */
export const readJson = (request: BodyRequest): Effect.Effect<unknown, Failure> => receiveJson(request, parse)

/** Reads the body as JSON like `readJson`, and also returns its text, because the MCP server parses the text itself. */
export const readJsonText = (
  request: BodyRequest
): Effect.Effect<{ readonly text: string; readonly value: unknown }, Failure> => {
  let text = ""
  const read = receiveJson(request, (bytes) =>
    Effect.tap(parse(bytes), () => Effect.sync(() => (text = utf8.decode(bytes))))
  )
  return Effect.map(read, (value) => ({ text, value }))
}

/** Reads an optional body as JSON. Returns undefined when no bytes arrive, in any framing. */
export const readJsonIfAny = (request: BodyRequest): Effect.Effect<unknown, Failure> => {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers
  if (length === "0" && encoding === undefined) return Effect.undefined
  return receiveJson(request, (bytes) => (bytes.length === 0 ? Effect.undefined : parse(bytes)))
}

/** Reads the body of a request as bytes, up to this length. Fails like `readJson`. */
export const readBytes = (request: BodyRequest, limitBytes: number): Effect.Effect<Uint8Array, Failure> =>
  receive(request, limitBytes, Effect.succeed)

import { Effect, Stream } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { type Failure, failure } from "../domain/Failure.ts"
import { NodeBodyBudget } from "./BodyBudget.ts"

/** The largest body taken: 32 MiB, enough for a conversation with images inline. */
export const MAX_BODY_BYTES = 32 * 1_048_576

/** Nothing that a request can say is nested deeper; what walks a value may then recurse. */
const MAX_DEPTH = 256

const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined || /^application\/([a-z0-9.+-]+\+)?json\s*(;|$)/i.test(contentType)

/** What went wrong in reading a body, where that is the caller's doing. */
export const bodyFailure = (error: unknown): Failure | undefined => {
  if (!HttpServerError.isHttpServerError(error) || error.reason._tag !== "RequestParseError") return undefined
  return error.reason.reason === "BodyTooLarge"
    ? failure({ _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES })
    : unreadable("it could not be read")
}

const unreadable = (detail: string): Failure => failure({ _tag: "InvalidJson", detail })

/** More brackets than levels are no proof of depth, but fewer are one of its absence, and quick to count. */
const mayBeDeep = (text: string): boolean => {
  let brackets = 0
  for (const bracket of "[{") {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++brackets > MAX_DEPTH) return true
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
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && mayBeDeep(text) && isDeep(value)) {
      return Effect.fail(unreadable(`it is nested more than ${MAX_DEPTH} levels deep`))
    }
    return Effect.succeed(value)
  } catch (error) {
    // The parser's message quotes the text around the fault; its first clause says where it is without that.
    const detail =
      error instanceof Error ? error.message.replace(/, "?\.{3}[\s\S]*$|, "[\s\S]*$/, "") : "it cannot be parsed"
    return Effect.fail(unreadable(detail))
  }
}

const tooLarge = failure({ _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES })

/** Room for an ordinary body; it doubles as more comes. */
const FIRST_ROOM = 16_384

/**
 * Takes from the budget what has come, not what is announced: else a client that announces much and sends nothing would use it
 * up. What was taken is given back when the body is parsed, or is given up in whatever way. Pieces are copied together as they
 * come, because a client may send them so small that each takes far more memory than its bytes.
 */
const receive = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown, Failure> =>
  Effect.gen(function* () {
    const budget = yield* NodeBodyBudget
    let room = Buffer.allocUnsafe(FIRST_ROOM)
    let taken = 0
    const keep = (pieces: ReadonlyArray<Uint8Array>): Effect.Effect<void, Failure> => {
      for (const piece of pieces) {
        const bytes = taken + piece.length
        if (bytes > MAX_BODY_BYTES) return Effect.fail(tooLarge)
        if (!budget.take(piece.length)) return Effect.fail(failure({ _tag: "Overloaded" }))
        if (bytes > room.length) {
          const wider = Buffer.allocUnsafe(Math.max(bytes, 2 * room.length))
          wider.set(room.subarray(0, taken))
          room = wider
        }
        room.set(piece, taken)
        taken = bytes
      }
      return Effect.void
    }
    const received = request.stream.pipe(
      Stream.mapError((error) => bodyFailure(error) ?? unreadable("it could not be read")),
      Stream.runForEachArray(keep),
      Effect.flatMap(() => parse(room.subarray(0, taken)))
    )
    return yield* Effect.ensuring(
      received,
      Effect.sync(() => budget.give(taken))
    )
  })

/**
 * Reads the body of a request as JSON. Fails with `UnsupportedMediaType`, `RequestTooLarge` or `InvalidJson`, and with
 * `Overloaded` where this node is receiving as much as it has room for.
 */
export const readJson = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown, Failure> => {
  if (!isJson(request.headers["content-type"])) return Effect.fail(failure({ _tag: "UnsupportedMediaType" }))
  const declared = Number(request.headers["content-length"] ?? 0)
  return declared > MAX_BODY_BYTES ? Effect.fail(tooLarge) : receive(request)
}

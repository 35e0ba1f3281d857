import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { type Failure, failure } from "../domain/Failure.ts"

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

const parse = (bytes: ArrayBuffer): Effect.Effect<unknown, Failure> => {
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

/** Reads the body of a request as JSON. Fails with `UnsupportedMediaType`, `RequestTooLarge` or `InvalidJson`. */
export const readJson = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown, Failure> => {
  if (!isJson(request.headers["content-type"])) return Effect.fail(failure({ _tag: "UnsupportedMediaType" }))
  const declared = Number(request.headers["content-length"] ?? 0)
  if (declared > MAX_BODY_BYTES) return Effect.fail(failure({ _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES }))
  return request.arrayBuffer.pipe(
    Effect.mapError((error) => bodyFailure(error) ?? unreadable("it could not be read")),
    Effect.flatMap(parse)
  )
}

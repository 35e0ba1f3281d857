import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { type Failure, failure } from "../domain/Failure.ts"

/** The largest body taken: 32 MiB, enough for a conversation with images inline. */
export const MAX_BODY_BYTES = 32 * 1_048_576

const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined || /^application\/([a-z0-9.+-]+\+)?json\s*(;|$)/i.test(contentType)

/** What went wrong in reading a body, where that is the caller's doing. */
export const bodyFailure = (error: unknown): Failure | undefined => {
  if (!HttpServerError.isHttpServerError(error) || error.reason._tag !== "RequestParseError") return undefined
  return error.reason.reason === "BodyTooLarge"
    ? failure({ _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES })
    : failure({ _tag: "InvalidJson", detail: "it could not be read" })
}

const parse = (text: string): Effect.Effect<unknown, Failure> => {
  if (text.trim() === "") return Effect.fail(failure({ _tag: "InvalidJson", detail: "it is empty" }))
  try {
    return Effect.succeed(JSON.parse(text))
  } catch (error) {
    // The parser's message quotes the text around the fault; its first clause says where it is without that.
    const detail =
      error instanceof Error ? error.message.replace(/, "?\.{3}[\s\S]*$|, "[\s\S]*$/, "") : "it cannot be parsed"
    return Effect.fail(failure({ _tag: "InvalidJson", detail }))
  }
}

/** Reads the body of a request as JSON. Fails with `UnsupportedMediaType`, `RequestTooLarge` or `InvalidJson`. */
export const readJson = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<unknown, Failure> => {
  if (!isJson(request.headers["content-type"])) return Effect.fail(failure({ _tag: "UnsupportedMediaType" }))
  const declared = Number(request.headers["content-length"] ?? 0)
  if (declared > MAX_BODY_BYTES) return Effect.fail(failure({ _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES }))
  return request.text.pipe(
    Effect.mapError((error) => bodyFailure(error) ?? failure({ _tag: "InvalidJson", detail: "it could not be read" })),
    Effect.flatMap(parse)
  )
}

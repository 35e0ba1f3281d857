/** Writes the response to an operation. */
import { Cause, Effect, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { type ApiRequest, dropUnread, outlastsResponse } from "./ApiRequest.ts"
import { WrittenBody } from "./EventStream.ts"

type Headers = Readonly<Record<string, string>>

const drained = (response: ServerResponse): Effect.Effect<unknown> =>
  Effect.promise((signal) => Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]))

/** Writes pieces at the pace of the client. A regular end would make a partial response look complete. */
const writeStream = (response: ServerResponse, pieces: Stream.Stream<Uint8Array, unknown>): Effect.Effect<void> =>
  pieces.pipe(
    Stream.runForEachArray((some) =>
      Effect.suspend(() =>
        response.write(some.length === 1 ? some[0] : Buffer.concat(some)) ? Effect.void : drained(response)
      )
    ),
    Effect.interruptible,
    Effect.matchCauseEffect({
      onSuccess: () => Effect.sync(() => void response.end()),
      onFailure: (cause) => {
        response.destroy()
        return Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("a response broke off", cause)
      }
    })
  )

/** Writes a response with these additional headers. The effect ends with the response. */
export const send = (
  { method, response, source }: ApiRequest,
  { body, headers, status }: HttpServerResponse.HttpServerResponse,
  more: Headers
): Effect.Effect<void> => {
  if (response.destroyed) return Effect.void
  let all: Headers = { ...headers, ...more }
  if (!source.complete) {
    // A response in pieces may still read the body.
    if (body._tag !== "Raw" && body._tag !== "Stream" && outlastsResponse(source)) all = { ...all, connection: "close" }
    dropUnread(source, response)
  }
  if (body._tag === "Raw" && body.body instanceof WrittenBody) return body.body.writeTo(response, status, all)
  return Effect.suspend(() => {
    response.writeHead(status, all)
    if (body._tag === "Stream" && method !== "HEAD") return writeStream(response, body.stream)
    response.end(body._tag === "Uint8Array" ? (body.text ?? body.body) : undefined)
    return Effect.void
  })
}

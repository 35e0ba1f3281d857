/** Sends comments during slow answers of the MCP server, because proxies close a silent connection after 15 to 60 seconds. */
import { Duration, Effect, Fiber, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

type Response = HttpServerResponse.HttpServerResponse

/** The longest silence of an answer. */
export const MAX_SILENCE = Duration.seconds(10)

const EVENTS = "text/event-stream"

const utf8 = new TextEncoder()

/** A comment of an event stream, which clients ignore. */
const COMMENT = utf8.encode(": keep-alive\n\n")

/** The headers of a stream: those of the server's own streams, and one that stops nginx from buffering it. */
const options = { contentType: EVENTS, headers: { "cache-control": "no-cache", "x-accel-buffering": "no" } }

/** The message of a response as an event. The server writes one message a line, so there are no line breaks in it. */
const eventOf = (body: Uint8Array): Uint8Array => utf8.encode(`data: ${new TextDecoder().decode(body).trim()}\n\n`)

const eventsOf = ({ body, headers }: Response): Stream.Stream<Uint8Array, unknown> => {
  if (body._tag === "Stream") return body.stream
  if (body._tag !== "Uint8Array") return Stream.empty
  const isStream = body.contentType === EVENTS || headers["content-type"] === EVENTS
  return Stream.make(isStream ? body.body : eventOf(body.body))
}

/** Adds a comment in every interval. Each chunk of `events` is whole, so a comment never cuts one. */
const withComments = (events: Stream.Stream<Uint8Array, unknown>) => {
  const comments = Stream.map(Stream.drop(Stream.tick(MAX_SILENCE), 1), () => COMMENT)
  return Stream.merge(events, comments, { haltStrategy: "left" })
}

/**
 * Answers as `run` does if that takes less than the longest silence. Otherwise it begins an event stream, with comments until the
 * answer of `run` arrives as its event. A client that hangs up interrupts `run`.
 */
export const withKeepAlive = <R>(run: Effect.Effect<Response, never, R>): Effect.Effect<Response, never, R> =>
  Effect.gen(function* () {
    const running = yield* Effect.forkDetach(run, { startImmediately: true })
    const early = yield* Fiber.join(running).pipe(
      Effect.timeoutOption(MAX_SILENCE),
      Effect.onInterrupt(() => Fiber.interrupt(running))
    )
    if (Option.isSome(early)) {
      const { value } = early
      if (value.body._tag !== "Stream") return value
      return HttpServerResponse.stream(withComments(value.body.stream), {
        ...options,
        status: value.status,
        headers: { ...value.headers, ...options.headers }
      })
    }
    const late = Stream.unwrap(Effect.map(Fiber.join(running), eventsOf))
    const events = Stream.concat(Stream.make(COMMENT), withComments(late))
    return HttpServerResponse.stream(Stream.ensuring(events, Fiber.interrupt(running)), options)
  })

/** Wraps a request of an operation as Node received it, and drops the part of its body that the operation does not read. */
import type { IncomingMessage, ServerResponse } from "node:http"

/** A request of an operation. */
export interface ApiRequest {
  readonly method: string
  /** Path and query, without scheme and host. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly source: IncomingMessage
  readonly response: ServerResponse
  /** Sends `100 Continue`. Undefined unless the client waits for it before it sends the body. */
  readonly proceed: (() => void) | undefined
}

/** Requests whose clients wait for `100 Continue`. */
const waiting = new WeakSet<IncomingMessage>()

/** Marks a request whose client waits for `100 Continue`. */
export const awaitsContinue = (source: IncomingMessage): void => void waiting.add(source)

/** Path and query of a request target, which a client may also send with scheme and host (RFC 9112, 3.2.2). */
const pathAndQuery = (target: string): string => {
  if (target.startsWith("/") || !/^https?:\/\//i.test(target) || !URL.canParse(target)) return target
  const { pathname, search } = new URL(target)
  return pathname + search
}

/** Returns Node's request as one of an operation. */
export const apiRequest = (source: IncomingMessage, response: ServerResponse): ApiRequest => ({
  method: source.method ?? "GET",
  url: pathAndQuery(source.url ?? "/"),
  headers: source.headers as ApiRequest["headers"],
  source,
  response,
  proceed: waiting.has(source)
    ? () => {
        if (waiting.delete(source) && !response.headersSent) response.writeContinue()
      }
    : undefined
})

/** The maximum rest of an unread body, in bytes, that the gateway receives and drops to reuse the connection. */
const MAX_UNREAD_BYTES = 262_144

/** The time in which a client can read the response before its connection is reset, in milliseconds. */
const CLOSE_GRACE_MS = 500

/** Node's internal state of a message, which it reads when the response has been sent. */
interface Internals {
  _consuming: boolean
  _last: boolean
}

/** Whether the rest of an unread body may be too long to receive, so that the connection must end with the response. */
export const outlastsResponse = (source: IncomingMessage): boolean =>
  !source.complete && (waiting.has(source) || Number(source.headers["content-length"] ?? 0) > MAX_UNREAD_BYTES)

const closeGently = ({ socket }: IncomingMessage): void => {
  if (socket.destroyed) return
  socket.end()
  const timer = setTimeout(() => socket.destroy(), CLOSE_GRACE_MS)
  socket.once("close", () => clearTimeout(timer))
}

/**
 * Receives and drops a body that the operation has not read, once the response has been sent. Node alone would leave a partly read body
 * in the connection, where the next request belongs. On a connection that closes, it would reset the connection while the client still
 * sends, and the client could lose the response.
 */
export const dropUnread = (source: IncomingMessage, response: ServerResponse): void => {
  const drop = () => {
    if (source.complete || source.destroyed) return
    const internals = { request: source as unknown as Internals, response: response as unknown as Internals }
    if (internals.response._last) {
      internals.request._consuming = true
      internals.response._last = false
      return closeGently(source)
    }
    let bytes = 0
    source.on("data", (piece: Buffer) => {
      bytes += piece.length
      if (bytes <= MAX_UNREAD_BYTES) return
      source.pause()
      closeGently(source)
    })
    source.resume()
  }
  // Before Node's own listener, which resets the connection.
  response.prependListener("finish", drop)
}

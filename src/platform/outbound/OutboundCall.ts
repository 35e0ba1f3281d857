/** Defines a call to a provider: its request, its response and its errors. */
import { Data, Effect } from "effect"

/** How long each part of a call may take, in milliseconds. An absent clock never fires. */
export interface OutboundClocks {
  /** From the start of the call until a connection carries it, including the wait for a free connection. */
  readonly connectMs?: number | undefined
  /** Streams only: from the request on the wire until the reader calls `started`. */
  readonly firstMs?: number | undefined
  /** Streams only: the longest silence after that. Time during which a slow reader pauses the stream does not count. */
  readonly idleMs?: number | undefined
  /** The whole call, from its start to the last byte. */
  readonly totalMs?: number | undefined
}

export type OutboundClock = "connect" | "first" | "idle" | "total"

export interface OutboundRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Scheme, host and port, such as `https://api.example.com`. */
  readonly origin: string
  /** Path and query, starting with a slash. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly clocks: OutboundClocks
  /** The longest response body that `send` accepts, in bytes; 16 MiB when absent. A longer error response is cut there. */
  readonly maxBodyBytes?: number | undefined
}

/** Header names are in lower case. */
export type OutboundHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** A complete response of any status. */
export interface OutboundResponse {
  readonly status: number
  readonly headers: OutboundHeaders
  readonly body: Uint8Array
}

/** A response with a body that is still arriving. It buffers little: a reader that waits makes the sender wait. */
export interface OutboundStream {
  readonly status: number
  readonly headers: OutboundHeaders
  /** Returns the next bytes, or undefined at the end, on every call. Bytes that arrived before a failure come before the failure. */
  readonly read: Effect.Effect<Uint8Array | undefined, OutboundError>
  /**
   * Passes the bytes that have arrived, and all later ones, to `take` as they arrive, without waking a fiber for each. It ends with
   * true when `take` returns false and more may follow, and with false at the end of the stream.
   */
  readonly each: (take: (bytes: Uint8Array) => boolean) => Effect.Effect<boolean, OutboundError>
  /** The reader has received what it waited for: the `first` clock stops and the `idle` clock starts. */
  readonly started: () => void
  /** The reader needs no more. Closing the scope then keeps the connection if the body ends shortly after. */
  readonly finished: () => void
}

export type OutboundReason =
  /** No connection could be made. Nothing was sent. */
  | { readonly _tag: "Connect"; readonly detail: string }
  /** `held`: a slow reader paused the stream for a considerable part of the time that counts. */
  | { readonly _tag: "TimedOut"; readonly clock: OutboundClock; readonly held?: true }
  /** The connection failed while in use. `answered` tells whether the response headers had arrived. */
  | { readonly _tag: "Broken"; readonly detail: string; readonly answered: boolean }
  | { readonly _tag: "TooLarge"; readonly limitBytes: number }

/** A call without a complete response. `detail` is an error code and never contains any part of the request. */
export class OutboundError extends Data.TaggedError("OutboundError")<{ readonly reason: OutboundReason }> {
  override get message() {
    const reason = this.reason
    if (reason._tag === "TimedOut") return `timed out (${reason.clock})`
    return reason._tag === "TooLarge" ? `longer than ${reason.limitBytes} bytes` : `${reason._tag}: ${reason.detail}`
  }
}

/** Returns the error code of Node.js or undici, such as `ECONNREFUSED`. A message could contain a part of the request. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "ERR_UNKNOWN"

/** Splits a URL into the origin and path of a request. */
export const targetOf = (url: string): { readonly origin: string; readonly path: string } => {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

/** The first value of a header. */
export const headerOf = (headers: OutboundHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value : value?.[0]
}

/** Reads the rest of a stream up to `limitBytes`, which is enough of an error body to find the cause. */
export const readUpTo = (stream: OutboundStream, limitBytes: number): Effect.Effect<Uint8Array, OutboundError> =>
  Effect.gen(function* () {
    const chunks: Array<Uint8Array> = []
    let length = 0
    while (length < limitBytes) {
      const chunk = yield* stream.read
      if (chunk === undefined) break
      chunks.push(chunk)
      length += chunk.length
    }
    return Buffer.concat(chunks).subarray(0, limitBytes)
  })

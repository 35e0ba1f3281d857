/** What a call to a provider is: what it asks for, what it gets, and how it fails. */
import { Data, Effect } from "effect"

/** How long each part of a call may take, in milliseconds; an absent clock never strikes. */
export interface OutboundClocks {
  /** From the call to a connection that carries it, waiting for a free one included. */
  readonly connectMs?: number | undefined
  /** Streams only: from the request on the wire until the reader calls `started`. */
  readonly firstMs?: number | undefined
  /** Streams only: the longest silence after that. Time in which a slow reader keeps it paused does not count. */
  readonly idleMs?: number | undefined
  /** The whole call, from its first instant to its last byte. */
  readonly totalMs?: number | undefined
}

export type OutboundClock = "connect" | "first" | "idle" | "total"

export interface OutboundRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Scheme, host and port, such as `https://api.example.com`. */
  readonly origin: string
  /** Path and query, beginning with a slash. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly clocks: OutboundClocks
  /** The longest body `send` accepts, in bytes; 16 MiB when absent. */
  readonly maxBodyBytes?: number | undefined
}

/** Header names are in lower case. */
export type OutboundHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** A whole answer, whatever its status. */
export interface OutboundResponse {
  readonly status: number
  readonly headers: OutboundHeaders
  readonly body: Uint8Array
}

/** An answer whose body is still arriving. It holds at most a small buffer: a reader that waits makes the sender wait. */
export interface OutboundStream {
  readonly status: number
  readonly headers: OutboundHeaders
  /** The next bytes, or undefined at the end, as often as asked. What arrived before a failure is given before it. */
  readonly read: Effect.Effect<Uint8Array | undefined, OutboundError>
  /**
   * Gives `take` what has arrived and what will, as it comes and without a fiber that wakes for it: until that answers false, when
   * there may be more, which this answers with true, or until the end.
   */
  readonly each: (take: (bytes: Uint8Array) => boolean) => Effect.Effect<boolean, OutboundError>
  /** The reader has what it waited for: the first clock stops and the idle clock begins. */
  readonly started: () => void
  /** The reader has all it wants: closing the scope then keeps a connection whose body ends within a moment. */
  readonly finished: () => void
}

export type OutboundReason =
  /** No connection could be made; nothing was sent. */
  | { readonly _tag: "Connect"; readonly detail: string }
  /** `held` of a stream whose slow reader has kept it waiting for a part of the time that counts. */
  | { readonly _tag: "TimedOut"; readonly clock: OutboundClock; readonly held?: true }
  /** The connection failed while in use; `answered` tells whether a response head had come. */
  | { readonly _tag: "Broken"; readonly detail: string; readonly answered: boolean }
  | { readonly _tag: "TooLarge"; readonly limitBytes: number }

/** A call that got no whole answer. `detail` is an error code and never has any part of the request. */
export class OutboundError extends Data.TaggedError("OutboundError")<{ readonly reason: OutboundReason }> {
  override get message() {
    const reason = this.reason
    if (reason._tag === "TimedOut") return `timed out (${reason.clock})`
    return reason._tag === "TooLarge" ? `longer than ${reason.limitBytes} bytes` : `${reason._tag}: ${reason.detail}`
  }
}

/** The origin and the path of a URL, as a request wants them. */
export const targetOf = (url: string): { readonly origin: string; readonly path: string } => {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

/** The first value of a header. */
export const headerOf = (headers: OutboundHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value : value?.[0]
}

/** The rest of a stream, cut at `limitBytes`: enough of an error body to say what went wrong. */
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

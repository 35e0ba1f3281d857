import { Deferred, Effect, Exit } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type {
  OutboundClocks,
  OutboundError,
  OutboundRequest,
  OutboundStream
} from "../../../src/platform/outbound/OutboundCall.ts"
import { upstream } from "../../providers/upstream.ts"

/** A request that contains a secret. */
export const post = (
  origin: string,
  clocks: OutboundClocks = {},
  more: Partial<OutboundRequest> = {}
): OutboundRequest => ({
  method: "POST",
  origin,
  path: "/v1/thing?x=1",
  headers: { authorization: "Bearer planted-secret", "content-type": "text/plain" },
  body: "ping",
  clocks,
  ...more
})

/** Bytes decoded as text. */
export const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString())

/** The reason of a call's failure. */
export const reasonOf = <A, R>(effect: Effect.Effect<A, OutboundError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

/** The number of bytes left in a stream. */
export const rest = Effect.fnUntraced(function* (stream: OutboundStream) {
  let length = 0
  for (let bytes = yield* stream.read; bytes !== undefined; bytes = yield* stream.read) length += bytes.length
  return length
})

/** A host that reports when its request has arrived and when the connection was closed. */
export const watched = Effect.fnUntraced(function* (
  handle: (request: IncomingMessage, response: ServerResponse) => void
) {
  const arrived = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const host = yield* upstream((request, response) => {
    response.on("close", () => Deferred.doneUnsafe(closed, Exit.void))
    handle(request, response)
    Deferred.doneUnsafe(arrived, Exit.void)
  })
  return { origin: host.origin, arrived: Deferred.await(arrived), closed: Deferred.await(closed) }
})

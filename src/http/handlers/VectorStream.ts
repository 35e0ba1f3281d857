import { Effect, Exit, Option } from "effect"
import type { ServerResponse } from "node:http"
import type { Failure } from "../../domain/Failure.ts"
import { millisOf } from "../../platform/Monotonic.ts"
import type { ArrivingVectors } from "../../providers/Work.ts"
import { WrittenBody } from "../edge/EventStream.ts"

/**
 * The minimum pace of a client that reads a list: it may delay the gateway for the grace time, and for the time that the bytes it took
 * are worth at this rate.
 */
export const pace = { graceMs: 30_000, bytesPerSecond: 262_144 }

/** A list that is arriving or complete, and the text around it. */
export interface ArrivingList {
  readonly before: string
  readonly arriving: Pick<ArrivingVectors, "next">
  /** Waits until the request is settled. Returns the text after the list, or fails with the reason why the list is incomplete. */
  readonly after: Effect.Effect<string, Failure>
  /** Receives the failure that ends a started response. */
  readonly onError: (failure: Failure) => void
  /** Called when nothing more is to be written. */
  readonly over: () => void
}

/** Waits until a client takes more, or has disconnected. */
const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const over = () => response.off("drain", done).off("close", done)
    const done = () => {
      over()
      resume(Effect.void)
    }
    response.on("drain", done).on("close", done)
    return Effect.sync(over)
  })

/** A client that is written to, and its pace. */
class PacedClient {
  readonly #response: ServerResponse
  #patienceMs = pace.graceMs

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Writes a piece and waits while the client is behind. A client that is too slow is disconnected. */
  write(piece: string | Uint8Array): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#response.destroyed) return Effect.void
      this.#patienceMs += (piece.length / pace.bytesPerSecond) * 1_000
      return this.#response.write(piece) ? Effect.void : this.#wait()
    })
  }

  #wait(): Effect.Effect<void> {
    return Effect.clockWith((clock) => {
      const since = millisOf(clock)
      const drainedInTime = Effect.timeoutOption(drained(this.#response), Math.max(0, this.#patienceMs))
      return Effect.map(drainedInTime, (drain) => {
        this.#patienceMs -= millisOf(clock) - since
        if (Option.isNone(drain)) this.#response.destroy()
      })
    })
  }
}

const writing = Effect.fnUntraced(function* (
  response: ServerResponse,
  { after, arriving, before, onError }: ArrivingList
): Effect.fn.Return<void> {
  const client = new PacedClient(response)
  yield* client.write(before)
  while (!response.destroyed) {
    const pieces = yield* arriving.next
    if (pieces === undefined) break
    for (const piece of pieces) yield* client.write(piece)
  }
  const end = yield* Effect.exit(after)
  if (Exit.isSuccess(end)) return void response.end(end.value)
  for (const reason of end.cause.reasons) if (reason._tag === "Fail") onError(reason.error)
  response.destroy()
})

/**
 * The body of a response with more vectors than should wait for the last of them. The text after its list is written when the request
 * is settled, so that no response is complete before it is paid for.
 */
export class VectorStream extends WrittenBody {
  readonly #list: ArrivingList

  constructor(list: ArrivingList) {
    super()
    this.#list = list
  }

  /**
   * Writes headers and body at the pace of the client. A response that cannot be completed is cut off, as is one with a client that is too
   * slow.
   */
  writeTo(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): Effect.Effect<void> {
    const written = Effect.suspend(() => {
      response.writeHead(status, headers)
      return writing(response, this.#list)
    })
    const cut = Effect.onInterrupt(Effect.interruptible(written), () => Effect.sync(() => void response.destroy()))
    return Effect.ensuring(cut, Effect.sync(this.#list.over))
  }
}

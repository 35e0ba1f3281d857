import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import type { StreamEncoder } from "../../dialects/StreamEncoder.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { AnswerStream } from "../../inference/StreamFlow.ts"
import type { StreamItem } from "../../domain/Answer.ts"

/**
 * A response body that writes itself to Node's response, headers included. The edge, which decides on the headers, starts the writing.
 */
export abstract class WrittenBody {
  abstract writeTo(
    response: ServerResponse,
    status: number,
    headers: Readonly<Record<string, string>>
  ): Effect.Effect<void>
}

/**
 * The body of a streamed answer, which writes itself: each item is encoded and passed to Node as it arrives, without a stream of
 * effects or a fiber in between.
 */
export class EventStream extends WrittenBody {
  readonly #stream: AnswerStream
  readonly #encoder: StreamEncoder
  readonly #onError: (failure: Failure) => void

  /** `onError` receives the failure that ends a started stream. */
  constructor(stream: AnswerStream, encoder: StreamEncoder, onError: (failure: Failure) => void) {
    super()
    this.#stream = stream
    this.#encoder = encoder
    this.#onError = onError
  }

  /** Writes headers and body at the pace of the client. The headers go out with the first frames. */
  writeTo(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): Effect.Effect<void> {
    const take = (items: ReadonlyArray<StreamItem>, more: () => void): boolean => {
      // The reading fiber is about to be interrupted.
      if (response.destroyed) return false
      const frames = items.length === 1 ? this.#encode(items[0]!) : items.map((item) => this.#encode(item)).join("")
      if (!response.headersSent) response.writeHead(status, headers)
      const last = items.at(-1)?._tag
      if (last === "End" || last === "Error") {
        response.end(frames)
        return false
      }
      if (response.write(frames)) return true
      response.once("drain", more)
      return false
    }
    // A regular end would make a partial response look complete.
    const cut = () => Effect.sync(() => response.headersSent && response.destroy())
    return Effect.onError(Effect.interruptible(this.#stream.read(take)), cut)
  }

  #encode(item: StreamItem): string {
    if (item._tag === "Error") this.#onError(item.failure)
    return this.#encoder.encode(item)
  }
}

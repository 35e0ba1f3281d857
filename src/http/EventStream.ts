import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import type { StreamEncoder } from "../dialects/StreamEncoder.ts"
import type { Failure } from "../domain/Failure.ts"
import type { AnswerStream, StreamItem } from "../inference/StreamFlow.ts"

/**
 * The body of an answer that writes itself to Node's response, head and all. The edge, which has the last word on headers, lets it
 * write.
 */
export abstract class WrittenBody {
  abstract writeTo(
    response: ServerResponse,
    status: number,
    headers: Readonly<Record<string, string>>
  ): Effect.Effect<void>
}

/**
 * The body of a streamed answer, which writes itself: an item is encoded and handed to Node where it comes, without a stream of
 * effects or a fiber between.
 */
export class EventStream extends WrittenBody {
  readonly #stream: AnswerStream
  readonly #encoder: StreamEncoder
  readonly #onError: (failure: Failure) => void

  /** `onError` is told of the failure that ends a stream in its midst. */
  constructor(stream: AnswerStream, encoder: StreamEncoder, onError: (failure: Failure) => void) {
    super()
    this.#stream = stream
    this.#encoder = encoder
    this.#onError = onError
  }

  /** Writes head and body, as fast as the client takes them. The head goes out with the first frames. */
  writeTo(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): Effect.Effect<void> {
    const take = (items: ReadonlyArray<StreamItem>, more: () => void): boolean => {
      // Whoever reads is about to be interrupted.
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
    // Ended in order, what is only a part would look whole.
    const cut = () => Effect.sync(() => response.headersSent && response.destroy())
    return Effect.onError(Effect.interruptible(this.#stream.read(take)), cut)
  }

  #encode(item: StreamItem): string {
    if (item._tag === "Error") this.#onError(item.failure)
    return this.#encoder.encode(item)
  }
}

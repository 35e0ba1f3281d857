import type { OutputEvent } from "../../domain/Output.ts"
import { faultOfNoObject } from "../wire/EventFault.ts"
import type { ChatFold } from "../wire/EventSource.ts"
import { parsedExact } from "../wire/Json.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { type SseEvent, SseParser } from "../wire/Sse.ts"
import { ChunkFold } from "./ChatDecode.ts"

/** Folds a stream's bytes into output events. Each event's data is a chunk. */
export class ChatStreamFold implements ChatFold {
  /** Only the end of the body ends the stream: a finish reason is sometimes repeated, and usage may follow it. */
  readonly done = false
  readonly #parser = new SseParser((event) => this.#onData(event))
  readonly #chunks: ChunkFold
  #out: Array<OutputEvent> = []
  #unread: ProviderFault | undefined
  #ending = false

  constructor(requestId: string) {
    this.#chunks = new ChunkFold(requestId)
  }

  /** Whether the host has said that the model stopped. Only the usage can be lost after that. */
  get stopped(): boolean {
    return this.#chunks.stopped
  }

  /** The fault inside the stream, to be raised after the events before it. */
  get fault(): ProviderFault | undefined {
    return this.#chunks.fault ?? this.#unread
  }

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): ReadonlyArray<OutputEvent> {
    if (!this.#parser.push(bytes)) {
      this.#unread ??= { _tag: "Malformed", detail: "an event of the stream is too long" }
    }
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** The event that the end of the body completes. A truncated event is dropped. */
  flush(): ReadonlyArray<OutputEvent> {
    this.#ending = true
    this.#parser.end()
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** The last events of a stream that ended correctly. */
  end(): ReadonlyArray<OutputEvent> {
    return this.#chunks.end()
  }

  #onData({ data, event }: SseEvent): void {
    // Hosts that also implement OpenAI's API end this stream with OpenAI's `[DONE]`.
    if (data === "" || data === "[DONE]" || this.fault !== undefined) return
    const chunk = parsedExact(data)
    if (chunk === undefined) this.#unread = faultOfNoObject(data, event, this.#ending)
    else for (const one of Array.isArray(chunk) ? chunk : [chunk]) this.#out.push(...this.#chunks.push(one, event))
  }
}

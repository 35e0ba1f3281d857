import type { OutputEvent } from "../../domain/Output.ts"
import { faultOfNoObject } from "../EventFault.ts"
import type { ChatFold } from "../EventSource.ts"
import { parsedExact } from "../Json.ts"
import type { ProviderFault } from "../Provider.ts"
import { type SseEvent, SseParser } from "../Sse.ts"
import { ChunkFold } from "./ChatDecode.ts"

/** The fold of a stream's bytes into output events: each event's data is a chunk. */
export class ChatStreamFold implements ChatFold {
  /** The end of the body alone says so: a stop is sometimes repeated, and followed by usage. */
  readonly done = false
  readonly #parser = new SseParser((event) => this.#onData(event))
  readonly #chunks: ChunkFold
  #out: Array<OutputEvent> = []
  #unread: ProviderFault | undefined
  #ending = false

  constructor(requestId: string) {
    this.#chunks = new ChunkFold(requestId)
  }

  /** The host has said that the model stopped; what is lost after that is at most the usage. */
  get stopped(): boolean {
    return this.#chunks.stopped
  }

  /** What went wrong inside the stream, to be raised after the events that came before it. */
  get fault(): ProviderFault | undefined {
    return this.#chunks.fault ?? this.#unread
  }

  /** The events these bytes complete. */
  push(bytes: Uint8Array): ReadonlyArray<OutputEvent> {
    if (!this.#parser.push(bytes)) {
      this.#unread ??= { _tag: "Malformed", detail: "an event of the stream is too long" }
    }
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** The event that the end of the body completes; one that is cut there is dropped. */
  flush(): ReadonlyArray<OutputEvent> {
    this.#ending = true
    this.#parser.end()
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** The events that close a stream which ended in order. */
  end(): ReadonlyArray<OutputEvent> {
    return this.#chunks.end()
  }

  #onData({ data, event }: SseEvent): void {
    // Hosts that also speak OpenAI's language end this one in the other's way.
    if (data === "" || data === "[DONE]" || this.fault !== undefined) return
    const chunk = parsedExact(data)
    if (chunk === undefined) this.#unread = faultOfNoObject(data, event, this.#ending)
    else for (const one of Array.isArray(chunk) ? chunk : [chunk]) this.#out.push(...this.#chunks.push(one, event))
  }
}

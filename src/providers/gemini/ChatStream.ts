import type { OutputEvent } from "../../domain/Output.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { faultOfNoObject } from "../wire/EventFault.ts"
import { parseJsonExact } from "../wire/Json.ts"
import type { SseEvent } from "../wire/Sse.ts"
import { type FrameReader, SseFold } from "../wire/SseFold.ts"
import { ChunkFold } from "./ChatDecode.ts"

class ChatFrames implements FrameReader {
  /** Only the end of the body ends the stream: a finish reason is sometimes repeated, and usage may follow it. */
  readonly done = false
  readonly #chunks: ChunkFold
  readonly #out: Array<OutputEvent>
  #unread: ProviderFault | undefined

  constructor(requestId: string, out: Array<OutputEvent>) {
    this.#chunks = new ChunkFold(requestId)
    this.#out = out
  }

  get stopped(): boolean {
    return this.#chunks.stopped
  }

  get fault(): ProviderFault | undefined {
    return this.#chunks.fault ?? this.#unread
  }

  read({ data, event }: SseEvent, ending: boolean): void {
    // Hosts that also implement OpenAI's API end this stream with OpenAI's `[DONE]`.
    if (data === "[DONE]") return
    const chunk = parseJsonExact(data)
    if (chunk === undefined) this.#unread = faultOfNoObject(data, event, ending)
    else for (const one of Array.isArray(chunk) ? chunk : [chunk]) this.#out.push(...this.#chunks.push(one, event))
  }

  end(): ReadonlyArray<OutputEvent> {
    return this.#chunks.end()
  }
}

/** Folds a stream of Gemini's `streamGenerateContent`. Each event's data is a chunk. */
export const chatStreamFold = (requestId: string): SseFold => new SseFold((out) => new ChatFrames(requestId, out))

import type { OutputEvent } from "../../domain/Output.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { ChatFold } from "./EventSource.ts"
import { type SseEvent, SseParser } from "./Sse.ts"

/** The rules of one host's format: they turn the frames of a stream into output events. */
export interface FrameReader {
  /** Whether the host has said that nothing more follows. */
  readonly done: boolean
  /** Whether the host has said that the model stopped. Only the usage can be lost after that. */
  readonly stopped: boolean
  /** The fault inside the stream, to be raised after the events before it. */
  readonly fault: ProviderFault | undefined
  /** Reads a frame with data. `ending`: the body has ended, so the frame may be truncated. */
  readonly read: (frame: SseEvent, ending: boolean) => void
  /** The last events of a stream that ended correctly. */
  readonly end: () => ReadonlyArray<OutputEvent>
}

const NONE: ReadonlyArray<OutputEvent> = []

/** Folds a stream's bytes into output events. The reader appends them to the array that it is made with. */
export class SseFold<R extends FrameReader = FrameReader> implements ChatFold {
  readonly #out: Array<OutputEvent> = []
  readonly #reader: R
  readonly #parser: SseParser
  #tooLong: ProviderFault | undefined
  #ending = false

  constructor(readerOf: (out: Array<OutputEvent>) => R) {
    const reader = readerOf(this.#out)
    this.#reader = reader
    this.#parser = new SseParser((frame) => this.#onFrame(frame))
  }

  get done(): boolean {
    return this.#reader.done
  }

  get stopped(): boolean {
    return this.#reader.stopped
  }

  get fault(): ProviderFault | undefined {
    return this.#reader.fault ?? this.#tooLong
  }

  push(bytes: Uint8Array): ReadonlyArray<OutputEvent> {
    if (!this.#parser.push(bytes)) this.#tooLong ??= { _tag: "Malformed", detail: "an event of the stream is too long" }
    return this.#arrived()
  }

  /** The event that the end of the body completes. A truncated event is dropped. */
  flush(): ReadonlyArray<OutputEvent> {
    this.#ending = true
    this.#parser.end()
    return this.#arrived()
  }

  end(): ReadonlyArray<OutputEvent> {
    return this.#reader.end()
  }

  #onFrame(frame: SseEvent): void {
    const isOver = this.#reader.done || this.fault !== undefined
    if (frame.data !== "" && !isOver) this.#reader.read(frame, this.#ending)
  }

  #arrived(): ReadonlyArray<OutputEvent> {
    return this.#out.length === 0 ? NONE : this.#out.splice(0)
  }
}

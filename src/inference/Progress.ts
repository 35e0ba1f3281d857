import type { OutputEvent } from "../domain/Output.ts"
import { countTokens } from "../domain/Tokens.ts"

/** Text kept uncounted at most; a short stream whose provider reports its usage is then never counted at all. */
const UNCOUNTED_MAX_LENGTH = 16_384

/** What of an event is counted. */
const textOf = (event: OutputEvent): string =>
  event._tag === "ToolStart" ? event.name : "text" in event ? event.text : ""

/** No character of UTF-16 is more bytes of UTF-8. */
const MOST_BYTES = 3

/** How far a stream has come, in output tokens, without keeping the stream. */
export class Progress {
  #counted = 0
  #uncounted: Array<string> = []
  #uncountedLength = 0
  #uncountedBytes = 0

  push(event: OutputEvent): void {
    const text = textOf(event)
    if (text !== "") this.#add(text)
  }

  /** No fewer tokens than were delivered, without counting them. */
  get atMost(): number {
    return this.#counted + this.#uncountedBytes
  }

  /** The tokens delivered, counted. */
  count(): number {
    if (this.#uncountedLength > 0) {
      this.#counted += countTokens(this.#uncounted.join(""))
      this.#uncounted = []
      this.#uncountedLength = 0
      this.#uncountedBytes = 0
    }
    return this.#counted
  }

  /** No fewer tokens than were delivered once the piece is, without counting them. */
  atMostWith(piece: ReadonlyArray<OutputEvent>): number {
    return piece.reduce((sum, event) => sum + MOST_BYTES * textOf(event).length, this.atMost)
  }

  /** The tokens delivered once the piece is, counted. */
  countWith(piece: ReadonlyArray<OutputEvent>): number {
    return this.count() + countTokens(piece.map(textOf).join(""))
  }

  #add(text: string): void {
    this.#uncounted.push(text)
    this.#uncountedLength += text.length
    this.#uncountedBytes += Buffer.byteLength(text, "utf8")
    if (this.#uncountedLength > UNCOUNTED_MAX_LENGTH) this.count()
  }
}

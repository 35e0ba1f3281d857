import type { OutputEvent } from "../domain/Output.ts"
import { countTokens } from "../domain/Tokens.ts"

/** The maximum length of uncounted text. A short stream with reported usage is never counted at all. */
const UNCOUNTED_MAX_LENGTH = 16_384

/** The text of an event that counts as output. */
const textOf = (event: OutputEvent): string =>
  event._tag === "ToolStart" ? event.name : "text" in event ? event.text : ""

/** The most UTF-8 bytes of one UTF-16 code unit. */
const MAX_BYTES = 3

/** Counts the output tokens of a stream without storing the stream. */
export class Progress {
  #counted = 0
  #uncounted: Array<string> = []
  #uncountedLength = 0
  #uncountedBytes = 0

  push(event: OutputEvent): void {
    const text = textOf(event)
    if (text !== "") this.#add(text)
  }

  /** An upper bound for the delivered tokens, without counting them. */
  get atMost(): number {
    return this.#counted + this.#uncountedBytes
  }

  /** The exact count of delivered tokens. */
  count(): number {
    if (this.#uncountedLength > 0) {
      this.#counted += countTokens(this.#uncounted.join(""))
      this.#uncounted = []
      this.#uncountedLength = 0
      this.#uncountedBytes = 0
    }
    return this.#counted
  }

  /** An upper bound for the delivered tokens including this piece, without counting them. */
  atMostWith(piece: ReadonlyArray<OutputEvent>): number {
    return piece.reduce((sum, event) => sum + MAX_BYTES * textOf(event).length, this.atMost)
  }

  /** The exact count of delivered tokens including this piece. */
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

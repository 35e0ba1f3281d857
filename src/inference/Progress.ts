import type { OutputEvent } from "../domain/Output.ts"
import { countTokens } from "../domain/Tokens.ts"

/** Text kept uncounted at most; a short stream whose provider reports its usage is then never counted at all. */
const UNCOUNTED_MAX_LENGTH = 16_384

/** How far a stream has come, in output tokens, without keeping the stream. */
export class Progress {
  #counted = 0
  #uncounted: Array<string> = []
  #uncountedLength = 0
  #uncountedBytes = 0

  push(event: OutputEvent): void {
    if (event._tag === "ToolStart") this.#add(event.name)
    else if ("text" in event) this.#add(event.text)
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

  #add(text: string): void {
    this.#uncounted.push(text)
    this.#uncountedLength += text.length
    this.#uncountedBytes += Buffer.byteLength(text, "utf8")
    if (this.#uncountedLength > UNCOUNTED_MAX_LENGTH) this.count()
  }
}

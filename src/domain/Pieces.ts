/** So many pieces are joined at a time. */
const TOGETHER = 1_024

/**
 * A text that comes in many small pieces. They are joined as they become many: a list of all of them takes several times the memory
 * of what they say.
 */
export class Pieces {
  #joined = ""
  #pieces: Array<string> = []

  add(text: string): void {
    if (this.#pieces.push(text) === TOGETHER) this.#join()
  }

  /** All that was added, in one. */
  get text(): string {
    if (this.#pieces.length > 0) this.#join()
    return this.#joined
  }

  #join(): void {
    this.#joined += this.#pieces.join("")
    this.#pieces = []
  }
}

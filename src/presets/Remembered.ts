/** How long what was read may be used without being read again, in milliseconds: another node's change is seen within it. */
export const REMEMBERED_MS = 5_000

/** All that is remembered has at most so many bytes of JSON, and so many entries. */
const MAX_BYTES = 16 * 1_048_576
const MAX_ENTRIES = 10_000

interface Entry<A> {
  readonly value: A
  readonly bytes: number
  readonly until: number
}

/** Values by key, for a short while, within a bound of their number and size; the oldest are given up first. */
export class Remembered<A> {
  readonly #entries = new Map<string, Entry<A>>()
  #bytes = 0
  #changes = 0

  /** Counts what was forgotten. Who takes it before a read can tell afterwards whether the read may be out of date. */
  get changes(): number {
    return this.#changes
  }

  get(key: string, now: number): A | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.until > now ? entry.value : undefined
  }

  /** Keeps what was read, unless something has been forgotten since `changes` was taken. */
  keep(key: string, value: A, bytes: number, changes: number, now: number): void {
    if (changes !== this.#changes) return
    this.#drop(key)
    this.#entries.set(key, { value, bytes, until: now + REMEMBERED_MS })
    this.#bytes += bytes
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= MAX_BYTES && this.#entries.size <= MAX_ENTRIES) return
      this.#drop(oldest)
    }
  }

  /** Forgets a value that has changed, and whatever is being read meanwhile. */
  forget(key: string): void {
    this.#changes++
    this.#drop(key)
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }
}

/** How long a cached value is used before it is read again, in milliseconds. Another node's change appears within this time. */
export const REMEMBERED_MS = 5_000

/** The limits of the whole cache: bytes of JSON and number of entries. */
const MAX_BYTES = 16 * 1_048_576
const MAX_ENTRIES = 10_000

interface Entry<A> {
  readonly value: A
  readonly bytes: number
  readonly until: number
}

/** A short-lived cache by key, bounded in number and size. It drops the oldest values first. */
export class PresetCache<A> {
  readonly #entries = new Map<string, Entry<A>>()
  #bytes = 0
  #changes = 0

  /**
   * Counts invalidations. A caller that notes this number before a read can tell afterwards whether the read may be out of date.
   */
  get changes(): number {
    return this.#changes
  }

  get(key: string, now: number): A | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.until > now ? entry.value : undefined
  }

  /** Caches a value, unless a value has been invalidated since the caller noted `changes`. */
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

  /** Drops a value that has changed, and prevents concurrent reads from being cached. */
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

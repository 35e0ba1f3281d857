/** An LRU map with a maximum number of entries and a lifetime per entry. Times are in milliseconds. */
export class LruCache<A> {
  readonly #entries: Map<string, { readonly value: A; readonly until: number }> = new Map()
  readonly #capacity: number
  readonly #lifeMs: number

  constructor(options: { readonly capacity: number; readonly lifeMs: number }) {
    this.#capacity = options.capacity
    this.#lifeMs = options.lifeMs
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string, nowMs: number): A | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    this.#entries.delete(key)
    if (nowMs >= found.until) return undefined
    this.#entries.set(key, found)
    return found.value
  }

  /** Restarts the entry's lifetime. */
  set(key: string, value: A, nowMs: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: nowMs + this.#lifeMs })
    if (this.#entries.size <= this.#capacity) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }
}

import { ENTRY_BYTES, MAX_ANSWER_BYTES, MAX_BYTES } from "./Answers.ts"
import type { CacheKey } from "./CacheKey.ts"

interface Entry {
  readonly bytes: Buffer
  readonly until: number
}

const sizeOf = (bytes: Uint8Array): number => bytes.length + ENTRY_BYTES

/** Allocates a separate buffer. Small buffers otherwise share a larger one, and any of them would keep it from being freed. */
const encode = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, "utf8"))
  bytes.write(text, "utf8")
  return bytes
}

/** A cache in this process's memory, bounded in bytes. It drops the least recently used response first. */
export class MemoryAnswers {
  /** Ordered by last use. */
  readonly #entries = new Map<CacheKey, Entry>()
  readonly #capacity: number
  #used = 0

  constructor(capacity: number = MAX_BYTES) {
    this.#capacity = capacity
  }

  /** The bytes in use, including ended responses that are not yet removed. */
  get used(): number {
    return this.#used
  }

  /** Returns the response under a key at `now`, in milliseconds of a monotonic clock. */
  get(key: CacheKey, now: number): string | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.until <= now) {
      this.#remove(key, entry)
      return undefined
    }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.bytes.toString("utf8")
  }

  /** Caches a response until `until`. */
  put(key: CacheKey, text: string, until: number, now: number): void {
    const before = this.#entries.get(key)
    if (before !== undefined) this.#remove(key, before)
    const bytes = encode(text)
    const size = sizeOf(bytes)
    if (bytes.length > MAX_ANSWER_BYTES || size > this.#capacity) return
    this.#makeRoom(size, now)
    this.#entries.set(key, { bytes, until })
    this.#used += size
  }

  // Removes up to two ended responses for each new one, so that they do not stay until their room is needed.
  #makeRoom(size: number, now: number): void {
    let looked = 0
    for (const [key, entry] of this.#entries) {
      const room = this.#used + size <= this.#capacity
      if (room && (looked++ === 2 || entry.until > now)) return
      this.#remove(key, entry)
    }
  }

  #remove(key: CacheKey, entry: Entry): void {
    this.#entries.delete(key)
    this.#used -= sizeOf(entry.bytes)
  }
}

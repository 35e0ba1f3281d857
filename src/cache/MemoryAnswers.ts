import { ENTRY_BYTES, MAX_ANSWER_BYTES, MAX_BYTES } from "./Answers.ts"
import type { CacheKey } from "./CacheKey.ts"

interface Entry {
  readonly bytes: Buffer
  readonly until: number
}

const sizeOf = (bytes: Uint8Array): number => bytes.length + ENTRY_BYTES

/** A buffer of its own: small ones else share a larger one, which one of them could keep from being freed. */
const encode = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, "utf8"))
  bytes.write(text, "utf8")
  return bytes
}

/** Answers in this process's memory, bounded by their bytes; the least recently used one goes first. */
export class MemoryAnswers {
  /** In the order in which they were last used. */
  readonly #entries = new Map<CacheKey, Entry>()
  readonly #capacity: number
  #used = 0

  constructor(capacity: number = MAX_BYTES) {
    this.#capacity = capacity
  }

  /** Bytes in use, those of ended answers not yet removed included. */
  get used(): number {
    return this.#used
  }

  /** The answer under a key at `now`, milliseconds of a clock that never goes back. */
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

  /** Keeps an answer until `until`. */
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

  // Two ended answers go for each one that comes, so that they do not stay until their room is needed.
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

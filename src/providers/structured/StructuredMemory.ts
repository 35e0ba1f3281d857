/** Remembers answers that violated their schema, because the operator has paid for each. */
import { createHash } from "node:crypto"
import { LruCache } from "../../platform/LruCache.ts"

/** The keys of a schema and of its account. What one account's answers show is not applied to other accounts. */
export interface SchemaKey {
  readonly account: string
  readonly hash: string
  readonly own: string
}

/** Why no provider is called. With `retryAfterSeconds`, the cause is the account's invalid answers, whatever the schema. */
export interface SchemaBlock {
  readonly detail: string
  readonly retryAfterSeconds?: number
}

const MINUTE_MS = 60_000

/** When invalid answers exceed valid ones by this many, the schema is not requested any more. */
export const MAX_STRIKES = 3

/** The maximum number of invalid answers of one account per minute. */
export const MAX_OFF_A_MINUTE = 10

const CAPACITY = 10_000

export class StructuredMemory {
  readonly #fit = new LruCache<true>({ capacity: CAPACITY, lifeMs: 60 * MINUTE_MS })
  readonly #tooHard = new LruCache<string>({ capacity: CAPACITY, lifeMs: 10 * MINUTE_MS })
  readonly #strikes = new LruCache<number>({ capacity: CAPACITY, lifeMs: 60 * MINUTE_MS })
  readonly #minutes = new LruCache<{ readonly from: number; readonly off: number }>({
    capacity: CAPACITY,
    lifeMs: MINUTE_MS
  })

  keyOf(account: string, schema: Readonly<Record<string, unknown>>): SchemaKey {
    const hash = createHash("sha256").update(JSON.stringify(schema)).digest("base64")
    return { account, hash, own: `${account}\n${hash}` }
  }

  /** Why the schema must not be requested now; undefined if it may. */
  blockOf({ account, own }: SchemaKey, nowMs: number): SchemaBlock | undefined {
    const detail = this.#tooHard.get(own, nowMs)
    if (detail !== undefined) return { detail }
    if ((this.#strikes.get(own, nowMs) ?? 0) >= MAX_STRIKES) {
      return { detail: "too many answers failed it; try again in an hour, or use another schema" }
    }
    const minute = this.#minutes.get(account, nowMs)
    const leftMs = minute === undefined ? 0 : minute.from + MINUTE_MS - nowMs
    if (minute === undefined || leftMs <= 0 || minute.off < MAX_OFF_A_MINUTE) return undefined
    const retryAfterSeconds = Math.ceil(leftMs / 1_000)
    return { detail: "too many answers for this account failed their schemas", retryAfterSeconds }
  }

  /** Whether answers are known to be checkable with this schema. */
  isFit({ hash }: SchemaKey, nowMs: number): boolean {
    return this.#fit.get(hash, nowMs) === true
  }

  fit({ hash }: SchemaKey, nowMs: number): void {
    this.#fit.set(hash, true, nowMs)
  }

  /** Records a check that took more time or memory than allowed. */
  tooHard({ own }: SchemaKey, detail: string, nowMs: number): void {
    this.#tooHard.set(own, detail, nowMs)
  }

  /** Records a valid answer, which offsets an invalid one. */
  met({ own }: SchemaKey, nowMs: number): void {
    const strikes = this.#strikes.get(own, nowMs)
    if (strikes !== undefined) this.#strikes.set(own, Math.max(0, strikes - 1), nowMs)
  }

  /** Records an invalid answer. */
  failed({ account, own }: SchemaKey, nowMs: number): void {
    this.#strikes.set(own, (this.#strikes.get(own, nowMs) ?? 0) + 1, nowMs)
    const { from, off } = this.#minutes.get(account, nowMs) ?? { from: nowMs, off: 0 }
    const over = nowMs - from >= MINUTE_MS
    this.#minutes.set(account, over ? { from: nowMs, off: 1 } : { from, off: off + 1 }, nowMs)
  }
}

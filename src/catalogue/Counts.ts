/** How attempts at a provider went, in numbers that can be added up: over minutes, and over nodes. */

/** How one attempt at a provider went. */
export interface Observation {
  readonly model: string
  readonly provider: string
  readonly ok: boolean
  /** Undefined where the attempt was let go before its end. */
  readonly durationMs: number | undefined
  /** Undefined where nothing was streamed, or nothing came. */
  readonly firstTokenMs: number | undefined
}

/**
 * Counts as nodes hand them to one another. A histogram is its used buckets, each followed by what it holds: most have a dozen of
 * them. What buckets there are is thus part of what nodes of several versions share for a window's time.
 */
export interface StoredCounts {
  readonly samples: number
  readonly ok: number
  readonly streamed: number
  readonly durations: ReadonlyArray<number>
  readonly firstTokens: ReadonlyArray<number>
}

/** Four buckets to each doubling: a figure is within 10 % of the truth, or within the rounding to a whole millisecond. */
const BUCKETS_PER_DOUBLING = 4
/** The last bucket takes everything beyond 2^21 ms, some 35 minutes. */
const BUCKETS = 21 * BUCKETS_PER_DOUBLING + 1

const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log2(ms) * BUCKETS_PER_DOUBLING))

const middleOf = (bucket: number): number => Math.round(2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING))

const change = (histogram: Uint32Array, bucket: number, by: number): void => {
  histogram[bucket] = (histogram[bucket] ?? 0) + by
}

const changeAll = (histogram: Uint32Array, stored: ReadonlyArray<number>, sign: 1 | -1): void => {
  for (let index = 0; index < stored.length; index += 2) change(histogram, stored[index]!, sign * stored[index + 1]!)
}

const stored = (histogram: Uint32Array): ReadonlyArray<number> => {
  const pairs: Array<number> = []
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const count = histogram[bucket]!
    if (count > 0) pairs.push(bucket, count)
  }
  return pairs
}

/** Of a histogram with `total` counts in it. */
const quantile = (histogram: Uint32Array, total: number, share: number): number | null => {
  if (total === 0) return null
  let left = Math.max(1, Math.ceil(total * share))
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    left -= histogram[bucket]!
    if (left <= 0) return middleOf(bucket)
  }
  return null
}

/** Counts of some stretch of time. Times are of successful attempts. */
export class Counts {
  samples = 0
  ok = 0
  streamed = 0
  /** How many of the successful ones came to their end. */
  #timed = 0
  readonly #durations = new Uint32Array(BUCKETS)
  readonly #firstTokens = new Uint32Array(BUCKETS)

  add(observation: Observation): void {
    this.samples += 1
    if (!observation.ok) return
    this.ok += 1
    if (observation.durationMs !== undefined) {
      this.#timed += 1
      change(this.#durations, bucketOf(observation.durationMs), 1)
    }
    if (observation.firstTokenMs === undefined) return
    this.streamed += 1
    change(this.#firstTokens, bucketOf(observation.firstTokenMs), 1)
  }

  addStored(counts: StoredCounts): void {
    this.#change(counts, 1)
  }

  /** Of counts that were added before. */
  subtractStored(counts: StoredCounts): void {
    this.#change(counts, -1)
  }

  get stored(): StoredCounts {
    const { samples, ok, streamed } = this
    return { samples, ok, streamed, durations: stored(this.#durations), firstTokens: stored(this.#firstTokens) }
  }

  /** Milliseconds to their end that this share of the successful attempts took at most; null when none came to it. */
  duration(share: number): number | null {
    return quantile(this.#durations, this.#timed, share)
  }

  /** Milliseconds to the first token that this share of the streams took at most; null when there were none. */
  firstToken(share: number): number | null {
    return quantile(this.#firstTokens, this.streamed, share)
  }

  #change(counts: StoredCounts, sign: 1 | -1): void {
    this.samples += sign * counts.samples
    this.ok += sign * counts.ok
    this.streamed += sign * counts.streamed
    for (let index = 1; index < counts.durations.length; index += 2) this.#timed += sign * counts.durations[index]!
    changeAll(this.#durations, counts.durations, sign)
    changeAll(this.#firstTokens, counts.firstTokens, sign)
  }
}

/** Counts of attempts at a provider that can be added up, over minutes and over nodes. */

/** The outcome of one attempt at a provider. */
export interface Observation {
  readonly model: string
  readonly provider: string
  readonly ok: boolean
  /** Undefined when the attempt was abandoned before its end. */
  readonly durationMs: number | undefined
  /** Undefined when the attempt did not stream or nothing arrived. */
  readonly firstTokenMs: number | undefined
}

/**
 * Counts in the form that nodes exchange. A histogram is a list of its used buckets, each followed by its count; most have about a
 * dozen. The bucket boundaries are therefore shared by nodes of different versions for as long as a window lasts.
 */
export interface StoredCounts {
  readonly samples: number
  readonly ok: number
  readonly streamed: number
  readonly durations: ReadonlyArray<number>
  readonly firstTokens: ReadonlyArray<number>
}

/** Four buckets per doubling. A figure is within 10% of the truth, or within the rounding to a whole millisecond. */
const BUCKETS_PER_DOUBLING = 4
/** The last bucket holds everything above 2^21 ms, about 35 minutes. */
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

const storedPairs = (histogram: Uint32Array): ReadonlyArray<number> => {
  const pairs: Array<number> = []
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const count = histogram[bucket]!
    if (count > 0) pairs.push(bucket, count)
  }
  return pairs
}

/** Returns a quantile of a histogram with `total` counts. */
const quantile = (histogram: Uint32Array, total: number, share: number): number | null => {
  if (total === 0) return null
  let left = Math.max(1, Math.ceil(total * share))
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    left -= histogram[bucket]!
    if (left <= 0) return middleOf(bucket)
  }
  return null
}

/** Counts over some period. Times cover successful attempts. */
export class Counts {
  samples = 0
  ok = 0
  streamed = 0
  /** The number of successful attempts that ran to their end. */
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

  /** Subtracts counts that were added before. */
  subtractStored(counts: StoredCounts): void {
    this.#change(counts, -1)
  }

  get stored(): StoredCounts {
    const { samples, ok, streamed } = this
    return {
      samples,
      ok,
      streamed,
      durations: storedPairs(this.#durations),
      firstTokens: storedPairs(this.#firstTokens)
    }
  }

  /** Returns the time in milliseconds within which this share of the successful attempts ended; null when none did. */
  duration(share: number): number | null {
    return quantile(this.#durations, this.#timed, share)
  }

  /** Returns the time in milliseconds within which this share of the streams sent its first token; null without streams. */
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

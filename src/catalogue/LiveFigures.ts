import { Clock, Context, Effect, Layer } from "effect"

/** How one attempt at a provider went. */
export interface Observation {
  readonly model: string
  readonly provider: string
  readonly ok: boolean
  readonly durationMs: number
  /** Undefined where nothing was streamed, or nothing came. */
  readonly firstTokenMs: number | undefined
}

/** How a model did at a provider in the last 30 minutes; null where nothing is known. Times are of successful attempts. */
export interface Performance {
  readonly samples: number
  readonly successRate: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly medianTtftMs: number | null
  readonly p95TtftMs: number | null
  /** Too few samples to judge by. */
  readonly thin: boolean
}

export const WINDOW_MINUTES = 30
export const THIN_BELOW_SAMPLES = 20
/** One series takes some 20 kB; models × providers stay far below this, whatever is configured. */
export const MAX_SERIES = 1_000

const MINUTE_MS = 60_000
/** Four buckets to each doubling keep a figure within 10 % of the truth. */
const BUCKETS_PER_DOUBLING = 4
/** The last bucket takes everything beyond 2^21 ms, some 35 minutes. */
const BUCKETS = 21 * BUCKETS_PER_DOUBLING + 1

const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log2(ms) * BUCKETS_PER_DOUBLING))

const middleOf = (bucket: number): number => Math.round(2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING))

/** Counts of some stretch of time. */
class Counts {
  samples = 0
  ok = 0
  streamed = 0
  readonly durations = new Uint32Array(BUCKETS)
  readonly firstTokens = new Uint32Array(BUCKETS)

  add(observation: Observation): void {
    this.samples += 1
    if (!observation.ok) return
    this.ok += 1
    bump(this.durations, observation.durationMs)
    if (observation.firstTokenMs === undefined) return
    this.streamed += 1
    bump(this.firstTokens, observation.firstTokenMs)
  }

  subtract(other: Counts): void {
    this.samples -= other.samples
    this.ok -= other.ok
    this.streamed -= other.streamed
    for (let index = 0; index < BUCKETS; index += 1) {
      this.durations[index] = (this.durations[index] ?? 0) - (other.durations[index] ?? 0)
      this.firstTokens[index] = (this.firstTokens[index] ?? 0) - (other.firstTokens[index] ?? 0)
    }
  }
}

const bump = (histogram: Uint32Array, ms: number): void => {
  const bucket = bucketOf(ms)
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}

/** Of a histogram with `total` counts in it. */
const quantile = (histogram: Uint32Array, total: number, share: number): number | null => {
  if (total === 0) return null
  let left = Math.max(1, Math.ceil(total * share))
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    left -= histogram[bucket] ?? 0
    if (left <= 0) return middleOf(bucket)
  }
  return null
}

/** One model at one provider: its minutes, and their sum kept as they come and go, so that reading costs one pass. */
class Series {
  /** The minute of the last record. */
  recorded: number
  #latest: number
  #minutes: Map<number, Counts> = new Map()
  #total = new Counts()

  constructor(minute: number) {
    this.recorded = minute
    this.#latest = minute
  }

  record(minute: number, observation: Observation): void {
    this.recorded = minute
    this.#advance(minute)
    const counts = this.#minutes.get(minute) ?? new Counts()
    this.#minutes.set(minute, counts)
    counts.add(observation)
    this.#total.add(observation)
  }

  performance(minute: number): Performance {
    this.#advance(minute)
    const { samples, ok, streamed, durations, firstTokens } = this.#total
    return {
      samples,
      successRate: samples === 0 ? null : ok / samples,
      p50Ms: quantile(durations, ok, 0.5),
      p95Ms: quantile(durations, ok, 0.95),
      medianTtftMs: quantile(firstTokens, streamed, 0.5),
      p95TtftMs: quantile(firstTokens, streamed, 0.95),
      thin: samples < THIN_BELOW_SAMPLES
    }
  }

  #advance(minute: number): void {
    if (minute === this.#latest) return
    this.#latest = minute
    for (const [at, counts] of this.#minutes) {
      if (at > minute - WINDOW_MINUTES) continue
      this.#total.subtract(counts)
      this.#minutes.delete(at)
    }
  }
}

const unknown: Performance = {
  samples: 0,
  successRate: null,
  p50Ms: null,
  p95Ms: null,
  medianTtftMs: null,
  p95TtftMs: null,
  thin: true
}

/** What this node has lately seen of each model at each provider. Lost with the process; nothing is shared with other nodes. */
export class LiveFigures extends Context.Service<
  LiveFigures,
  {
    /** Takes microseconds and never fails, so that it can be called on any path. */
    readonly record: (observation: Observation) => void
    readonly performance: (model: string, provider: string) => Performance
  }
>()("tollgate/catalogue/LiveFigures") {
  static readonly layer = Layer.effect(
    LiveFigures,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const series = new Map<string, Series>()
      const now = () => Math.floor(clock.currentTimeMillisUnsafe() / MINUTE_MS)
      // A line break is in no id, so no two pairs share a key.
      const keyOf = (model: string, provider: string) => `${model}\n${provider}`
      return LiveFigures.of({
        record: (observation) => {
          const key = keyOf(observation.model, observation.provider)
          const minute = now()
          let found = series.get(key)
          if (found === undefined) {
            if (series.size >= MAX_SERIES) series.delete(stalest(series))
            found = new Series(minute)
            series.set(key, found)
          }
          found.record(minute, observation)
        },
        performance: (model, provider) => series.get(keyOf(model, provider))?.performance(now()) ?? unknown
      })
    })
  )
}

const stalest = (series: ReadonlyMap<string, Series>): string => {
  let key = ""
  let oldest = Number.POSITIVE_INFINITY
  for (const [candidate, { recorded }] of series) {
    if (recorded >= oldest) continue
    key = candidate
    oldest = recorded
  }
  return key
}

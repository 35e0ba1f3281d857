import { Clock, Context, type Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import { Counts, type Observation, type StoredCounts } from "./Counts.ts"
import { countsOfOthers, deleteCounts, type LiveFigureRow, type MinuteCounts, writeCounts } from "./LiveFiguresSql.ts"

/** A model's figures at a provider over the last 30 minutes; null without data. Times cover successful attempts. */
export interface Performance {
  readonly samples: number
  readonly successRate: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly medianTtftMs: number | null
  readonly p95TtftMs: number | null
  /** The number of successful streams among the samples. Times to the first token come from these. */
  readonly streamed: number
  /** Whether there are too few samples to judge by. */
  readonly thin: boolean
}

/** The time window of the figures, in minutes. */
export const WINDOW_MINUTES = 30
/** With fewer samples than this, the figures of a provider are too thin to judge it by. */
export const THIN_BELOW_SAMPLES = 20
/**
 * The most series. One takes about 30 kB, plus 20 kB for each other node. The number of models times providers stays far below this
 * in any configuration.
 */
export const MAX_SERIES = 1_000

const MINUTE_MS = 60_000

/** How long computed figures are reused. One second among 30 minutes does not change the order of providers. */
const FRESH_MS = 1_000

/**
 * How often nodes exchange figures. It bounds what a killed process loses and how late a node learns of others: a small part of the
 * window, at negligible cost.
 */
const SHARE_INTERVAL = "5 seconds"

/** The number of intervals between exchanges of a node that served nothing since its last one: no request needs the others' figures. */
const IDLE_ROUNDS = 12

/** Longer than any statement may run, so that no row appears before the last time read. */
const OVERLAP_MS = 60_000

/** Longer than the window, so that a node with a fast clock deletes nothing that others still read. */
const KEPT_MINUTES = 2 * WINDOW_MINUTES

/** The most rows per statement, to keep it short. A node usually has a few dozen. */
const ROWS_AT_ONCE = 500

/** How long an exchange may take before the database counts as unavailable. */
const ROUND_PATIENCE = "10 seconds"

/** How long a stopping service waits to write its last figures. The driver may need some more seconds to give up. */
const CLOSE_PATIENCE = "2 seconds"

/** The figures of a pair that no node has observed. */
export const unknownPerformance: Performance = {
  samples: 0,
  successRate: null,
  p50Ms: null,
  p95Ms: null,
  medianTtftMs: null,
  p95TtftMs: null,
  streamed: 0,
  thin: true
}

/** The counts of this process for one minute. */
interface Minute {
  readonly counts: Counts
  /** How many of its samples the database has. */
  written: number
}

/** One model at one provider: its minutes, and their running total. */
class Series {
  readonly model: string
  readonly provider: string
  /** The minute of the last record, on any node. */
  recorded: number
  #latest: number
  readonly #own = new Map<number, Minute>()
  /** By node, then by minute. */
  readonly #others = new Map<string, Map<number, StoredCounts>>()
  readonly #total = new Counts()
  #shown = unknownPerformance
  #shownAtMs = 0
  #freshUntilMs = 0

  constructor(model: string, provider: string, minute: number) {
    this.model = model
    this.provider = provider
    this.recorded = minute
    this.#latest = minute
  }

  record(minute: number, observation: Observation): void {
    this.recorded = minute
    this.#advance(minute)
    let own = this.#own.get(minute)
    if (own === undefined) {
      own = { counts: new Counts(), written: 0 }
      this.#own.set(minute, own)
    }
    own.counts.add(observation)
    this.#total.add(observation)
    // With few samples, each one matters, and recomputing is cheap.
    if (this.#total.samples <= THIN_BELOW_SAMPLES) this.#freshUntilMs = 0
  }

  /** Replaces the counts of another node for a minute with newer ones. */
  take(row: LiveFigureRow, now: number): void {
    const { durations, firstTokens, minute, node, ok, samples, streamed } = row
    this.#advance(now)
    if (minute <= now - WINDOW_MINUTES) return
    const minutes = this.#others.get(node) ?? new Map<number, StoredCounts>()
    const before = minutes.get(minute)
    if (before !== undefined && before.samples >= samples) return
    if (before !== undefined) this.#total.subtractStored(before)
    // Copies the counts instead of keeping the row, because the names in a row take as much memory as the rest.
    const counts: StoredCounts = { samples, ok, streamed, durations, firstTokens }
    this.#total.addStored(counts)
    minutes.set(minute, counts)
    this.#others.set(node, minutes)
    this.recorded = Math.max(this.recorded, minute)
    this.#freshUntilMs = 0
  }

  performance(nowMs: number): Performance {
    // A clock that was set back must not freeze the figures.
    if (nowMs < this.#freshUntilMs && nowMs >= this.#shownAtMs) return this.#shown
    const minute = Math.floor(nowMs / MINUTE_MS)
    this.#advance(minute)
    this.#shownAtMs = nowMs
    this.#freshUntilMs = Math.min(nowMs + FRESH_MS, (minute + 1) * MINUTE_MS)
    this.#shown = performanceOf(this.#total)
    return this.#shown
  }

  /** The minutes that the database does not fully have. */
  get unwritten(): ReadonlyArray<readonly [number, Minute]> {
    return [...this.#own].filter(([, { counts, written }]) => written < counts.samples)
  }

  #advance(minute: number): void {
    if (minute === this.#latest) return
    this.#latest = minute
    const over = minute - WINDOW_MINUTES
    for (const [at, { counts }] of this.#own) {
      if (at > over) continue
      this.#total.subtractStored(counts.stored)
      this.#own.delete(at)
    }
    for (const [node, minutes] of this.#others) {
      for (const [at, counts] of minutes) {
        if (at > over) continue
        this.#total.subtractStored(counts)
        minutes.delete(at)
      }
      if (minutes.size === 0) this.#others.delete(node)
    }
  }
}

const performanceOf = (total: Counts): Performance => ({
  samples: total.samples,
  successRate: total.samples === 0 ? null : total.ok / total.samples,
  p50Ms: total.duration(0.5),
  p95Ms: total.duration(0.95),
  medianTtftMs: total.firstToken(0.5),
  p95TtftMs: total.firstToken(0.95),
  streamed: total.streamed,
  thin: total.samples < THIN_BELOW_SAMPLES
})

/** All series, found by two lookups instead of a combined key. */
class SeriesIndex {
  readonly #byModel = new Map<string, Map<string, Series>>()
  readonly #all = new Set<Series>()

  get isFull(): boolean {
    return this.#all.size >= MAX_SERIES
  }

  get all(): Iterable<Series> {
    return this.#all
  }

  find(model: string, provider: string): Series | undefined {
    return this.#byModel.get(model)?.get(provider)
  }

  /** Adds a series. When there is no room, it drops the series with the oldest last record. */
  add(model: string, provider: string, minute: number): Series {
    if (this.isFull) this.#dropStalest()
    const series = new Series(model, provider, minute)
    this.#all.add(series)
    const byProvider = this.#byModel.get(model)
    if (byProvider === undefined) this.#byModel.set(model, new Map([[provider, series]]))
    else byProvider.set(provider, series)
    return series
  }

  #dropStalest(): void {
    let stalest: Series | undefined
    for (const series of this.#all) {
      if (stalest === undefined || series.recorded < stalest.recorded) stalest = series
    }
    if (stalest === undefined) return
    this.#all.delete(stalest)
    const byProvider = this.#byModel.get(stalest.model)
    byProvider?.delete(stalest.provider)
    if (byProvider?.size === 0) this.#byModel.delete(stalest.model)
  }
}

const minuteOf = (clock: Clock.Clock): number => Math.floor(clock.currentTimeMillisUnsafe() / MINUTE_MS)

/** The dependencies of sharing figures. */
interface SharingDeps {
  readonly sql: SqlClient.SqlClient
  /** Identifies this run of the process. Counts from before its start belong to another node. */
  readonly node: string
  readonly index: SeriesIndex
  readonly clock: Clock.Clock
}

/** Writes the counts made since the last write, and returns how many there were. A failed write is repeated the next time. */
const write = Effect.fnUntraced(function* ({ node, index, sql }: SharingDeps) {
  const due = [...index.all].flatMap((series) => series.unwritten.map(([minute, of]) => ({ series, minute, of })))
  for (let at = 0; at < due.length; at += ROWS_AT_ONCE) {
    const part = due.slice(at, at + ROWS_AT_ONCE).map(({ minute, of, series: { model, provider } }) => {
      const row: MinuteCounts = { minute, model, provider, ...of.counts.stored }
      return { of, row }
    })
    yield* writeCounts(
      sql,
      node,
      part.map(({ row }) => row)
    )
    for (const { of, row } of part) of.written = row.samples
  }
  return due.length
})

/** Reads the counts that other nodes wrote after `since`. Returns the time to read after next. */
const read = Effect.fnUntraced(function* ({ clock, node, index, sql }: SharingDeps, since: Date) {
  const minute = minuteOf(clock)
  // A clock that is more than a minute ahead is wrong, and so are its minutes.
  const rows = yield* countsOfOthers(sql, { node, since, from: minute - WINDOW_MINUTES + 1, to: minute + 1 })
  let latest = since.getTime()
  for (const row of rows) {
    latest = Math.max(latest, row.writtenAt.getTime() - OVERLAP_MS)
    const found = index.find(row.model, row.provider)
    if (found === undefined && index.isFull) continue
    const series = found ?? index.add(row.model, row.provider, row.minute)
    series.take(row, minute)
  }
  return new Date(latest)
})

const sweep = Effect.fnUntraced(function* ({ sql }: SharingDeps, minute: number) {
  let deleted: number
  do deleted = yield* deleteCounts(sql, minute - KEPT_MINUTES, ROWS_AT_ONCE)
  while (deleted === ROWS_AT_ONCE)
})

/**
 * Creates a runner for database work with a time limit. It logs once when the database becomes unavailable and once when it is
 * back.
 */
const makePatient = () => {
  let away = false
  return (effect: Effect.Effect<void, SqlError.SqlError>, patience: Duration.Input): Effect.Effect<void> =>
    effect.pipe(
      storeErrors,
      Effect.interruptible,
      Effect.timeout(patience),
      Effect.matchCauseEffect({
        onSuccess: () => {
          if (!away) return Effect.void
          away = false
          return Effect.logInfo("nodes share live figures again")
        },
        onFailure: (cause) => {
          if (away) return Effect.void
          away = true
          return Effect.logWarning("nodes cannot share live figures", cause)
        }
      })
    )
}

/**
 * Reads the existing figures once, then shares figures in the background while the scope is open. When it closes, it writes the
 * rest.
 */
const share = Effect.fnUntraced(function* (sharing: SharingDeps) {
  const patient = makePatient()
  let since = new Date(0)
  let swept = Number.NEGATIVE_INFINITY
  let idle = 0
  const round = patient(
    Effect.gen(function* () {
      idle = (yield* write(sharing)) > 0 ? 0 : idle + 1
      if (idle > 1 && idle % IDLE_ROUNDS !== 0) return
      since = yield* read(sharing, since)
      const minute = minuteOf(sharing.clock)
      if (minute === swept) return
      yield* sweep(sharing, minute)
      swept = minute
    }),
    ROUND_PATIENCE
  )
  yield* round
  yield* Effect.addFinalizer(() => patient(Effect.asVoid(write(sharing)), CLOSE_PATIENCE))
  yield* Effect.forkScoped(Effect.forever(Effect.delay(round, SHARE_INTERVAL)))
})

const make = (index: SeriesIndex, clock: Clock.Clock) =>
  LiveFigures.of({
    record: (observation) => {
      const { model, provider } = observation
      const minute = minuteOf(clock)
      const series = index.find(model, provider) ?? index.add(model, provider, minute)
      series.record(minute, observation)
    },
    performance: (model, provider) =>
      index.find(model, provider)?.performance(clock.currentTimeMillisUnsafe()) ?? unknownPerformance
  })

/**
 * The figures of each model at each provider over the last 30 minutes, from all nodes on the same database. A node counts in memory
 * and exchanges counts in the background every five seconds. The figures survive a process, except for the last seconds before it
 * is killed. While the database is unavailable, each node uses what it knows.
 */
export class LiveFigures extends Context.Service<
  LiveFigures,
  {
    /** Takes microseconds and never fails, so it is safe on any path. */
    readonly record: (observation: Observation) => void
    /** Takes less than a microsecond. With more than 20 samples the result may be one second old. */
    readonly performance: (model: string, provider: string) => Performance
  }
>()("tollgate/catalogue/LiveFigures") {
  static readonly layer = Layer.effect(
    LiveFigures,
    Effect.gen(function* () {
      const [sql, clock, index] = [yield* SqlClient.SqlClient, yield* Clock.Clock, new SeriesIndex()]
      yield* share({ sql, node: newResourceId(), index, clock })
      return make(index, clock)
    })
  )

  /** Keeps the figures of this process alone, when there is no other node to share with. */
  static readonly layerMemory = Layer.effect(
    LiveFigures,
    Effect.map(Clock.Clock, (clock) => make(new SeriesIndex(), clock))
  )
}

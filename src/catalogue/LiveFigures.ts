import { Clock, Context, type Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors } from "../platform/Sql.ts"
import { Counts, type Observation, type StoredCounts } from "./Counts.ts"
import { countsOfOthers, deleteCounts, type LiveFigureRow, type MinuteCounts, writeCounts } from "./LiveFiguresSql.ts"

/** How a model did at a provider in the last 30 minutes; null where nothing is known. Times are of successful attempts. */
export interface Performance {
  readonly samples: number
  readonly successRate: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly medianTtftMs: number | null
  readonly p95TtftMs: number | null
  /** Successful streams among the samples, which times to the first token are of. */
  readonly streamed: number
  /** Too few samples to judge by. */
  readonly thin: boolean
}

export const WINDOW_MINUTES = 30
export const THIN_BELOW_SAMPLES = 20
/** One series takes some 30 kB, and 20 kB for each other node; models × providers stay far below this, whatever is configured. */
export const MAX_SERIES = 1_000

const MINUTE_MS = 60_000

/** For so long what was computed of a series is told again; no order of providers turns on a second of 30 minutes. */
const FRESH_MS = 1_000

/** What a killed process loses, and how late a node hears of the others: little of a window, and seldom enough to cost nothing. */
const SHARE_INTERVAL = "5 seconds"

/** Longer than any statement may run, so that no row appears in the past of one that was read. */
const OVERLAP_MS = 60_000

/** Longer than the window, so that a node whose clock is ahead deletes nothing that others read. */
const KEPT_MINUTES = 2 * WINDOW_MINUTES

/** Rows in one statement, so that it stays short; a node has a few dozen in most. */
const ROWS_AT_ONCE = 500

/** A database that is slower than this is away. */
const ROUND_PATIENCE = "10 seconds"

/** A stopping service waits no longer for its last figures to be written, and for some seconds that the driver takes to give up. */
const CLOSE_PATIENCE = "2 seconds"

/** What is said of what nobody has seen. */
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

/** What this process has seen in a minute. */
interface Minute {
  readonly counts: Counts
  /** How many of its samples are in the database. */
  written: number
}

/** One model at one provider: its minutes, and their sum kept as they come and go. */
class Series {
  readonly model: string
  readonly provider: string
  /** The minute of the last record, by whatever node. */
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
    // While few are known, each counts, and there are too few of them to cost anything.
    if (this.#total.samples <= THIN_BELOW_SAMPLES) this.#freshUntilMs = 0
  }

  /** Takes what another node says of a minute in place of what it said before. */
  take(row: LiveFigureRow, now: number): void {
    const { durations, firstTokens, minute, node, ok, samples, streamed } = row
    this.#advance(now)
    if (minute <= now - WINDOW_MINUTES) return
    const minutes = this.#others.get(node) ?? new Map<number, StoredCounts>()
    const before = minutes.get(minute)
    if (before !== undefined && before.samples >= samples) return
    if (before !== undefined) this.#total.subtractStored(before)
    // Not the row: the names in it are as long as the rest.
    const counts: StoredCounts = { samples, ok, streamed, durations, firstTokens }
    this.#total.addStored(counts)
    minutes.set(minute, counts)
    this.#others.set(node, minutes)
    this.recorded = Math.max(this.recorded, minute)
    this.#freshUntilMs = 0
  }

  performance(nowMs: number): Performance {
    // A clock that is set back must not make what is shown last.
    if (nowMs < this.#freshUntilMs && nowMs >= this.#shownAtMs) return this.#shown
    const minute = Math.floor(nowMs / MINUTE_MS)
    this.#advance(minute)
    this.#shownAtMs = nowMs
    this.#freshUntilMs = Math.min(nowMs + FRESH_MS, (minute + 1) * MINUTE_MS)
    this.#shown = performanceOf(this.#total)
    return this.#shown
  }

  /** Minutes of which the database does not know all. */
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

/** All series, found without making a key of two names. */
class Shelf {
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

  /** A new series, for which the one that was longest without a record goes when there is no room. */
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

/** What this node shares its figures by. */
interface Sharing {
  readonly sql: SqlClient.SqlClient
  /** Of this run of the process: what it counted before it was started is another node's. */
  readonly node: string
  readonly shelf: Shelf
  readonly clock: Clock.Clock
}

/** Writes what this node has counted since it last did. What fails is written the next time. */
const write = Effect.fnUntraced(function* ({ node, shelf, sql }: Sharing) {
  const due = [...shelf.all].flatMap((series) => series.unwritten.map(([minute, of]) => ({ series, minute, of })))
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
})

/** Reads what others wrote after that time; answers the time to read after next. */
const read = Effect.fnUntraced(function* ({ clock, node, shelf, sql }: Sharing, since: Date) {
  const minute = minuteOf(clock)
  // A clock that is ahead by more than a minute is wrong, and so is what it counts.
  const rows = yield* countsOfOthers(sql, { node, since, from: minute - WINDOW_MINUTES + 1, to: minute + 1 })
  let latest = since.getTime()
  for (const row of rows) {
    latest = Math.max(latest, row.writtenAt.getTime() - OVERLAP_MS)
    const found = shelf.find(row.model, row.provider)
    if (found === undefined && shelf.isFull) continue
    const series = found ?? shelf.add(row.model, row.provider, row.minute)
    series.take(row, minute)
  }
  return new Date(latest)
})

const sweep = Effect.fnUntraced(function* ({ sql }: Sharing, minute: number) {
  let deleted: number
  do deleted = yield* deleteCounts(sql, minute - KEPT_MINUTES, ROWS_AT_ONCE)
  while (deleted === ROWS_AT_ONCE)
})

/** Runs what needs the database, bounded in time. A database that is away is said once, and once that it is back. */
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
          return Effect.logInfo("live figures are shared again")
        },
        onFailure: (cause) => {
          if (away) return Effect.void
          away = true
          return Effect.logWarning("live figures are not shared at present", cause)
        }
      })
    )
}

/**
 * Shares figures in the background for as long as the scope is open, after having read once what is there already. When it
 * closes what is left is written.
 */
const share = Effect.fnUntraced(function* (sharing: Sharing) {
  const patient = makePatient()
  let since = new Date(0)
  let swept = Number.NEGATIVE_INFINITY
  const round = patient(
    Effect.gen(function* () {
      yield* write(sharing)
      since = yield* read(sharing, since)
      const minute = minuteOf(sharing.clock)
      if (minute === swept) return
      yield* sweep(sharing, minute)
      swept = minute
    }),
    ROUND_PATIENCE
  )
  yield* round
  yield* Effect.addFinalizer(() => patient(write(sharing), CLOSE_PATIENCE))
  yield* Effect.forkScoped(Effect.forever(Effect.delay(round, SHARE_INTERVAL)))
})

const make = (shelf: Shelf, clock: Clock.Clock) =>
  LiveFigures.of({
    record: (observation) => {
      const { model, provider } = observation
      const minute = minuteOf(clock)
      const series = shelf.find(model, provider) ?? shelf.add(model, provider, minute)
      series.record(minute, observation)
    },
    performance: (model, provider) =>
      shelf.find(model, provider)?.performance(clock.currentTimeMillisUnsafe()) ?? unknownPerformance
  })

/**
 * What this node and all others on its database have seen of each model at each provider in the last 30 minutes. Counted in
 * memory; written and read in the background every five seconds, so that it outlives a process but for the last seconds of one
 * that is killed. While the database is away each node goes by what it knows.
 */
export class LiveFigures extends Context.Service<
  LiveFigures,
  {
    /** Takes microseconds and never fails, so that it can be called on any path. */
    readonly record: (observation: Observation) => void
    /** Takes less than a microsecond. From 20 samples on it may be a second old. */
    readonly performance: (model: string, provider: string) => Performance
  }
>()("tollgate/catalogue/LiveFigures") {
  static readonly layer = Layer.effect(
    LiveFigures,
    Effect.gen(function* () {
      const [sql, clock, shelf] = [yield* SqlClient.SqlClient, yield* Clock.Clock, new Shelf()]
      yield* share({ sql, node: newResourceId(), shelf, clock })
      return make(shelf, clock)
    })
  )

  /** Of this process alone, for where there is nobody to share with. */
  static readonly layerMemory = Layer.effect(
    LiveFigures,
    Effect.map(Clock.Clock, (clock) => make(new Shelf(), clock))
  )
}

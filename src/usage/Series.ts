import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DAY_MS } from "../domain/Day.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type RangeQuestion, emptyRange, rangeProblem } from "./Range.ts"
import { UsageReads } from "./UsageReads.ts"
import {
  type SeriesDimension,
  type SeriesFilters,
  type SeriesInterval,
  seriesOf,
  type SeriesRank,
  type SeriesRow
} from "./SeriesSql.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const WEEK_MS = 7 * DAY_MS

/** 1970 began on a Thursday. Weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** The maximum number of buckets of each width. Buckets of minutes are summed from single requests, so there are few of them. */
const intervals: Readonly<Record<SeriesInterval, { readonly ms: number; readonly most: number }>> = {
  minute: { ms: MINUTE_MS, most: 360 },
  hour: { ms: HOUR_MS, most: 31 * 24 },
  day: { ms: DAY_MS, most: 366 },
  week: { ms: WEEK_MS, most: 105 }
}

const periods = { "1h": HOUR_MS, "1d": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS } as const
export type SeriesPeriod = keyof typeof periods

/** A request for an account's usage over time. */
export interface SeriesQuestion extends RangeQuestion {
  readonly accountId: string
  readonly period: SeriesPeriod | undefined
  /** The width of a bucket. Default: the interval that gives some dozen buckets. */
  readonly interval: SeriesInterval | undefined
  readonly by: SeriesDimension | undefined
  readonly rank: SeriesRank
  readonly top: number
  readonly filters: SeriesFilters
}

export type SeriesSums = Pick<
  SeriesRow,
  "requests" | "failed" | "prompt" | "completion" | "cost" | "latency_us" | "timed"
>

/** One group, or all groups beyond the largest ones. */
export interface Series {
  readonly group: string | null
  readonly isRest: boolean
  readonly totals: SeriesSums
  /** The figures, one for each bucket. */
  readonly buckets: ReadonlyArray<SeriesSums>
}

export interface SeriesAnswer {
  readonly fromMs: number
  readonly untilMs: number
  readonly interval: SeriesInterval
  /** The starts of the buckets. */
  readonly startsMs: ReadonlyArray<number>
  readonly totals: SeriesSums
  /** The number of groups, of which the largest ones have a series each. */
  readonly groups: number
  readonly series: ReadonlyArray<Series>
}

/** An account's usage over time, divided into its largest groups. It combines rollups with request rows for what they lack. */
export class UsageSeries extends Context.Service<
  UsageSeries,
  {
    /** Fails with `ValidationError` for an invalid range or too many buckets, and otherwise as `UsageReads` does. */
    readonly read: (question: SeriesQuestion) => Effect.Effect<SeriesAnswer, Failure | Unavailable>
  }
>()("tollgate/usage/Series") {
  static readonly layer = Layer.effect(
    UsageSeries,
    Effect.gen(function* () {
      const [sql, reads] = [yield* SqlClient.SqlClient, yield* UsageReads]
      return UsageSeries.of({
        read: Effect.fnUntraced(function* (question) {
          const { accountId, by, filters, rank, top } = question
          const range = yield* rangeOf(question, yield* Clock.currentTimeMillis)
          const [from, until] = [new Date(range.fromMs), new Date(range.untilMs)]
          const selection = { accountId, by, filters, rank, top, from, until, interval: range.interval }
          return answerOf(range, top, yield* reads.read(accountId, seriesOf(sql, selection)))
        }, storeErrors)
      })
    })
  )
}

type Range = Pick<SeriesAnswer, "fromMs" | "untilMs" | "interval">

const HOURS_UP_TO_MS = 3 * DAY_MS

const usualInterval = (spanMs: number): SeriesInterval => {
  if (spanMs <= intervals.minute.most * MINUTE_MS) return "minute"
  if (spanMs <= HOURS_UP_TO_MS) return "hour"
  return spanMs <= intervals.day.most * DAY_MS ? "day" : "week"
}

const floor = (ms: number, interval: SeriesInterval): number => {
  const origin = interval === "week" ? FIRST_MONDAY_MS : 0
  const width = intervals[interval].ms
  return Math.floor((ms - origin) / width) * width + origin
}

const rangeOf = (
  { endMs, interval: wanted, period, startMs }: SeriesQuestion,
  nowMs: number
): Effect.Effect<Range, Failure> => {
  const problem = rangeProblem({ period, startMs, endMs })
  if (problem !== undefined) return problem
  const end = endMs ?? nowMs + 1
  const start = startMs ?? end - periods[period ?? "7d"]
  if (start >= end) return emptyRange({ endMs })
  const interval = wanted ?? usualInterval(end - start)
  const { most, ms } = intervals[interval]
  const last = floor(end - 1, interval)
  // A period ends with the current bucket and has whole buckets only: the last 24 hours are 24 buckets and not 25.
  const fromMs = startMs === undefined ? Math.min(last, floor(start, interval) + ms) : floor(start, interval)
  const untilMs = last + ms
  if ((untilMs - fromMs) / ms > most)
    return invalid("start_time", `must give at most ${most} buckets of one ${interval}`)
  return Effect.succeed({ fromMs, untilMs, interval })
}

const nothing: SeriesSums = {
  requests: 0n,
  failed: 0n,
  prompt: 0n,
  completion: 0n,
  cost: 0n,
  latency_us: 0n,
  timed: 0n
}

const sumOf = (rows: ReadonlyArray<SeriesSums>): SeriesSums =>
  rows.reduce(
    (sum, row) => ({
      requests: sum.requests + row.requests,
      failed: sum.failed + row.failed,
      prompt: sum.prompt + row.prompt,
      completion: sum.completion + row.completion,
      cost: sum.cost + row.cost,
      latency_us: sum.latency_us + row.latency_us,
      timed: sum.timed + row.timed
    }),
    nothing
  )

const answerOf = (range: Range, top: number, rows: ReadonlyArray<SeriesRow>): SeriesAnswer => {
  const { ms } = intervals[range.interval]
  const startsMs = Array.from({ length: (range.untilMs - range.fromMs) / ms }, (_, at) => range.fromMs + at * ms)
  const series = [...Map.groupBy(rows, ({ place }) => place)].map(([place, own]): Series => {
    const known = new Map(own.map((row) => [row.start.getTime(), row]))
    return {
      group: place > top ? null : (own[0]?.group ?? null),
      isRest: place > top,
      totals: sumOf(own),
      buckets: startsMs.map((start) => known.get(start) ?? nothing)
    }
  })
  return { ...range, startsMs, totals: sumOf(rows), groups: rows[0]?.groups ?? 0, series }
}

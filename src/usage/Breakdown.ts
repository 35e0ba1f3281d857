import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DAY_MS } from "../domain/Day.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { breakdown, type BreakdownRow, type Dimension, dimensions, type Position } from "./BreakdownSql.ts"
import { type RangeQuestion, emptyRange, rangeProblem } from "./Range.ts"
import { UsageReads } from "./UsageReads.ts"
import type { UsagePeriod } from "./Usage.ts"

const HOUR_MS = 3_600_000

/** The widths of buckets and the maximum number of buckets per report: a month of hours or a year of days. */
const widths = {
  "1h": { width: "hour", bucketMs: HOUR_MS, most: 31 * 24 },
  "1d": { width: "day", bucketMs: DAY_MS, most: 366 }
} as const
export type BucketWidth = keyof typeof widths

const periodDays = { "1d": 1, "7d": 7, "30d": 30 } as const

/** A request for a report on an account's usage. */
export interface BreakdownQuestion extends RangeQuestion {
  readonly accountId: string
  readonly period: UsagePeriod | undefined
  readonly width: BucketWidth | undefined
  readonly by: ReadonlyArray<Dimension>
  readonly limit: number
  /** The `next` of the previous page. */
  readonly cursor: string | undefined
}

/** A page of the report. Buckets are whole: the first and the last include all of their time. */
export interface UsageBreakdown {
  readonly fromMs: number
  readonly untilMs: number
  readonly width: BucketWidth
  readonly bucketMs: number
  /** The totals across all pages. */
  readonly totals: BreakdownRow
  readonly rows: ReadonlyArray<BreakdownRow>
  readonly next: string | null
}

/** An account's usage, grouped by any of the dimensions. It combines rollups of the past with request rows for the rest. */
export class Breakdown extends Context.Service<
  Breakdown,
  {
    /**
     * Returns rows ordered by bucket, oldest first, then by project, key, model and provider. Groups without usage have no row.
     * Fails with `ValidationError` for an invalid range, too many buckets, or a foreign cursor, and otherwise as `UsageReads` does.
     */
    readonly page: (question: BreakdownQuestion) => Effect.Effect<UsageBreakdown, Failure | Unavailable>
  }
>()("tollgate/usage/Breakdown") {
  static readonly layer = Layer.effect(
    Breakdown,
    Effect.gen(function* () {
      const [sql, reads] = [yield* SqlClient.SqlClient, yield* UsageReads]
      return Breakdown.of({
        page: Effect.fnUntraced(function* (question) {
          const { accountId, by, cursor, limit } = question
          const { after, untilMs } = cursor === undefined ? noPage : yield* pageOf(cursor)
          const range = yield* rangeOf(question, Math.min(untilMs, (yield* Clock.currentTimeMillis) + 1))
          const selection = {
            accountId,
            by,
            after,
            limit: limit + 1,
            width: widths[range.width].width,
            from: new Date(range.fromMs),
            until: new Date(range.untilMs)
          }
          const found = yield* reads.read(accountId, breakdown(sql, selection))
          const rows = found.slice(0, -1).slice(0, limit)
          const more = found.length - 1 > limit
          return { ...range, totals: found.at(-1)!, rows, next: more ? cursorOf(rows.at(-1)!, range.untilMs) : null }
        }, storeErrors)
      })
    })
  )
}

const rangeOf = (
  { endMs, period, startMs, width: wanted }: BreakdownQuestion,
  openEndMs: number
): Effect.Effect<Pick<UsageBreakdown, "fromMs" | "untilMs" | "width" | "bucketMs">, Failure> => {
  const problem = rangeProblem({ period, startMs, endMs })
  if (problem !== undefined) return problem
  const width = wanted ?? (period === "1d" ? "1h" : "1d")
  const { bucketMs, most } = widths[width]
  const end = endMs ?? openEndMs
  const untilMs = Math.ceil(end / bucketMs) * bucketMs
  const days = periodDays[period ?? "30d"]
  const fromMs = startMs === undefined ? untilMs - days * DAY_MS : Math.floor(startMs / bucketMs) * bucketMs
  if (fromMs >= untilMs || (startMs ?? fromMs) >= end) return emptyRange({ endMs })
  if ((untilMs - fromMs) / bucketMs > most)
    return invalid("start_time", `must give at most ${most} buckets of ${width}`)
  return Effect.succeed({ fromMs, untilMs, width, bucketMs })
}

const names = Object.keys(dimensions) as ReadonlyArray<Dimension>

/**
 * Encodes the end of a page and the range of its list. A range up to now would otherwise move between two pages and lose its oldest
 * bucket.
 */
const cursorOf = (position: Position, untilMs: number): string =>
  Buffer.from(JSON.stringify([untilMs, position.start.getTime(), ...names.map((name) => position[name])])).toString(
    "base64url"
  )

const noPage = { after: undefined, untilMs: Infinity }

/** The last moment that both PostgreSQL and JavaScript can represent. */
const MAX_MS = 8_640_000_000_000_000

const isMoment = (ms: unknown): ms is number =>
  typeof ms === "number" && Number.isInteger(ms) && ms >= 0 && ms <= MAX_MS

const pageOf = (cursor: string): Effect.Effect<{ readonly after: Position; readonly untilMs: number }, Failure> =>
  Effect.suspend(() => {
    const bad = invalid("cursor", "must be the next_cursor of a usage page")
    let parts: unknown
    try {
      parts = JSON.parse(Buffer.from(cursor, "base64url").toString())
    } catch {
      return bad
    }
    if (!Array.isArray(parts) || parts.length !== names.length + 2) return bad
    const [untilMs, startMs, ...words] = parts as ReadonlyArray<unknown>
    if (!isMoment(untilMs) || !isMoment(startMs)) return bad
    if (
      !words.every((word): word is string => typeof word === "string" && !word.includes("\0") && word.isWellFormed())
    ) {
      return bad
    }
    const [project = "", key = "", model = "", provider = ""] = words
    return Effect.succeed({ after: { start: new Date(startMs), project, key, model, provider }, untilMs })
  })

import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DAY_MS, dayOf, isDay } from "../domain/Day.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type MarginDimension, marginDimensions, type MarginGroup, type MarginRow, marginsOf } from "./MarginsSql.ts"

/** The default range of a report, in days, including today. */
const USUAL_DAYS = 30

/** The maximum number of days of one report: ten years. */
const MAX_DAYS = 3_660

/** A request for a report on revenue and cost. Days are `YYYY-MM-DD` in UTC, and both ends belong to the range. */
export interface MarginQuestion {
  readonly by: ReadonlyArray<MarginDimension>
  /** Absent: 29 days before the last day. */
  readonly from: string | undefined
  /** Absent: today. */
  readonly to: string | undefined
  /** Absent: all accounts. */
  readonly accountId: string | undefined
  /** Reports requests paid with simulated money instead of those paid with real money. */
  readonly play: boolean
  readonly limit: number
  /** The `next` of the previous page. */
  readonly cursor: string | undefined
}

/** A page of a report. */
export interface MarginReport {
  readonly from: string
  readonly to: string
  /** The totals of all groups, across all pages. */
  readonly totals: MarginRow
  readonly rows: ReadonlyArray<MarginRow>
  readonly next: string | null
}

/**
 * Reports revenue, provider cost and margin of all accounts. It combines daily sums with the rows of requests that are not in them yet,
 * so that a report over years reads few rows and is still complete up to this moment.
 */
export class Margins extends Context.Service<
  Margins,
  {
    /** Fails with `ValidationError` for an impossible range or a foreign cursor. Groups are in order of day, account, model, provider. */
    readonly report: (question: MarginQuestion) => Effect.Effect<MarginReport, Failure | Unavailable>
  }
>()("tollgate/usage/Margins") {
  static readonly layer = Layer.effect(
    Margins,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Margins.of({
        report: Effect.fnUntraced(function* (question) {
          const { accountId, by, cursor, limit, play } = question
          const { after, to: until } =
            cursor === undefined ? { after: undefined, to: undefined } : yield* pageOf(cursor)
          const range = yield* rangeOf({ ...question, to: until ?? question.to })
          const found = yield* storeErrors(
            marginsOf(sql, {
              accountId,
              by,
              play,
              after,
              from: range.from,
              until: dayAfter(range.to),
              limit: limit + 1
            })
          )
          const rows = found.slice(0, -1).slice(0, limit)
          const more = found.length - 1 > limit
          return { ...range, totals: found.at(-1)!, rows, next: more ? cursorOf(rows.at(-1)!, range.to) : null }
        })
      })
    )
  )
}

const dayAfter = (day: string): string => dayOf(Date.parse(day) + DAY_MS)

const rangeOf = (
  question: Pick<MarginQuestion, "from" | "to">
): Effect.Effect<Pick<MarginReport, "from" | "to">, Failure> =>
  Effect.gen(function* () {
    const { to = dayOf(yield* Clock.currentTimeMillis) } = question
    const { from = dayOf(Date.parse(to) - (USUAL_DAYS - 1) * DAY_MS) } = question
    if (from > to) return yield* invalid("from", `must not be after \`to\`; got ${from}, which is after ${to}`)
    if ((Date.parse(to) - Date.parse(from)) / DAY_MS >= MAX_DAYS)
      return yield* invalid("from", `must be at most ${MAX_DAYS} days before \`to\``)
    return { from, to }
  })

const names = Object.keys(marginDimensions) as ReadonlyArray<MarginDimension>

/** Encodes the end of a page, and the last day: a report up to today would otherwise move at midnight. */
const cursorOf = (group: MarginGroup, to: string): string =>
  Buffer.from(JSON.stringify([to, ...names.map((name) => group[name])])).toString("base64url")

const pageOf = (cursor: string): Effect.Effect<{ readonly after: MarginGroup; readonly to: string }, Failure> =>
  Effect.suspend(() => {
    const bad = invalid("cursor", "must be the next_cursor of a page of this report")
    let parts: unknown
    try {
      parts = JSON.parse(Buffer.from(cursor, "base64url").toString())
    } catch {
      return bad
    }
    const isText = (part: unknown): part is string =>
      typeof part === "string" && !part.includes("\0") && part.isWellFormed()
    if (!Array.isArray(parts) || parts.length !== names.length + 1 || !parts.every(isText)) return bad
    const [to = "", day = "", account = "", model = "", provider = ""] = parts
    return isDay(to) ? Effect.succeed({ after: { day, account, model, provider }, to }) : bad
  })

type Costs = Pick<MarginRow, "provider_cost" | "attempt_cost">

/** Returns what a group costs the operator, including attempts that served no answer, in nano-USD. */
export const costOf = ({ attempt_cost: attempts, provider_cost: served }: Costs): bigint => served + attempts

/** Returns the margin of a group, which is its revenue less what its providers charge, in nano-USD. */
export const marginOf = (row: Pick<MarginRow, "revenue"> & Costs): bigint => row.revenue - costOf(row)

/** Returns the margin in basis points of the revenue; null without revenue. */
export const marginBasisPoints = (row: Pick<MarginRow, "revenue"> & Costs): number | null =>
  row.revenue === 0n ? null : Number((marginOf(row) * 10_000n) / row.revenue)

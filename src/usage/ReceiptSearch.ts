/** Searches for a page of receipts that match its filters. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { DAY_MS } from "../domain/Day.ts"
import { firstRequestIdAt, timeOfRequestId } from "../platform/Ids.ts"
import {
  firstCounted,
  type Range,
  rangesOf,
  type RequestRow,
  requestsIn,
  rolledUpThrough,
  searchRequests,
  type ReceiptFilters
} from "./RequestsSql.ts"

export interface ReceiptsPage {
  /** Newest first. */
  readonly rows: ReadonlyArray<RequestRow>
  /** The cursor of the next page; null on the last. */
  readonly next: string | null
  /** The arrival time of the oldest request examined, in milliseconds since 1970; null when all were examined. */
  readonly searchedToMs: number | null
}

/** The limits of the search for one page. */
export interface SearchOptions {
  /** The number of requests that one statement examines. */
  readonly part: number
  /** The number of requests that one page examines. */
  readonly page: number
  /** How long one page continues with further parts, in milliseconds. */
  readonly forMs: number
}

/** The page of these rows, of which there may be one more than were asked for. */
export const pageOf = (rows: ReadonlyArray<RequestRow>, limit: number, bound?: string): ReceiptsPage => {
  const next = rows.length > limit ? rows[limit - 1]!.id : bound
  return {
    rows: rows.slice(0, limit),
    next: next ?? null,
    searchedToMs: next === undefined ? null : timeOfRequestId(next)
  }
}

/** The greater of two request IDs. */
const laterOf = (one: string | undefined, other: string | undefined): string =>
  (one ?? "") > (other ?? "") ? (one ?? "") : (other ?? "")

/** Matching receipts, of which there may be one more than were asked for, and where the search stopped before the end. */
interface MatchingReceipts {
  readonly rows: ReadonlyArray<RequestRow>
  readonly bound: string | undefined
}

/** Joins ranges that overlap. Both lists are in order, the newest first. */
const disjoint = (ranges: ReadonlyArray<Range>): ReadonlyArray<Range> => {
  const joined: Array<Range> = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last === undefined || range.newest < last.oldest) joined.push(range)
    else if (range.oldest < last.oldest) joined[joined.length - 1] = { ...last, oldest: range.oldest }
  }
  return joined
}

/** The rollups of this long are read at once: hours, of which there are hundreds. */
const WINDOW_MS = 31 * DAY_MS

/** The maximum number of ranges of one statement. Each may have many thousands of requests. */
const MAX_RANGES = 64

/** Looks at one request after the other, from the newest on, down to those that are rolled up. */
const makeWalk = (sql: SqlClient.SqlClient, { page, part }: SearchOptions) =>
  Effect.fnUntraced(function* (
    accountId: string,
    wanted: ReceiptFilters,
    from: string | null,
    limit: number,
    until: number
  ): Effect.fn.Return<MatchingReceipts, SqlError.SqlError> {
    const found: Array<RequestRow> = []
    let before = from
    for (let looked = part; ; looked += part) {
      const missing = limit + 1 - found.length
      const { bound, rows } = yield* searchRequests(sql, accountId, wanted, before, { limit: missing, part })
      found.push(...rows)
      const over = bound === undefined || looked >= page || performance.now() >= until
      if (over || found.length > limit) return { rows: found, bound }
      before = bound
    }
  })

/** Looks only where the rollups say that there may be a match, from the newest such place on. */
const makeSkip = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (
    accountId: string,
    wanted: ReceiptFilters,
    from: string,
    limit: number,
    until: number
  ): Effect.fn.Return<MatchingReceipts, SqlError.SqlError> {
    const found: Array<RequestRow> = []
    const first = yield* firstCounted(sql, accountId)
    if (first === undefined) return { rows: found, bound: undefined }
    const last = laterOf(wanted.fromId, first)
    let before = from
    while (before > last) {
      const beforeMs = timeOfRequestId(before)
      const window = laterOf(last, firstRequestIdAt(Math.max(0, beforeMs - WINDOW_MS)))
      const hours = { fromTime: new Date(timeOfRequestId(window) - DAY_MS), untilTime: new Date(beforeMs + DAY_MS) }
      const ranges = disjoint(yield* rangesOf(sql, accountId, wanted, { before, from: window, ...hours }))
      for (let at = 0, some = 1; at < ranges.length; at += some, some = Math.min(MAX_RANGES, some * 2)) {
        const part = ranges.slice(at, at + some)
        const span = { before, from: window, ranges: part }
        found.push(...(yield* requestsIn(sql, accountId, wanted, span, limit + 1 - found.length)))
        const isLast = at + some >= ranges.length
        if (found.length > limit) return { rows: found, bound: undefined }
        if (!isLast && performance.now() >= until) return { rows: found, bound: laterOf(window, part.at(-1)!.oldest) }
      }
      before = window
      if (before > last && performance.now() >= until) return { rows: found, bound: before }
    }
    return { rows: found, bound: undefined }
  })

/** Searches the account's requests for receipts that match: first those that no rollup includes, then where the rollups point. */
export const makeSearch = (sql: SqlClient.SqlClient, options: SearchOptions) => {
  const [walk, skip] = [makeWalk(sql, options), makeSkip(sql)]
  return Effect.fnUntraced(function* (
    accountId: string,
    wanted: ReceiptFilters,
    from: string | null,
    limit: number
  ): Effect.fn.Return<ReceiptsPage, SqlError.SqlError> {
    const until = performance.now() + options.forMs
    const through = yield* rolledUpThrough(sql)
    const isRecent = from === null || from > through
    const recent = isRecent
      ? yield* walk(accountId, { ...wanted, fromId: laterOf(wanted.fromId, through) }, from, limit, until)
      : { rows: [], bound: undefined }
    if (recent.rows.length > limit || recent.bound !== undefined) return pageOf(recent.rows, limit, recent.bound)
    const before = from !== null && from < through ? from : through
    const past = yield* skip(accountId, wanted, before, limit - recent.rows.length, until)
    return pageOf([...recent.rows, ...past.rows], limit, past.bound)
  })
}

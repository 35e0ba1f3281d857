import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Failure } from "../domain/Failure.ts"
import { timeOfRequestId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { ReadTurns } from "./ReadTurns.ts"
import { isSearched, openRequestsOf, type RequestRow, requestsOf, searchRequests, type Wanted } from "./RequestsSql.ts"

export interface PageQuery {
  readonly limit: number
  /** The id after which, going back in time, the page begins. */
  readonly cursor: string | undefined
  readonly model: string | undefined
  readonly status: string | undefined
}

export interface ReceiptsPage {
  /** Newest first. */
  readonly rows: ReadonlyArray<RequestRow>
  /** The cursor of the next page; null on the last. */
  readonly next: string | null
  /** When the oldest request that was looked at arrived, in milliseconds since 1970; null where all were. */
  readonly searchedToMs: number | null
}

/** How far one page looks for receipts that match its filters. */
export interface SearchOptions {
  /** Requests that one statement looks at. */
  readonly part: number
  /** Requests that one page looks at. */
  readonly page: number
  /** How long one page goes on to the next part, in milliseconds. */
  readonly forMs: number
}

/**
 * 10,000 requests on pages that are not in memory take a slow disk up to three seconds, below the five of `ReadTurns`; 100,000 that
 * are in memory take a tenth of one.
 */
const usual: SearchOptions = { part: 10_000, page: 100_000, forMs: 1_000 }

/** The receipts of an account, page by page. */
export class Receipts extends Context.Service<
  Receipts,
  {
    /**
     * Returns one page. With filters that no index serves it looks through a bounded number of requests and may then be shorter than
     * its limit, or empty, and still have a next page. Such a page waits for its turn and fails as `ReadTurns` does.
     */
    readonly page: (accountId: string, page: PageQuery) => Effect.Effect<ReceiptsPage, Failure | Unavailable>
  }
>()("tollgate/usage/Receipts") {
  static readonly layerOf = (options: Partial<SearchOptions> = {}) => Layer.effect(Receipts, make(options))

  static readonly layer = Layer.suspend(() => Receipts.layerOf())
}

const pageOf = (rows: ReadonlyArray<RequestRow>, limit: number, bound?: string): ReceiptsPage => {
  const next = rows.length > limit ? rows[limit - 1]!.id : bound
  return {
    rows: rows.slice(0, limit),
    next: next ?? null,
    searchedToMs: next === undefined ? null : timeOfRequestId(next)
  }
}

const make = Effect.fnUntraced(function* (options: Partial<SearchOptions>) {
  const [sql, turns] = [yield* SqlClient.SqlClient, yield* ReadTurns]
  const { forMs, page, part } = { ...usual, ...options }

  const search = Effect.fnUntraced(function* (
    accountId: string,
    wanted: Wanted,
    { cursor, limit }: PageQuery
  ): Effect.fn.Return<ReceiptsPage, SqlError.SqlError> {
    const until = performance.now() + forMs
    const found: Array<RequestRow> = []
    let before = cursor ?? null
    for (let looked = part; ; looked += part) {
      const missing = limit + 1 - found.length
      const { bound, rows } = yield* searchRequests(sql, accountId, wanted, before, { limit: missing, part })
      found.push(...rows)
      const over = bound === undefined || looked >= page || performance.now() >= until
      if (over || found.length > limit) return pageOf(found, limit, bound)
      before = bound
    }
  })

  return Receipts.of({
    page: Effect.fnUntraced(function* (accountId, query) {
      const { cursor: before = null, limit, model = null, status = null } = query
      const wanted = { model, status }
      if (status === "open") {
        const open = openRequestsOf(sql, accountId, wanted, before, limit + 1)
        return pageOf(yield* turns.read(accountId, open), limit)
      }
      if (isSearched(wanted)) return yield* turns.read(accountId, search(accountId, wanted, query))
      return pageOf(yield* requestsOf(sql, accountId, wanted, before, limit + 1), limit)
    }, storeErrors)
  })
})

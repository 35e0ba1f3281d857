/** The receipts of the requests page, by pages and live. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query"
import { api } from "./Client.ts"
import { defined } from "./Defined.ts"
import type { Times } from "./Ranges.ts"
import { filterQueryOf, type UsageFilters } from "./UsageSeries.ts"

const PAGE = 100

export interface RequestFilters extends UsageFilters {
  readonly minCost?: number | undefined
  readonly maxCost?: number | undefined
  readonly minMs?: number | undefined
  readonly maxMs?: number | undefined
}

/** The bounds of cost and latency by the names of the API. */
const boundsOf = ({ maxCost, maxMs, minCost, minMs }: RequestFilters) =>
  defined({ min_cost_usd: minCost, max_cost_usd: maxCost, min_latency_ms: minMs, max_latency_ms: maxMs })

export interface RequestsRead {
  readonly filters: RequestFilters
  /** Identifies the range in the key of the cache. */
  readonly rangeKey: string
  /** The time range. A range that ends now is read without an end, so that it includes new receipts. */
  readonly times: () => Times
  readonly isCustom: boolean
}

const rangeOf = ({ isCustom, times }: RequestsRead) => {
  const { end, start } = times()
  return isCustom ? { start_time: start, end_time: end } : { start_time: start }
}

/** Receipts by pages, newest first. */
export const requestPagesQuery = (read: RequestsRead) =>
  infiniteQueryOptions({
    queryKey: ["requests", "pages", read.rangeKey, read.filters],
    placeholderData: keepPreviousData,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.call("requests.list", {
        query: {
          limit: PAGE,
          ...rangeOf(read),
          ...filterQueryOf(read.filters),
          ...boundsOf(read.filters),
          ...(pageParam === undefined ? {} : { cursor: pageParam })
        },
        signal
      }),
    getNextPageParam: (page) => page.next_cursor ?? undefined
  })

const NEWEST = 50
const EVERY_MS = 2_000

/** The newest receipts, which refresh every two seconds. */
export const newestReceiptsQuery = (read: RequestsRead) =>
  queryOptions({
    queryKey: ["requests", "live", read.rangeKey, read.filters],
    refetchInterval: EVERY_MS,
    queryFn: async () =>
      (
        await api.call("requests.list", {
          query: {
            limit: NEWEST,
            ...rangeOf(read),
            ...filterQueryOf(read.filters),
            ...boundsOf(read.filters)
          }
        })
      ).data
  })

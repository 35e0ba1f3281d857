/** Receipts by pages and as they come. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query"
import { api } from "./Client.ts"
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
const boundsOf = ({ maxCost, maxMs, minCost, minMs }: RequestFilters) => ({
  ...(minCost === undefined ? {} : { min_cost_usd: minCost }),
  ...(maxCost === undefined ? {} : { max_cost_usd: maxCost }),
  ...(minMs === undefined ? {} : { min_latency_ms: minMs }),
  ...(maxMs === undefined ? {} : { max_latency_ms: maxMs })
})

export interface RequestsRead {
  readonly filters: RequestFilters
  /** What tells this range from others. */
  readonly rangeKey: string
  /** Ends now for a range up to now, which is then not asked for: receipts that come meanwhile belong to it. */
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

/** The newest receipts, read again and again. */
export const requestTailQuery = (read: RequestsRead) =>
  queryOptions({
    queryKey: ["requests", "tail", read.rangeKey, read.filters],
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

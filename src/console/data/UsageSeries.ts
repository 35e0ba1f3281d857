/** Usage over time, in the series of the gateway. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import type { UsageSeriesReport } from "../../client/Contract.ts"
import { api } from "./Client.ts"
import { defined } from "./Defined.ts"
import type { Interval, Times } from "./Ranges.ts"
import { inTurn } from "./UsageQueue.ts"

export const groupings = ["model", "provider", "key", "project", "operation", "status"] as const
export type Grouping = (typeof groupings)[number]

export const figures = [
  "cost_usd",
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "failed_requests",
  "latency_ms"
] as const
export type Figure = (typeof figures)[number]

/** A figure of the gateway, or the sum of both kinds of tokens. */
export type ShownFigure = Figure | "tokens"

/** The filters of requests, by their names in the URL. */
export interface UsageFilters {
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly key?: string | undefined
  readonly project?: string | undefined
  readonly operation?: string | undefined
  readonly status?: "open" | "succeeded" | "failed" | "cancelled" | undefined
}

/** The filters by the names of the API. */
export const filterQueryOf = ({ key, model, operation, project, provider, status }: UsageFilters) =>
  defined({ model, provider, key_id: key, project_id: project, operation, status })

export interface SeriesRead {
  /** The range at the time of a read, because a range up to now moves. */
  readonly times: () => Times
  /** Identifies the range in the key of the cache. */
  readonly rangeKey: string
  readonly by?: Grouping | undefined
  readonly rank?: Figure
  readonly top?: number
  readonly interval?: ((times: Times) => Interval) | undefined
  readonly filters?: UsageFilters
}

const REFRESH_MS = 60_000

/** Usage in a range, in series by one dimension. */
export const seriesQuery = ({ by, filters = {}, interval, rangeKey, rank = "cost_usd", times, top = 8 }: SeriesRead) =>
  queryOptions({
    queryKey: ["usage", "series", rangeKey, by, rank, top, filters],
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }): Promise<UsageSeriesReport> => {
      const { end, start } = times()
      return inTurn(() =>
        api.call("management.usage.series", {
          query: {
            start_time: start,
            end_time: end,
            rank_by: rank,
            top,
            ...(by === undefined ? {} : { group_by: by }),
            ...(interval === undefined ? {} : { interval: interval({ start, end }) }),
            ...filterQueryOf(filters)
          },
          signal
        })
      )
    }
  })

/** A figure of the totals. An unknown latency is 0. */
export const totalOf = (totals: UsageSeriesReport["totals"], figure: ShownFigure): number =>
  figure === "tokens" ? totals.prompt_tokens + totals.completion_tokens : (totals[figure] ?? 0)

/** The values of a figure in each bucket, or their running totals. */
export const valuesOf = (
  { values }: UsageSeriesReport["data"][number],
  figure: ShownFigure,
  isCumulative: boolean
): ReadonlyArray<number> => {
  const own =
    figure === "tokens"
      ? values.prompt_tokens.map((tokens, at) => tokens + (values.completion_tokens[at] ?? 0))
      : values[figure].map((value) => value ?? 0)
  if (!isCumulative) return own
  let sum = 0
  return own.map((value) => (sum += value))
}

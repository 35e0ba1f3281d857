/** What each key or project spent in 30 days, and how many of its requests failed. */
import { queryOptions } from "@tanstack/react-query"
import type { UsageSeriesReport } from "../../client/Contract.ts"
import { api } from "./Client.ts"
import { inTurn } from "./Usage.ts"

/** The most groups that the gateway gives a series of their own. */
const MOST_GROUPS = 20

export interface Spent {
  readonly cost: number
  readonly requests: number
  readonly failed: number
  /** A day each. */
  readonly costs: ReadonlyArray<number>
}

const nothing: Spent = { cost: 0, requests: 0, failed: 0, costs: [] }

/** The spend of one group; undefined for one that is in the rest, whose own figures the report does not have. */
export const spentOf = ({ data }: Pick<UsageSeriesReport, "data">, id: string): Spent | undefined => {
  const own = data.find(({ group }) => group === id)
  if (own === undefined) return data.some(({ is_rest: isRest }) => isRest) ? undefined : nothing
  const { cost_usd: cost, failed_requests: failed, requests } = own.totals
  return { cost, requests, failed, costs: own.values.cost_usd }
}

export const spendQuery = (by: "key" | "project") =>
  queryOptions({
    queryKey: ["usage", "spend", by],
    staleTime: 60_000,
    queryFn: () =>
      inTurn(() =>
        api.call("management.usage.series", {
          query: { period: "30d", interval: "day", group_by: by, top: MOST_GROUPS }
        })
      )
  })

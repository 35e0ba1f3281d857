/** What one key or project spent, and how many of its requests failed. */
import type { UsageSeriesReport } from "../../client/Contract.ts"

export interface GroupSpend {
  readonly cost: number
  readonly requests: number
  readonly failed: number
  /** A day each. */
  readonly costs: ReadonlyArray<number>
}

const nothing: GroupSpend = { cost: 0, requests: 0, failed: 0, costs: [] }

/** The spend of one group; undefined for one that is in the rest, whose own figures the report does not have. */
export const groupSpendOf = ({ data }: Pick<UsageSeriesReport, "data">, id: string): GroupSpend | undefined => {
  const own = data.find(({ group }) => group === id)
  if (own === undefined) return data.some(({ is_rest: isRest }) => isRest) ? undefined : nothing
  const { cost_usd: cost, failed_requests: failed, requests } = own.totals
  return { cost, requests, failed, costs: own.values.cost_usd }
}

/** The spend and the failed requests of one key or project. */
import type { UsageSeriesReport } from "../../client/Contract.ts"

export interface GroupSpend {
  readonly cost: number
  readonly requests: number
  readonly failed: number
  /** The cost of each day. */
  readonly costs: ReadonlyArray<number>
}

const nothing: GroupSpend = { cost: 0, requests: 0, failed: 0, costs: [] }

/** The spend of one group. It is undefined if the group may be among the others, which the report adds up. */
export const groupSpendOf = ({ data }: Pick<UsageSeriesReport, "data">, id: string): GroupSpend | undefined => {
  const own = data.find(({ group }) => group === id)
  if (own === undefined) return data.some(({ is_rest: isRest }) => isRest) ? undefined : nothing
  const { cost_usd: cost, failed_requests: failed, requests } = own.totals
  return { cost, requests, failed, costs: own.values.cost_usd }
}

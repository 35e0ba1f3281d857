/** The cost of each provider beside its bound. */
import type { ProviderSpendList, ReportRow } from "../../client/Contract.ts"

/** The cost and the bound of a provider, or of all providers together. Amounts are in USD. */
export interface ProviderBound {
  readonly provider: string
  /** The bound; undefined without one. */
  readonly limit: number | undefined
  /** The cost of the requests that ended today. */
  readonly cost: number
  /** The highest cost of the running requests. */
  readonly reserved: number
  /** The cost of the requests that ended in the last 30 days. */
  readonly cost30: number
}

const ALL = "all"

const costsOf = (rows: ReadonlyArray<ReportRow>): ReadonlyMap<string, number> =>
  new Map([
    [ALL, rows.reduce((sum, row) => sum + row.provider_cost_usd + row.attempt_cost_usd, 0)],
    ...rows.flatMap((row) =>
      row.provider === null ? [] : ([[row.provider, row.provider_cost_usd + row.attempt_cost_usd]] as const)
    )
  ])

/**
 * Lists all providers together first, then each available provider and each that has a bound or a cost in 30 days: the most expensive
 * first, then those with a bound, then by name. Nodes publish their sums before the report has them, so the larger sum counts.
 */
export const boundsOf = (
  { data: spend, providers }: Pick<ProviderSpendList, "data" | "providers">,
  today: ReadonlyArray<ReportRow>,
  month: ReadonlyArray<ReportRow>
): ReadonlyArray<ProviderBound> => {
  const bounds = new Map(spend.map((one) => [one.provider, one]))
  const [day, days] = [costsOf(today), costsOf(month)]
  const names = new Set([ALL, ...providers, ...bounds.keys(), ...day.keys(), ...days.keys()])
  return [...names]
    .map((provider): ProviderBound => {
      const bound = bounds.get(provider)
      return {
        provider,
        limit: bound?.limit_usd,
        cost: Math.max(bound?.settled_usd ?? 0, day.get(provider) ?? 0),
        reserved: bound?.reserved_usd ?? 0,
        cost30: days.get(provider) ?? 0
      }
    })
    .toSorted(
      (one, other) =>
        Number(other.provider === ALL) - Number(one.provider === ALL) ||
        other.cost30 - one.cost30 ||
        Number(other.limit !== undefined) - Number(one.limit !== undefined) ||
        one.provider.localeCompare(other.provider)
    )
}

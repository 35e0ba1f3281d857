/** What each provider costs, beside the bound on it. */
import type { ProviderSpend, ReportRow } from "../../client/Contract.ts"

/** A provider, or all of them together. Amounts are in USD. */
export interface ProviderBound {
  readonly provider: string
  /** Undefined without a bound. */
  readonly limit: number | undefined
  /** What ended requests of the day cost. */
  readonly cost: number
  /** What running requests may cost at most. */
  readonly reserved: number
  /** What ended requests of 30 days cost. */
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
 * All providers together first, then those that have a bound or cost something in 30 days, the dearest first. Nodes publish their sums
 * sooner than the report has them, so the larger one counts.
 */
export const boundsOf = (
  spend: ReadonlyArray<ProviderSpend>,
  today: ReadonlyArray<ReportRow>,
  month: ReadonlyArray<ReportRow>
): ReadonlyArray<ProviderBound> => {
  const bounds = new Map(spend.map((one) => [one.provider, one]))
  const [day, days] = [costsOf(today), costsOf(month)]
  const names = new Set([ALL, ...bounds.keys(), ...day.keys(), ...days.keys()])
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
      (one, other) => Number(other.provider === ALL) - Number(one.provider === ALL) || other.cost30 - one.cost30
    )
}

/** Turns the rows of the operator's report into daily series and into a file. */
import type { ReportRow } from "../../client/Contract.ts"
import type { Cell } from "./Csv.ts"
import type { ReportBy } from "./Operator.ts"

const DAY_MS = 86_400_000

/** The figures of the chart. A phone has no room for more buttons. */
export const reportFigures = ["revenue_usd", "provider_cost_usd", "margin_usd", "absorbed_usd"] as const
export type ReportFigure = (typeof reportFigures)[number]

/** All days from one to another, including both, as `YYYY-MM-DD`. */
export const daysOf = (from: string, to: string): ReadonlyArray<string> => {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
  return Array.from({ length: Math.max(0, count) }, (_, at) =>
    new Date(Date.parse(from) + at * DAY_MS).toISOString().slice(0, 10)
  )
}

/** The name of a row's group. Requests without a provider are in the group "no provider". */
export const rowGroupOf = (row: ReportRow, by: ReportBy): string => {
  if (by === "account") return row.email ?? row.account_id ?? ""
  return row[by] ?? (by === "provider" ? "no provider" : "")
}

/** A figure of a group on each day. */
export interface DaySeries {
  readonly name: string
  readonly values: ReadonlyArray<number>
  readonly total: number
  readonly isRest: boolean
}

const sumOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0)

/** The daily figure of the largest groups, and the sum of all others. */
export const seriesOf = (
  rows: ReadonlyArray<ReportRow>,
  days: ReadonlyArray<string>,
  by: ReportBy,
  figure: ReportFigure | "attempt_cost_usd",
  most = 8
): ReadonlyArray<DaySeries> => {
  const places = new Map(days.map((day, at) => [day, at]))
  const groups = new Map<string, Array<number>>()
  for (const row of rows) {
    const at = places.get(row.day ?? "")
    if (at === undefined) continue
    const name = rowGroupOf(row, by)
    const values = groups.get(name) ?? days.map(() => 0)
    values[at] = (values[at] ?? 0) + row[figure]
    groups.set(name, values)
  }
  const all = [...groups].map(([name, values]) => ({ name, values, total: sumOf(values), isRest: false }))
  const ranked = all.toSorted((one, other) => Math.abs(other.total) - Math.abs(one.total))
  if (ranked.length <= most) return ranked
  const rest = ranked.slice(most)
  const values = days.map((_, at) => sumOf(rest.map((one) => one.values[at] ?? 0)))
  return [...ranked.slice(0, most), { name: "other", values, total: sumOf(values), isRest: true }]
}

/** The daily provider cost, cost of failed attempts (if any) and margin, which add up to the revenue. A loss is negative. */
export const splitOf = (rows: ReadonlyArray<ReportRow>, days: ReadonlyArray<string>): ReadonlyArray<DaySeries> => {
  const named = {
    provider_cost_usd: "Provider cost",
    attempt_cost_usd: "Failed attempts",
    margin_usd: "Margin"
  } as const
  const all = (["provider_cost_usd", "attempt_cost_usd", "margin_usd"] as const).map((figure) => {
    const [{ total = 0, values = days.map(() => 0) } = {}] = seriesOf(
      rows.map((row) => ({ ...row, provider: "all" })),
      days,
      "provider",
      figure
    )
    return { name: named[figure], values, total, isRest: false }
  })
  return all.filter(({ name, total }) => name !== named.attempt_cost_usd || total > 0)
}

/** The rows of a CSV file, beginning with the columns of their grouping. */
export const csvOfReport = (
  rows: ReadonlyArray<ReportRow>,
  by: ReadonlyArray<ReportBy>
): ReadonlyArray<ReadonlyArray<Cell>> => [
  [
    ...by,
    "requests",
    "revenue_usd",
    "provider_cost_usd",
    "attempt_cost_usd",
    "margin_usd",
    "margin_percent",
    "uncosted_requests",
    "absorbed_usd"
  ],
  ...rows.map((row): ReadonlyArray<Cell> => [
    ...by.map((one) => rowGroupOf(row, one)),
    row.requests,
    row.revenue_usd,
    row.provider_cost_usd,
    row.attempt_cost_usd,
    row.margin_usd,
    row.margin_basis_points === null ? null : row.margin_basis_points / 100,
    row.uncosted_requests,
    row.absorbed_usd
  ])
]

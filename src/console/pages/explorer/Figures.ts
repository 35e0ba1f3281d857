/** Names and formats the figures of the explorer, and writes them to a file. */
import type { UsageSeriesReport } from "../../../client/Contract.ts"
import type { Cell } from "../../data/Csv.ts"
import type { ShownFigure } from "../../data/UsageSeries.ts"
import { brief, duration } from "../../format/Figures.ts"
import { axisMoney, money } from "../../format/Money.ts"
import { plural } from "../../format/Words.ts"

export const figureNames: Readonly<Record<ShownFigure, string>> = {
  cost_usd: "Spend",
  requests: "Requests",
  prompt_tokens: "Tokens in",
  completion_tokens: "Tokens out",
  failed_requests: "Failed requests",
  latency_ms: "Average latency",
  tokens: "Tokens"
}

/** A figure as text. */
export const showFigure = (figure: ShownFigure, value: number): string => {
  if (figure === "cost_usd") return money(value)
  return figure === "latency_ms" ? duration(value) : brief(value)
}

/** A figure as text on an axis with this step. */
export const showOnAxis = (figure: ShownFigure, value: number, step: number): string => {
  if (figure === "cost_usd") return axisMoney(value, step)
  return figure === "latency_ms" ? (value === 0 ? "0" : duration(value)) : brief(value)
}

/** Names a group, or the sum of the others. */
export type NameOf = (group: string | null | undefined) => string

/** The name of a series. */
export const groupNameOf = (
  one: UsageSeriesReport["data"][number],
  { data, group_by, groups }: UsageSeriesReport,
  nameOf: NameOf
) => (one.is_rest ? plural(groups - data.length + 1, "other") : group_by === null ? "Everything" : nameOf(one.group))

/** The rows of a CSV file: one for each series and bucket, with every figure. */
export const csvRowsOf = (report: UsageSeriesReport, nameOf: NameOf): ReadonlyArray<ReadonlyArray<Cell>> => [
  [
    `start (UTC, per ${report.interval})`,
    report.group_by ?? "group",
    "id",
    "requests",
    "failed_requests",
    "prompt_tokens",
    "completion_tokens",
    "cost_usd",
    "latency_ms"
  ],
  ...report.data.flatMap((one) =>
    report.buckets.map((start, at): ReadonlyArray<Cell> => {
      const { completion_tokens, cost_usd, failed_requests, latency_ms, prompt_tokens, requests } = one.values
      return [
        new Date(start * 1_000).toISOString(),
        groupNameOf(one, report, nameOf),
        one.group,
        requests[at] ?? 0,
        failed_requests[at] ?? 0,
        prompt_tokens[at] ?? 0,
        completion_tokens[at] ?? 0,
        cost_usd[at] ?? 0,
        latency_ms[at] ?? null
      ]
    })
  )
]

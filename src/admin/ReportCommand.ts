/** The command that reports revenue, provider cost and margin. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { decimalUsd, formatUsd, usdFromNano } from "../domain/Money.ts"
import { marginBasisPoints, marginOf, Margins, type MarginReport } from "../usage/Margins.ts"
import type { MarginDimension, MarginRow } from "../usage/MarginsSql.ts"
import { accountOf } from "./MoneyCommands.ts"
import { textCell } from "./Csv.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print } from "./Output.ts"
import { type Column, tableOf } from "./Table.ts"

/** The number of rows that one statement returns. */
const PAGE_ROWS = 1_000

/** Reads all pages of a report. */
const everyRow = (
  margins: Margins["Service"],
  question: Omit<Parameters<typeof margins.report>[0], "cursor" | "limit">
) =>
  Effect.gen(function* () {
    const rows: Array<MarginRow> = []
    let report: MarginReport | undefined
    do {
      report = yield* margins.report({ ...question, limit: PAGE_ROWS, cursor: report?.next ?? undefined })
      rows.push(...report.rows)
    } while (report.next !== null)
    return { ...report, rows }
  })

/** Amounts are decimal USD without an exponent, which spreadsheets read. */
const decimal = decimalUsd

const percent = (row: MarginRow): string => {
  const points = marginBasisPoints(row)
  return points === null ? "" : (points / 100).toFixed(2)
}

const figures = [
  "requests",
  "revenue_usd",
  "provider_cost_usd",
  "attempt_cost_usd",
  "margin_usd",
  "margin_percent",
  "uncosted_requests",
  "absorbed_usd"
]

const csvOf = (by: ReadonlyArray<MarginDimension>, rows: ReadonlyArray<MarginRow>): string => {
  const named = by.includes("account")
  return [
    [...by, ...(named ? ["email"] : []), ...figures],
    ...rows.map((row) => [
      ...by.map((name) => textCell(row[name])),
      ...(named ? [textCell(row.email ?? "")] : []),
      String(row.requests),
      ...[row.revenue, row.provider_cost, row.attempt_cost, marginOf(row)].map(decimal),
      percent(row),
      String(row.uncosted),
      decimal(row.absorbed)
    ])
  ]
    .map((cells) => cells.join(","))
    .join("\n")
}

const factsOf = (by: ReadonlyArray<MarginDimension>, row: MarginRow) => ({
  ...Object.fromEntries(by.map((name) => [name, row[name] === "" ? null : row[name]])),
  ...(by.includes("account") ? { email: row.email } : {}),
  requests: Number(row.requests),
  revenue_usd: usdFromNano(row.revenue),
  provider_cost_usd: usdFromNano(row.provider_cost),
  attempt_cost_usd: usdFromNano(row.attempt_cost),
  margin_usd: usdFromNano(marginOf(row)),
  margin_basis_points: marginBasisPoints(row),
  uncosted_requests: Number(row.uncosted),
  absorbed_usd: usdFromNano(row.absorbed)
})

const columns = (by: ReadonlyArray<MarginDimension>): ReadonlyArray<Column<MarginRow>> => [
  ...by.map((name) => ({
    heading: name.toUpperCase(),
    cell: (row: MarginRow) => {
      if (row.summary) return name === by[0] ? "total" : ""
      return (name === "account" ? (row.email ?? row.account) : row[name]) || "-"
    }
  })),
  { heading: "REQUESTS", cell: ({ requests }) => String(requests), right: true },
  { heading: "REVENUE", cell: ({ revenue }) => formatUsd(revenue), right: true },
  { heading: "COST", cell: (row) => `${formatUsd(row.provider_cost)}${row.uncosted > 0n ? "*" : ""}`, right: true },
  { heading: "ATTEMPTS", cell: (row) => formatUsd(row.attempt_cost), right: true },
  { heading: "MARGIN", cell: (row) => formatUsd(marginOf(row)), right: true },
  { heading: "%", cell: percent, right: true },
  { heading: "ABSORBED", cell: ({ absorbed }) => formatUsd(absorbed), right: true }
]

const NOTHING =
  "No request was paid with real money in these days; the report leaves out simulated money. `--play` reports that."

const textOf = (
  by: ReadonlyArray<MarginDimension>,
  { from, rows, to, totals }: MarginReport,
  play: boolean
): string => {
  if (!play && rows.length === 0) return `Days ${from} to ${to} (UTC)\n${NOTHING}`
  const table = tableOf(columns(by), [...rows, totals])
  const note =
    totals.uncosted > 0n
      ? `\n* The provider's cost of ${totals.uncosted} charged request(s) is unknown and not included.`
      : ""
  return `Days ${from} to ${to} (UTC)\n${table}${note}`
}

export const report = Command.make(
  "report",
  {
    by: Flags.reportBy,
    from: Flags.reportFrom,
    to: Flags.reportTo,
    account: Flag.optional(Flags.accountFlag),
    play: Flags.reportPlay,
    csv: Flags.csv
  },
  Effect.fn("report")(function* ({ account, by, csv, from, play, to }) {
    const name = Option.getOrUndefined(account)
    const of = name === undefined ? undefined : yield* accountOf(name)
    const found = yield* everyRow(yield* Margins, {
      by,
      play,
      accountId: of?.id,
      from: Option.getOrUndefined(from),
      to: Option.getOrUndefined(to)
    })
    // Days stay in their order. Other groups are sorted by size, because readers look for the largest.
    const rows = by[0] === "day" ? found.rows : found.rows.toSorted((a, b) => Number(b.revenue - a.revenue))
    const { from: first, to: last, totals } = found
    yield* print({
      json: { from: first, to: last, data: rows.map((row) => factsOf(by, row)), totals: factsOf([], totals) },
      text: csv ? csvOf(by, rows) : textOf(by, { ...found, rows }, play)
    })
  })
).pipe(
  Command.withDescription("Report revenue, provider cost and margin by day, model, provider or account"),
  Command.withExamples([
    { command: "npm run admin -- report" },
    { command: "npm run admin -- report --by model --from 2026-01-01 --to 2026-01-31" },
    { command: "npm run admin -- report --by day,provider --csv > report.csv" }
  ]),
  Command.provide(database)
)

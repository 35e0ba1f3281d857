/** Formats the figures as a Markdown table that also reads well in a terminal. */
import type { Machine } from "./Machine.ts"

/** One line of the report, with formatted figures. */
export interface Row {
  readonly label: string
  /**
   * The bare proxy's figure. For the ledger, one transaction for each operation; for routing, a fixed provider; for management, a bare
   * server.
   */
  readonly baseline?: string
  readonly gateway: string
  /** The gateway's figure over the baseline's. */
  readonly ratio?: number
  readonly must?: Must
  readonly moneyOff?: string
}

/** A bound that a release must reach. */
export interface Must {
  readonly text: string
  readonly reached: boolean
}

export const perSecond = (value: number) => `${Math.round(value)}/s`
export const share = (value: number) => `${Math.round(value * 100)} %`
export const milliseconds = (value: number) => `${value.toFixed(2)} ms`
export const microseconds = (value: number) => `${value.toFixed(1)} µs`
export const mebibytes = (value: number) => `${Math.round(value)} MiB`

const times = (value: number) => `${value.toFixed(2)} ×`
/** The range of a ratio over the rounds, which shows how far to trust the ratio of medians. */
export const spread = (ratios: ReadonlyArray<number>) =>
  `${Math.min(...ratios).toFixed(2)}–${times(Math.max(...ratios))}`

export const atLeast = (value: number, bound: number, unit: string): Must => ({
  text: `≥ ${bound}${unit}`,
  reached: value >= bound
})

export const atMost = (value: number, bound: number, unit: string): Must => ({
  text: `≤ ${bound}${unit}`,
  reached: value <= bound
})

const headings = ["", "Baseline", "Gateway", "Ratio", "Must", "", "Money off"]

const cellsOf = ({ baseline = "", gateway, label, moneyOff = "", must, ratio }: Row) => [
  label,
  baseline,
  gateway,
  ratio === undefined ? "" : times(ratio),
  must?.text ?? "",
  must === undefined ? "" : must.reached ? "ok" : "**short**",
  moneyOff
]

const tableOf = (rows: ReadonlyArray<Row>): string => {
  const cells = [headings, ...rows.map(cellsOf)]
  const widths = headings.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`
  const [first, ...others] = cells
  return [line(first!), line(widths.map((width) => "-".repeat(width))), ...others.map(line)].join("\n")
}

export interface Report {
  readonly machine: Machine
  readonly rows: ReadonlyArray<Row>
  /** Lines on how the figures were measured. */
  readonly notes: ReadonlyArray<string>
  /** Errors, independent of the figures. */
  readonly failures: ReadonlyArray<string>
}

const list = (lines: ReadonlyArray<string>) => lines.map((line) => `- ${line}`).join("\n")

export const render = ({ failures, machine, notes, rows }: Report): string =>
  [
    "## Bench",
    list([...machine.facts, ...notes]),
    tableOf(rows),
    ...(failures.length === 0 ? [] : ["**Errors:**", list(failures)]),
    ""
  ].join("\n\n")

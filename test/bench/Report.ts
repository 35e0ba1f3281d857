/** The figures as a table that is read in a terminal and pasted into a document alike. */
import type { Machine } from "./Machine.ts"

/** One line of the report; figures are written out with their units. */
export interface Row {
  readonly label: string
  /**
   * The bare proxy's; for the ledger alone, that of one transaction per operation; for routing, that of a fixed provider; for
   * management, that of a bare server.
   */
  readonly baseline?: string
  readonly gateway: string
  /** The gateway's, in parts of the baseline's. */
  readonly ratio?: number
  readonly must?: Must
  readonly moneyOff?: string
}

/** A figure that has to be reached, and whether it is. */
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
/** Between what the rounds of a run lie: how far a ratio of their medians is to be trusted. */
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
  /** How the figures came about, each a line. */
  readonly notes: ReadonlyArray<string>
  /** What was wrong, whatever the figures are. */
  readonly faults: ReadonlyArray<string>
}

const list = (lines: ReadonlyArray<string>) => lines.map((line) => `- ${line}`).join("\n")

export const render = ({ faults, machine, notes, rows }: Report): string =>
  [
    "## Bench",
    list([...machine.facts, ...notes]),
    tableOf(rows),
    ...(faults.length === 0 ? [] : ["**What was wrong:**", list(faults)]),
    ""
  ].join("\n\n")

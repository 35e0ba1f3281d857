/** Writes tables as comma-separated values (RFC 4180). */
import { download } from "./Download.ts"

export type Cell = string | number | null

/** Quotes a text that a spreadsheet would otherwise run as a formula. */
const withoutFormula = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

const cellOf = (cell: Cell): string => {
  if (cell === null) return ""
  const text = typeof cell === "number" ? String(cell) : withoutFormula(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text of a CSV file with these rows. */
export const csvOf = (rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")

/** Saves a table as a CSV file of the reader. */
export const downloadCsv = (name: string, rows: ReadonlyArray<ReadonlyArray<Cell>>): void =>
  download(`${name}.csv`, new Blob([csvOf(rows)], { type: "text/csv;charset=utf-8" }))

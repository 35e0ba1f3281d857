/** Tables as comma-separated values (RFC 4180). */

export type Cell = string | number | null

/** A program that opens the file must not take a name for a formula. */
const harmless = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

const cellOf = (cell: Cell): string => {
  if (cell === null) return ""
  const text = typeof cell === "number" ? String(cell) : harmless(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text of a file with these rows. */
export const csvOf = (rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")

/** Gives the reader a file. */
export const download = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content)
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Gives the reader a table as a file. */
export const downloadCsv = (name: string, rows: ReadonlyArray<ReadonlyArray<Cell>>): void =>
  download(`${name}.csv`, new Blob([csvOf(rows)], { type: "text/csv;charset=utf-8" }))

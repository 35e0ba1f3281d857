/** One column of a table: its heading and the cell of each row. */
export interface Column<Row> {
  readonly heading: string
  readonly cell: (row: Row) => string
  /** Numbers align at their right edge; everything else at its left edge. */
  readonly right?: true
}

/** Aligns rows in columns below their headings. Returns `empty` when there are no rows. */
export const tableOf = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  empty = "Nothing found."
): string => {
  if (rows.length === 0) return empty
  const lines = [columns.map(({ heading }) => heading), ...rows.map((row) => columns.map(({ cell }) => cell(row)))]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)))
  return lines
    .map((line) =>
      line
        .map((cell, index) =>
          columns[index]!.right === true ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!)
        )
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

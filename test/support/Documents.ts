/** Looks into the documents, so that what they list can be compared with the program. */

/** The cells of the rows of a document's table, by its first headings. */
export const tableIn = (text: string, heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const after = text.slice(text.search(new RegExp(`^\\| ${heading} +\\|`, "m")))
  const rows = after.slice(0, after.indexOf("\n\n")).split("\n").slice(2)
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim())
  )
}

/** What stands in backticks. */
export const quoted = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([^`]+)`/g)].map((found) => found[1]!)

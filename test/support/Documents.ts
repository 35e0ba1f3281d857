/** Reads the documents, so that what they list can be compared with the program. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "./Sources.ts"

/** Paths of every page below docs/, from the project's root. */
export const pagesOfDocs: ReadonlyArray<string> = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md"))
  .map((path) => `docs/${path}`)
  .toSorted()

/** The texts of a document's blocks of code in this language. */
export const blocksIn = (text: string, language: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((found) => found[1]!)

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

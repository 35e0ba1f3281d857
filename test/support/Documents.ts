/** Reads the pages of `docs/`, so that tests can compare them with the program. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "./Sources.ts"

/** Paths of every page below docs/, from the project's root. */
export const pagesOfDocs: ReadonlyArray<string> = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md"))
  .map((path) => `docs/${path}`)
  .toSorted()

/** The code blocks of a page in this language. */
export const blocksIn = (text: string, language: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((found) => found[1]!)

/** The cells of the rows of the first table that has this first heading. */
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

/** The texts in backticks. */
export const quoted = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([^`]+)`/g)].map((found) => found[1]!)

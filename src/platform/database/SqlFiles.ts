/** Reads files of SQL: those that the ledger's functions are composed of, and those of the schema's baseline. */
import { readFileSync } from "node:fs"

const INCLUDE = /^( *)-- include: (\S+)$/gm

/**
 * Returns the text of a file of the directory. A line `-- include: name` stands for the file of that name, relative to the same
 * directory and indented as that line is. Included files may include others, but not themselves.
 */
export const readSql = (directory: URL, name: string, within: ReadonlyArray<string> = []): string => {
  if (within.includes(name)) throw new Error(`The SQL file ${name} includes itself (${[...within, name].join(" → ")})`)
  const text = readFileSync(new URL(name, directory), "utf8").trimEnd()
  return text.replaceAll(INCLUDE, (_, indent: string, included: string) =>
    readSql(directory, included, [...within, name]).replaceAll(/^(?=.)/gm, indent)
  )
}

/** A comment, a quoted text or name, a text between dollar signs, and the end of a statement. */
const TOKEN = /--.*$|\/\*[^]*?\*\/|'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[^]*?\1|;/gm

/** Divides a text into its statements, because the protocol of parameters takes one at a time. Comments stay with the next statement. */
export const statementsIn = (text: string): ReadonlyArray<string> => {
  const ends = [...text.matchAll(TOKEN)].filter(([token]) => token === ";").map(({ index }) => index)
  return ends.map((end, place) => text.slice(place === 0 ? 0 : ends[place - 1]! + 1, end).trim())
}

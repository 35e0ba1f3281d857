/** Formats the settings for `--help`. */
import { settings } from "./SettingsTable.ts"
import type { Setting } from "./Variables.ts"

/** The column where the sentences start: after the longest name. */
const indentOf = (names: ReadonlyArray<string>): number => 4 + Math.max(...names.map(({ length }) => length))

/** The first sentence of a Markdown text, with paths in place of links. */
const firstSentence = (markdown: string): string => {
  const plain = markdown.replaceAll(/\[[^\]]+\]\(\.\.\/([^)]*)\)/g, "docs/$1").replaceAll("`", "")
  return /^.*?\.(?= [A-Z]|$)/.exec(plain)?.[0] ?? plain
}

const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Every setting by group: its name, one sentence and its default. Lines have at most `columns` columns where the names leave room. */
export const settingsHelp = (columns: number): string => {
  const groups = Object.entries(
    settings as Readonly<Record<string, Readonly<Record<string, Setting<unknown, unknown>>>>>
  )
  const indent = indentOf(groups.flatMap(([, group]) => Object.keys(group)))
  const width = Math.max(40, columns - indent)
  const entry = ([name, { meaning, shown }]: readonly [string, Setting<unknown, unknown>]) => {
    const ending = shown === undefined || shown === "" ? "" : ` [${shown}]`
    const [first = "", ...rest] = wrapped(`${firstSentence(meaning)}${ending}`, width)
    return [`  ${name}`.padEnd(indent) + first, ...rest.map((line) => " ".repeat(indent) + line)].join("\n")
  }
  return groups.map(([title, group]) => [title, ...Object.entries(group).map(entry)].join("\n")).join("\n\n")
}

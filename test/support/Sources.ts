/** Reads the files of the project. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

/** The project's directory, without a trailing slash. */
export const root = dirname(dirname(import.meta.dirname))

const generated = new Set(["node_modules", ".git", ".data", "coverage", "dist"])

/** The paths of all files below a directory, sorted and relative to the project. Generated files are left out. */
export const filesBelow = (directory: string): ReadonlyArray<string> =>
  readdirSync(join(root, directory), { withFileTypes: true })
    .filter((entry) => !generated.has(entry.name))
    .flatMap((entry) => {
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`
      return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : []
    })
    .toSorted()

/** The text of a file of the project. */
export const textOf = (path: string): string => readFileSync(join(root, path), "utf8")

/** An import of a file. */
export interface Import {
  /** The module as the import names it. */
  readonly from: string
  /** The path of the imported file; undefined for a package. */
  readonly file: string | undefined
  /** The imported names that exist at run time: no types. */
  readonly values: ReadonlyArray<string>
  readonly line: number
}

/** A TypeScript file. */
export interface Source {
  readonly path: string
  readonly text: string
  /** The text without its comments. */
  readonly code: string
  readonly imports: ReadonlyArray<Import>
}

const blank = (text: string) => text.replace(/[^\n]/g, " ")

/** The text with spaces in place of comments, so that lines and columns stay. */
export const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/(^|[\s;{}(,])\/\/[^\n]*/g, blank)

/** The number of the line at an index of a text, from 1. */
export const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length

const statement = /^(?:import|export)\s+(type\s+)?([\w$*\s{},]+?)\s+from\s+"([^"]+)"/gm
const bare = /^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm

const valuesOf = (clause: string): ReadonlyArray<string> =>
  clause
    .split(/[{},]/)
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(/\s+as\s+/)[0]!)

const importsOf = (path: string, code: string): ReadonlyArray<Import> => {
  const made = (from: string, values: ReadonlyArray<string>, index: number): Import => ({
    from,
    file: from.startsWith(".") ? normalize(join(dirname(path), from)) : undefined,
    values,
    line: lineAt(code, index)
  })
  return [
    ...[...code.matchAll(statement)].map((found) =>
      made(found[3]!, found[1] === undefined ? valuesOf(found[2]!) : [], found.index)
    ),
    ...[...code.matchAll(bare)].map((found) => made(found[1] ?? found[2]!, ["*"], found.index))
  ]
}

const read = (path: string): Source => {
  const text = textOf(path)
  const code = withoutComments(text)
  return { path, text, code, imports: importsOf(path, code) }
}

/** The TypeScript files below a directory. */
export const sourcesBelow = (directory: string): ReadonlyArray<Source> =>
  filesBelow(directory)
    .filter((path) => /\.tsx?$/.test(path))
    .map(read)

/** The package that an import names, without a path within it; undefined for a file and for a module of Node. */
export const packageOf = ({ file, from }: Import): string | undefined =>
  file !== undefined || from.startsWith("node:")
    ? undefined
    : from
        .split("/")
        .slice(0, from.startsWith("@") ? 2 : 1)
        .join("/")

/** The circles of imports among files. Each is named once, as `a → b → a`. */
export const circlesIn = (sources: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const done = new Set<string>()
  const circles: Array<string> = []
  const visit = (path: string, above: ReadonlyArray<string>): void => {
    const start = above.indexOf(path)
    if (start >= 0) circles.push([...above.slice(start), path].join(" → "))
    if (start >= 0 || done.has(path)) return
    for (const { file } of byPath.get(path)?.imports ?? []) if (file !== undefined) visit(file, [...above, path])
    done.add(path)
  }
  for (const { path } of sources) visit(path, [])
  return circles
}

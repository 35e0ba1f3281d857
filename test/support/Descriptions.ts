/** Reads the doc comments of `schemas/`, which are the descriptions of the published contract. */
import { filesBelow, textOf } from "./Sources.ts"

const DOC = /^(\s*)\/\*\*([\s\S]*?)\*\/\n\1(.*)$/gm

const sentenceOf = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join(" ")
    .trim()

/** A top-level declaration of a schema: its doc comment, and its code up to the next declaration. */
interface Declaration {
  readonly file: string
  readonly name: string
  readonly doc: string | undefined
  readonly code: string
}

const declarationsIn = (file: string): ReadonlyArray<Declaration> => {
  const text = textOf(file)
  const starts = [
    ...text.matchAll(/^(?:\/\*\*(?<doc>(?:(?!\*\/)[\s\S])*)\*\/\n)?(?:export )?(?:const|class) (?<name>\w+)/gm)
  ]
  return starts.map(({ groups, index }, at) => ({
    file,
    name: groups!["name"]!,
    doc: groups!["doc"] === undefined ? undefined : sentenceOf(groups!["doc"]),
    code: text.slice(index, starts[at + 1]?.index)
  }))
}

/** Documented members at the outermost level of a declaration, and the declarations whose members it includes. */
const membersOf = (
  code: string
): { readonly own: ReadonlyArray<[string, string]>; readonly included: ReadonlyArray<string> } => {
  const levels = [...code.matchAll(/^( +)(?:"?[\w-]+"?:|\.\.\.)/gm)].map(([, indent]) => indent!.length)
  const level = " ".repeat(Math.min(...levels, 8))
  const own = [...code.matchAll(DOC)].flatMap(([, indent, comment, next]): Array<[string, string]> => {
    const member = /^"?([\w-]+)"?:/.exec(next!)?.[1]
    return member === undefined || indent !== level ? [] : [[member, sentenceOf(comment!)]]
  })
  const spread = [...code.matchAll(new RegExp(`^${level}\\.\\.\\.(\\w+)`, "gm"))].map(([, name]) => name!)
  const whole = /Schema\.Struct\((\w+)\)/.exec(code)?.[1]
  return { own, included: whole === undefined ? spread : [...spread, whole] }
}

/** The published name of a declaration: its identifier, for an error that of its encoded form, and for a group `tag:` with its name. */
const publishedName = (code: string): string | undefined => {
  const group = /class \w+ extends HttpApiGroup\.make\("(\w+)"\)/.exec(code)?.[1]
  if (group !== undefined) return `tag:${group}`
  const error = /Schema\.Error<\w+>\(\s*"(\w+)"/.exec(code)?.[1]
  return error === undefined ? [...code.matchAll(/identifier: "(\w+)"/g)].at(-1)?.[1] : `${error}Encoded`
}

/** Every description by the schema's published name, or by that name, a dot and the member's. */
export const descriptions = (): Readonly<Record<string, string>> => {
  const declarations = filesBelow("schemas")
    .filter((file) => file.endsWith(".ts"))
    .toSorted()
    .flatMap(declarationsIn)
  const found = (name: string, from: string): Declaration | undefined =>
    declarations.find((one) => one.name === name && one.file === from) ??
    declarations.find((one) => one.name === name && one.code.includes(`export const ${name}`))
  const membersIn = ({ code, file }: Declaration, depth = 0): ReadonlyArray<[string, string]> => {
    const { included, own } = membersOf(code)
    const others = depth > 4 ? [] : included.flatMap((name) => found(name, file) ?? [])
    return [...others.flatMap((one) => membersIn(one, depth + 1)), ...own]
  }
  return Object.fromEntries(
    declarations.flatMap((one): Array<[string, string]> => {
      const published = publishedName(one.code)
      if (published === undefined) return []
      const { doc } = one
      const members = membersIn(one).map(([member, text]): [string, string] => [`${published}.${member}`, text])
      return [...(doc === undefined ? [] : [[published, doc] as [string, string]]), ...members]
    })
  )
}

/** The descriptions as the published file has them. */
export const descriptionsText = (): string => `${JSON.stringify(descriptions(), null, 2)}\n`

import type { Tool } from "../../domain/Conversation.ts"
import { sampleOf } from "./Sample.ts"

/** Functions that the code given to a tool can call, as Codex declares them to a model in the tool's description. */
const DECLARED = /declare const tools: \{ (\w+)\(args: \{([\s\S]*?)\n?\}\): Promise/g

/** A member that must be given, with its type; those that may be left out have a question mark. */
const REQUIRED = /^\s*(\w+): (\w+)/gm

/** Whether words name a tool: by its whole name, or by the one that it has in its namespace. */
export const isNamed = (words: ReadonlySet<string>, { name }: Tool): boolean => {
  const at = name.indexOf("__")
  return words.has(name) || (at > 0 && words.has(name.slice(at + 2)))
}

/** Sample arguments of a call; a tool that runs code is given code that calls a function, if it can one that `words` name. */
export const argumentsFor = ({ description, parameters }: Tool, words: ReadonlySet<string>): unknown => {
  const sample = sampleOf(parameters ?? { type: "object" })
  const declared = [...(description ?? "").matchAll(DECLARED)]
  const [, name, members = ""] = declared.find(([, one = ""]) => words.has(one)) ?? declared[0] ?? []
  if (name === undefined) return sample
  const properties = Object.fromEntries(
    [...members.matchAll(REQUIRED)].map(([, member = "", type = ""]) => [member, { type }])
  )
  const given = sampleOf({ type: "object", properties, required: Object.keys(properties) })
  const input = `text(await tools.${name}(${JSON.stringify(given)}))`
  return { ...(sample as object), input }
}

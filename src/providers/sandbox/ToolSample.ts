import type { Tool } from "../../domain/Conversation.ts"
import { sampleOf } from "./Sample.ts"

/** Functions that the code given to a tool can call, as Codex declares them in the tool's description. */
const DECLARED = /declare const tools: \{ (\w+)\(args: \{([\s\S]*?)\n?\}\): Promise/g

/** A required member with its type. Optional ones have a question mark. */
const REQUIRED = /^\s*(\w+): (\w+)/gm

/** Whether words name a tool: by its full name, or by its name within its namespace. */
export const isNamed = (words: ReadonlySet<string>, { name }: Tool): boolean => {
  const at = name.indexOf("__")
  return words.has(name) || (at > 0 && words.has(name.slice(at + 2)))
}

/** Sample arguments of a call. A tool that runs code gets code that calls a function, preferably one that `words` name. */
export const argumentsFor = ({ description, parameters }: Tool, words: ReadonlySet<string>): unknown => {
  const sample = sampleOf(parameters ?? { type: "object" })
  const declared = [...(description ?? "").matchAll(DECLARED)]
  const [, name, members = ""] = declared.find(([, one = ""]) => words.has(one)) ?? declared[0] ?? []
  if (name === undefined) return sample
  const properties = Object.fromEntries(
    [...members.matchAll(REQUIRED)].map(([, member = "", type = ""]) => [member, { type }])
  )
  const sampleInput = sampleOf({ type: "object", properties, required: Object.keys(properties) })
  const input = `text(await tools.${name}(${JSON.stringify(sampleInput)}))`
  return { ...(sample as object), input }
}

/** A choice among some of the tools, as every dialect has it in its own form: the others are not offered to the model. */
import { Result } from "effect"
import type { Tool } from "../domain/Conversation.ts"
import { type Failure, invalid } from "../domain/Failure.ts"

/**
 * The tools that are allowed by their names, in the order of the tools. Fails where `names` is empty or one of them is no tool;
 * `field` is where the list stands in the request.
 */
export const allowTools = (
  tools: ReadonlyArray<Tool>,
  names: ReadonlyArray<string>,
  field: string
): Result.Result<ReadonlyArray<Tool>, Failure> => {
  if (names.length === 0) return Result.fail(invalid(field, "at least one tool"))
  const known = new Set(tools.map((tool) => tool.name))
  const unknown = names.findIndex((name) => !known.has(name))
  if (unknown !== -1) return Result.fail(invalid(`${field}.${unknown}`, `no tool is named ${names[unknown]}`))
  const allowed = new Set(names)
  return Result.succeed(tools.filter((tool) => allowed.has(tool.name)))
}

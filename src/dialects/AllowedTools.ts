/** Restricts a request to some of its tools, which every dialect expresses in its own form. The model does not see the others. */
import { Result } from "effect"
import type { Tool } from "../domain/Conversation.ts"
import { type Failure, invalid } from "../domain/Failure.ts"

/**
 * The tools with these names, in the order of the tools. Fails when `names` is empty or contains an undeclared tool. `field` is the
 * path of the list in the request.
 */
export const allowTools = (
  tools: ReadonlyArray<Tool>,
  names: ReadonlyArray<string>,
  field: string
): Result.Result<ReadonlyArray<Tool>, Failure> => {
  if (names.length === 0) return Result.fail(invalid(field, "must name at least one tool"))
  const known = new Set(tools.map((tool) => tool.name))
  const unknown = names.findIndex((name) => !known.has(name))
  if (unknown !== -1)
    return Result.fail(invalid(`${field}[${unknown}]`, `must name a declared tool; got ${names[unknown]}`))
  const allowed = new Set(names)
  return Result.succeed(tools.filter((tool) => allowed.has(tool.name)))
}

/** Checks the lengths of lists before decoding, with the limits of the schema. A schema decodes all elements before it counts them. */
import { SchemaAST } from "effect"
import type { FieldProblem } from "../domain/Failure.ts"
import { pathOf, withFoundValue } from "../domain/SchemaProblems.ts"

type Path = ReadonlyArray<PropertyKey>

/** A list that is too long, and its path in the checked value. */
interface TooLong {
  readonly path: Path
  readonly message: string
}

/** Finds the first list in a value that is too long. It builds a path only for that one. */
type Check = (value: unknown) => TooLong | undefined

const inside = (key: PropertyKey, { message, path }: TooLong): TooLong => ({ message, path: [key, ...path] })

/** The maximum length of a list, and the message for a longer one. */
const boundOf = (ast: SchemaAST.Arrays): { readonly maximum: number; readonly message: string } | undefined => {
  for (const { annotations } of ast.checks ?? []) {
    const payload = annotations?.representation?.payload as { readonly maxLength?: unknown } | undefined
    if (typeof payload?.maxLength !== "number") continue
    const maximum = payload.maxLength
    return {
      maximum,
      message:
        typeof annotations?.message === "string"
          ? annotations.message
          : `must contain at most ${maximum.toLocaleString("en-US")} items`
    }
  }
  return undefined
}

const ofArrays = (ast: SchemaAST.Arrays): Check | undefined => {
  const bound = boundOf(ast)
  const element = checkOf(ast.rest[0])
  if (bound === undefined && element === undefined) return undefined
  return (value) => {
    if (!Array.isArray(value)) return undefined
    if (bound !== undefined && value.length > bound.maximum)
      return { path: [], message: withFoundValue(bound.message, "", value) }
    if (element === undefined) return undefined
    for (let index = 0; index < value.length; index++) {
      const problem = element(value[index])
      if (problem !== undefined) return inside(index, problem)
    }
    return undefined
  }
}

/**
 * Visits the members that a value has, not those in its schema: there are fewer, and reading absent members is slow on values of many
 * shapes.
 */
const ofObjects = (ast: SchemaAST.Objects): Check | undefined => {
  const checks = new Map<string, Check>()
  for (const { name, type } of ast.propertySignatures) {
    const check = checkOf(type)
    if (check !== undefined && typeof name === "string") checks.set(name, check)
  }
  if (checks.size === 0) return undefined
  return (value) => {
    // For a list in the place of an object, the loop would visit every element.
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
    for (const name in value) {
      const member = (value as Readonly<Record<string, unknown>>)[name]
      if (typeof member !== "object" || member === null) continue
      const problem = checks.get(name)?.(member)
      if (problem !== undefined) return inside(name, problem)
    }
    return undefined
  }
}

/** A check of all lists for which a schema sets a maximum length; undefined if it sets none. */
const checkOf = (ast: SchemaAST.AST | undefined): Check | undefined => {
  if (ast === undefined) return undefined
  if (SchemaAST.isArrays(ast)) return ofArrays(ast)
  if (SchemaAST.isObjects(ast)) return ofObjects(ast)
  if (!SchemaAST.isUnion(ast)) return undefined
  const checks = ast.types.flatMap((type) => checkOf(type) ?? [])
  if (checks.length === 0) return undefined
  return (value) => {
    for (const check of checks) {
      const problem = check(value)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

/** The first list of a value that is longer than its schema allows, as a problem with its path; undefined if there is none. */
export const listCheck = (ast: SchemaAST.AST): ((value: unknown) => FieldProblem | undefined) => {
  const check = checkOf(ast)
  return (value) => {
    const problem = check?.(value)
    return problem === undefined ? undefined : { field: pathOf(problem.path), message: problem.message }
  }
}

/** The lengths of lists, read from a schema and checked ahead of it: a schema decodes all elements before it counts them. */
import { SchemaAST } from "effect"
import type { FieldProblem } from "../domain/Failure.ts"

type Path = ReadonlyArray<PropertyKey>

/** Finds the first list that is too long in a value, which stands at `path`. */
type Check = (value: unknown, path: Path) => FieldProblem | undefined

/** A path in dots, as problems name it. */
export const pathOf = (path: Path): string => path.map(String).join(".")

/** The most elements a list may have, and what is said of one with more. */
const boundOf = (ast: SchemaAST.Arrays): { readonly maximum: number; readonly message: string } | undefined => {
  for (const { annotations } of ast.checks ?? []) {
    const payload = annotations?.representation?.payload as { readonly maxLength?: unknown } | undefined
    if (typeof payload?.maxLength !== "number") continue
    const maximum = payload.maxLength
    return {
      maximum,
      message: typeof annotations?.message === "string" ? annotations.message : `at most ${maximum} items`
    }
  }
  return undefined
}

const ofArrays = (ast: SchemaAST.Arrays): Check | undefined => {
  const bound = boundOf(ast)
  const element = listCheck(ast.rest[0])
  if (bound === undefined && element === undefined) return undefined
  return (value, path) => {
    if (!Array.isArray(value)) return undefined
    if (bound !== undefined && value.length > bound.maximum) return { field: pathOf(path), message: bound.message }
    if (element === undefined) return undefined
    for (const [index, one] of value.entries()) {
      const problem = element(one, [...path, index])
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

const ofObjects = (ast: SchemaAST.Objects): Check | undefined => {
  const members = ast.propertySignatures.flatMap(({ name, type }) => {
    const check = listCheck(type)
    return check === undefined ? [] : [[name, check] as const]
  })
  if (members.length === 0) return undefined
  return (value, path) => {
    if (typeof value !== "object" || value === null) return undefined
    for (const [name, check] of members) {
      const member = (value as Readonly<Record<PropertyKey, unknown>>)[name]
      const problem = typeof member === "object" ? check(member, [...path, name]) : undefined
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

/** A check of all lists that a schema gives a maximum length; undefined where it gives none. */
export const listCheck = (ast: SchemaAST.AST | undefined): Check | undefined => {
  if (ast === undefined) return undefined
  if (SchemaAST.isArrays(ast)) return ofArrays(ast)
  if (SchemaAST.isObjects(ast)) return ofObjects(ast)
  if (!SchemaAST.isUnion(ast)) return undefined
  const checks = ast.types.flatMap((type) => listCheck(type) ?? [])
  if (checks.length === 0) return undefined
  return (value, path) => {
    for (const check of checks) {
      const problem = check(value, path)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

/** Finds fields of a request that its schema does not have, for dialects that reject them by name or report them as ignored. */
import { SchemaAST } from "effect"
import { pathOf } from "../domain/SchemaProblems.ts"

type Path = ReadonlyArray<PropertyKey>

/** An unknown field, or an unknown value of a `type`, and its path. */
export interface UnknownMember {
  /** Dotted. */
  readonly field: string
  /** The value of the `type`. */
  readonly type: string | undefined
}

interface FoundMember {
  readonly path: Path
  readonly type?: string
}

/** How many more unknown fields are searched for, and whether an unknown `type` counts as one. */
interface Budget {
  left: number
  readonly types: boolean
}

/** Finds unknown fields in a value, up to the budget. */
type Check = (value: unknown, budget: Budget) => ReadonlyArray<FoundMember>

const none: ReadonlyArray<FoundMember> = []
const nothing: Check = () => none

const one = (found: FoundMember, budget: Budget): ReadonlyArray<FoundMember> => {
  budget.left -= 1
  return [found]
}

const inside = (key: PropertyKey, found: ReadonlyArray<FoundMember>): ReadonlyArray<FoundMember> =>
  found.map((stranger) => ({ ...stranger, path: [key, ...stranger.path] }))

/** Joins lists that are mostly empty. */
const joined = (before: ReadonlyArray<FoundMember>, more: ReadonlyArray<FoundMember>): ReadonlyArray<FoundMember> => {
  if (more.length === 0) return before
  return before.length === 0 ? more : [...before, ...more]
}

/** Members that distinguish the objects of a union. */
const TAGS = ["type", "role"] as const

const memberOf = (ast: SchemaAST.Objects, name: string): SchemaAST.AST | undefined =>
  ast.propertySignatures.find((signature) => signature.name === name)?.type

/** The values that a member of an object may have; undefined where they are not all literals. */
const literalsOf = (ast: SchemaAST.Objects, name: string): ReadonlyArray<unknown> | undefined => {
  const type = memberOf(ast, name)
  const types = type === undefined ? [] : typesOf(type)
  return types.length > 0 && types.every(SchemaAST.isLiteral) ? types.map(({ literal }) => literal) : undefined
}

/** Whether an object may be without a member. */
const mayLack = (ast: SchemaAST.Objects, name: string): boolean => {
  const type = memberOf(ast, name)
  return type !== undefined && SchemaAST.isOptional(type)
}

const ofMembers = (ast: SchemaAST.Objects): Check => {
  // A record may have any members.
  if (ast.indexSignatures.length > 0) return nothing
  const members = new Map(ast.propertySignatures.map(({ name, type }) => [name, checkOf(type)]))
  return (value, budget) => {
    let found = none
    for (const name of Object.keys(value as object)) {
      if (budget.left === 0) return found
      const member = (value as Readonly<Record<string, unknown>>)[name]
      if (member == null) continue
      const check = members.get(name)
      if (check === undefined) found = joined(found, one({ path: [name] }, budget))
      else if (typeof member === "object") found = joined(found, inside(name, check(member, budget)))
    }
    return found
  }
}

/** Puts the objects of a union together by the values of their tag; those that may lack it are under undefined too. */
const groupsOf = (objects: ReadonlyArray<SchemaAST.Objects>, tag: string) => {
  const groups = new Map<unknown, Array<SchemaAST.Objects>>()
  for (const ast of objects) {
    const values = mayLack(ast, tag) ? [undefined, ...literalsOf(ast, tag)!] : literalsOf(ast, tag)!
    for (const value of values) groups.set(value, [...(groups.get(value) ?? []), ast])
  }
  return groups
}

/**
 * The tag selects the object of a union. Where several objects have the same tag, the next tag decides. The schema rejects a wrong
 * `role`.
 */
const ofObjects = (objects: ReadonlyArray<SchemaAST.Objects>, tags: ReadonlyArray<string> = TAGS): Check => {
  const [only] = objects
  const tag = tags.find((name) => objects.every((ast) => literalsOf(ast, name) !== undefined))
  if (only === undefined || tag === undefined) return objects.length === 1 && only ? ofMembers(only) : nothing
  const others = tags.filter((name) => name !== tag)
  const byTag = new Map(
    [...groupsOf(objects, tag)].map(([value, group]) => [
      value,
      group.length === 1 ? ofMembers(group[0]!) : ofObjects(group, others)
    ])
  )
  return (value, budget) => {
    const type = (value as Readonly<Record<string, unknown>>)[tag]
    const check = byTag.get(type)
    if (check !== undefined) return check(value, budget)
    return budget.types && tag === "type" && typeof type === "string" ? one({ path: [tag], type }, budget) : none
  }
}

const ofElements = (ast: SchemaAST.Arrays): Check => {
  const element = checkOf(ast.rest[0])
  return (value, budget) => {
    const list = value as ReadonlyArray<unknown>
    let found = none
    for (let index = 0; index < list.length && budget.left > 0; index++) {
      found = joined(found, inside(index, element(list[index], budget)))
    }
    return found
  }
}

/** The types of a union, including those of nested unions. */
const typesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(typesOf) : [ast]

const checkOf = (ast: SchemaAST.AST | undefined): Check => {
  if (ast === undefined) return nothing
  const types = typesOf(ast)
  const objects = types.filter(SchemaAST.isObjects)
  const list = types.find(SchemaAST.isArrays)
  if (objects.length === 0 && list === undefined) return nothing
  const object = ofObjects(objects)
  const elements = list === undefined ? nothing : ofElements(list)
  return (value, budget) => {
    if (typeof value !== "object" || value === null) return none
    return Array.isArray(value) ? elements(value, budget) : object(value, budget)
  }
}

/**
 * Finds the first unknown field of a value at any depth, or the first object with an unknown string as its `type`. A null counts as
 * absent. The schema reports all other mistakes.
 */
export const firstUnknownMember = (ast: SchemaAST.AST): ((value: unknown) => UnknownMember | undefined) => {
  const check = checkOf(ast)
  return (value) => {
    const [found] = check(value, { left: 1, types: true })
    return found === undefined ? undefined : { field: pathOf(found.path), type: found.type }
  }
}

/** The maximum number of ignored fields that are named, because a header has no room for more. */
const MAX_IGNORED = 32

/** Finds the unknown fields within some members of a value, by path, at most 32. The schema reports all other mistakes. */
export const ignoredWithin = (
  ast: SchemaAST.AST,
  names: ReadonlyArray<string>
): ((value: Readonly<Record<string, unknown>>) => ReadonlyArray<string>) => {
  const known = SchemaAST.isObjects(ast) ? ast.propertySignatures : []
  const checks = names.map((name) => [name, checkOf(known.find((one) => one.name === name)?.type)] as const)
  return (value) => {
    const budget = { left: MAX_IGNORED, types: false }
    return checks.flatMap(([name, check]) => {
      const member = value[name]
      if (typeof member !== "object" || member === null) return []
      return inside(name, check(member, budget)).map(({ path }) => pathOf(path))
    })
  }
}

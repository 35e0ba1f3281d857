/** Members of a request that its schema does not have, for a dialect that refuses them by name. */
import { SchemaAST } from "effect"
import { pathOf } from "./Lists.ts"

type Path = ReadonlyArray<PropertyKey>

/** A member that is not known, or a `type` that is none of those there are; and where it stands. */
export interface Stranger {
  /** In dots. */
  readonly field: string
  /** The value of a `type`. */
  readonly type: string | undefined
}

interface Found {
  readonly path: Path
  readonly type?: string
}

/** Finds the first stranger in a value. */
type Check = (value: unknown) => Found | undefined

const nothing: Check = () => undefined

const inside = (key: PropertyKey, found: Found): Found => ({ ...found, path: [key, ...found.path] })

/** Members that tell the objects of a union from each other. */
const TAGS = ["type", "role"] as const

const literalOf = (ast: SchemaAST.Objects, name: string): unknown => {
  const type = ast.propertySignatures.find((signature) => signature.name === name)?.type
  return type !== undefined && SchemaAST.isLiteral(type) ? type.literal : undefined
}

const ofMembers = (ast: SchemaAST.Objects): Check => {
  // A record has any members.
  if (ast.indexSignatures.length > 0) return nothing
  const members = new Map(ast.propertySignatures.map(({ name, type }) => [name, checkOf(type)]))
  return (value) => {
    for (const name of Object.keys(value as object)) {
      const member = (value as Readonly<Record<string, unknown>>)[name]
      if (member == null) continue
      const check = members.get(name)
      if (check === undefined) return { path: [name] }
      const found = typeof member === "object" ? check(member) : undefined
      if (found !== undefined) return inside(name, found)
    }
    return undefined
  }
}

/** Which object of a union a value means is said by its tag; a wrong `role` is left to the schema to refuse. */
const ofObjects = (objects: ReadonlyArray<SchemaAST.Objects>): Check => {
  const [only] = objects
  const tag = TAGS.find((name) => objects.every((ast) => literalOf(ast, name) !== undefined))
  if (only === undefined || tag === undefined) return objects.length === 1 && only ? ofMembers(only) : nothing
  const byTag = new Map(objects.map((ast) => [literalOf(ast, tag), ofMembers(ast)]))
  return (value) => {
    const said = (value as Readonly<Record<string, unknown>>)[tag]
    const check = byTag.get(said)
    if (check !== undefined) return check(value)
    return tag === "type" && typeof said === "string" ? { path: [tag], type: said } : undefined
  }
}

const ofElements = (ast: SchemaAST.Arrays): Check => {
  const element = checkOf(ast.rest[0])
  return (value) => {
    const list = value as ReadonlyArray<unknown>
    for (let index = 0; index < list.length; index++) {
      const found = element(list[index])
      if (found !== undefined) return inside(index, found)
    }
    return undefined
  }
}

/** The types of a union, and of the unions in it. */
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
  return (value) => {
    if (typeof value !== "object" || value === null) return undefined
    return Array.isArray(value) ? elements(value) : object(value)
  }
}

/**
 * Finds the first member of a value that a schema does not have, at any depth, or the first object whose `type` is a string and
 * none of the schema's. A null is no member. Whatever is wrong otherwise is left to the schema.
 */
export const strangers = (ast: SchemaAST.AST): ((value: unknown) => Stranger | undefined) => {
  const check = checkOf(ast)
  return (value) => {
    const found = check(value)
    return found === undefined ? undefined : { field: pathOf(found.path), type: found.type }
  }
}

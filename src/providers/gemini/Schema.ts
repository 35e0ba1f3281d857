import { inlineRefs } from "../../domain/SchemaRefs.ts"
import { type JsonObject, listOf, objectOf } from "../wire/Json.ts"
import { objectSchema } from "../wire/ToolSchema.ts"

/**
 * The keywords of JSON Schema that `parametersJsonSchema` and `responseJsonSchema` document
 * (https://ai.google.dev/api/generate-content#GenerationConfig). The host ignores other keywords or rejects the request because of them.
 */
const COPIED = new Set([
  "title",
  "description",
  "propertyOrdering",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "type",
  "enum",
  "required",
  "properties",
  "additionalProperties",
  "items",
  "prefixItems",
  "anyOf"
])

/** Formats that the host accepts. */
const FORMATS = new Set(["date-time", "date", "time", "int32", "int64", "float", "double"])

/** Keywords that this wire format lacks. The description states them, so that the model can follow them. */
const DESCRIBED = new Set([
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "minProperties",
  "maxProperties",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "not",
  "if",
  "then",
  "else",
  "allOf",
  "const",
  "enum",
  "contentEncoding",
  "contentMediaType",
  "default",
  "examples"
])

/** The longest JSON of a constraint that the description states, in characters. */
const MAX_DESCRIBED_CHARS = 200

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"])

/** Returns a schema for answers in the form that this host accepts. */
export const answerSchema = (schema: JsonObject): JsonObject => translated(inlineRefs(schema))

/** Returns a schema of a tool's arguments in the form that this host accepts: one object. */
export const argumentsSchema = (schema: JsonObject): JsonObject => translated(objectSchema(inlineRefs(schema)))

const translated = (schema: JsonObject): JsonObject => {
  const merged = typed(withoutChoices(merge(allOfIn(schema))))
  const made: Record<string, unknown> = {}
  const notes: Array<string> = []
  for (const [key, value] of Object.entries(merged)) {
    const kept = keywordOf(key, value, merged)
    if (kept !== undefined) made[key] = kept
    else if (DESCRIBED.has(key)) describe(notes, key, value)
  }
  if (notes.length > 0) {
    const { description } = made
    made["description"] = `${typeof description === "string" ? `${description} ` : ""}(${notes.join(", ")})`
  }
  return withChoices(made)
}

const describe = (said: Array<string>, key: string, value: unknown): void => {
  const text = JSON.stringify(value)
  if (text !== undefined && text.length <= MAX_DESCRIBED_CHARS) said.push(`${key}: ${text}`)
}

/** Returns a keyword's value in the form that the host accepts; undefined when the host does not accept the keyword. */
const keywordOf = (key: string, value: unknown, schema: JsonObject): unknown => {
  if (key === "format") return FORMATS.has(String(value)) ? value : undefined
  if (!COPIED.has(key)) return undefined
  switch (key) {
    case "properties":
      return propertiesOf(value)
    case "required": {
      const known = objectOf(schema["properties"]) ?? {}
      const names = listOf(value).filter((name) => typeof name === "string" && Object.hasOwn(known, name))
      return names.length === 0 ? undefined : names
    }
    case "anyOf":
    case "prefixItems": {
      const schemas = listOf(value).flatMap((one) => schemaOf(one) ?? [])
      return schemas.length === 0 ? undefined : schemas
    }
    case "items":
      return schemaOf(value)
    case "additionalProperties":
      return typeof value === "boolean" ? value : schemaOf(value)
    case "title":
    case "description":
      return typeof value === "string" && value !== "" ? value : undefined
    case "enum":
    case "type":
    case "propertyOrdering":
      return value
    default:
      return typeof value === "number" ? value : undefined
  }
}

/** `true` is a schema that every value meets. The wire format cannot express `false`, which no value meets. */
const schemaOf = (value: unknown): JsonObject | undefined => {
  if (value === true) return {}
  const schema = objectOf(value)
  return schema === undefined ? undefined : translated(schema)
}

const propertiesOf = (value: unknown): JsonObject | undefined => {
  const properties = objectOf(value)
  if (properties === undefined) return undefined
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, one]) => {
      const schema = schemaOf(one)
      return schema === undefined ? [] : [[name, schema] as const]
    })
  )
}

/** Returns the schemas that must all hold: the schema itself and those of its `allOf`, recursively. */
const allOfIn = ({ allOf, ...schema }: JsonObject): ReadonlyArray<JsonObject> => [
  schema,
  ...listOf(allOf).flatMap((one) => {
    const inner = objectOf(one)
    return inner === undefined ? [] : allOfIn(inner)
  })
]

/** Merges schemas that must all hold into one. Choices that cannot be merged stay in `allOf`, which the description states. */
const merge = (schemas: ReadonlyArray<JsonObject>): JsonObject => {
  const [first = {}, ...others] = schemas.map(withAnyOf)
  if (others.length === 0) return first
  const made: Record<string, unknown> = { ...first }
  const left: Array<JsonObject> = []
  for (const [key, value] of others.flatMap((one) => Object.entries(one))) {
    const known = made[key]
    if (known === undefined) made[key] = value
    else if (key === "anyOf") left.push({ anyOf: value })
    else made[key] = joined(key, known, value)
  }
  return left.length === 0 ? made : { ...made, allOf: left }
}

const withAnyOf = ({ oneOf, ...schema }: JsonObject): JsonObject => {
  if (oneOf === undefined) return schema
  return schema["anyOf"] === undefined ? { ...schema, anyOf: oneOf } : { ...schema, allOf: [{ oneOf }] }
}

/** Returns the value of a keyword that two merged schemas have. */
const joined = (key: string, one: unknown, other: unknown): unknown => {
  switch (key) {
    case "properties": {
      const made: Record<string, unknown> = { ...objectOf(one) }
      for (const [name, schema] of Object.entries(objectOf(other) ?? {})) {
        made[name] = Object.hasOwn(made, name) ? { allOf: [made[name], schema] } : schema
      }
      return made
    }
    case "required":
      return [...new Set([...listOf(one), ...listOf(other)])]
    case "type":
    case "enum": {
      const others = Array.isArray(other) ? other : [other]
      const both = (Array.isArray(one) ? one : [one]).filter((value) => others.includes(value))
      return both.length === 0 ? one : both
    }
    case "items":
      return { allOf: [one, other] }
    case "allOf":
      return [...listOf(one), ...listOf(other)]
    case "description":
      return one === other ? one : `${String(one)} ${String(other)}`
    case "additionalProperties":
      return one === false || other === false ? false : one
    case "minimum":
    case "minItems":
    case "minLength":
      return Math.max(Number(one), Number(other))
    case "maximum":
    case "maxItems":
    case "maxLength":
      return Math.min(Number(one), Number(other))
    default:
      return one
  }
}

/** Rewrites types and enumerated values in the form that this host accepts. */
const typed = (schema: JsonObject): JsonObject => {
  const { const: only, enum: values, nullable, ...rest } = bounded(schema)
  const made: Record<string, unknown> = rest
  const types = (Array.isArray(made["type"]) ? made["type"] : [made["type"]]).filter((type) => TYPES.has(String(type)))
  if (nullable === true && types.length > 0 && !types.includes("null")) types.push("null")
  if (types.length > 0) made["type"] = types.length === 1 ? types[0] : types
  else delete made["type"]
  const all = Array.isArray(values) ? values : only === undefined ? undefined : [only]
  return all === undefined ? made : enumerated(made, types, all)
}

/** Rewrites exclusive bounds of integers as inclusive ones, and a list in `items` as `prefixItems`. */
const bounded = (schema: JsonObject): JsonObject => {
  const { exclusiveMaximum: below, exclusiveMinimum: above, items, type } = schema
  const made: Record<string, unknown> = { ...schema }
  if (Array.isArray(items)) {
    delete made["items"]
    made["prefixItems"] ??= items
  }
  if (type === "integer" && Number.isInteger(above)) {
    delete made["exclusiveMinimum"]
    made["minimum"] ??= Number(above) + 1
  }
  if (type === "integer" && Number.isInteger(below)) {
    delete made["exclusiveMaximum"]
    made["maximum"] ??= Number(below) - 1
  }
  return made
}

/** Enumerates only non-empty strings and numbers. `null` becomes a choice of its own; the description states any other values. */
const enumerated = (schema: JsonObject, types: ReadonlyArray<unknown>, values: ReadonlyArray<unknown>): JsonObject => {
  const strings = [...new Set(values.filter((value) => typeof value === "string" && value !== ""))]
  const numbers = [...new Set(values.filter((value) => typeof value === "number"))]
  const others = values.filter((value) => value !== null && typeof value !== "string" && typeof value !== "number")
  if (others.length > 0 || strings.length + numbers.length === 0) return { ...schema, const: values }
  const { type: _, ...rest } = schema
  const numeric = types.includes("integer") ? "integer" : "number"
  const kinds: ReadonlyArray<JsonObject> = [
    ...(strings.length === 0 ? [] : [{ type: "string", enum: strings }]),
    ...(numbers.length === 0 ? [] : [{ type: numeric, enum: numbers }]),
    ...(values.includes(null) && (types.length === 0 || types.includes("null")) ? [{ type: "null" }] : [])
  ]
  const [kind] = kinds
  if (kinds.length === 1) return { ...rest, ...kind }
  return rest["anyOf"] === undefined ? { ...rest, anyOf: kinds } : { ...schema, const: values }
}

/** Merges the choices of an object into its members. */
const withoutChoices = (schema: JsonObject): JsonObject =>
  schema["anyOf"] !== undefined && objectOf(schema["properties"]) !== undefined ? objectSchema(schema) : schema

/** The host accepts only a title and a description beside choices, so a type moves into each of them. */
const withChoices = (schema: JsonObject): JsonObject => {
  const { anyOf, description, title, type, ...rest } = schema
  if (anyOf === undefined) return schema
  const choices = listOf(anyOf)
    .map((one) => objectOf(one) ?? {})
    .map((one) => (type === undefined || isTyped(one) ? one : { type, ...one }))
  const words = Object.fromEntries(Object.entries({ title, description }).filter(([, text]) => text !== undefined))
  return choices.length === 1 ? { ...rest, ...choices[0], ...words } : { ...rest, ...words, anyOf: choices }
}

const isTyped = (schema: JsonObject): boolean => schema["type"] !== undefined || schema["anyOf"] !== undefined

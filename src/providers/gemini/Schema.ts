import { inlineRefs } from "../../domain/SchemaRefs.ts"
import { type JsonObject, listOf, objectOf } from "../wire/Json.ts"
import { objectSchema } from "../wire/ToolSchema.ts"

/**
 * The part of JSON Schema that `parametersJsonSchema` and `responseJsonSchema` document
 * (https://ai.google.dev/api/generate-content#GenerationConfig). Each of the others makes the host refuse the request, or is lost.
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

/** Formats that the host knows. */
const FORMATS = new Set(["date-time", "date", "time", "int32", "int64", "float", "double"])

/** Keywords without a place on this wire that the model can heed where the description tells of them. */
const SAID = new Set([
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

/** A constraint with more JSON than this is not told. */
const MAX_SAID_CHARS = 200

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"])

/** A schema for answers as this host takes it. */
export const answerSchema = (schema: JsonObject): JsonObject => translated(inlineRefs(schema))

/** A schema of a tool's arguments as this host takes it: one object. */
export const argumentsSchema = (schema: JsonObject): JsonObject => translated(objectSchema(inlineRefs(schema)))

const translated = (schema: JsonObject): JsonObject => {
  const merged = typed(withoutChoices(merge(allOfIn(schema))))
  const made: Record<string, unknown> = {}
  const said: Array<string> = []
  for (const [key, value] of Object.entries(merged)) {
    const kept = keywordOf(key, value, merged)
    if (kept !== undefined) made[key] = kept
    else if (SAID.has(key)) tell(said, key, value)
  }
  if (said.length > 0) {
    const { description } = made
    made["description"] = `${typeof description === "string" ? `${description} ` : ""}(${said.join(", ")})`
  }
  return withChoices(made)
}

const tell = (said: Array<string>, key: string, value: unknown): void => {
  const text = JSON.stringify(value)
  if (text !== undefined && text.length <= MAX_SAID_CHARS) said.push(`${key}: ${text}`)
}

/** A keyword's value as the host takes it; undefined where it takes none. */
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

/** `true` is a schema that takes everything; `false` takes nothing, for which there is no word. */
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

/** All that has to hold together: the schema itself and the members of its `allOf`, with theirs. */
const allOfIn = ({ allOf, ...schema }: JsonObject): ReadonlyArray<JsonObject> => [
  schema,
  ...listOf(allOf).flatMap((one) => {
    const inner = objectOf(one)
    return inner === undefined ? [] : allOfIn(inner)
  })
]

/** One schema for several that have to hold together. What cannot be in one stays in `allOf`, to be told. */
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

/** A keyword that two schemas have. */
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

/** The schema with types and values in the words of this host. */
const typed = (schema: JsonObject): JsonObject => {
  const { const: only, enum: values, nullable, ...made } = bounded(schema) as Record<string, unknown>
  const types = (Array.isArray(made["type"]) ? made["type"] : [made["type"]]).filter((type) => TYPES.has(String(type)))
  if (nullable === true && types.length > 0 && !types.includes("null")) types.push("null")
  if (types.length > 0) made["type"] = types.length === 1 ? types[0] : types
  else delete made["type"]
  const all = Array.isArray(values) ? values : only === undefined ? undefined : [only]
  return all === undefined ? made : enumerated(made, types, all)
}

/** Bounds that leave the bound itself out are the next whole number's; `items` by place are `prefixItems`. */
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

/** Values are strings that are not empty, or numbers; `null` is a choice of its own, and other values are told. */
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

/** An object takes in its choices. */
const withoutChoices = (schema: JsonObject): JsonObject =>
  schema["anyOf"] !== undefined && objectOf(schema["properties"]) !== undefined ? objectSchema(schema) : schema

/** A choice has nothing beside it but words; a type goes into it. */
const withChoices = (schema: JsonObject): JsonObject => {
  const { anyOf, description, title, type, ...rest } = schema
  if (anyOf === undefined) return schema
  const choices = (listOf(anyOf) as ReadonlyArray<JsonObject>).map((one) =>
    type === undefined || isTyped(one) ? one : { type, ...one }
  )
  const words = Object.fromEntries(Object.entries({ title, description }).filter(([, text]) => text !== undefined))
  return choices.length === 1 ? { ...rest, ...choices[0], ...words } : { ...rest, ...words, anyOf: choices }
}

const isTyped = (schema: JsonObject): boolean => schema["type"] !== undefined || schema["anyOf"] !== undefined

import { resolveRef } from "../../domain/SchemaRefs.ts"
import { type JsonObject, listOf, objectOf } from "../wire/Json.ts"

/** Below the first depth, a sample has only required members; below the second it has none, so that recursion ends. */
const OPTIONAL_DEPTH = 4
const MAX_DEPTH = 16
const MAX_ITEMS = 5

/** A value that conforms to a JSON Schema in all commonly used keywords. The same schema gives the same value. */
export const sampleOf = (schema: unknown): unknown => sample(objectOf(schema) ?? {}, objectOf(schema) ?? {}, "value", 0)

const sample = (root: JsonObject, schema: JsonObject, name: string, depth: number): unknown => {
  if (depth > MAX_DEPTH) return null
  const ref = schema["$ref"]
  if (typeof ref === "string") return sample(root, resolveRef(root, ref) ?? {}, name, depth + 1)
  if ("const" in schema) return schema["const"]
  const [listed] = [...listOf(schema["enum"]), ...listOf(schema["examples"])]
  if (listed !== undefined) return listed
  if ("default" in schema) return schema["default"]
  const option = optionOf(schema)
  if (option !== undefined) return sample(root, option, name, depth + 1)
  const all = listOf(schema["allOf"])
  if (all.length > 0) return sample(root, merged(root, schema, all), name, depth + 1)
  switch (typeOf(schema)) {
    case "object":
      return sampleObject(root, schema, depth)
    case "array":
      return sampleArray(root, schema, name, depth)
    case "integer":
    case "number":
      return sampleNumber(schema)
    case "boolean":
      return true
    case "null":
      return null
    default:
      return sampleString(schema, name)
  }
}

const optionOf = (schema: JsonObject): JsonObject | undefined => {
  const options = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])].map((option) => objectOf(option) ?? {})
  return options.find((option) => option["type"] !== "null") ?? options[0]
}

const typeOf = (schema: JsonObject): unknown => {
  const type = schema["type"]
  if (Array.isArray(type)) return type.find((one) => one !== "null") ?? "null"
  if (type !== undefined) return type
  if ("properties" in schema) return "object"
  return "items" in schema || "prefixItems" in schema ? "array" : "string"
}

const sampleObject = (root: JsonObject, schema: JsonObject, depth: number): unknown => {
  const required = new Set(listOf(schema["required"]))
  const made: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(objectOf(schema["properties"]) ?? {})) {
    if (depth >= OPTIONAL_DEPTH && !required.has(name)) continue
    made[name] = sample(root, objectOf(property) ?? {}, name, depth + 1)
  }
  return made
}

const sampleArray = (root: JsonObject, schema: JsonObject, name: string, depth: number): unknown => {
  const prefix = listOf(schema["prefixItems"]).map((item) => sample(root, objectOf(item) ?? {}, name, depth + 1))
  const least = numberIn(schema, "minItems") ?? 0
  const most = Math.min(MAX_ITEMS, numberIn(schema, "maxItems") ?? MAX_ITEMS)
  const wanted = Math.min(Math.max(least, depth < OPTIONAL_DEPTH ? 1 : 0), Math.max(least, most))
  const items = objectOf(schema["items"])
  const more = items === undefined && prefix.length > 0 ? 0 : Math.max(0, wanted - prefix.length)
  return [...prefix, ...Array.from({ length: more }, () => sample(root, items ?? {}, name, depth + 1))]
}

const sampleNumber = (schema: JsonObject): number => {
  const step = numberIn(schema, "multipleOf") ?? 1
  const above = numberIn(schema, "exclusiveMinimum")
  const below = numberIn(schema, "exclusiveMaximum")
  const least = Math.max(numberIn(schema, "minimum") ?? -Infinity, above === undefined ? -Infinity : above + step)
  const most = Math.min(numberIn(schema, "maximum") ?? Infinity, below === undefined ? Infinity : below - step)
  const target = Math.max(Math.min(1, most), least)
  const up = Math.ceil(target / step) * step
  const value = up <= most ? up : Math.floor(most / step) * step
  // When no multiple fits, a bound itself is the nearest value.
  return typeOf(schema) === "integer" || (value >= least && value <= most) ? value : target
}

const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-01-15",
  time: "12:00:00Z",
  "date-time": "2026-01-15T12:00:00Z",
  duration: "PT1H",
  email: "sample@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/sample",
  uuid: "123e4567-e89b-42d3-a456-426614174000"
}

const sampleString = (schema: JsonObject, name: string): string => {
  const format = schema["format"]
  const known = typeof format === "string" ? FORMATS[format] : undefined
  if (known !== undefined) return known
  const text = `sample ${name}`.padEnd(numberIn(schema, "minLength") ?? 0, ".")
  return text.slice(0, numberIn(schema, "maxLength") ?? text.length)
}

const merged = (root: JsonObject, schema: JsonObject, all: ReadonlyArray<unknown>): JsonObject => {
  const { allOf: _, ...own } = schema
  return all.reduce<JsonObject>((into, part) => {
    const partSchema = objectOf(part) ?? {}
    const one = typeof partSchema["$ref"] === "string" ? (resolveRef(root, partSchema["$ref"]) ?? {}) : partSchema
    return {
      ...into,
      ...one,
      ...("properties" in into || "properties" in one
        ? { properties: { ...objectOf(into["properties"]), ...objectOf(one["properties"]) } }
        : {}),
      required: [...listOf(into["required"]), ...listOf(one["required"])]
    }
  }, own)
}

const numberIn = (schema: JsonObject, name: string): number | undefined => {
  const value = schema[name]
  return typeof value === "number" ? value : undefined
}

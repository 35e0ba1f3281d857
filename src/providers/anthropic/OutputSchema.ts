import { type JsonObject, listOf, objectOf } from "../wire/Json.ts"

/**
 * Converts a JSON Schema to the form that the host's constrained decoder accepts: closed objects, `anyOf` instead of `oneOf`, and
 * unsupported limits in the description (https://platform.claude.com/docs/en/build-with-claude/structured-outputs).
 */
export const outputSchemaOf = (schema: JsonObject): JsonObject => {
  const made: Record<string, unknown> = {}
  const limits: Array<string> = []
  for (const [key, value] of Object.entries(schema)) {
    if (LIMITS.has(key) || (key === "format" && !FORMATS.has(String(value)))) {
      limits.push(`${key}: ${JSON.stringify(value)}`)
    } else if (MAPS.has(key)) {
      made[key] = Object.fromEntries(Object.entries(objectOf(value) ?? {}).map(([name, one]) => [name, inner(one)]))
    } else if (LISTS.has(key)) {
      made[key === "oneOf" ? "anyOf" : key] = listOf(value).map(inner)
    } else {
      made[key] = key === "items" ? inner(value) : value
    }
  }
  if (limits.length > 0) {
    const description = schema["description"]
    made["description"] = `${typeof description === "string" ? `${description} ` : ""}(${limits.join(", ")})`
  }
  if (isObjectType(schema)) made["additionalProperties"] = false
  return made
}

const inner = (value: unknown): unknown => {
  const schema = objectOf(value)
  return schema === undefined ? value : outputSchemaOf(schema)
}

const isObjectType = ({ properties, type }: JsonObject): boolean =>
  properties !== undefined || type === "object" || listOf(type).includes("object")

/** Keywords that hold schemas by name. */
const MAPS = new Set(["properties", "$defs", "definitions"])

/** Keywords that hold lists of schemas. */
const LISTS = new Set(["anyOf", "oneOf", "allOf"])

const LIMITS = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "not"
])

const FORMATS = new Set(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"])

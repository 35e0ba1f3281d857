import { mapSchemas } from "../../domain/SchemaRefs.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { type JsonObject, listOf } from "../wire/Json.ts"
import { objectSchema } from "../wire/ToolSchema.ts"

/** OpenAI's models refuse a tool with a list whose items are of no kind. */
const withItems = (schema: JsonObject): JsonObject => {
  const { items, type } = schema
  const lacks = items === undefined && (type === "array" || listOf(type).includes("array"))
  return { ...mapSchemas(schema, withItems), ...(lacks ? { items: {} } : {}) }
}

/**
 * A tool's parameters as hosts of this wire take them. Each is an object with properties; templates of open models look for them
 * too. OpenAI's own models also refuse choices at the root.
 */
export const parametersFor = (schema: JsonObject, { model }: Candidate): JsonObject => {
  const open = model.vendor === "openai" ? withItems(objectSchema(schema)) : schema
  const { properties, type = "object" } = open
  const isPlain = type === "object" && properties === undefined && !CHOICES.some((key) => open[key] !== undefined)
  return isPlain ? { ...open, type, properties: {} } : open
}

/** What may say of an object what it has. */
const CHOICES = ["$ref", "allOf", "anyOf", "oneOf"]

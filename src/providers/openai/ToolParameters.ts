import { mapSchemas } from "../../domain/SchemaRefs.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { type JsonObject, listOf } from "../wire/Json.ts"
import { objectSchema } from "../wire/ToolSchema.ts"

/** OpenAI's models reject a tool with a list type that has no `items`. */
const withItems = (schema: JsonObject): JsonObject => {
  const { items, type } = schema
  const lacks = items === undefined && (type === "array" || listOf(type).includes("array"))
  return { ...mapSchemas(schema, withItems), ...(lacks ? { items: {} } : {}) }
}

/**
 * Returns a tool's parameters in a form that the model's hosts accept: an object with `properties`, which chat templates of open models
 * read as well. For OpenAI's own models it also removes choices at the root.
 */
export const parametersFor = (schema: JsonObject, { model }: Candidate): JsonObject => {
  const open = model.vendor === "openai" ? withItems(objectSchema(schema)) : schema
  const { properties, type = "object" } = open
  const isPlain = type === "object" && properties === undefined && !CHOICES.some((key) => open[key] !== undefined)
  return isPlain ? { ...open, type, properties: {} } : open
}

/** Keywords that can define an object's members in place of `properties`. */
const CHOICES = ["$ref", "allOf", "anyOf", "oneOf"]

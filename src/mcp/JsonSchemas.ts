/** The JSON Schemas by which clients and models know the tools, derived from the schemas of the contract. */
import { Schema } from "effect"
import { McpSchema } from "effect/ai"

type Json = { readonly [member: string]: unknown }

/** A member that may be null may also be absent, which makes a shorter schema. */
const withoutNull = (schema: Json): Json => {
  const options = schema["anyOf"]
  if (!Array.isArray(options) || !options.some((one: Json) => one["type"] === "null")) return schema
  const { anyOf: _, ...rest } = schema
  const left = options.filter((one: Json) => one["type"] !== "null")
  return left.length === 1 ? { ...left[0], ...rest } : { anyOf: left, ...rest }
}

/** A description in a part of its own, next to the schema that it describes. */
const describedHere = (schema: Json): Json => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const isDescriptionOnly = (one: Json) => Object.keys(one).join() === "description"
  const others = allOf.filter((one) => !isDescriptionOnly(one))
  return Object.assign(rest, ...allOf.filter(isDescriptionOnly), others.length === 0 ? {} : { allOf: others })
}

const documentOf = (schema: Schema.Top): Json => {
  const document = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "ignore" })
  const { definitions, schema: root } = document as { readonly definitions: Json; readonly schema: Json }
  const name = typeof root["$ref"] === "string" ? root["$ref"].split("/").at(-1) : undefined
  const { [name ?? ""]: own, ...others } = definitions
  const whole = (own ?? root) as Json
  return Object.keys(others).length === 0 ? whole : { ...whole, $defs: others }
}

/** The schema of a tool's arguments. */
export const inputSchemaOf = (schema: Schema.Top): typeof McpSchema.ToolJson.Type => {
  const document = documentOf(schema)
  const members = Object.entries((document["properties"] ?? {}) as Record<string, Json>)
  const properties = Object.fromEntries(members.map(([name, member]) => [name, withoutNull(describedHere(member))]))
  const whole = { ...document, type: "object", properties, additionalProperties: false }
  return Schema.decodeUnknownSync(McpSchema.ToolJson)(whole)
}

/** The schema of a tool's structured results. */
export const outputSchemaOf = (schema: Schema.Top): typeof McpSchema.ToolOutputJson.Type =>
  Schema.decodeUnknownSync(McpSchema.ToolOutputJson)({ ...documentOf(schema), type: "object" })

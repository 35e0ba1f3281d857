/** Checks a schema for answers as far as the request alone allows. */
import { withCommas } from "../../schemas/Bounds.ts"
import type { OutputFormat } from "../domain/Conversation.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { NOT_AN_OBJECT, withFoundValue } from "../domain/SchemaProblems.ts"
import { objectOf } from "./Decode.ts"

/**
 * The maximum size in bytes. For a model without schema support, the prompt contains the schema, and every answer is checked against
 * it.
 */
export const SCHEMA_MAX_BYTES = 64 * 1_024

/** The maximum nesting depth of objects and lists. */
export const SCHEMA_MAX_LEVELS = 64

/** A schema for answers in the format of OpenAI's dialects. */
interface WireSchema {
  readonly name: string
  readonly description?: string | null
  readonly schema?: Readonly<Record<string, unknown>> | null
  readonly strict?: boolean | null
}

/** The format of such a schema. `field` is its path in the request. */
export const schemaFormat = ({ description, name, schema, strict }: WireSchema, field: string): OutputFormat => ({
  type: "json_schema",
  name,
  ...(description == null ? {} : { description }),
  schema: schema ?? undefined,
  strict: strict ?? undefined,
  field
})

/** The error of a schema for answers, if there is one. `field` is its path in the request. An absent schema is valid. */
export const checkSchema = (schema: unknown, field: string): Failure | undefined => {
  if (schema === undefined) return undefined
  if (objectOf(schema) === undefined) return invalid(field, withFoundValue(NOT_AN_OBJECT, field, schema))
  if (isDeeper(schema, SCHEMA_MAX_LEVELS)) return invalid(field, `must be at most ${SCHEMA_MAX_LEVELS} levels deep`)
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  return bytes > SCHEMA_MAX_BYTES
    ? invalid(field, `must have at most ${withCommas(SCHEMA_MAX_BYTES)} bytes of JSON; got ${withCommas(bytes)}`)
    : undefined
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1)))

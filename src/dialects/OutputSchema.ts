/** What of a schema for answers can be judged from the request alone. */
import type { OutputFormat } from "../domain/Conversation.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { objectOf } from "./Decode.ts"

/** A schema is asked for in words, and every answer checked with it, where a model takes none. */
export const SCHEMA_MAX_BYTES = 64 * 1_024

/** Objects and lists within one another. */
export const SCHEMA_MAX_LEVELS = 64

/** A schema for answers as OpenAI's dialects have it. */
interface WireSchema {
  readonly name: string
  readonly description?: string | null
  readonly schema?: Readonly<Record<string, unknown>> | null
  readonly strict?: boolean | null
}

/** The format of such a schema; `field` is where it stands in the request. */
export const schemaFormat = ({ description, name, schema, strict }: WireSchema, field: string): OutputFormat => ({
  type: "json_schema",
  name,
  ...(description == null ? {} : { description }),
  schema: schema ?? undefined,
  strict: strict ?? undefined,
  field
})

/** What is wrong with a schema for answers, if something is; `field` is where it stands in the request. None at all is not wrong. */
export const checkSchema = (schema: unknown, field: string): Failure | undefined => {
  if (schema === undefined) return undefined
  if (objectOf(schema) === undefined) return invalid(field, "Expected a JSON object")
  if (isDeeper(schema, SCHEMA_MAX_LEVELS)) return invalid(field, `at most ${SCHEMA_MAX_LEVELS} levels deep`)
  return Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_MAX_BYTES
    ? invalid(field, `at most ${SCHEMA_MAX_BYTES} bytes of JSON`)
    : undefined
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1)))

import { parseExact, parseWithin } from "../../domain/ExactJson.ts"
import { MAX_COUNT } from "../../domain/Usage.ts"

/** JSON from a host, read member by member. Hosts add and omit members as they like, so the code requires only what it uses. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The value if it is an object. */
export const objectOf = (value: unknown): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined

/** The value if it is a list, or else an empty list. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A non-empty string member. */
export const textIn = (object: JsonObject, name: string): string | undefined => {
  const value = object[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

/** A member that is a whole number of 0 or more. An implausibly large one is capped. */
export const countIn = (object: JsonObject | undefined, name: string): number | undefined => {
  const value = object?.[name]
  return Number.isInteger(value) && Number(value) >= 0 ? Math.min(Number(value), MAX_COUNT) : undefined
}

const BOM = "\uFEFF"

const read = (body: Uint8Array | string, parse: (text: string) => unknown): unknown => {
  const text = typeof body === "string" ? body : Buffer.from(body.buffer, body.byteOffset, body.length).toString()
  try {
    return parse(text.startsWith(BOM) ? text.slice(1) : text)
  } catch {
    return undefined
  }
}

/** The JSON in a body; undefined when it is not JSON. */
export const parseJson = (body: Uint8Array | string): unknown => read(body, JSON.parse)

/** The JSON in a body with all digits of whole numbers, for tool arguments, which the gateway writes again. */
export const parseJsonExact = (body: Uint8Array | string): unknown => read(body, parseExact)

/** The JSON in a text within a message; undefined when it is not JSON, or too deep or too large to be written again. */
export const parsedWithin = (text: string): unknown => read(text, parseWithin)

import { parseExact } from "../domain/ExactJson.ts"
import { MAX_COUNT } from "../domain/Usage.ts"

/** Foreign JSON, looked at member by member: hosts add and leave out what they like, so nothing is required that is not used. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The value as an object, if it is one. */
export const objectOf = (value: unknown): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined

/** The value as a list, or an empty one. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A member that is a text with something in it. */
export const textIn = (object: JsonObject, name: string): string | undefined => {
  const value = object[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

/** A member that is a whole number from zero up; one beyond belief is the most that is believed. */
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

/** The JSON a body holds, or undefined when it holds none. */
export const parsed = (body: Uint8Array | string): unknown => read(body, JSON.parse)

/** The same with all digits of whole numbers, for arguments of tools, which are written again. */
export const parsedExact = (body: Uint8Array | string): unknown => read(body, parseExact)

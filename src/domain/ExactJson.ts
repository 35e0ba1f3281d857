/** JSON that keeps every digit of whole numbers: ids of 16 digits and more are common, and a number holds 15 exactly. */

import { shapeProblemOf } from "./JsonShape.ts"

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** TypeScript's types lack two parts of JSON: a reviver reads the source text of a number, and `rawJSON` writes such a text. */
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (text: string, reviver?: Reviver) => unknown
  readonly rawJSON: (text: string) => unknown
}

const LONG = /\d{16}/
const WHOLE = /^-?\d+$/

const keepDigits: Reviver = (_, value, { source }) =>
  typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && WHOLE.test(source)
    ? rawJSON(source)
    : value

/**
 * Parses a JSON text. A whole number with too many digits for a number becomes a value that `JSON.stringify` writes as it was.
 * Throws when the text is not JSON.
 */
export const parseExact = (text: string): unknown => (LONG.test(text) ? parse(text, keepDigits) : parse(text))

/**
 * Parses a text within a message, such as the arguments of a tool call, with all digits of whole numbers. Throws when the text is not
 * JSON, or when the value is so deep or so large that no code could walk or write it.
 */
export const parseWithin = (text: string): unknown => {
  const problem = shapeProblemOf(text)
  if (problem !== undefined) throw new SyntaxError(`it ${problem.message}`)
  return parseExact(text)
}

/** Whether every whole number in a JSON text fits a number. */
export const isShort = (text: string): boolean =>
  !LONG.test(text) || JSON.stringify(parse(text)) === JSON.stringify(parseExact(text))

const TOOL_USE = '"tool_use"'

/**
 * Gives the inputs of tool calls in a request the digits they have in its text, and changes `value` in place. The program reads
 * everything else as numbers, so that stays as it was parsed.
 */
export const exactInputs = (text: string, value: unknown): unknown => {
  if (text.includes(TOOL_USE) && LONG.test(text)) takeInputs(value, parseExact(text))
  return value
}

type Members = Record<string, unknown>

const takeInputs = (value: unknown, exact: unknown): void => {
  if (typeof value !== "object" || value === null) return
  const [into, from] = [value as Members, exact as Members]
  for (const name of Object.keys(into)) {
    if (name === "input" && into["type"] === "tool_use") into[name] = from[name]
    else takeInputs(into[name], from[name])
  }
}

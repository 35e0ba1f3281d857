/** Whether a text is an answer that meets a JSON Schema. Schema and text come from outside, so it may take any time: not for the main thread. */
import { dereference, type Schema, type SchemaDraft, validate, type ValidationResult } from "@cfworker/json-schema"
import { checkablePattern, schemaProblem } from "./StructuredSchema.ts"

/** What is to be judged; without a text, whether the schema can be checked at all. */
export interface CheckJob {
  readonly schema: Readonly<Record<string, unknown>>
  readonly text: string | undefined
}

/** `detail`s name keywords and places, never what an answer says. */
export type Verdict =
  /** The one JSON value in the text, as it was written; of no text, nothing. */
  | { readonly _tag: "Meets"; readonly json: string }
  | { readonly _tag: "Fails"; readonly detail: string }
  /** The schema says what cannot be checked, whatever the answer. */
  | { readonly _tag: "Uncheckable"; readonly detail: string }
  /** There was no time or no room for it. `busy` is not the schema's doing. */
  | { readonly _tag: "Unchecked"; readonly detail: string; readonly busy?: true }

/** The verdict on a text. */
export const verdictOf = ({ schema, text }: CheckJob): Verdict => {
  try {
    const problem = schemaProblem(schema)
    if (problem !== undefined) return { _tag: "Uncheckable", detail: problem }
    const draft = draftOf(schema)
    // The package marks the schema it is given.
    const copy = structuredClone(schema) as Schema
    const lookup = dereference(copy)
    const unfit = unfitOf(lookup)
    if (unfit !== undefined) return { _tag: "Uncheckable", detail: unfit }
    if (text === undefined) {
      // Any answer would do: references that lead in a circle have no end for none.
      validate(null, copy, draft, lookup)
      return { _tag: "Meets", json: "" }
    }
    const json = jsonIn(text)
    if (json === undefined) return { _tag: "Fails", detail: "it is not one JSON value" }
    const result = validate(JSON.parse(json), copy, draft, lookup)
    return result.valid ? { _tag: "Meets", json } : { _tag: "Fails", detail: problemOf(result) }
  } catch (error) {
    if (error instanceof RangeError && text !== undefined) return { _tag: "Fails", detail: "it is nested too deeply" }
    return { _tag: "Uncheckable", detail: "it is no valid JSON Schema" }
  }
}

const draftOf = ({ $schema }: Readonly<Record<string, unknown>>): SchemaDraft => {
  const said = typeof $schema === "string" ? /draft-0([4-7])|(2019-09)/.exec($schema) : null
  if (said === null) return "2020-12"
  return said[2] !== undefined ? "2019-09" : said[1] === "4" ? "4" : "7"
}

/** Looked for before anything is generated: what is found here would be found out only with the answer there. */
const unfitOf = (lookup: Readonly<Record<string, Schema | boolean>>): string | undefined => {
  for (const schema of Object.values(lookup)) {
    if (typeof schema === "boolean") continue
    const { $ref, __absolute_ref__, pattern, patternProperties } = schema
    if ($ref !== undefined && lookup[__absolute_ref__ ?? $ref] === undefined) return "a $ref leads nowhere"
    if (pattern !== undefined && !withCheckable(schema, pattern)) return "a pattern is no regular expression"
    const names = Object.keys(patternProperties ?? {})
    if (!names.every((name) => checkablePattern(name) === name)) return "a pattern is no regular expression"
  }
  return undefined
}

/** What is a regular expression and cannot be compiled here is not checked. */
const withCheckable = (schema: Schema, pattern: string): boolean => {
  const checkable = checkablePattern(pattern)
  if (checkable === undefined) return false
  if (checkable === null) delete schema.pattern
  else schema.pattern = checkable
  return true
}

/** Keywords whose own error only says that there is one further in. */
const containers = new Set(["$ref", "$recursiveRef", "properties", "items", "prefixItems", "allOf", "if"])

const MAX_PLACE_CHARS = 160

const problemOf = ({ errors }: ValidationResult): string => {
  const error = errors.find(({ keyword }) => !containers.has(keyword)) ?? errors[0]
  if (error === undefined) return "it does not match"
  const place = error.instanceLocation
  const shown = place.length <= MAX_PLACE_CHARS ? place : `${place.slice(0, MAX_PLACE_CHARS).toWellFormed()}…`
  return `${shown}: ${error.keyword}`
}

const FENCE = "```"

/** What a model thinks aloud before it answers. */
const THOUGHT = /^\s*<think>[\s\S]*?<\/think>/

/**
 * The JSON value that a text is the answer with, as it was written, without what was thought aloud before it: all of it, the inside
 * of the one code fence, from the first bracket to the last where words stand around it, or the last whole value among words.
 */
export const jsonIn = (text: string): string | undefined => {
  const whole = text
    .replace(/^\uFEFF/, "")
    .replace(THOUGHT, "")
    .trim()
  const plain = [whole, fencedIn(whole), bracketedIn(whole)].find((one) => one !== undefined && isJson(one))
  return plain ?? lastIn(whole)
}

/** A fence inside the value is a part of a string, so the outermost ones are meant. */
const fencedIn = (text: string): string | undefined => {
  const open = text.indexOf(FENCE)
  const close = text.lastIndexOf(FENCE)
  const line = text.indexOf("\n", open)
  if (open === -1 || close <= open) return undefined
  const language = line === -1 ? "" : text.slice(open + FENCE.length, line).trim()
  const start = /^\w{1,10}$/.test(language) ? line : open + FENCE.length
  return start > close ? undefined : text.slice(start, close).trim()
}

const bracketedIn = (text: string): string | undefined => {
  const start = text.search(/[{[]/)
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"))
  return start === -1 ? undefined : text.slice(start, end + 1)
}

/** Beyond so many brackets that begin nothing, a text is not looked through any further. */
const MOST_BEGUN = 64

const lastIn = (text: string): string | undefined => {
  let found: string | undefined
  let begun = 0
  let at = nextBracket(text, 0)
  while (at !== -1 && begun < MOST_BEGUN) {
    const end = endOf(text, at)
    const value = end === undefined ? undefined : text.slice(at, end)
    const whole = value !== undefined && isJson(value)
    if (whole) found = value
    else begun += 1
    at = nextBracket(text, whole ? (end ?? at) : at + 1)
  }
  return found
}

const nextBracket = (text: string, from: number): number => {
  const further = text.slice(from).search(/[{[]/)
  return further === -1 ? -1 : from + further
}

/** Where the value that begins with a bracket ends, if it does. */
const endOf = (text: string, start: number): number | undefined => {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (quoted) {
      if (char === "\\") at += 1
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === "{" || char === "[") depth += 1
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1
  }
  return undefined
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

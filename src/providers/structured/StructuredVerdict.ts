/**
 * Checks whether a text is an answer that conforms to a JSON Schema. Schema and text come from outside, so a check may take any time
 * and must not run on the main thread.
 */
import { dereference, type Schema, type SchemaDraft, validate, type ValidationResult } from "@cfworker/json-schema"
import { checkablePattern, schemaProblem, shownPath } from "./StructuredSchema.ts"

/** What to check. Without a text: whether the schema can be checked at all. */
export interface CheckJob {
  readonly schema: Readonly<Record<string, unknown>>
  readonly text: string | undefined
}

/** A `detail` names keywords and paths, never the answer's content. */
export type Verdict =
  /** `json` is the one JSON value in the text, as it was written; empty without a text. */
  | { readonly _tag: "Meets"; readonly json: string }
  | { readonly _tag: "Fails"; readonly detail: string }
  /** The schema cannot be checked, whatever the answer. */
  | { readonly _tag: "Uncheckable"; readonly detail: string }
  /** There was no time or no capacity for the check. `busy`: the schema is not the cause. */
  | { readonly _tag: "Unchecked"; readonly detail: string; readonly busy?: true }

/** Checks a text. */
export const verdictOf = ({ schema, text }: CheckJob): Verdict => {
  try {
    const problem = schemaProblem(schema)
    if (problem !== undefined) return { _tag: "Uncheckable", detail: problem }
    const draft = draftOf(schema)
    // The package modifies the schema it is given.
    const copy = structuredClone(schema) as Schema
    const lookup = dereference(copy)
    const unfit = unfitOf(lookup)
    if (unfit !== undefined) return { _tag: "Uncheckable", detail: unfit }
    if (text === undefined) {
      // Any value would do: circular references loop endlessly for every value.
      validate(null, copy, draft, lookup)
      return { _tag: "Meets", json: "" }
    }
    const json = jsonIn(text)
    if (json === undefined) return { _tag: "Fails", detail: "the answer is not one JSON value" }
    const result = validate(JSON.parse(json), copy, draft, lookup)
    return result.valid ? { _tag: "Meets", json } : { _tag: "Fails", detail: problemOf(result) }
  } catch (error) {
    if (error instanceof RangeError && text !== undefined)
      return { _tag: "Fails", detail: "the answer is nested too deeply" }
    return { _tag: "Uncheckable", detail: "the schema is not valid JSON Schema" }
  }
}

const draftOf = ({ $schema }: Readonly<Record<string, unknown>>): SchemaDraft => {
  const draftMatch = typeof $schema === "string" ? /draft-0([4-7])|(2019-09)/.exec($schema) : null
  if (draftMatch === null) return "2020-12"
  return draftMatch[2] !== undefined ? "2019-09" : draftMatch[1] === "4" ? "4" : "7"
}

/** Checked before anything is generated. Otherwise the problem would appear only after the answer. */
const unfitOf = (lookup: Readonly<Record<string, Schema | boolean>>): string | undefined => {
  for (const schema of Object.values(lookup)) {
    if (typeof schema === "boolean") continue
    const { $ref, __absolute_ref__, pattern, patternProperties } = schema
    if ($ref !== undefined && lookup[__absolute_ref__ ?? $ref] === undefined)
      return "a `$ref` must have a target in the schema"
    if (pattern !== undefined && !withCheckable(schema, pattern)) return "each `pattern` must be a regular expression"
    const names = Object.keys(patternProperties ?? {})
    if (!names.every((name) => checkablePattern(name) === name)) return "each `pattern` must be a regular expression"
  }
  return undefined
}

/** A valid regular expression that cannot be compiled here is not checked. */
const withCheckable = (schema: Schema, pattern: string): boolean => {
  const checkable = checkablePattern(pattern)
  if (checkable === undefined) return false
  if (checkable === null) delete schema.pattern
  else schema.pattern = checkable
  return true
}

/** Keywords with an error that only says that there is a more specific one. */
const containers = new Set(["$ref", "$recursiveRef", "properties", "items", "prefixItems", "allOf", "if"])

const problemOf = ({ errors }: ValidationResult): string => {
  const error = errors.find(({ keyword }) => !containers.has(keyword)) ?? errors[0]
  if (error === undefined) return "the answer does not match the schema"
  return `${shownPath(error.instanceLocation)}: ${error.keyword}`
}

const FENCE = "```"

/** Reasoning that a model writes before its answer. */
const THOUGHT = /^\s*<think>[\s\S]*?<\/think>/

/**
 * The JSON value that a text answers with, as it was written, without reasoning before it. It is the whole text, the content of the
 * only code fence, the part from the first bracket to the last when words surround it, or the last complete value among words.
 */
export const jsonIn = (text: string): string | undefined => {
  const whole = text
    .replace(/^\uFEFF/, "")
    .replace(THOUGHT, "")
    .trim()
  const plain = [whole, fencedIn(whole), bracketedIn(whole)].find((one) => one !== undefined && isJson(one))
  return plain ?? lastIn(whole)
}

/** A code fence inside the value is part of a string, so the outermost fences count. */
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

/** After this many brackets that start no value, the search ends. */
const MAX_BEGUN = 64

const lastIn = (text: string): string | undefined => {
  let found: string | undefined
  let begun = 0
  let at = nextBracket(text, 0)
  while (at !== -1 && begun < MAX_BEGUN) {
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

/** The end of the value that starts with a bracket; undefined when it has none. */
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

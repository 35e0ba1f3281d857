/** Finds what makes a JSON Schema useless for checking answers, without an answer. */

type Json = Readonly<Record<string, unknown>>

const TYPES = new Set(["null", "boolean", "object", "array", "number", "integer", "string"])

const ofSchema = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "additionalItems",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties"
])
const ofList = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
const ofMap = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isObject(value)
const isNumber = (value: unknown): boolean => typeof value === "number"
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0
const isString = (value: unknown): boolean => typeof value === "string"
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isString)
/** In draft 4 this is a boolean that modifies another keyword. */
const isExclusive = (value: unknown): boolean => isNumber(value) || typeof value === "boolean"

type Kind = readonly [is: (value: unknown) => boolean, wanted: string]

const count: Kind = [isCount, "must be an integer of at least 0"]
const number: Kind = [isNumber, "must be a number"]
const exclusive: Kind = [isExclusive, "must be a number"]

const kinds: Readonly<Record<string, Kind>> = {
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  minimum: number,
  maximum: number,
  exclusiveMinimum: exclusive,
  exclusiveMaximum: exclusive,
  multipleOf: [(value) => isNumber(value) && Number(value) > 0, "must be a number above 0"],
  pattern: [isString, "must be a string"],
  required: [isNames, "must be a list of names"],
  enum: [(value) => Array.isArray(value) && value.length > 0, "must be a list of at least one value"]
}

/** The maximum nesting depth of schemas. The limit for callers is far lower. */
const MAX_DEEP = 256

/** Names in a path are the caller's own text. Only the caller sees the path, up to this length. */
const MAX_PATH_CHARS = 160

/** A path for a message, cut to a readable length. */
export const shownPath = (path: string): string =>
  path.length <= MAX_PATH_CHARS ? path : `${path.slice(0, MAX_PATH_CHARS).toWellFormed()}…`

/** The first problem with its path in the schema; undefined when only an answer can show one. */
export const schemaProblem = (schema: Json): string | undefined => {
  if (schema["not"] === true || (isObject(schema["not"]) && Object.keys(schema["not"]).length === 0)) {
    return "`not` must not exclude every answer"
  }
  return problemIn(schema, [])
}

const problemAt = (place: ReadonlyArray<string>, problem: string): string =>
  `\`${shownPath(place.join("."))}\` ${problem}`

const problemIn = (value: unknown, place: ReadonlyArray<string>): string | undefined => {
  if (typeof value === "boolean") return undefined
  if (!isObject(value)) return problemAt(place, "must be a schema")
  if (place.length > MAX_DEEP) return problemAt(place, "must be nested less deeply")
  for (const [keyword, given] of Object.entries(value)) {
    const problem = keywordProblem(keyword, given, [...place, keyword])
    if (problem !== undefined) return problem
  }
  return crossedIn(value, place)
}

const typeProblem = (type: unknown): string | undefined => {
  const types: ReadonlyArray<unknown> = Array.isArray(type) ? type : [type]
  return types.length > 0 && types.every((one) => typeof one === "string" && TYPES.has(one))
    ? undefined
    : "must be a type of JSON Schema"
}

const keywordProblem = (keyword: string, keywordValue: unknown, place: ReadonlyArray<string>): string | undefined => {
  if (keyword === "type") {
    const problem = typeProblem(keywordValue)
    return problem === undefined ? undefined : problemAt(place, problem)
  }
  if (ofSchema.has(keyword)) return problemIn(keywordValue, place)
  if (ofList.has(keyword) || (keyword === "items" && Array.isArray(keywordValue)))
    return problemInList(keywordValue, place)
  if (keyword === "items") return problemIn(keywordValue, place)
  if (ofMap.has(keyword)) return problemInMap(keywordValue, place)
  const kind = Object.hasOwn(kinds, keyword) ? kinds[keyword] : undefined
  return kind === undefined || kind[0](keywordValue) ? undefined : problemAt(place, kind[1])
}

const problemInList = (given: unknown, place: ReadonlyArray<string>): string | undefined => {
  if (!Array.isArray(given)) return problemAt(place, "must be a list of schemas")
  for (const [index, one] of given.entries()) {
    const problem = problemIn(one, [...place, `${index}`])
    if (problem !== undefined) return problem
  }
  return undefined
}

const problemInMap = (given: unknown, place: ReadonlyArray<string>): string | undefined => {
  if (!isObject(given)) return problemAt(place, "must be an object of schemas")
  for (const [name, one] of Object.entries(given)) {
    const problem = isSchema(one) ? problemIn(one, [...place, name]) : problemAt([...place, name], "must be a schema")
    if (problem !== undefined) return problem
  }
  return undefined
}

const ranges = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"]
] as const

const crossedIn = (schema: Json, place: ReadonlyArray<string>): string | undefined => {
  for (const [least, most] of ranges) {
    if (Number(schema[least]) > Number(schema[most]))
      return problemAt([...place, least], `must not be greater than \`${most}\``)
  }
  return undefined
}

/** With the `u` flag, which the check uses, a pattern may escape only the characters that need it. */
const NEEDLESS = /\\([^\w^$\\.*+?()[\]{}|/-]|_)/gu

const compiles = (pattern: string, flags: string): boolean => {
  try {
    return new RegExp(pattern, flags) instanceof RegExp
  } catch {
    return false
  }
}

/**
 * A pattern in the form that the check can compile. Null for a regular expression that it cannot compile; undefined for text that is
 * not a regular expression.
 */
export const checkablePattern = (pattern: string): string | null | undefined => {
  if (compiles(pattern, "u")) return pattern
  const plainer = pattern.replace(NEEDLESS, (_, escaped: string) => escaped)
  if (compiles(plainer, "u")) return plainer
  return compiles(pattern, "") ? null : undefined
}

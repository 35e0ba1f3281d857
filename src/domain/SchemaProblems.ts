/** Turns the issue of a schema into the problems of fields: what each field must be, and what the request has in its place. */
import { SchemaAST, SchemaIssue } from "effect"
import { charactersOf, withCommas } from "../../schemas/Bounds.ts"
import type { FieldProblem } from "./Failure.ts"

type Path = ReadonlyArray<PropertyKey>

/** A path as errors and headers write it: `messages[2].content`. */
export const pathOf = (path: Path): string =>
  path.map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`)).join("")

/** The path of a field within the value of another field. */
export const pathWithin = (outer: string, inner: string): string =>
  inner === "" || inner.startsWith("[") ? `${outer}${inner}` : `${outer}.${inner}`

/** The message for an absent field that the request must have. */
export const REQUIRED = "is required"

/** The message for a field that the operation does not have. */
export const UNKNOWN = "is not a known field"

/** The message for a value that is not an object where the request must have one. */
export const NOT_AN_OBJECT = "must be a JSON object"

/** The maximum number of fields in a validation error, so that the response does not grow with the number of mistakes. */
export const MAX_PROBLEMS = 32

/** Fields whose values are secret or personal. */
const SECRET = /(?:^|[._-])(?:keys?|secrets?|token|password|code|authorization|signature|credentials?|phone|email)$/i

/** The beginning of keys, here and at providers. */
const KEY = /^(?:sk|pk|rk|svc|whsec|key|ghp|xox\w)[-_]/i

/** One short word. A longer text may be a part of a prompt. */
const WORD = /^[\w.:/+-]{1,40}$/

/** Messages for a value of another type, or for a word that is not in a list. */
const OF_A_TYPE =
  /\b(?:an? (?:integer|number|boolean|array|object|JSON object)|(?<!at least )one of|true or false|null)\b/

/** Messages for an object that lacks every member that it may have. */
const OF_A_MEMBER = /^must contain at least one\b/

/** Messages for a text that is too short or too long. */
const OF_A_LENGTH = /^must have (?:at most )?[\d,]+ (?:to [\d,]+ )?characters\b/

const ofString = (message: string, text: string, secret: boolean): string | undefined => {
  if (!secret && OF_A_LENGTH.test(message)) return withCommas(charactersOf(text))
  if (!OF_A_TYPE.test(message)) return undefined
  return !secret && WORD.test(text) && !KEY.test(text) ? `"${text}"` : "a string"
}

const shown = (message: string, value: unknown, secret: boolean): string | undefined => {
  if (value === null) return "null"
  if (typeof value === "boolean") return String(value)
  if (typeof value === "number") {
    if (secret) return "a number"
    return Number.isSafeInteger(value) ? withCommas(value) : String(value)
  }
  if (typeof value === "string") return ofString(message, value, secret)
  if (Array.isArray(value)) return /\bitems\b/.test(message) ? withCommas(value.length) : "an array"
  if (typeof value !== "object") return undefined
  if (OF_A_MEMBER.test(message)) return Object.keys(value).length === 0 ? "an empty object" : undefined
  return OF_A_TYPE.test(message) ? "an object" : undefined
}

/**
 * Adds to "must …" what the request has in the field: a number, a word, or else the kind or the count. It never repeats a longer text,
 * a key or a value of a field for secrets.
 */
export const withFoundValue = (message: string, field: string, value: unknown): string => {
  if (!message.startsWith("must ") || message.includes("; got ")) return message
  const found = shown(message, value, SECRET.test(field))
  return found === undefined ? message : `${message}; got ${found}`
}

const MUST_BE = "must be "

const textIn = (annotations: object | undefined, name: string): string | undefined => {
  const text = (annotations as Readonly<Record<string, unknown>> | undefined)?.[name]
  return typeof text === "string" ? text : undefined
}

/** The types of a union, including those of nested unions. */
const typesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(typesOf) : [ast]

const listed = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? (words[0] ?? "valid") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`

/** The bounds of a number say more than its type. */
const boundsOf = (ast: SchemaAST.AST): string | undefined =>
  ast.checks
    ?.map((check) => textIn(check.annotations, "message"))
    .find((message) => message?.startsWith(MUST_BE))
    ?.slice(MUST_BE.length)

const expectedOfOne = (ast: SchemaAST.AST): string => {
  if (SchemaAST.isString(ast)) return "a string"
  if (SchemaAST.isNumber(ast)) {
    const bounds = boundsOf(ast)
    if (bounds !== undefined) return bounds
    return ast.checks?.some((check) => textIn(check.annotations, "expected") === "an integer")
      ? "an integer"
      : "a number"
  }
  if (SchemaAST.isBoolean(ast)) return "a boolean"
  if (SchemaAST.isNull(ast)) return "null"
  if (SchemaAST.isArrays(ast)) return "an array"
  if (SchemaAST.isObjects(ast)) return "an object"
  if (SchemaAST.isSuspend(ast)) return expectedOf(ast.thunk())
  return textIn(ast.annotations, "expected") ?? "valid"
}

/** What a value of a schema is, as the end of "must be …". */
const expectedOf = (ast: SchemaAST.AST): string => {
  const types = typesOf(ast).filter((type) => !SchemaAST.isUndefined(type))
  // A null only says that the field may be absent.
  const named = types.length > 1 ? types.filter((type) => !SchemaAST.isNull(type)) : types
  const literals = named.flatMap((type) => (SchemaAST.isLiteral(type) ? [String(type.literal)] : []))
  const others = named.filter((type) => !SchemaAST.isLiteral(type)).map(expectedOfOne)
  const words = literals.length > 1 ? [`one of ${literals.join(", ")}`] : literals.map((literal) => `"${literal}"`)
  return listed([...new Set([...others, ...words])])
}

const leafMessage: SchemaIssue.LeafHook = (issue) => {
  switch (issue._tag) {
    case "MissingKey":
      return REQUIRED
    case "UnexpectedKey":
      return UNKNOWN
    case "InvalidType":
      return textIn(issue.ast.annotations, "message") ?? `${MUST_BE}${expectedOf(issue.ast)}`
    case "InvalidValue":
      return textIn(issue.annotations, "message") ?? `must be ${textIn(issue.annotations, "expected") ?? "valid"}`
    default:
      return "must be valid"
  }
}

const checkMessage: SchemaIssue.CheckHook = (issue) => {
  const message = SchemaIssue.defaultCheckHook(issue)
  if (message !== undefined || issue.issue._tag !== "InvalidValue") return message
  const expected = textIn(issue.issue.annotations, "expected") ?? textIn(issue.filter.annotations, "expected")
  return `must be ${expected ?? "valid"}`
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook: leafMessage, checkHook: checkMessage })

/** The member that distinguishes the objects of a union, and its values; undefined if there is none. */
const tagOf = (ast: SchemaAST.AST): { readonly name: string; readonly values: ReadonlyArray<string> } | undefined => {
  const objects = (SchemaAST.isUnion(ast) ? ast.types : []).filter(SchemaAST.isObjects)
  for (const { name } of objects[0]?.propertySignatures ?? []) {
    const types = objects.map((object) => object.propertySignatures.find((signature) => signature.name === name)?.type)
    const values = types.flatMap((type) =>
      type !== undefined && SchemaAST.isLiteral(type) ? [String(type.literal)] : []
    )
    if (values.length === objects.length) return { name: String(name), values: [...new Set(values)] }
  }
  return undefined
}

/** A parameter that a query has once may stand for a list of one. */
const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (into, key) =>
      typeof into === "string" && key === 0 ? into : (into as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value
  )

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

interface FoundProblem {
  readonly path: Path
  readonly message: string
}

/** `value` is the value that the issue is about, if it is known. */
const problemsAt = (issue: SchemaIssue.Issue, path: Path, value: unknown): ReadonlyArray<FoundProblem> => {
  if (issue._tag === "Pointer") return problemsAt(issue.issue, [...path, ...issue.path], valueAt(value, issue.path))
  // A parameter of a query is text: its message is about what the text must stand for.
  if (issue._tag === "Encoding" && typeof value !== "object") {
    return [{ path, message: textIn(issue.ast.annotations, "message") ?? `${MUST_BE}${expectedOf(issue.ast)}` }]
  }
  if (issue._tag === "Composite" || (issue._tag === "AnyOf" && issue.issues.length > 0)) {
    return issue.issues.flatMap((inner) => problemsAt(inner, path, value))
  }
  if (issue._tag === "AnyOf") {
    // The formatter names the union, but the mistake is in the member that selects one of its objects.
    const tag = isObject(value) ? tagOf(issue.ast) : undefined
    if (tag !== undefined) return [{ path: [...path, tag.name], message: `must be one of ${tag.values.join(", ")}` }]
    return [{ path, message: textIn(issue.ast.annotations, "message") ?? `must be ${expectedOf(issue.ast)}` }]
  }
  return format(issue).issues.map(({ message, path: inner = [] }) => ({
    path: [...path, ...inner.map((key) => (typeof key === "object" ? key.key : key))],
    message
  }))
}

/** Messages for a number of the wrong kind. A message about the bounds of a number says its kind too. */
const OF_A_KIND = /^must be an? (?:finite number|integer)$/

/** Leaves out what another problem of the same field says better. */
const withoutRepeats = (problems: ReadonlyArray<FoundProblem>): ReadonlyArray<FoundProblem> => {
  const isOf = (path: string) => (other: FoundProblem) => !OF_A_KIND.test(other.message) && pathOf(other.path) === path
  return problems.filter(({ message, path }) => !OF_A_KIND.test(message) || !problems.some(isOf(pathOf(path))))
}

/**
 * The invalid fields of a schema issue, at most 32, each with its path. `whole` is the name for a value that is wrong as a
 * whole, which is `value`. Without a value the messages do not say what was found.
 */
export const problemsOf = (
  issue: SchemaIssue.Issue,
  whole: string,
  value?: unknown
): readonly [FieldProblem, ...Array<FieldProblem>] => {
  const [first, ...others] = withoutRepeats(problemsAt(issue, [], value))
    .slice(0, MAX_PROBLEMS)
    .map(({ message, path }) => {
      const field = pathOf(path) || whole
      return { field, message: withFoundValue(message, field, valueAt(value, path)) }
    })
  return first === undefined ? [{ field: whole, message: "must be valid" }] : [first, ...others]
}

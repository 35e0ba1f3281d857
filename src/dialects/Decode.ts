import { Result, Schema, SchemaAST, SchemaIssue } from "effect"
import { type Failure, failure, type FieldProblem, invalid } from "../domain/Failure.ts"
import { listCheck, pathOf } from "./Lists.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Path = ReadonlyArray<PropertyKey>

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

/** `value` is the value that the issue is about, if it is known. */
const problemsAt = (issue: SchemaIssue.Issue, path: Path, value: unknown): ReadonlyArray<FieldProblem> => {
  if (issue._tag === "Pointer") {
    const inner = issue.path.reduce<unknown>((into, key) => (into as Record<PropertyKey, unknown> | null)?.[key], value)
    return problemsAt(issue.issue, [...path, ...issue.path], inner)
  }
  if (issue._tag === "Composite" || (issue._tag === "AnyOf" && issue.issues.length > 0)) {
    return issue.issues.flatMap((inner) => problemsAt(inner, path, value))
  }
  if (issue._tag === "AnyOf") {
    // The formatter names the union, but the mistake is in the member that selects one of its objects.
    const tag = objectOf(value) === undefined ? undefined : tagOf(issue.ast)
    if (tag !== undefined) return [{ field: pathOf([...path, tag.name]), message: `one of ${tag.values.join(", ")}` }]
  }
  return format(issue).issues.map(({ message, path: inner = [] }) => ({
    field: pathOf([...path, ...inner.map((key) => (typeof key === "object" ? key.key : key))]),
    message
  }))
}

/** The maximum number of fields in a validation error, so that the response does not grow with the number of mistakes. */
export const MAX_PROBLEMS = 32

/**
 * The invalid fields of a schema issue, at most 32, each with its dotted path. `whole` is the name for a value that is wrong as a
 * whole, which is `value`.
 */
export const problemsOf = (
  issue: SchemaIssue.Issue,
  whole: string,
  value?: unknown
): readonly [FieldProblem, ...Array<FieldProblem>] => {
  const [first, ...others] = problemsAt(issue, [], value)
    .slice(0, MAX_PROBLEMS)
    .map(({ field, message }) => ({ field: field || whole, message }))
  return first === undefined ? [{ field: whole, message: "is not valid" }] : [first, ...others]
}

/** The maximum number of values in a request for which all mistakes are collected. An ordinary request has a few hundred. */
const MAX_VALUES = 4_096

/** An issue takes about a kilobyte, so a large value with a mistake in every part would need more memory than there is. */
const isLarge = (value: unknown): boolean => {
  let left = MAX_VALUES
  // Parsed JSON is at most a few hundred levels deep.
  const exceeds = (one: unknown): boolean => {
    if (typeof one !== "object" || one === null) return false
    if (Array.isArray(one)) {
      left -= one.length
      return left < 0 || one.some(exceeds)
    }
    for (const name in one) {
      if (--left < 0 || exceeds((one as Record<string, unknown>)[name])) return true
    }
    return false
  }
  return exceeds(value)
}

/**
 * A decoder that reports every invalid field, up to 32, but only the first in a large value. With `strict`, unknown fields are invalid
 * as well. A list that is too long is rejected before its elements are decoded.
 */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  options: { readonly strict: boolean; readonly whole?: string }
): ((value: unknown) => Result.Result<S["Type"], Failure>) => {
  const onExcessProperty = options.strict ? "error" : "ignore"
  const decodeAll = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty })
  const decodeFirst = Schema.decodeUnknownResult(schema, { errors: "first", onExcessProperty })
  const tooLong = listCheck(schema.ast)
  const whole = options.whole ?? "body"
  return (value) => {
    const long = tooLong(value)
    if (long !== undefined) return Result.fail(invalid(long.field || whole, long.message))
    return Result.mapError((isLarge(value) ? decodeFirst : decodeAll)(value), (error) =>
      failure({ _tag: "ValidationError", problems: problemsOf(error.issue, whole, value) })
    )
  }
}

/** Adds a missing model to the other problems. Whether `model` or `models` names it is known only after decoding. */
export const withModel = <A>(
  body: Readonly<Record<string, unknown>>,
  result: Result.Result<A, Failure>
): Result.Result<A, Failure> => {
  if (body["model"] != null || body["models"] != null) return result
  return Result.mapError(result, (failed) => {
    if (failed.reason._tag !== "ValidationError") return failed
    const others = failed.reason.problems.slice(0, MAX_PROBLEMS - 1)
    return invalid("model", "Missing key", ...others)
  })
}

/** Puts a member's name in front of the fields of a failure. */
export const within = <A>(member: string, result: Result.Result<A, Failure>): Result.Result<A, Failure> =>
  Result.mapError(result, (error) => {
    if (error.reason._tag !== "ValidationError") return error
    const [first, ...others] = error.reason.problems.map(({ field, message }) => ({
      field: field === "" ? member : `${member}.${field}`,
      message
    }))
    return first === undefined ? error : invalid(first.field, first.message, ...others)
  })

/** The value if it is a JSON object, or undefined. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

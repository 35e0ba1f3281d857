import { Result, Schema, SchemaIssue } from "effect"
import { type Failure, failure, type FieldProblem, invalid } from "../domain/Failure.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The wrong fields of a schema's issue, each with its path in dots; `whole` names a value that is wrong altogether. */
export const problemsOf = (
  issue: SchemaIssue.Issue,
  whole: string
): readonly [FieldProblem, ...Array<FieldProblem>] => {
  const problems = format(issue).issues.map(({ message, path }) => ({
    field: (path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".") || whole,
    message
  }))
  const [first, ...others] = problems
  return first === undefined ? [{ field: whole, message: "is not valid" }] : [first, ...others]
}

/** A decoder that answers every wrong field; `strict` makes unknown members wrong as well. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  options: { readonly strict: boolean; readonly whole?: string }
): ((value: unknown) => Result.Result<S["Type"], Failure>) => {
  const decode = Schema.decodeUnknownResult(schema, {
    errors: "all",
    onExcessProperty: options.strict ? "error" : "ignore"
  })
  const whole = options.whole ?? "body"
  return (value) =>
    Result.mapError(decode(value), (error) =>
      failure({ _tag: "ValidationError", problems: problemsOf(error.issue, whole) })
    )
}

/** Puts a member's name before the fields of a failure found in it. */
export const within = <A>(member: string, result: Result.Result<A, Failure>): Result.Result<A, Failure> =>
  Result.mapError(result, (error) => {
    if (error.reason._tag !== "ValidationError") return error
    const [first, ...others] = error.reason.problems.map(({ field, message }) => ({
      field: field === "" ? member : `${member}.${field}`,
      message
    }))
    return first === undefined ? error : invalid(first.field, first.message, ...others)
  })

/** A JSON object, or undefined. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

import { Result, Schema } from "effect"
import type { ModelFields } from "../domain/Chain.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { MAX_PROBLEMS, pathWithin, problemsOf, REQUIRED } from "../domain/SchemaProblems.ts"
import { listCheck } from "./Lists.ts"

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
    return invalid("model", REQUIRED, ...others)
  })
}

/** The models that a body names, before anything else of it is read. */
export const modelFieldsOf = (body: unknown): ModelFields => {
  const { model, models } = objectOf(body) ?? {}
  return { model, models }
}

/** Puts a member's name in front of the fields of a failure. */
export const within = <A>(member: string, result: Result.Result<A, Failure>): Result.Result<A, Failure> =>
  Result.mapError(result, (error) => {
    if (error.reason._tag !== "ValidationError") return error
    const [first, ...others] = error.reason.problems.map(({ field, message }) => ({
      field: pathWithin(member, field),
      message
    }))
    return first === undefined ? error : invalid(first.field, first.message, ...others)
  })

/** The value if it is a JSON object, or undefined. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

/** Decodes an embeddings request. Its inputs, which may have millions of tokens, are checked without a schema. */
import { Result, Schema } from "effect"
import { EmbeddingsRequest, MAX_INPUTS } from "../../../schemas/inference/Embeddings.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { NOT_AN_OBJECT, withFoundValue } from "../../domain/SchemaProblems.ts"
import type { EmbedWork } from "../../domain/Work.ts"
import { decoder, objectOf } from "../Decode.ts"

/** A request body, and the work for it. */
export interface DecodedEmbeddings {
  readonly model: string
  readonly work: EmbedWork
}

const { input: _, ...members } = EmbeddingsRequest.fields

const decodeMembers = decoder(Schema.Struct({ ...members, input: Schema.Unknown }), { strict: true })

type Inputs = EmbedWork["inputs"]

const SHAPES =
  "must be a non-empty string, a non-empty array of them, an array of tokens, or an array of arrays of tokens"

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""

const isToken = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/** The index of the first element that violates a condition; undefined if there is none. */
const firstNot = (list: ReadonlyArray<unknown>, holds: (value: unknown) => boolean): number | undefined => {
  const index = list.findIndex((value) => !holds(value))
  return index === -1 ? undefined : index
}

const textsOf = (list: ReadonlyArray<unknown>): Result.Result<Inputs, Failure> => {
  const wrong = firstNot(list, isText)
  return wrong === undefined
    ? Result.succeed(list as ReadonlyArray<string>)
    : Result.fail(invalid(`input[${wrong}]`, "must be a non-empty string"))
}

const tokensAt = (field: string, list: ReadonlyArray<unknown>): Failure | undefined => {
  if (list.length === 0) return invalid(field, "must be a non-empty array of tokens")
  const wrong = firstNot(list, isToken)
  return wrong === undefined ? undefined : invalid(`${field}[${wrong}]`, "must be an integer of at least 0")
}

const tokenListsOf = (list: ReadonlyArray<unknown>): Result.Result<Inputs, Failure> => {
  for (const [index, tokens] of list.entries()) {
    const field = `input[${index}]`
    const problem = Array.isArray(tokens)
      ? tokensAt(field, tokens)
      : invalid(field, "must be a non-empty array of tokens")
    if (problem !== undefined) return Result.fail(problem)
  }
  return Result.succeed(list as ReadonlyArray<ReadonlyArray<number>>)
}

/** The first element determines the kind of all others. */
const inputsOf = (input: unknown): Result.Result<Inputs, Failure> => {
  if (typeof input === "string") return input === "" ? Result.fail(invalid("input", SHAPES)) : Result.succeed([input])
  if (!Array.isArray(input) || input.length === 0) return Result.fail(invalid("input", SHAPES))
  const first: unknown = input[0]
  if (typeof first === "number") {
    const problem = tokensAt("input", input)
    return problem === undefined ? Result.succeed([input as ReadonlyArray<number>]) : Result.fail(problem)
  }
  if (input.length > MAX_INPUTS)
    return Result.fail(
      invalid("input", withFoundValue(`must contain 1 to ${MAX_INPUTS.toLocaleString("en-US")} items`, "input", input))
    )
  if (typeof first === "string") return textsOf(input)
  return Array.isArray(first) ? tokenListsOf(input) : Result.fail(invalid("input", SHAPES))
}

/** Decodes a request body. Errors name each invalid or unknown field. */
export const decodeEmbeddings = (body: unknown): Result.Result<DecodedEmbeddings, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", NOT_AN_OBJECT))
  const decoded = decodeMembers(object)
  if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
  const { dimensions, encoding_format, input_type, model, truncation, user } = decoded.success
  return Result.map(inputsOf(object["input"]), (inputs) => ({
    model,
    work: {
      inputs,
      dimensions: dimensions ?? undefined,
      format: encoding_format ?? "float",
      inputType: input_type ?? undefined,
      truncation: truncation ?? false,
      user: user ?? undefined
    }
  }))
}

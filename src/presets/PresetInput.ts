/** What a preset is made of and changed by, decoded: a version never changes, so nothing wrong may get into one. */
import { Result, Schema, SchemaIssue } from "effect"
import { isStorable, STORABLE } from "../../schemas/Bounds.ts"
import { NewPreset, PresetChange, type PresetConfig } from "../../schemas/management/Presets.ts"
import { type Failure, invalid } from "../domain/Failure.ts"

/** The longest configuration as JSON: room for tools and instructions, and small enough to be remembered in numbers. */
export const MAX_CONFIG_BYTES = 65_536

/** So many wrong fields are named at most. */
const MAX_PROBLEMS = 32

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const problemsOf = (issue: SchemaIssue.Issue): Failure => {
  const [first, ...others] = format(issue)
    .issues.slice(0, MAX_PROBLEMS)
    .map(({ message, path = [] }) => ({
      field: path.map((key) => String(typeof key === "object" ? key.key : key)).join(".") || "body",
      message
    }))
  return first === undefined ? invalid("body", "is not valid") : invalid(first.field, first.message, ...others)
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? "null"

/** Looked at first: what is too large is not worth a look inside. */
const checkTexts = (input: unknown): Failure | undefined => {
  if (typeof input !== "object" || input === null) return undefined
  for (const [name, value] of Object.entries(input)) {
    const json = jsonOf(value)
    if (Buffer.byteLength(json, "utf8") > MAX_CONFIG_BYTES) {
      return invalid(name, `at most ${MAX_CONFIG_BYTES} bytes of JSON`)
    }
    if (!isStorable(value)) return invalid(name, STORABLE)
  }
  return undefined
}

const decoding = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  return (input: unknown): Result.Result<S["Type"], Failure> => {
    const problem = checkTexts(input)
    if (problem !== undefined) return Result.fail(problem)
    return Result.mapError(decode(input), (error) => problemsOf(error.issue))
  }
}

/** Decodes a preset to be made; nothing but its fields is allowed, and each that is wrong is named. */
export const decodeNew: (input: unknown) => Result.Result<NewPreset, Failure> = decoding(NewPreset)

/** Decodes what is to change of a preset, as strictly. */
export const decodeChange: (input: unknown) => Result.Result<PresetChange, Failure> = decoding(PresetChange)

/** A configuration as it is kept: a null is the same as nothing. */
export const configJson = (config: PresetConfig): string =>
  JSON.stringify(Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null)))

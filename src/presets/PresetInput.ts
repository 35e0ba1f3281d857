/** What a preset is made of and changed by, decoded: a version never changes, so nothing wrong may get into one. */
import { Result, Schema, SchemaIssue } from "effect"
import { isStorable, STORABLE } from "../../schemas/Bounds.ts"
import { NewPreset, PresetChange, type PresetConfig } from "../../schemas/management/Presets.ts"
import { type Failure, invalid } from "../domain/Failure.ts"

/** The longest configuration as JSON: room for tools and instructions, and small enough to be remembered in numbers. */
export const MAX_CONFIG_BYTES = 65_536

/** So many wrong fields are named at most. */
const MAX_PROBLEMS = 32

/** In a longer one only the first is looked for: each takes far longer to tell than to make. */
const MAX_BYTES_OF_PROBLEMS = 8_192

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

/** Looked at first: what is too large is not worth a look inside. Answers how many bytes of JSON the longest member has. */
const checkTexts = (input: unknown): Result.Result<number, Failure> => {
  let longest = 0
  for (const [name, value] of Object.entries(typeof input === "object" && input !== null ? input : {})) {
    const bytes = Buffer.byteLength(jsonOf(value), "utf8")
    if (bytes > MAX_CONFIG_BYTES) return Result.fail(invalid(name, `at most ${MAX_CONFIG_BYTES} bytes of JSON`))
    if (!isStorable(value)) return Result.fail(invalid(name, STORABLE))
    longest = Math.max(longest, bytes)
  }
  return Result.succeed(longest)
}

const decoding = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decodeAll = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const decodeFirst = Schema.decodeUnknownResult(schema, { errors: "first", onExcessProperty: "error" })
  return (input: unknown): Result.Result<S["Type"], Failure> =>
    Result.flatMap(checkTexts(input), (longest) =>
      Result.mapError((longest > MAX_BYTES_OF_PROBLEMS ? decodeFirst : decodeAll)(input), (error) =>
        problemsOf(error.issue)
      )
    )
}

/** Decodes a preset to be made; nothing but its fields is allowed, and each that is wrong is named, of long ones the first. */
export const decodeNew: (input: unknown) => Result.Result<NewPreset, Failure> = decoding(NewPreset)

/** Decodes what is to change of a preset, as strictly. */
export const decodeChange: (input: unknown) => Result.Result<PresetChange, Failure> = decoding(PresetChange)

/** A configuration as it is kept: a null is the same as nothing. */
export const configJson = (config: PresetConfig): string =>
  JSON.stringify(Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null)))

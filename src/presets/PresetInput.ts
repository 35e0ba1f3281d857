/** Decodes the fields that create or change a preset. A version never changes, so no invalid field may enter it. */
import { Result, Schema } from "effect"
import { isStorable, STORABLE } from "../../schemas/Bounds.ts"
import { NewPreset, PresetChange, type PresetConfig } from "../../schemas/management/Presets.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { problemsOf } from "../domain/SchemaProblems.ts"

/** The largest configuration, in bytes of JSON. It leaves room for tools and instructions, and keeps many presets in the cache. */
export const MAX_CONFIG_BYTES = 65_536

/** In a longer field the decoder looks only for the first problem, because reporting all of them takes far longer than decoding. */
const MAX_BYTES_OF_PROBLEMS = 8_192

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? "null"

/**
 * Checks sizes first, because the decoder should not look into oversized fields. Returns the size of the longest field in bytes of
 * JSON.
 */
const checkTexts = (input: unknown): Result.Result<number, Failure> => {
  let longest = 0
  for (const [name, value] of Object.entries(typeof input === "object" && input !== null ? input : {})) {
    const bytes = Buffer.byteLength(jsonOf(value), "utf8")
    if (bytes > MAX_CONFIG_BYTES)
      return Result.fail(invalid(name, `must have at most ${MAX_CONFIG_BYTES} bytes of JSON; got ${bytes}`))
    if (!isStorable(value)) return Result.fail(invalid(name, STORABLE))
    longest = Math.max(longest, bytes)
  }
  return Result.succeed(longest)
}

const makeDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decodeAll = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const decodeFirst = Schema.decodeUnknownResult(schema, { errors: "first", onExcessProperty: "error" })
  return (input: unknown): Result.Result<S["Type"], Failure> =>
    Result.flatMap(checkTexts(input), (longest) =>
      Result.mapError((longest > MAX_BYTES_OF_PROBLEMS ? decodeFirst : decodeAll)(input), (error) =>
        failure({ _tag: "ValidationError", problems: problemsOf(error.issue, "body", input) })
      )
    )
}

/** Decodes a new preset. It refuses unknown fields and names every invalid field, or only the first when a field is long. */
export const decodeNew: (input: unknown) => Result.Result<NewPreset, Failure> = makeDecoder(NewPreset)

/** Decodes a change of a preset, equally strictly. */
export const decodeChange: (input: unknown) => Result.Result<PresetChange, Failure> = makeDecoder(PresetChange)

/** Returns the stored form of a configuration. A null field means the same as an absent one. */
export const configJson = (config: PresetConfig): string =>
  JSON.stringify(Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null)))

import { Result } from "effect"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { AUTO_MODEL } from "./AutoRouter.ts"

export const MAX_CHAIN = 15

const broken = (detail: string) => Result.fail(failure({ _tag: "InvalidFallbackChain", detail }))

/**
 * The models to try, in order, from a `model` string (one id, or ids joined by commas) and a `models` list; what `model` names
 * comes first. Fails with `InvalidFallbackChain` on empty, repeated or too many entries, with `NotFound` for a preset.
 */
export const parseChain = (
  model: string | undefined,
  models: ReadonlyArray<string> | undefined
): Result.Result<ReadonlyArray<string>, Failure> => {
  if (model === undefined && models === undefined) return Result.fail(invalid("model", "Missing key"))
  const chain = (model === undefined ? [] : model.split(",")).map((entry) => entry.trim())
  for (const entry of models ?? []) if (!chain.includes(entry) || entry === "") chain.push(entry)
  if (chain.some((entry) => entry === "")) return broken("A fallback chain has no empty entries")
  if (chain.length > MAX_CHAIN) return broken(`A fallback chain has at most ${MAX_CHAIN} models`)
  const repeated = chain.find((entry, index) => chain.indexOf(entry) !== index)
  if (repeated !== undefined) return broken(`"${repeated}" stands twice in the fallback chain`)
  if (chain.includes(AUTO_MODEL) && chain.length > 1)
    return broken(`${AUTO_MODEL} stands alone, not in a fallback chain`)
  const preset = chain.find((entry) => entry.startsWith("@"))
  if (preset === undefined) return Result.succeed(chain)
  if (chain.length > 1) return broken("A preset stands alone, not in a fallback chain")
  return Result.fail(failure({ _tag: "NotFound", what: "preset", id: preset }))
}

import { Result } from "effect"
import { AUTO_MODEL } from "./Auto.ts"
import { type Failure, failure, invalid, type Reason } from "./Failure.ts"
import { REQUIRED } from "./SchemaProblems.ts"

/** The maximum number of models in a fallback chain. */
export const MAX_CHAIN = 15

const broken = (detail: string) => Result.fail(failure({ _tag: "InvalidFallbackChain", detail }))

/** Returns the slug of the preset that `model` names with a leading `@`; undefined when it names none. */
export const presetNamed = (model: unknown): string | undefined => {
  if (typeof model !== "string" || model.includes(",")) return undefined
  const name = model.trim()
  return name.startsWith("@") ? name.slice(1) : undefined
}

/** The `model` and `models` that a client sent, before a preset fills them in. They are read once, before the body is decoded. */
export interface ModelFields {
  readonly model: unknown
  readonly models: unknown
}

const memberOf = (reason: Reason, { model, models }: ModelFields): string | undefined => {
  if (!Array.isArray(models)) return undefined
  switch (reason._tag) {
    case "UnknownModel":
    case "NotVisionCapable":
    case "NotToolCapable": {
      const entries = typeof model === "string" ? model.split(",").map((entry) => entry.trim()) : []
      const index = models.indexOf(reason.model)
      return index < 0 || entries.includes(reason.model) ? undefined : `models[${index}]`
    }
    case "InvalidFallbackChain":
      return typeof model === "string" ? undefined : "models"
    default:
      return undefined
  }
}

/** Returns the failure with `param` set to the entry of `models` that caused it, unless `model` names that entry itself. */
export const withModelParam = (failed: Failure, sent: ModelFields | undefined): Failure => {
  const param = sent && memberOf(failed.reason, sent)
  return param === undefined ? failed : failure({ ...failed.reason, param } as Reason, failed.log)
}

/**
 * Parses the models to try, in order, from a `model` string (one ID, or IDs joined by commas) and a `models` list. The models in
 * `model` come first. Fails with `InvalidFallbackChain` for empty, repeated or too many entries, and for a preset, because presets
 * are resolved earlier.
 */
export const parseChain = (
  model: string | undefined,
  models: ReadonlyArray<string> | undefined
): Result.Result<ReadonlyArray<string>, Failure> => {
  if (model === undefined && models === undefined) return Result.fail(invalid("model", REQUIRED))
  const chain = (model === undefined ? [] : model.split(",")).map((entry) => entry.trim())
  for (const entry of models ?? []) if (!chain.includes(entry) || entry === "") chain.push(entry)
  if (chain.some((entry) => entry === "")) return broken("A fallback chain must not contain empty entries.")
  if (chain.length > MAX_CHAIN)
    return broken(`A fallback chain must contain at most ${MAX_CHAIN} models; got ${chain.length}.`)
  const repeated = chain.find((entry, index) => chain.indexOf(entry) !== index)
  if (repeated !== undefined) return broken(`A fallback chain must not repeat a model; got "${repeated}" twice.`)
  if (chain.includes(AUTO_MODEL) && chain.length > 1)
    return broken(`${AUTO_MODEL} must be the only model of a request.`)
  if (chain.some((entry) => entry.startsWith("@"))) return broken("A preset must be the only entry of `model`.")
  return Result.succeed(chain)
}

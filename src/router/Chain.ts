import { Result } from "effect"
import { type Failure, failure, invalid, type Reason } from "../domain/Failure.ts"
import { AUTO_MODEL } from "./AutoRouter.ts"

export const MAX_CHAIN = 15

const broken = (detail: string) => Result.fail(failure({ _tag: "InvalidFallbackChain", detail }))

/** The slug of the preset that a `model` names, alone and behind an `@`; undefined where it names none. */
export const presetNamed = (model: unknown): string | undefined => {
  if (typeof model !== "string" || model.includes(",")) return undefined
  const name = model.trim()
  return name.startsWith("@") ? name.slice(1) : undefined
}

/** What a request says of its models itself, where it lists any. */
export interface Listed {
  readonly model: unknown
  readonly models: ReadonlyArray<unknown>
}

/** What a body says of its models, where it lists any. */
export const listedIn = (body: Readonly<Record<string, unknown>> | undefined): Listed | undefined => {
  const models: unknown = body?.["models"]
  return Array.isArray(models) ? { model: body?.["model"], models } : undefined
}

const memberOf = (reason: Reason, { model, models }: Listed): string | undefined => {
  switch (reason._tag) {
    case "UnknownModel":
    case "NotVisionCapable":
    case "NotToolCapable": {
      const said = typeof model === "string" ? model.split(",").map((entry) => entry.trim()) : []
      const index = models.indexOf(reason.model)
      return index < 0 || said.includes(reason.model) ? undefined : `models.${index}`
    }
    case "InvalidFallbackChain":
      return typeof model === "string" ? undefined : "models"
    default:
      return undefined
  }
}

/** The failure, blamed on what of `models` it is about where `model` does not name that. */
export const blamed = (failed: Failure, listed: Listed | undefined): Failure => {
  const param = listed && memberOf(failed.reason, listed)
  return param === undefined ? failed : failure({ ...failed.reason, param } as Reason, failed.log)
}

/**
 * The models to try, in order, from a `model` string (one id, or ids joined by commas) and a `models` list; what `model` names
 * comes first. Fails with `InvalidFallbackChain` on empty, repeated or too many entries, and on a preset: what that stands for
 * has been put in its place before.
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
  if (chain.some((entry) => entry.startsWith("@"))) return broken("A preset stands alone in `model`, not in a chain")
  return Result.succeed(chain)
}

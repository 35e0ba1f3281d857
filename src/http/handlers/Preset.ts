import { Effect } from "effect"
import { Failure, failure } from "../../domain/Failure.ts"
import type { Presets, ResolvedPreset } from "../../presets/Presets.ts"
import { type ModelFields, presetNamed } from "../../domain/Chain.ts"
import type { Exchange } from "../edge/Exchange.ts"

/** The caller of a request, and where it may name a preset: in the models of its body, and in its path. */
export interface PresetReference {
  readonly accountId: string
  readonly sent: ModelFields
  readonly slug?: string | undefined
}

/** A preset that does not exist is the fault of `model`, where that names it. */
const ofModel = (failed: Failure): Failure =>
  failed.reason._tag === "NotFound" ? failure({ ...failed.reason, param: "model" }, failed.log) : failed

/**
 * The preset that a request names; undefined when it names none. The response then contains `X-Svc-Preset` and `X-Svc-Preset-Version`,
 * whatever its result. Fails with `NotFound`, with `StoreUnavailable`, and with `InvalidFallbackChain` when `model` and the path name
 * different presets.
 */
export const takePreset = (
  presets: Presets["Service"],
  exchange: Pick<Exchange, "preset">,
  { accountId, sent, slug }: PresetReference
): Effect.Effect<ResolvedPreset | undefined, Failure> => {
  const named = presetNamed(sent.model)
  const wanted = slug ?? named
  if (wanted === undefined) return Effect.undefined
  if (named !== undefined && named !== wanted) {
    const detail = "`model` must name the preset of the path"
    return Effect.fail(failure({ _tag: "InvalidFallbackChain", detail }))
  }
  const resolved = Effect.map(presets.resolve(accountId, wanted), (preset) => {
    exchange.preset = { slug: preset.slug, version: preset.version }
    return preset
  })
  return slug === undefined ? Effect.mapError(resolved, ofModel) : resolved
}

/** The models that a request names, and its preset if there is one, or the failure when that does not exist. */
export interface FoundPreset extends Pick<PresetReference, "sent" | "slug"> {
  readonly preset: ResolvedPreset | undefined
  readonly missing?: Failure | undefined
}

const foundOf =
  ({ sent, slug }: PresetReference) =>
  (found: ResolvedPreset | Failure | undefined): FoundPreset =>
    found instanceof Failure ? { sent, slug, preset: undefined, missing: found } : { sent, slug, preset: found }

/**
 * Finds the preset of a paid request. For a `repeatable` request with an idempotency key, a preset that no longer exists is not yet a
 * failure, because the request may already have been answered with it.
 */
export const takePaidPreset = (
  presets: Presets["Service"],
  exchange: Pick<Exchange, "preset">,
  reference: PresetReference & { readonly repeatable: boolean }
): Effect.Effect<FoundPreset, Failure> => {
  const found = takePreset(presets, exchange, reference)
  if (!reference.repeatable) return Effect.mapEager(found, foundOf(reference))
  return Effect.map(
    Effect.catchIf(found, ({ reason }) => reason._tag === "NotFound", Effect.succeed),
    foundOf(reference)
  )
}

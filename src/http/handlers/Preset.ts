import { Effect } from "effect"
import { objectOf } from "../../dialects/Decode.ts"
import { Failure, failure } from "../../domain/Failure.ts"
import type { Presets, ResolvedPreset } from "../../presets/Presets.ts"
import { presetNamed } from "../../domain/Chain.ts"
import type { Exchange } from "../edge/Exchange.ts"

/** The caller of a request, and where it may name a preset: in `model` of its body, and in its path. */
export interface Naming {
  readonly accountId: string
  readonly body: unknown
  readonly slug?: string | undefined
}

/**
 * The preset that a request names; undefined when it names none. The response then contains `X-Svc-Preset` and `X-Svc-Preset-Version`,
 * whatever its result. Fails with `NotFound`, with `StoreUnavailable`, and with `InvalidFallbackChain` when `model` and the path name
 * different presets.
 */
export const takePreset = (
  presets: Presets["Service"],
  exchange: Pick<Exchange, "preset">,
  { accountId, body, slug }: Naming
): Effect.Effect<ResolvedPreset | undefined, Failure> => {
  const named = presetNamed(objectOf(body)?.["model"])
  const wanted = slug ?? named
  if (wanted === undefined) return Effect.undefined
  if (named !== undefined && named !== wanted) {
    const detail = "`model` must name the preset of the path"
    return Effect.fail(failure({ _tag: "InvalidFallbackChain", detail }))
  }
  return Effect.map(presets.resolve(accountId, wanted), (preset) => {
    exchange.preset = { slug: preset.slug, version: preset.version }
    return preset
  })
}

/** The preset of a request if there is one, or the failure when it does not exist. */
export interface FoundPreset {
  readonly preset: ResolvedPreset | undefined
  readonly gone?: Failure | undefined
}

const foundOf = (found: ResolvedPreset | Failure | undefined): FoundPreset =>
  found instanceof Failure ? { preset: undefined, gone: found } : { preset: found }

/**
 * The same for a paid request. For a `repeatable` request with an idempotency key, a preset that no longer exists is not yet a failure,
 * because the request may already have been answered with it.
 */
export const takePaid = (
  presets: Presets["Service"],
  exchange: Pick<Exchange, "preset">,
  naming: Naming & { readonly repeatable: boolean }
): Effect.Effect<FoundPreset, Failure> => {
  const found = takePreset(presets, exchange, naming)
  if (!naming.repeatable) return Effect.mapEager(found, foundOf)
  return Effect.map(
    Effect.catchIf(found, ({ reason }) => reason._tag === "NotFound", Effect.succeed),
    foundOf
  )
}

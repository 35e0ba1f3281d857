import { Effect } from "effect"
import { objectOf } from "../dialects/Decode.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import type { Presets, ResolvedPreset } from "../presets/Presets.ts"
import { presetNamed } from "../router/Chain.ts"
import type { Exchange } from "./Exchange.ts"

/** Whose request it is, and where it may name a preset: in `model` of its body, and in its path. */
export interface Naming {
  readonly accountId: string
  readonly body: unknown
  readonly slug?: string | undefined
}

/**
 * The preset that a request names, whose response then says so, whatever else it says: `X-Svc-Preset` and `X-Svc-Preset-Version`.
 * Undefined when it names none. Fails with `NotFound`, with `StoreUnavailable`, and with `InvalidFallbackChain` where `model`
 * names another one than the path.
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
    const detail = "`model` names another preset than the path"
    return Effect.fail(failure({ _tag: "InvalidFallbackChain", detail }))
  }
  return Effect.map(presets.resolve(accountId, wanted), (preset) => {
    exchange.preset = { slug: preset.slug, version: preset.version }
    return preset
  })
}

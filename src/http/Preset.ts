import { Effect } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { Presets, ResolvedPreset } from "../presets/Presets.ts"
import type { Exchange } from "./Exchange.ts"

/**
 * The preset of this slug, for the request it is named by, whose response then says so whatever it is: `X-Svc-Preset` and
 * `X-Svc-Preset-Version`. Without a slug there is none. Fails with `NotFound`, or with `StoreUnavailable`.
 */
export const takePreset = (
  presets: Presets["Service"],
  exchange: Exchange,
  accountId: string,
  slug: string | undefined
): Effect.Effect<ResolvedPreset | undefined, Failure> => {
  if (slug === undefined) return Effect.undefined
  return Effect.map(presets.resolve(accountId, slug), (preset) => {
    exchange.preset = { slug: preset.slug, version: preset.version }
    return preset
  })
}

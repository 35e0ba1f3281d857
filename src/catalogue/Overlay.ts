/** Prices that the published list lacks, from the file beside this one. */
import { type Effect, Schema } from "effect"
import { picoFromUsd, picoPerUnit } from "../domain/Money.ts"
import type { Price } from "../domain/Pricing.ts"
import { Moment } from "./Moment.ts"
import bundled from "./overlay.json" with { type: "json" }

/** Prices that integer rates can tell from nothing, and that no request is likely to mean. */
const between = (minimum: number, maximum: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum, maximum }, { message: `must be ${minimum} to ${maximum} USD` }))

const PerMillion = between(0.000_001, 1_000_000)

const where = {
  model: Schema.NonEmptyString,
  provider: Schema.NonEmptyString,
  /** Where the price was read, and what it covers. */
  source: Schema.NonEmptyString,
  /** From when on it holds. Absent: always. */
  startsAt: Schema.optionalKey(Moment)
}

/**
 * One price of one model at one provider, in USD: per million tokens, or per unit. Tokens read from and written to a prompt cache
 * cost as much as others unless told.
 */
export const OverlayPrice = Schema.Union([
  Schema.Struct({
    ...where,
    unit: Schema.Literal("token"),
    inputUsdPerMillion: PerMillion,
    cachedUsdPerMillion: Schema.optionalKey(PerMillion),
    cacheWriteUsdPerMillion: Schema.optionalKey(PerMillion),
    outputUsdPerMillion: Schema.optionalKey(PerMillion)
  }),
  Schema.Struct({
    ...where,
    unit: Schema.Literals(["request", "image", "second", "character"]),
    usd: between(1e-12, 1_000)
  })
])
export type OverlayPrice = typeof OverlayPrice.Type

const decode = Schema.decodeUnknownEffect(Schema.Array(OverlayPrice), { onExcessProperty: "error" })

/** The overlay file, checked. */
export const bundledOverlay: Effect.Effect<ReadonlyArray<OverlayPrice>, Schema.SchemaError> = decode(bundled)

/** The overlay's price in integer rates. */
export const overlayPrice = (entry: OverlayPrice): Price => {
  if (entry.unit !== "token") return { unit: entry.unit, perUnit: picoFromUsd(entry.usd) }
  const input = picoPerUnit(entry.inputUsdPerMillion)
  const rates = {
    input,
    cached: entry.cachedUsdPerMillion === undefined ? input : picoPerUnit(entry.cachedUsdPerMillion),
    cacheWrite: entry.cacheWriteUsdPerMillion === undefined ? input : picoPerUnit(entry.cacheWriteUsdPerMillion),
    output: picoPerUnit(entry.outputUsdPerMillion ?? 0)
  }
  return { unit: "token", tiers: [{ abovePromptTokens: 0, rates }], perRequest: 0n }
}

/** Prices that the published list lacks, from the file beside this one. */
import { type Effect, Schema } from "effect"
import { picoFromUsd, picoPerUnit } from "../domain/Money.ts"
import type { Price } from "../domain/Pricing.ts"
import { Moment } from "./Moment.ts"
import bundled from "./overlay.json" with { type: "json" }

/** The bounds of a price: above zero in integer rates, and below any plausible price. */
const between = (minimum: number, maximum: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum, maximum }, { message: `must be ${minimum} to ${maximum} USD` }))

const PerMillion = between(0.000_001, 1_000_000)

const where = {
  model: Schema.NonEmptyString,
  provider: Schema.NonEmptyString,
  /** Where the price was read, and what it covers. */
  source: Schema.NonEmptyString,
  /** The start of the price. Absent: always in effect. */
  startsAt: Schema.optionalKey(Moment)
}

/**
 * The price of one model at one provider in USD, per million tokens or per unit. Tokens read from or written to a prompt cache cost
 * as much as others unless a price is given.
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

/** The decoded overlay file. */
export const bundledOverlay: Effect.Effect<ReadonlyArray<OverlayPrice>, Schema.SchemaError> = decode(bundled)

/** Converts an overlay price to integer rates. */
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

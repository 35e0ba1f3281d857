/** Converts price plans between their rows and the form of the API. */
import type { Plan, PlanLimits, PlanPrice } from "../../schemas/operator/Plans.ts"
import type { FieldProblem } from "../domain/Failure.ts"
import { nanoFromUsd, usdFromNano } from "../domain/Money.ts"
import { secondsOf } from "../domain/UnixTime.ts"
import type { PlanFacts, PlanRow } from "./PlansSql.ts"

export const planWire = (row: PlanRow): Plan => ({
  id: row.id,
  object: "plan",
  name: row.name,
  markup_basis_points: row.markup_bp,
  prices: row.prices,
  limits: {
    requests_per_minute: row.requests_per_minute,
    running_videos: row.running_videos,
    running_batches: row.running_batches,
    daily_spend_usd: row.daily_spend === null ? null : usdFromNano(row.daily_spend)
  },
  accounts: row.accounts,
  created_at: secondsOf(row.created_at)
})

type Limits = Pick<PlanFacts, "requests_per_minute" | "running_videos" | "running_batches" | "daily_spend">

/** The limits of a plan after a change. A limit that is absent stays as it was; null ends it. */
export const limitsOf = (wire: PlanLimits, before: Limits | undefined): Limits => {
  const limitAfter = <A>(requested: A | null | undefined, was: A | null | undefined): A | null =>
    requested === undefined ? (was ?? null) : requested
  const { daily_spend_usd: usd } = wire
  return {
    requests_per_minute: limitAfter(wire.requests_per_minute, before?.requests_per_minute),
    running_videos: limitAfter(wire.running_videos, before?.running_videos),
    running_batches: limitAfter(wire.running_batches, before?.running_batches),
    daily_spend: limitAfter(usd == null ? usd : (nanoFromUsd(usd) ?? 0n), before?.daily_spend)
  }
}

/**
 * Returns what is wrong with a price list: a model twice, one that does not exist, or one that the catalogue prices in another unit.
 * `unitOf` returns the unit of a model's price, `none` for a model without one, and undefined for an unknown model.
 */
export const priceProblem = (
  prices: ReadonlyArray<PlanPrice>,
  unitOf: (model: string) => string | undefined
): FieldProblem | undefined => {
  const seen = new Set<string>()
  for (const [index, price] of prices.entries()) {
    const field = `prices[${index}].model`
    const { model } = price
    if (seen.has(model)) return { field, message: `must occur once; ${model} has two prices` }
    seen.add(model)
    const unit = unitOf(model)
    if (unit === undefined) return { field, message: `must be the id of a model of the catalogue; got ${model}` }
    const perToken = !("per_unit_usd" in price)
    if (unit === "none" || (unit === "token") === perToken) continue
    const wanted = unit === "token" ? "input_usd_per_million and output_usd_per_million" : "per_unit_usd"
    return { field, message: `must have ${wanted}, because ${model} is priced per ${unit}` }
  }
  return undefined
}

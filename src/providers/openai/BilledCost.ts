/** What hosts of OpenAI's wire format report that a call costs. */
import { type JsonObject, objectOf } from "../wire/Json.ts"

/** A cost above this many USD for one call is a mistake of the host. */
const MAX_USD = 1_000_000

const usdIn = (object: JsonObject | undefined, name: string): number | undefined => {
  const value = object?.[name]
  return typeof value === "number" && value >= 0 && value <= MAX_USD ? value : undefined
}

/** xAI counts ten thousand millionths of a USD: https://docs.x.ai/docs/key-information/consumption-and-rate-limits */
const TICKS_PER_USD = 10_000_000_000

/** OpenRouter bills its fee alone when the upstream's own key was used, and reports the upstream's cost beside it. */
const upstreamUsd = (usage: JsonObject): number =>
  usage["is_byok"] === true ? (usdIn(objectOf(usage["cost_details"]), "upstream_inference_cost") ?? 0) : 0

const usdOf = (usage: JsonObject): number | undefined => {
  const ticks = usage["cost_in_usd_ticks"]
  if (typeof ticks === "number") return usdIn({ usd: ticks / TICKS_PER_USD }, "usd")
  // OpenRouter and gateways that follow it report a number, Perplexity an object, DeepInfra an estimate.
  const usd = usdIn(usage, "cost")
  if (usd !== undefined) return usd + upstreamUsd(usage)
  return usdIn(objectOf(usage["cost"]), "total_cost") ?? usdIn(usage, "estimated_cost")
}

/** Returns the reported cost of a call in nano-USD, rounded up; undefined when the host reports none. */
export const billedNanoIn = (usage: JsonObject): number | undefined => {
  const usd = usdOf(usage)
  // The product of a decimal price can lie a hair above the whole number that was meant.
  return usd === undefined ? undefined : Math.ceil(Number((usd * 1e9).toPrecision(15)))
}

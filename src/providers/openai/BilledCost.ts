/** Reads the cost of a call that hosts of OpenAI's wire format report. */
import { type JsonObject, objectOf } from "../wire/Json.ts"

/** The highest plausible cost of one call, in USD. A higher one is the host's mistake. */
const MAX_USD = 1_000_000

const usdIn = (object: JsonObject | undefined, name: string): number | undefined => {
  const value = object?.[name]
  return typeof value === "number" && value >= 0 && value <= MAX_USD ? value : undefined
}

/** xAI reports costs in ticks of 0.0000000001 USD (https://docs.x.ai/docs/key-information/consumption-and-rate-limits). */
const TICKS_PER_USD = 10_000_000_000

/** With the operator's own upstream key, OpenRouter bills only its fee, and reports the upstream's cost in another field. */
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
  // The product of a decimal fraction can slightly exceed the whole number it stands for.
  return usd === undefined ? undefined : Math.ceil(Number((usd * 1e9).toPrecision(15)))
}

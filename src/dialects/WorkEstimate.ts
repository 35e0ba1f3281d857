/** Estimates the cost of work other than chat. */
import { Result, Schema } from "effect"
import { charactersOf } from "../../schemas/Bounds.ts"
import { type CostEstimate, WorkEstimateRequest } from "../../schemas/inference/Estimate.ts"
import { SpeechRequest } from "../../schemas/inference/Speech.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { MAX_PROBLEMS, REQUIRED, UNKNOWN } from "../domain/SchemaProblems.ts"
import { usdFromNano, usdFromPico } from "../domain/Money.ts"
import type { Candidate, RoutingPolicy } from "../domain/Plan.ts"
import { maximumCost, type Price, tokenCost, unitCost } from "../domain/Pricing.ts"
import { boundOfLikely, fixedBound, likelyTokens, type TokenBound } from "../domain/TokenBound.ts"
import { noTokens } from "../domain/Usage.ts"
import type { VideoOptions } from "../domain/Video.ts"
import {
  type WorkPreparation,
  embedBound,
  fits,
  type LongestInput,
  longestInput,
  longestPair,
  rerankBound
} from "../domain/WorkSize.ts"
import type { PricedWork } from "../domain/Estimate.ts"
import { decoder, objectOf } from "./Decode.ts"
import { type Funds, estimateOf } from "./Estimate.ts"

type Kind = WorkPreparation["modality"]
type Wire = Omit<WorkEstimateRequest, "model">
type Size = Pick<WorkPreparation, "bound" | "fits" | "promptTokens" | "param"> & {
  readonly options?: VideoOptions
}
type SizeResult = Result.Result<Size, Failure>

/** The fields, besides the model's name, that an estimate for each modality accepts. */
const members: Readonly<Record<Kind, ReadonlyArray<string>>> = {
  embedding: ["input", "prompt", "input_tokens"],
  rerank: ["input", "prompt", "input_tokens", "documents"],
  audio: ["input", "prompt", "characters"],
  image: ["prompt", "n"],
  image_edit: ["prompt", "n"],
  video: ["prompt", "duration"],
  search: ["input", "prompt"]
}

const decodeWire = decoder(WorkEstimateRequest, { strict: true })

/** The error for fields that do not affect the price of such a model, and for unknown ones. */
const excessIn = (body: unknown, modality: Kind): Failure | undefined => {
  const known = new Set(["model", ...members[modality]])
  const extra = Object.keys(objectOf(body) ?? {}).filter((name) => !known.has(name))
  const [first, ...others] = extra.slice(0, MAX_PROBLEMS).map((field) => ({ field, message: UNKNOWN }))
  return first && invalid(first.field, first.message, ...others)
}

const missing = (field: string, message: string): SizeResult => Result.fail(invalid(field, message))

const ofUnits = (units: number): SizeResult => Result.succeed({ bound: { kind: "units", units } })

const ofPrompt = (prompt: TokenBound, longest: LongestInput, param: string): SizeResult =>
  Result.succeed({
    bound: { kind: "tokens", prompt },
    fits: (window) => fits(longest, window),
    promptTokens: longest.tokens,
    param
  })

/** When only the number of tokens is known, no single text can be too long. */
const ofTokens = (tokens: number): SizeResult =>
  Result.succeed({ bound: { kind: "tokens", prompt: fixedBound(boundOfLikely(tokens)) } })

const textsOf = ({ input, prompt }: Wire): ReadonlyArray<string> => {
  const texts = input ?? prompt ?? []
  return typeof texts === "string" ? [texts] : texts
}

const ofDocuments = (wire: Wire): SizeResult => {
  const { documents } = wire
  const [query, ...others] = textsOf(wire)
  const noQuery = query === undefined ? [{ field: "input", message: "must be one query" }] : []
  if (documents === undefined) {
    return Result.fail(invalid("documents", "is required, unless the request has `input_tokens`", ...noQuery))
  }
  if (query === undefined || others.length > 0) return missing("input", "must be one query")
  return ofPrompt(rerankBound({ documents, query }), longestPair({ documents, query }), "documents")
}

/** The simplest video of this duration. */
const ofVideo = (duration: number): SizeResult =>
  Result.succeed({
    bound: { kind: "units", units: duration },
    options: {
      duration,
      aspectRatio: "16:9",
      imageUrl: undefined,
      referenceImages: [],
      referenceVideo: undefined,
      audio: false
    }
  })

const isSpoken = Schema.is(SpeechRequest.fields.input)

const ofSpeech = (wire: Wire): SizeResult => {
  if (wire.characters !== undefined) return ofUnits(wire.characters)
  const [firstText, ...others] = textsOf(wire)
  if (firstText === undefined) return missing("characters", "is required, unless the request has `input` or `prompt`")
  return others.length === 0 && isSpoken(firstText)
    ? ofUnits(charactersOf(firstText))
    : missing(wire.input === undefined ? "prompt" : "input", "must be one text of 1 to 4,096 characters")
}

const sizeOf = (kind: Kind, wire: Wire): SizeResult => {
  switch (kind) {
    case "embedding": {
      if (wire.input_tokens !== undefined) return ofTokens(wire.input_tokens)
      const inputs = textsOf(wire)
      if (inputs.length === 0) return missing("input", "one of input, prompt or input_tokens is required")
      return ofPrompt(embedBound({ inputs }), longestInput({ inputs }), "input")
    }
    case "rerank":
      return wire.input_tokens === undefined ? ofDocuments(wire) : ofTokens(wire.input_tokens)
    case "audio":
      return ofSpeech(wire)
    case "image":
    case "image_edit":
      return ofUnits(wire.n ?? 1)
    case "video":
      return wire.duration === undefined ? missing("duration", REQUIRED) : ofVideo(wire.duration)
    case "search":
      return ofUnits(Math.max(1, textsOf(wire).length))
  }
}

/** The work of an estimate; for a video also its options. */
export type WorkToEstimate = WorkPreparation & Pick<Size, "options">

/** Decodes the estimate request for a model of this modality. `policy` is the routing of the key. */
export const decodeWorkEstimate = (
  body: unknown,
  modality: Kind,
  policy: RoutingPolicy
): Result.Result<WorkToEstimate, Failure> =>
  Result.gen(function* () {
    const excess = excessIn(body, modality)
    if (excess !== undefined) return yield* Result.fail(excess)
    const wire = yield* decodeWire(body)
    return { ...(yield* sizeOf(modality, wire)), model: wire.model, modality, policy }
  })

/** The cost at one candidate. The likely cost is that of the likely tokens; for units it is exact. */
const lineOf = (
  { bound, options }: WorkToEstimate,
  { model, offer, price }: Candidate<Price>
): CostEstimate["breakdown"][number] => {
  const most = bound.kind === "units" ? bound.units : bound.prompt.at(model)
  const line = { model: model.id, provider: offer.provider }
  if (price.unit !== "token") {
    // A video may be priced per second or per video.
    const units = options !== undefined && price.unit !== "second" ? 1 : most
    const cost = usdFromNano(unitCost(price, units))
    const price_per_unit = usdFromPico(price.perUnit)
    return { ...line, units, price_per_unit, estimated_cost_usd: cost, max_cost_usd: cost }
  }
  const tokens = likelyTokens(most)
  return {
    ...line,
    input_tokens: tokens,
    cached_tokens: 0,
    max_output_tokens: 0,
    price_per_input_token: usdFromPico(price.tiers[0].rates.input),
    price_per_output_token: 0,
    estimated_cost_usd: usdFromNano(tokenCost(price, { ...noTokens, input: tokens })),
    max_cost_usd: usdFromNano(maximumCost(price, most, 0))
  }
}

/** The response to the estimate request. */
export const encodeWorkEstimate = (
  work: WorkToEstimate,
  { estimate, plan }: PricedWork,
  balance: Funds
): CostEstimate => {
  const breakdown = plan.candidates.map((candidate) => lineOf(work, candidate))
  const { unit } = plan.candidates[0].price
  const { atLeast } = estimate
  return estimateOf({ model: work.model, plan, unit, breakdown, hold: atLeast, most: atLeast }, balance)
}

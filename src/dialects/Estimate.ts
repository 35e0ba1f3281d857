import { Result } from "effect"
import type { ChatCompletionRequest } from "../../schemas/inference/ChatCompletions.ts"
import { type CostEstimate, EstimateRequest } from "../../schemas/inference/Estimate.ts"
import type { PresetConfig } from "../../schemas/management/Presets.ts"
import { availableTo, type Balance } from "../domain/Balance.ts"
import type { Conversation } from "../domain/Conversation.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { NOT_AN_OBJECT } from "../domain/SchemaProblems.ts"
import { type Nano, usdFromNano, usdFromPico } from "../domain/Money.ts"
import { isSimulated, type Plan, type RoutingPolicy } from "../domain/Plan.ts"
import { type Price, tokenCost } from "../domain/Pricing.ts"
import type { OpenReasoning } from "../domain/Reasoning.ts"
import { likelyTokens, promptBound, promptBoundAt } from "../domain/TokenBound.ts"
import { noTokens } from "../domain/Usage.ts"
import { costAt, OUTPUT_FLOOR, outputCap, type PricedPlan } from "../domain/Estimate.ts"
import { withModelParam, type ModelFields, parseChain } from "../domain/Chain.ts"
import { chatFromWire } from "./chat/ChatDecode.ts"
import { firstUnsupportedOfEstimate, withoutForeign } from "./chat/Foreign.ts"
import { filledFrom } from "./chat/Preset.ts"
import type { DecodedChatRequest } from "./DecodedRequest.ts"
import { decoder, modelFieldsOf, objectOf, withModel } from "./Decode.ts"
import { ReasoningUnsealer } from "./ReasoningUnsealer.ts"

const decodeWire = decoder(EstimateRequest, { strict: true })

type WireMessages = ChatCompletionRequest["messages"]

/** The prompt, if it is not given as messages. A bare number of tokens has no text. */
const promptOf = ({ input, prompt }: EstimateRequest): WireMessages => [
  { role: "user", content: input ?? prompt ?? "" }
]

const hasPrompt = ({ input, input_tokens, messages, prompt }: EstimateRequest): boolean =>
  messages !== undefined || input !== undefined || prompt !== undefined || input_tokens !== undefined

const noPrompt = () => invalid("messages", "is required, unless the request has `input`, `prompt` or `input_tokens`")

/**
 * The estimated tokens that a preset adds to a prompt of known size: its instructions, and its tools and format unless the request has
 * its own.
 */
const tokensOfPreset = (conversation: Conversation, wire: Readonly<Record<string, unknown>>): number => {
  const own = {
    ...conversation,
    messages: conversation.messages.slice(-1),
    tools: wire["tools"] == null ? [] : conversation.tools,
    format: wire["response_format"] == null ? ({ type: "text" } as const) : conversation.format
  }
  return likelyTokens(promptBound(conversation).most - promptBound(own).most)
}

/** The parts of a request that determine its plan and its estimate. */
export interface ChatSize extends Omit<DecodedChatRequest, "model" | "models"> {
  /** The fallback chain that its model name stands for. */
  readonly chain: ReadonlyArray<string>
  readonly sent: ModelFields
  /** Replaces the conversation's size when only a number of prompt tokens is known. It is an estimate, not a bound. */
  readonly promptTokens?: number
}

/**
 * Decodes an estimate request: a chat request in the chat's own format, or the same with a text or a size in place of messages. Absent
 * fields come from the preset it names, with the configuration `preset`. `base` is the routing of its key, and `open` opens reasoning
 * that the client sends back.
 */
export const decodeEstimate = (
  body: unknown,
  preset?: PresetConfig,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<{ readonly model: string; readonly preparation: ChatSize }, Failure> =>
  Result.gen(function* () {
    const object = objectOf(body)
    if (object === undefined) return yield* Result.fail(invalid("body", NOT_AN_OBJECT))
    const foreign = firstUnsupportedOfEstimate(object)
    if (foreign !== undefined) return yield* Result.fail(foreign)
    const filled = filledFrom(preset, object)
    const wire = yield* withModel(filled, Result.filterOrFail(decodeWire(withoutForeign(filled)), hasPrompt, noPrompt))
    const decoded = yield* chatFromWire(
      filled,
      wire,
      wire.messages ?? promptOf(wire),
      preset,
      base,
      new ReasoningUnsealer(open)
    )
    const sent = modelFieldsOf(object)
    const chain = yield* Result.mapError(parseChain(decoded.model, decoded.models), (failed) =>
      withModelParam(failed, sent)
    )
    const { auto, budgetCents, conversation, parameters, policy, stream } = decoded
    const size = wire.messages === undefined ? wire.input_tokens : undefined
    return {
      model: typeof sent.model === "string" ? sent.model : (chain[0] ?? ""),
      preparation: {
        chain,
        sent,
        policy,
        auto,
        conversation,
        parameters,
        stream,
        budgetCents,
        ...(size === undefined ? {} : { promptTokens: size + tokensOfPreset(conversation, object) })
      }
    }
  })

/** The account's money that determines what it can afford. */
export interface Funds extends Balance {
  /** The remainder of the calling key's budgets, if it has any. */
  readonly budgetLeft?: Nano | undefined
}

interface EstimateFacts extends Pick<CostEstimate, "model" | "unit" | "breakdown"> {
  readonly plan: Plan<Price>
  readonly hold: Nano
  readonly most: Nano
}

/**
 * The estimate of any kind of work. The likely cost is the first candidate's. The request is affordable if its hold would be granted.
 */
export const estimateOf = (
  { breakdown, hold, model, most, plan, unit }: EstimateFacts,
  { budgetLeft, ...balance }: Funds
): CostEstimate => ({
  object: "cost_estimate",
  model,
  resolved_models: [...new Set(plan.candidates.map((candidate) => candidate.model.id))],
  estimated_cost_usd: breakdown[0]?.estimated_cost_usd ?? 0,
  hold_usd: usdFromNano(hold),
  max_cost_usd: usdFromNano(most),
  unit,
  breakdown,
  balance_usd: usdFromNano(balance.posted),
  affordable: availableTo(balance, isSimulated(plan)) >= hold && (budgetLeft === undefined || budgetLeft >= hold)
})

/**
 * The estimate of a chat request. `estimated_cost_usd` is the likely cost, of the likely prompt tokens and of the requested output or
 * 256 tokens, whichever is less. `hold_usd` and `max_cost_usd` are the ledger's amounts.
 */
export const encodeEstimate = (model: string, { estimate, plan }: PricedPlan, balance: Funds): CostEstimate => {
  const breakdown = plan.candidates.map((candidate) => {
    const { rates } = candidate.price.tiers[0]
    const cap = outputCap(candidate, estimate)
    const prompt = likelyTokens(promptBoundAt(estimate, candidate.model))
    const likely = tokenCost(candidate.price, { ...noTokens, input: prompt, output: Math.min(cap, OUTPUT_FLOOR) })
    return {
      model: candidate.model.id,
      provider: candidate.offer.provider,
      input_tokens: prompt,
      cached_tokens: 0,
      max_output_tokens: cap,
      price_per_input_token: usdFromPico(rates.input),
      price_per_output_token: usdFromPico(rates.output),
      estimated_cost_usd: usdFromNano(likely),
      max_cost_usd: usdFromNano(costAt(candidate, estimate, cap))
    }
  })
  return estimateOf({ model, plan, unit: "token", breakdown, hold: estimate.atLeast, most: estimate.ceiling }, balance)
}

import { Result } from "effect"
import { type CostEstimate, EstimateRequest } from "../../schemas/inference/Estimate.ts"
import type { Conversation } from "../domain/Conversation.ts"
import { type Failure, invalid } from "../domain/Failure.ts"
import { usdFromNano, usdFromPico } from "../domain/Money.ts"
import { maximumCost, tokenCost } from "../domain/Pricing.ts"
import { likelyTokens, textBound } from "../domain/Tokens.ts"
import { noTokens } from "../domain/Usage.ts"
import { OUTPUT_FLOOR, outputCap } from "../inference/Estimate.ts"
import type { Preparation, Prepared } from "../inference/Inference.ts"
import { parseChain } from "../router/Chain.ts"
import { messagesOf, toolsOf } from "./chat/ChatDecode.ts"
import { decoder, objectOf } from "./Decode.ts"
import { decodePolicy } from "./Routing.ts"

const decodeWire = decoder(EstimateRequest, { strict: true })

const conversationOf = (wire: EstimateRequest): Conversation => ({
  messages:
    wire.messages === undefined
      ? [{ role: "user", content: [{ type: "text", text: wire.input ?? wire.prompt ?? "" }] }]
      : messagesOf(wire.messages),
  tools: toolsOf(wire.tools),
  toolChoice: { type: "auto" },
  parallelToolCalls: undefined,
  format: { type: "text" },
  sampling: {},
  reasoning: undefined,
  maxOutputTokens: wire.max_tokens,
  user: undefined
})

const promptTokensOf = (wire: EstimateRequest): { readonly promptTokens?: number } => {
  if (wire.messages !== undefined) return {}
  if (wire.input_tokens !== undefined) return { promptTokens: wire.input_tokens }
  return { promptTokens: textBound(wire.input ?? wire.prompt ?? "") }
}

/** Decodes the question: a chat request as far as it decides the price, or only sizes. */
export const decodeEstimate = (
  body: unknown
): Result.Result<{ readonly model: string; readonly preparation: Preparation }, Failure> =>
  Result.gen(function* () {
    const wire = yield* decodeWire(body)
    if (
      wire.messages === undefined &&
      wire.input === undefined &&
      wire.prompt === undefined &&
      wire.input_tokens === undefined
    ) {
      return yield* Result.fail(invalid("messages", "one of messages, input, prompt or input_tokens is required"))
    }
    const chain = yield* parseChain(wire.model, wire.models)
    const policy = yield* decodePolicy(objectOf(body) ?? {})
    return {
      model: wire.model ?? chain.join(","),
      preparation: {
        chain,
        policy,
        conversation: conversationOf(wire),
        parameters: [],
        stream: wire.stream ?? false,
        budgetCents: undefined,
        ...promptTokensOf(wire)
      }
    }
  })

/**
 * The answer. `estimated_cost_usd` is a likely cost: four bytes to a prompt token, and the output asked for or 256 tokens,
 * whichever is less. `hold_usd` and `max_cost_usd` are what the ledger will go by.
 */
export const encodeEstimate = (
  model: string,
  { estimate, plan }: Prepared,
  balance: { readonly posted: bigint; readonly held: bigint }
): CostEstimate => {
  const prompt = likelyTokens(estimate.promptBound)
  const breakdown = plan.candidates.map((candidate) => {
    const { rates } = candidate.price.tiers[0]
    const cap = outputCap(candidate, estimate.maxTokens)
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
      max_cost_usd: usdFromNano(maximumCost(candidate.price, estimate.promptBound, cap))
    }
  })
  return {
    object: "cost_estimate",
    model,
    resolved_models: [...new Set(plan.candidates.map((candidate) => candidate.model.id))],
    estimated_cost_usd: breakdown[0]?.estimated_cost_usd ?? 0,
    hold_usd: usdFromNano(estimate.atLeast),
    max_cost_usd: usdFromNano(estimate.ceiling),
    unit: "token",
    breakdown,
    balance_usd: usdFromNano(balance.posted),
    affordable: balance.posted - balance.held >= estimate.atLeast
  }
}

/** Encodes a paid answer as OpenAI's chat completion. */
import type { ChatCompletion } from "../../../schemas/inference/ChatCompletions.ts"
import type { ReasoningDetail } from "../../../schemas/inference/ChatMessages.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { type Output, outputPieces } from "../../domain/Output.ts"
import { promptTokens, type TokenUsage, totalTokens } from "../../domain/Usage.ts"
import type { Answer } from "../../domain/Answer.ts"

/** The id of a completion, derived from its request's id, so that a replay has the same one. */
export const completionId = (requestId: string): string => `chatcmpl-${requestId.slice(4)}`

/** Usage in OpenAI's format, where prompt tokens include cached ones. */
export const usageOf = (usage: TokenUsage): ChatCompletion["usage"] => ({
  prompt_tokens: promptTokens(usage),
  completion_tokens: usage.output,
  total_tokens: totalTokens(usage),
  prompt_tokens_details: { cached_tokens: usage.cached, cache_creation_tokens: usage.cacheWrite },
  completion_tokens_details: { reasoning_tokens: usage.reasoning }
})

/** Usage with its charge. */
export const paidUsageOf = ({ cost, usage }: Pick<Answer, "cost" | "usage">): ChatCompletion["usage"] => ({
  ...usageOf(usage),
  cost: usdFromNano(cost)
})

/** The additional facts of an answer: in the body of a complete one, on the last frame of a stream. */
export const extrasOf = (answer: Answer) => ({
  cost_usd: usdFromNano(answer.cost),
  request_id: answer.requestId,
  provider: answer.provider,
  resolved_model: answer.resolvedModel,
  routing: answer.routing,
  ...(answer.balanceWarning === undefined
    ? {}
    : { balance_warning: { warning: "low_balance" as const, threshold: answer.balanceWarning } })
})

/** Clients with strict types require the member. */
export const logprobsOf = (content: ReadonlyArray<unknown> | undefined) =>
  content === undefined ? null : { content, refusal: null }

/** A reasoning block with a seal that the client can send back. */
export const reasoningDetailOf = (index: number, seal: string, text: string | undefined): ReasoningDetail =>
  text === undefined
    ? { type: "reasoning.encrypted", data: seal, format: "unknown", index }
    : { type: "reasoning.text", text, signature: seal, format: "unknown", index }

const detailsOf = (output: Output): ReadonlyArray<ReasoningDetail> => {
  const sealed = outputPieces(output).flatMap((one) =>
    one.kind === "reasoning" && one.seal !== undefined ? [{ seal: one.seal, text: one.text }] : []
  )
  return sealed.map(({ seal, text }, index) => reasoningDetailOf(index, seal, text === "" ? undefined : text))
}

const reasoningOf = (output: Output) => {
  const { reasoning } = output
  const details = detailsOf(output)
  return {
    ...(reasoning === "" ? {} : { reasoning, reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details })
  }
}

/** A complete answer. */
export const encodeCompletion = (answer: Answer): ChatCompletion => {
  const { output } = answer
  return {
    id: completionId(answer.requestId),
    object: "chat.completion",
    created: answer.created,
    model: answer.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: output.text,
          ...reasoningOf(output),
          refusal: output.refusal === "" ? null : output.refusal,
          ...(output.toolCalls.length === 0
            ? {}
            : {
                tool_calls: output.toolCalls.map((call) => ({
                  id: call.id,
                  type: "function" as const,
                  function: { name: call.name, arguments: call.arguments }
                }))
              })
        },
        finish_reason: output.finish ?? (output.toolCalls.length > 0 ? "tool_calls" : "stop"),
        logprobs: logprobsOf(output.logprobs)
      }
    ],
    usage: paidUsageOf(answer),
    system_fingerprint: null,
    ...extrasOf(answer)
  }
}

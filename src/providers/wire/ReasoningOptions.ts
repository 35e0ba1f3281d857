/** What a request asks of its model's reasoning, in the terms that adapters share. */
import type { Reasoning } from "../../domain/Conversation.ts"

/** Whether a request turns reasoning off. */
export const isReasoningOff = ({ effort, enabled, maxTokens }: Partial<Reasoning> = {}): boolean =>
  enabled === false || effort === "none" || maxTokens === 0

/** The effort that uses about as many tokens, for models without a token budget for reasoning. */
export const effortOfTokens = (maxTokens: number): "low" | "medium" | "high" => {
  if (maxTokens <= 2_048) return "low"
  return maxTokens <= 8_192 ? "medium" : "high"
}

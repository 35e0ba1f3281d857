import type { AssistantMessage, Conversation, Reasoning, ReasoningData } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { type OwnReasoning, ownReasoning, piecesOf } from "../../domain/Reasoning.ts"
import type { ChatCall } from "../Provider.ts"

/** How a model is told to think, so that the host takes the request. */
export interface Thinking {
  /** The `thinking` member. */
  readonly config: object | undefined
  /** The `effort` of `output_config`. */
  readonly effort: Effort | undefined
  /** The model may think, asked or by itself. Sampling is then its own. */
  readonly on: boolean
  /** The host refuses to force a tool on the model. */
  readonly freeChoice: boolean
}

type Effort = "low" | "medium" | "high" | "xhigh"

/**
 * The generations of models, by what they take (https://platform.claude.com/docs/en/build-with-claude/thinking): up to 4.5 a
 * budget of tokens, when asked; up to 4.8 an effort, when asked; Opus and Sonnet 5 think unless told not to; Fable, Mythos
 * and all after 5.0 always think and refuse to be told otherwise; those after 5.0 also refuse a tool that must be called.
 */
type Generation = "budget" | "asked" | "unasked" | "always"

interface ModelVersion {
  readonly generation: Generation
  readonly xhigh: boolean
  /** It takes an effort, whether it thinks or not. */
  readonly effort: boolean
  readonly freeChoice: boolean
}

const versionOf = (upstreamId: string): ModelVersion => {
  const [, family, major, minor] =
    /(fable|mythos|opus|sonnet|haiku)-(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(upstreamId) ?? []
  const version = Number(major ?? 0) * 100 + Number(minor ?? 0)
  const always = family === "fable" || family === "mythos" || version > 500
  return {
    generation: always ? "always" : version === 500 ? "unasked" : version >= 406 ? "asked" : "budget",
    xhigh: version >= 407,
    effort: version >= 406 || (family === "opus" && version === 405) || always,
    freeChoice: version > 500
  }
}

const NOTHING: Thinking = { config: undefined, effort: undefined, on: false, freeChoice: false }

/** What to say of thinking for this call. */
export const thinkingOf = (call: ChatCall): Thinking => {
  const { candidate, conversation, maxOutputTokens } = call
  const { model, offer } = candidate
  if (!model.capabilities.includes("reasoning") || offer.unsupported.includes("reasoning")) return NOTHING
  const { effort: takesEffort, freeChoice, generation, xhigh } = versionOf(offer.upstreamId)
  const wish = wishOf(conversation.reasoning)
  const effort = wish.effort === "xhigh" && !xhigh ? "high" : wish.effort
  const quiet = { ...NOTHING, effort: wish.ofAnswer && takesEffort ? effort : undefined }
  const adaptive = { type: "adaptive", display: "summarized" }
  if (generation === "always") {
    const config = wish.wanted === true ? adaptive : undefined
    // As little as it lets itself be told.
    return { config, effort: wish.wanted === false ? (quiet.effort ?? "low") : effort, on: true, freeChoice }
  }
  // A tool that must be called leaves nothing to think about: hosts refuse the two together.
  const wanted = isForced(conversation) ? false : wish.wanted
  if (generation === "unasked" && wanted === false) return { ...quiet, config: { type: "disabled" } }
  if (generation === "unasked" && wanted === undefined) return { ...quiet, on: true }
  if (wanted !== true) return quiet
  if (generation !== "budget") return { config: adaptive, effort, on: true, freeChoice: false }
  const budget = isContinued(call) ? undefined : budgetOf(wish, maxOutputTokens)
  if (budget === undefined) return quiet
  return { ...quiet, config: { type: "enabled", budget_tokens: budget }, on: true }
}

interface Wish {
  readonly wanted: boolean | undefined
  readonly effort: Effort | undefined
  readonly maxTokens: number | undefined
  readonly ofAnswer: boolean
}

const wishOf = (reasoning: Reasoning | undefined): Wish => {
  const { effort, enabled, maxTokens } = reasoning ?? {}
  const ofAnswer = reasoning?.ofAnswer === true
  const said = effort === "none" ? undefined : effort === "minimal" ? "low" : effort
  if (enabled === false || effort === "none" || maxTokens === 0) {
    return { wanted: false, effort: ofAnswer ? said : undefined, maxTokens: undefined, ofAnswer }
  }
  const asks = enabled === true || maxTokens !== undefined || (effort !== undefined && !ofAnswer)
  return { wanted: asks ? true : undefined, effort: said ?? effortFor(maxTokens), maxTokens, ofAnswer }
}

/** The effort that spends about as many tokens. */
const effortFor = (maxTokens: number | undefined): Effort | undefined => {
  if (maxTokens === undefined) return undefined
  return maxTokens <= 2_048 ? "low" : maxTokens <= 8_192 ? "medium" : "high"
}

const LEAST_BUDGET = 1_024

/** The share of the output an effort may think with; the rest stays for the answer. */
const SHARES: Readonly<Record<Effort, number>> = { low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95 }

/** A budget below the cap on the whole output, with room for an answer; none where the cap has no room for the least. */
const budgetOf = ({ effort, maxTokens }: Wish, cap: number): number | undefined => {
  if (cap <= LEAST_BUDGET) return undefined
  const wanted = maxTokens ?? Math.floor(cap * SHARES[effort ?? "medium"])
  return Math.max(LEAST_BUDGET, Math.min(wanted, Math.floor(cap * SHARES.xhigh)))
}

const isForced = ({ toolChoice, tools }: Conversation): boolean =>
  tools.length > 0 && (toolChoice.type === "required" || toolChoice.type === "tool")

/**
 * Models with a budget want the turn of a tool call back with the thinking it began with, signed. Where a caller did not send it, or
 * another provider made the turn, the model goes on without thinking, as it does where the answer is begun for it.
 */
const isContinued = ({ candidate, conversation }: ChatCall): boolean => {
  const spoken = conversation.messages.filter((message) => message.role !== "system")
  if (spoken.at(-1)?.role === "assistant") return true
  const last = spoken.findLastIndex((message) => message.role === "assistant")
  const turn = spoken.slice(
    spoken.slice(0, last).findLastIndex((message) => message.role !== "assistant") + 1,
    last + 1
  )
  const said = turn.flatMap((message) => (message.role === "assistant" ? [message] : []))
  const first = said.find(({ content, toolCalls }) => content.length + toolCalls.length > 0)
  const called = said.some(({ toolCalls }) => toolCalls.length > 0)
  return called && !(first !== undefined && startsWithThinking(first, candidate))
}

const startsWithThinking = (message: AssistantMessage, candidate: Candidate): boolean => {
  const [first] = piecesOf(message, signedIn(message, candidate))
  return first?.type === "reasoning"
}

/** What is kept of a block of thinking, in the wire's words. */
export const signatureData = (signature: string | undefined): ReasoningData | undefined =>
  signature === undefined ? undefined : { signature }

/** The same of a block that the host shows to nobody. */
export const redactedData = (redacted: string | undefined): ReasoningData | undefined =>
  redacted === undefined ? undefined : { redacted }

/** The blocks of thinking in a message that this model signed. */
export const signedIn = (message: AssistantMessage, candidate: Candidate): ReadonlyArray<OwnReasoning> =>
  ownReasoning(message, candidate).filter((one) => thinkingBlock(one) !== undefined)

/** A block of thinking as the host wants it back. */
export const thinkingBlock = ({ data, text }: OwnReasoning): object | undefined => {
  const { redacted, signature } = data
  if (typeof redacted === "string") return { type: "redacted_thinking", data: redacted }
  return typeof signature === "string" ? { type: "thinking", thinking: text, signature } : undefined
}

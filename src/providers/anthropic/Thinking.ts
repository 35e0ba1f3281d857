import type { AssistantMessage, Conversation, Reasoning, ReasoningData } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { type OwnReasoning, ownReasoning, piecesOf } from "../../domain/Reasoning.ts"
import type { ChatCall } from "../Provider.ts"
import { effortOfTokens, isReasoningOff } from "../wire/ReasoningOptions.ts"

/** The request fields that control a model's thinking, in a form that the host accepts. */
export interface Thinking {
  /** The `thinking` field. */
  readonly config: object | undefined
  /** The `effort` of `output_config`. */
  readonly effort: Effort | undefined
  /** Whether the model may think. It then chooses its own sampling. */
  readonly on: boolean
  /** Whether the host rejects a forced tool choice. */
  readonly freeChoice: boolean
}

type Effort = "low" | "medium" | "high" | "xhigh"

/**
 * Generations of models by how thinking is controlled (https://platform.claude.com/docs/en/build-with-claude/thinking):
 *
 * - `budget`, up to 4.5: the model thinks on request, within a token budget.
 * - `effort`, up to 4.8: the model thinks on request, with an effort.
 * - `default`, Opus and Sonnet 5: the model thinks unless the request turns it off.
 * - `always`, Fable, Mythos and all models after 5.0: the model rejects turning it off. Models after 5.0 also reject a forced tool.
 */
type Generation = "budget" | "effort" | "default" | "always"

interface ModelVersion {
  readonly generation: Generation
  readonly xhigh: boolean
  /** Whether it accepts an effort, thinking or not. */
  readonly effort: boolean
  readonly freeChoice: boolean
}

const versionOf = (upstreamId: string): ModelVersion => {
  const [, family, major, minor] =
    /(fable|mythos|opus|sonnet|haiku)-(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(upstreamId) ?? []
  const version = Number(major ?? 0) * 100 + Number(minor ?? 0)
  const always = family === "fable" || family === "mythos" || version > 500
  return {
    generation: always ? "always" : version === 500 ? "default" : version >= 406 ? "effort" : "budget",
    xhigh: version >= 407,
    effort: version >= 406 || (family === "opus" && version === 405) || always,
    freeChoice: version > 500
  }
}

const NOTHING: Thinking = { config: undefined, effort: undefined, on: false, freeChoice: false }

/** The thinking fields for this call. */
export const thinkingOf = (call: ChatCall): Thinking => {
  const { candidate, conversation, maxOutputTokens } = call
  const { model, offer } = candidate
  if (!model.capabilities.includes("reasoning") || offer.unsupported.includes("reasoning")) return NOTHING
  const { effort: takesEffort, freeChoice, generation, xhigh } = versionOf(offer.upstreamId)
  const requested = requestedThinking(conversation.reasoning)
  const effort = requested.effort === "xhigh" && !xhigh ? "high" : requested.effort
  const quiet = { ...NOTHING, effort: requested.ofAnswer && takesEffort ? effort : undefined }
  const adaptive = { type: "adaptive", display: "summarized" }
  if (generation === "always") {
    const config = requested.wanted === true ? adaptive : undefined
    // The least thinking that the model accepts.
    return { config, effort: requested.wanted === false ? (quiet.effort ?? "low") : effort, on: true, freeChoice }
  }
  // With a forced tool there is nothing to think about. Hosts reject the two together.
  const wanted = isForced(conversation) ? false : requested.wanted
  if (generation === "default" && wanted === false) return { ...quiet, config: { type: "disabled" } }
  if (generation === "default" && wanted === undefined) return { ...quiet, on: true }
  if (wanted !== true) return quiet
  if (generation !== "budget") return { config: adaptive, effort, on: true, freeChoice: false }
  const budget = isContinued(call) ? undefined : budgetOf(requested, maxOutputTokens)
  if (budget === undefined) return quiet
  return { ...quiet, config: { type: "enabled", budget_tokens: budget }, on: true }
}

/** What a request asks of the model's thinking. */
interface RequestedThinking {
  /** Undefined when the request leaves it to the model. */
  readonly wanted: boolean | undefined
  readonly effort: Effort | undefined
  readonly maxTokens: number | undefined
  /** Whether the effort applies to the whole answer, so that by itself it does not ask for thinking. */
  readonly ofAnswer: boolean
}

const requestedThinking = (reasoning: Partial<Reasoning> = {}): RequestedThinking => {
  const { effort, enabled, maxTokens } = reasoning
  const ofAnswer = reasoning.ofAnswer === true
  const word = effort === "none" ? undefined : effort === "minimal" ? "low" : effort
  if (isReasoningOff(reasoning)) {
    return { wanted: false, effort: ofAnswer ? word : undefined, maxTokens: undefined, ofAnswer }
  }
  const asks = enabled === true || maxTokens !== undefined || (effort !== undefined && !ofAnswer)
  const ofTokens = maxTokens === undefined ? undefined : effortOfTokens(maxTokens)
  return { wanted: asks ? true : undefined, effort: word ?? ofTokens, maxTokens, ofAnswer }
}

const MIN_BUDGET = 1_024

/** The share of the output that each effort may use for thinking. The rest remains for the answer. */
const SHARES: Readonly<Record<Effort, number>> = { low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95 }

/** A token budget below the output cap, with room for an answer. Undefined when the cap has no room for the minimum budget. */
const budgetOf = ({ effort, maxTokens }: RequestedThinking, cap: number): number | undefined => {
  if (cap <= MIN_BUDGET) return undefined
  const wanted = maxTokens ?? Math.floor(cap * SHARES[effort ?? "medium"])
  return Math.max(MIN_BUDGET, Math.min(wanted, Math.floor(cap * SHARES.xhigh)))
}

const isForced = ({ toolChoice, tools }: Conversation): boolean =>
  tools.length > 0 && (toolChoice.type === "required" || toolChoice.type === "tool")

/**
 * Whether the conversation continues a tool call or an assistant text without signed thinking. Models with a budget require the turn of
 * a tool call to start with its signed thinking. When the caller did not send it, or another provider made the turn, the model
 * continues without thinking. It also does so when the caller has begun the answer.
 */
const isContinued = ({ candidate, conversation }: ChatCall): boolean => {
  const spoken = conversation.messages.filter((message) => message.role !== "system")
  if (spoken.at(-1)?.role === "assistant") return true
  const last = spoken.findLastIndex((message) => message.role === "assistant")
  const turn = spoken.slice(
    spoken.slice(0, last).findLastIndex((message) => message.role !== "assistant") + 1,
    last + 1
  )
  const answers = turn.flatMap((message) => (message.role === "assistant" ? [message] : []))
  const first = answers.find(({ content, toolCalls }) => content.length + toolCalls.length > 0)
  const called = answers.some(({ toolCalls }) => toolCalls.length > 0)
  return called && !(first !== undefined && startsWithThinking(first, candidate))
}

const startsWithThinking = (message: AssistantMessage, candidate: Candidate): boolean => {
  const [first] = piecesOf(message, signedThinking(message, candidate))
  return first?.type === "reasoning"
}

/** The data of a thinking block that is kept, in the wire format's terms. */
export const signatureData = (signature: string | undefined): ReasoningData | undefined =>
  signature === undefined ? undefined : { signature }

/** The data of a redacted thinking block. */
export const redactedData = (redacted: string | undefined): ReasoningData | undefined =>
  redacted === undefined ? undefined : { redacted }

/** The thinking blocks of a message that this model signed. */
export const signedThinking = (message: AssistantMessage, candidate: Candidate): ReadonlyArray<OwnReasoning> =>
  ownReasoning(message, candidate).filter((one) => thinkingBlock(one) !== undefined)

/** A thinking block in the form that the host accepts back. */
export const thinkingBlock = ({ data, text }: OwnReasoning): object | undefined => {
  const { redacted, signature } = data
  if (typeof redacted === "string") return { type: "redacted_thinking", data: redacted }
  return typeof signature === "string" ? { type: "thinking", thinking: text, signature } : undefined
}

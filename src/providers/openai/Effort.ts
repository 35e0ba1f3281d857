import type { Reasoning } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import type { EffortWord } from "../../platform/config/HostQuirks.ts"
import { effortOfTokens, isReasoningOff } from "../wire/ReasoningOptions.ts"

export type Effort = NonNullable<Reasoning["effort"]>

/** From the lowest to the highest. */
export const EFFORTS: ReadonlyArray<Effort> = ["none", "minimal", "low", "medium", "high", "xhigh"]

/** The rank of each word among the others. */
const RANKS: Readonly<Record<EffortWord, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 3,
  default: 3,
  high: 4,
  xhigh: 5,
  max: 6
}

/**
 * How much a request wants its model to reason. Undefined when the request does not say, and for models that do not reason, because
 * hosts reject the field for those.
 */
export const wantedEffort = (reasoning: Reasoning | undefined, { model, offer }: Candidate): Effort | undefined => {
  const able = model.capabilities.includes("reasoning") && !offer.unsupported.includes("reasoning")
  return reasoning === undefined || !able ? undefined : requestedEffort(reasoning)
}

/**
 * The nearest word that a host accepts. It turns reasoning off only if the request asks for that. Undefined when the host accepts no such
 * word.
 */
export const nearestEffort = <Word extends EffortWord>(
  wanted: Effort | undefined,
  known: ReadonlyArray<Word>
): Word | undefined => {
  const [first, ...others] = wanted === "none" ? known : known.filter((word) => word !== "none")
  if (wanted === undefined || first === undefined) return undefined
  const distance = (word: EffortWord) => Math.abs(RANKS[word] - RANKS[wanted])
  return others.reduce((best, word) => (distance(word) < distance(best) ? word : best), first)
}

/** The nearest effort to the wanted one that the model accepts. */
export const effortOf = (
  reasoning: Reasoning | undefined,
  candidate: Candidate,
  known: ReadonlyArray<Effort>
): Effort | undefined => nearestEffort(wantedEffort(reasoning, candidate), known)

/** This wire format has no token budget for reasoning, so a budget becomes the effort that uses about as many tokens. */
const requestedEffort = (reasoning: Reasoning): Effort | undefined => {
  const { effort, enabled, maxTokens } = reasoning
  if (isReasoningOff(reasoning)) return "none"
  if (effort !== undefined) return effort
  // Some models do not reason unless the request names an effort.
  if (maxTokens === undefined) return enabled === true ? "medium" : undefined
  return effortOfTokens(maxTokens)
}

/** The version of a GPT model: 502 is 5.2. */
const versionOf = (upstreamId: string): number | undefined => {
  const [, major, minor] = /^gpt-(\d+)(?:\.(\d+))?/.exec(upstreamId) ?? []
  return major === undefined ? undefined : Number(major) * 100 + Number(minor ?? 0)
}

/**
 * The effort that OpenAI's models need together with functions in chat completions. Since 5.4 they refuse to reason there, and since
 * 5.6 they do so by default.
 */
export const effortBesideTools = (upstreamId: string): Effort | undefined =>
  (versionOf(upstreamId) ?? 0) >= 504 ? "none" : undefined

/** Mistral's reasoning models can only reason or not, and reject any other word. */
export const EFFORTS_OF_MISTRAL: ReadonlyArray<Effort> = ["none", "high"]

/**
 * The efforts that OpenAI's models accept (https://platform.openai.com/docs/guides/reasoning). The o series and the Codex models before
 * 5.1 always reason, GPT-5 reasons at least minimally, and later ones can turn it off. The highest effort came with 5.2.
 */
export const effortsOfOpenAi = (upstreamId: string): ReadonlyArray<Effort> => {
  const version = versionOf(upstreamId)
  if (version === undefined) return /^o\d/.test(upstreamId) ? ["low", "medium", "high"] : EFFORTS
  if (version >= 502) return ["none", "low", "medium", "high", "xhigh"]
  if (version === 501) return ["none", "low", "medium", "high"]
  return upstreamId.includes("-codex") ? ["low", "medium", "high"] : ["minimal", "low", "medium", "high"]
}

import type { Reasoning } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import type { EffortWord } from "../../platform/HostQuirks.ts"

export type Effort = NonNullable<Reasoning["effort"]>

/** From the least to the most. */
export const EFFORTS: ReadonlyArray<Effort> = ["none", "minimal", "low", "medium", "high", "xhigh"]

/** Where each word stands among the others. */
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

/** Beyond any distance between two words. */
const FAR = 10

/**
 * How much a request wants its model to reason. Nothing where the request says nothing, and for models that do not reason, of which
 * hosts refuse the member.
 */
export const wantedEffort = (reasoning: Reasoning | undefined, { model, offer }: Candidate): Effort | undefined => {
  const able = model.capabilities.includes("reasoning") && !offer.unsupported.includes("reasoning")
  return reasoning === undefined || !able ? undefined : wantedOf(reasoning)
}

/** The nearest of the words that a host knows; no reasoning at all only where that is wanted, and nothing where it knows none. */
export const nearestEffort = <Word extends EffortWord>(
  wanted: Effort | undefined,
  known: ReadonlyArray<Word>
): Word | undefined => {
  const [first, ...others] = known
  if (wanted === undefined || first === undefined) return undefined
  const distance = (word: EffortWord) =>
    word === "none" && wanted !== "none" ? FAR : Math.abs(RANKS[word] - RANKS[wanted])
  return others.reduce((best, word) => (distance(word) < distance(best) ? word : best), first)
}

/** How much a model is told to reason: the nearest to what is wanted that it knows. */
export const effortOf = (
  reasoning: Reasoning | undefined,
  candidate: Candidate,
  known: ReadonlyArray<Effort>
): Effort | undefined => nearestEffort(wantedEffort(reasoning, candidate), known)

/** This wire has no budget of reasoning tokens, so one becomes the effort that spends about as much. */
const wantedOf = ({ effort, enabled, maxTokens }: Reasoning): Effort | undefined => {
  if (enabled === false || maxTokens === 0) return "none"
  if (effort !== undefined) return effort
  // Some models do not reason until they are told how much.
  if (maxTokens === undefined) return enabled === true ? "medium" : undefined
  return maxTokens <= 2_048 ? "low" : maxTokens <= 8_192 ? "medium" : "high"
}

/** Of a GPT: 502 is 5.2. */
const versionOf = (upstreamId: string): number | undefined => {
  const [, major, minor] = /^gpt-(\d+)(?:\.(\d+))?/.exec(upstreamId) ?? []
  return major === undefined ? undefined : Number(major) * 100 + Number(minor ?? 0)
}

/**
 * What a model of OpenAI's must be told beside functions in chat completions: since 5.4 it refuses to reason beside them there, and
 * since 5.6 it does so where nothing is said.
 */
export const effortBesideTools = (upstreamId: string): Effort | undefined =>
  (versionOf(upstreamId) ?? 0) >= 504 ? "none" : undefined

/** Those of Mistral's models that reason do so or do not, and refuse any other word. */
export const EFFORTS_OF_MISTRAL: ReadonlyArray<Effort> = ["none", "high"]

/**
 * The efforts OpenAI's models take (https://platform.openai.com/docs/guides/reasoning): those of the o series and the Codex models
 * before 5.1 always reason, GPT-5 at least a little, and later ones can leave it; the highest came with 5.2.
 */
export const effortsOfOpenAi = (upstreamId: string): ReadonlyArray<Effort> => {
  const version = versionOf(upstreamId)
  if (version === undefined) return /^o\d/.test(upstreamId) ? ["low", "medium", "high"] : EFFORTS
  if (version >= 502) return ["none", "low", "medium", "high", "xhigh"]
  if (version === 501) return ["none", "low", "medium", "high"]
  return upstreamId.includes("-codex") ? ["low", "medium", "high"] : ["minimal", "low", "medium", "high"]
}

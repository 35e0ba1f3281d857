/**
 * Tokens of one call in disjoint buckets: each input token stands in exactly one of the first three. Providers disagree on
 * whether their input count includes cached tokens; adapters convert to this, and only these buckets meet a price.
 */
export interface TokenUsage extends PromptUsage {
  /** Output tokens, hidden reasoning included. */
  readonly output: number
  /** The part of `output` that was reasoning; never priced twice. */
  readonly reasoning: number
  /** What the provider reports that the call costs the operator, in nano-USD. It never prices a request. */
  readonly billedNano?: number
}

/** The buckets of the prompt. */
export interface PromptUsage {
  /** Prompt tokens neither read from nor written to a prompt cache. */
  readonly input: number
  /** Prompt tokens read from a prompt cache. */
  readonly cached: number
  /** Prompt tokens written to a prompt cache. */
  readonly cacheWrite: number
  /** The part of `cacheWrite` that is kept for an hour, where that has a price of its own. */
  readonly cacheWriteLong?: number
}

/** Units of one call that is not measured in tokens: characters spoken, searches made … */
export interface UnitUsage {
  readonly units: number
  readonly unit: "request" | "image" | "second" | "character"
}

/** What a call used, in whichever measure it is priced. */
export type CallUsage = TokenUsage | UnitUsage

/**
 * How a usage is known: the provider said so, a tokenizer counted what was delivered (not the prompt, where the provider had told
 * that), or nothing was used.
 */
export type UsageBasis = "reported" | "counted" | "none"

export const noTokens: TokenUsage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** The last word on a usage that is reported again: a prompt or an output of zero takes nothing back that was counted before. */
export const laterUsage = (before: TokenUsage | undefined, after: TokenUsage): TokenUsage => {
  if (before === undefined) return after
  const prompt = promptTokens(after) === 0 ? before : after
  const { output, reasoning } = after.output === 0 ? before : after
  const billedNano = after.billedNano ?? before.billedNano
  return { ...prompt, output, reasoning, ...(billedNano === undefined ? {} : { billedNano }) }
}

/** A count that no single call can reach, so a provider that reports it is mistaken. Sums and costs of such counts fit everywhere. */
export const MAX_COUNT = 1_000_000_000

/** Whether a usage reports more than a single call can use. */
export const isImplausibleUsage = (usage: CallUsage): boolean =>
  "units" in usage ? usage.units >= MAX_COUNT : totalTokens(usage) >= MAX_COUNT

/** All prompt tokens, whatever their bucket. */
export const promptTokens = (usage: PromptUsage): number => usage.input + usage.cached + usage.cacheWrite

/** Prompt and output tokens together. */
export const totalTokens = (usage: TokenUsage): number => promptTokens(usage) + usage.output

/** A usage as one number: prompt tokens, or units. */
export const quantityOf = (usage: CallUsage): number => ("units" in usage ? usage.units : promptTokens(usage))

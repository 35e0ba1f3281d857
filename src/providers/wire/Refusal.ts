/** Interprets why a provider rejects a request, from its error codes and messages. */
import type { ProviderFault } from "../ProviderError.ts"

/** What an error body says besides its message. */
export interface RefusalHints {
  readonly code?: string | undefined
  readonly type?: string | undefined
  /** The field that the provider names, in its own spelling. */
  readonly param?: string | undefined
}

type RefusedFault = Extract<ProviderFault, { readonly _tag: "Refused" }>

/** Error codes and types of hosts for a prompt that is too long. */
const OVERFLOW_CODES = /context_length_exceeded|exceed_context_size|string_above_max_length|model_max_prompt_tokens/

/**
 * Messages of hosts for a prompt that is too long, in this order: OpenAI, vLLM and DeepSeek; OpenAI's responses; Anthropic; Gemini;
 * llama.cpp; SGLang and vLLM; Mistral; xAI; Groq; Together and TGI; Fireworks; Moonshot; LM Studio; Z.ai; MiniMax; Bedrock; Ollama;
 * Voyage; Mistral's embeddings; Qwen.
 */
const OVERFLOW: ReadonlyArray<RegExp> = [
  /maximum context length/i,
  /exceeds? the context window|input tokens exceed the configured limit/i,
  /prompt is too long|exceed context limit/i,
  /input token count .*exceeds the maximum number of tokens/i,
  /exceeds? the available context size/i,
  /longer than the (?:model's context length|maximum model length)|model's context length is only/i,
  /too large for model with \d+ maximum context/i,
  /maximum prompt length is \d+/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /`inputs` tokens \+ `max_new_tokens` must be/i,
  /prompt is too long|prompt length .*exceeds/i,
  /exceeded model token limit/i,
  /greater than the context length|context length of only|context the overflows/i,
  /prompt exceeds max length/i,
  /context window exceeds limit/i,
  /input is too long for (?:the )?requested model/i,
  /exceeds? (?:the )?(?:maximum )?context length/i,
  /does not fit into the model's context window|max allowed tokens per submitted batch/i,
  /too many tokens in batch/i,
  /range of input length should be/i
]

const POLICY_CODES =
  /content_policy|content_filter|moderation_blocked|^invalid_prompt$|ResponsibleAIPolicyViolation|data_?inspection_?failed|^1301$|^102[67]$/i

/**
 * Messages of hosts for content that they refuse: OpenAI and Azure; OpenAI's images; Anthropic; DeepSeek; Moonshot; Qwen; Z.ai;
 * MiniMax; OpenRouter; xAI; Gemini's stops.
 */
const POLICY: ReadonlyArray<RegExp> = [
  /usage polic|content management policy|content policy/i,
  /rejected as a result of our safety system/i,
  /blocked by (?:our )?content filtering/i,
  /content exists risk/i,
  /considered high risk/i,
  /(?:inappropriate|unsafe or sensitive) content/i,
  /不安全或敏感内容/,
  /new_sensitive/i,
  /(?:input|request) was flagged/i,
  /violates? (?:our |the )?(?:usage )?guidelines/i,
  /(?:prompt|answer) was blocked \(/i
]

const says = (detail: string, words: ReadonlyArray<RegExp>): boolean => words.some((one) => one.test(detail))

/** The subject of a rejection, if it is one that callers distinguish. */
export const subjectOf = (detail: string, { code = "", type = "" }: RefusalHints = {}): RefusedFault["about"] => {
  if (OVERFLOW_CODES.test(code) || OVERFLOW_CODES.test(type) || says(detail, OVERFLOW)) return "context"
  return POLICY_CODES.test(code) || POLICY_CODES.test(type) || says(detail, POLICY) ? "policy" : undefined
}

const MEMBER = /^[A-Za-z_][A-Za-z0-9_]{0,127}(?:\.[A-Za-z0-9_]{1,64}|\[\d{1,6}\])*$/

/** The path of a field as the provider spells it. Undefined for text that is not a path, and for the whole body. */
const pathOf = (param: string | undefined): string | undefined => {
  const path = param
    ?.trim()
    .replace(/^(?:body|GenerateContentRequest)\./, "")
    .replace(/^generation_?config\./i, "")
  return path === undefined || path === "body" || path.length > 256 || !MEMBER.test(path) ? undefined : path
}

/** A rejection of the caller's request. */
export const refusedFault = (status: number, detail: string, hints: RefusalHints = {}): RefusedFault => {
  const about = subjectOf(detail, hints)
  const param = pathOf(hints.param)
  return {
    _tag: "Refused",
    status,
    detail,
    ...(about === undefined ? {} : { about }),
    ...(param === undefined ? {} : { param })
  }
}

import { Result } from "effect"
import type { ReasoningData, ToolCall } from "../../domain/Conversation.ts"
import { finishEvent, type FinishReason, type Output, type OutputEvent, OutputFold } from "../../domain/Output.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { errorIn } from "../wire/EventFault.ts"
import { faultIn, faultOfError } from "./Failure.ts"
import { countIn, type JsonObject, listOf, objectOf, parseJsonExact, textIn } from "../wire/Json.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { splitReasoning, type ThinkTags } from "./ThinkTags.ts"
import { billedNanoIn } from "./BilledCost.ts"
import { BETWEEN_TAGS, dataOf, textOf, reasoningIn } from "./ReasoningFields.ts"

/** How to read a host's answers. */
export interface ReadOptions {
  /** Whether its texts may contain reasoning between tags. */
  readonly tags: ThinkTags
  /** The field in which the host returns reasoning, if it is known. */
  readonly field?: string | undefined
}

const PLAIN: ReadOptions = { tags: "none" }

/** Decodes a complete answer. `requestId` seeds ids for tool calls that arrived without one. */
export const decodeChat = (
  body: Uint8Array,
  requestId: string,
  options: ReadOptions = PLAIN
): Result.Result<Output, ProviderFault> => {
  const answer = objectOf(parseJsonExact(body))
  if (answer === undefined) return malformed("the body is not a JSON object")
  const fault = faultIn(answer)
  if (fault !== undefined) return Result.fail(fault)
  const choice = objectOf(listOf(answer["choices"])[0])
  const message = objectOf(choice?.["message"])
  if (choice === undefined || message === undefined) return malformed("the body has no message")
  const broken = faultOfChoice(choice)
  if (broken !== undefined) return Result.fail(broken)
  const called = decodeToolCalls(message, requestId)
  const finish = finishOf(choice["finish_reason"], called.length > 0)
  const fold = new OutputFold()
  for (const event of contentEvents(message, options, finish)) fold.push(event)
  called.forEach(({ arguments: said, extra, id, name }, index) => {
    for (const event of reasoningEnd(extra && { call: id, extra })) fold.push(event)
    fold.push({ _tag: "ToolStart", index, id, name })
    fold.push({ _tag: "ToolDelta", index, text: said.trim() === "" && !isCut(finish) ? NO_ARGUMENTS : said })
  })
  const logprobs = objectOf(choice["logprobs"])?.["content"]
  if (Array.isArray(logprobs)) fold.push({ _tag: "Logprobs", content: logprobs })
  if (finish !== undefined) fold.push(finishEvent(finish, stopSequenceOf(choice)))
  const usage = usageOf(answer["usage"])
  if (usage !== undefined) fold.push({ _tag: "Usage", usage })
  return Result.succeed(fold.output())
}

/** Ends a block of reasoning that its host needs back. */
export const reasoningEnd = (data: ReasoningData | undefined): ReadonlyArray<OutputEvent> =>
  data === undefined ? [] : [{ _tag: "ReasoningEnd", data }]

/** The reasoning and the text of a message. */
const contentEvents = (
  message: JsonObject,
  { field, tags }: ReadOptions,
  finish: FinishReason | undefined
): ReadonlyArray<OutputEvent> => {
  const found = reasoningIn(message, field)
  const content = textOf(message["content"])
  const split =
    tags === "none" || found.text !== ""
      ? { reasoning: "", text: content }
      : splitReasoning(content, tags, isCut(finish))
  const reasoning = found.text || split.reasoning
  const data = dataOf(split.reasoning === "" ? found.field : BETWEEN_TAGS, found.details)
  return [
    { _tag: "Reasoning", text: reasoning },
    ...reasoningEnd(data),
    { _tag: "Text", text: split.text },
    { _tag: "Refusal", text: textIn(message, "refusal") ?? "" }
  ]
}

/** The arguments of a tool call as text. Some hosts send the parsed value. */
export const argumentsOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)

/** The arguments of a complete call for which the host sent none, because callers parse them. */
export const NO_ARGUMENTS = "{}"

/** Whether the last call of an answer may be truncated. */
export const isCut = (finish: FinishReason | undefined): boolean => finish === "length" || finish === "content_filter"

/** A call, with the data that its host needs back. */
interface DecodedCall extends ToolCall {
  readonly extra: JsonObject | undefined
}

const decodeToolCalls = (message: JsonObject, requestId: string): ReadonlyArray<DecodedCall> => {
  const legacy = message["function_call"]
  const calls = listOf(message["tool_calls"])
  return (calls.length === 0 && objectOf(legacy) !== undefined ? [{ function: legacy }] : calls)
    .flatMap((call) => {
      const object = objectOf(call) ?? {}
      const made = objectOf(object["function"]) ?? {}
      const name = textIn(made, "name")
      if (name === undefined) return []
      const extra = objectOf(object["extra_content"])
      return [{ id: textIn(object, "id"), name, arguments: argumentsOf(made["arguments"]), extra }]
    })
    .map((call, index) => ({ ...call, id: call.id ?? toolCallId(requestId, index) }))
}

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  tool_use: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  safety: "content_filter",
  sensitive: "content_filter"
}

/** The finish reasons with which hosts, among them Mistral, OpenRouter, DeepSeek and Z.ai, report that they broke off. */
const BROKEN_OFF: ReadonlySet<unknown> = new Set(["error", "insufficient_system_resource", "network_error"])

/** The fault of an answer that its host reports as broken off, because the answer is incomplete. */
export const faultOfChoice = (choice: JsonObject): ProviderFault | undefined => {
  const error = errorIn(choice)
  if (error !== undefined) return faultOfError(error)
  const reason = choice["finish_reason"]
  return BROKEN_OFF.has(reason)
    ? { _tag: "ServerError", status: 503, detail: `the host broke off with ${String(reason)}` }
    : undefined
}

/**
 * The finish reason in the domain's terms. An unknown reason counts as a normal stop, and one beside tool calls counts as a tool call.
 */
export const finishOf = (reason: unknown, calledTools: boolean): FinishReason | undefined => {
  if (typeof reason !== "string" || reason === "") return undefined
  const finish = FINISH_REASONS[reason] ?? "stop"
  return finish === "stop" && calledTools ? "tool_calls" : finish
}

/** The stop sequence that ended a choice, as vLLM and SGLang report it. A number there is the id of a stop token. */
export const stopSequenceOf = (choice: JsonObject): string | undefined =>
  choice["finish_reason"] === "stop" ? (textIn(choice, "stop_reason") ?? textIn(choice, "matched_stop")) : undefined

/**
 * Reported usage in disjoint buckets. `prompt_tokens` of this wire format includes cache reads and writes, and `completion_tokens`
 * includes reasoning. A host that adds reasoning only to its total is recognized by the sum. Zero is a valid count.
 */
export const usageOf = (value: unknown): TokenUsage | undefined => {
  const usage = objectOf(value)
  const prompt = countIn(usage, "prompt_tokens")
  if (usage === undefined || prompt === undefined) return undefined
  const details = objectOf(usage["prompt_tokens_details"])
  const cached = Math.min(
    prompt,
    countIn(details, "cached_tokens") ??
      countIn(usage, "prompt_cache_hit_tokens") ??
      countIn(usage, "cached_tokens") ??
      0
  )
  const written = countIn(details, "cache_write_tokens") ?? countIn(details, "cache_creation_tokens") ?? 0
  const cacheWrite = Math.min(prompt - cached, written)
  const total = countIn(usage, "total_tokens") ?? 0
  // A missing count is not zero; otherwise the whole output would be free.
  const completion = countIn(usage, "completion_tokens") ?? (total > prompt ? total - prompt : undefined)
  if (completion === undefined) return undefined
  const reasoning = countIn(objectOf(usage["completion_tokens_details"]), "reasoning_tokens") ?? 0
  const apart = reasoning > 0 && total === prompt + completion + reasoning
  const output = apart ? completion + reasoning : completion
  const billedNano = billedNanoIn(usage)
  return {
    input: prompt - cached - cacheWrite,
    cached,
    cacheWrite,
    output,
    reasoning: Math.min(reasoning, output),
    ...(billedNano === undefined ? {} : { billedNano })
  }
}

const malformed = (detail: string) => Result.fail<ProviderFault>({ _tag: "Malformed", detail })

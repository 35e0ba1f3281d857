import { Result } from "effect"
import type { ReasoningData, ToolCall } from "../../domain/Conversation.ts"
import { finishEvent, type FinishReason, type Output, type OutputEvent, OutputFold } from "../../domain/Output.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import type { ProviderFault } from "../Provider.ts"
import { errorIn } from "../EventFault.ts"
import { faultIn, faultOfError } from "./Failure.ts"
import { countIn, type JsonObject, listOf, objectOf, parsedExact, textIn } from "../Json.ts"
import { toolCallId } from "../ToolCallId.ts"
import { splitThought, type ThinkTags } from "./ThinkTags.ts"
import { BETWEEN_TAGS, dataOf, textOf, thoughtIn } from "./Thoughts.ts"

/** How a host's answers are read. */
export interface ReadOptions {
  /** Whether its texts may have reasoning between tags. */
  readonly tags: ThinkTags
  /** The member where it puts reasoning, where that is known. */
  readonly field?: string | undefined
}

const PLAIN: ReadOptions = { tags: "none" }

/** A whole answer. `requestId` makes ids for tool calls that came without one. */
export const decodeChat = (
  body: Uint8Array,
  requestId: string,
  options: ReadOptions = PLAIN
): Result.Result<Output, ProviderFault> => {
  const answer = objectOf(parsedExact(body))
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
  for (const event of saidIn(message, options, finish)) fold.push(event)
  called.forEach(({ arguments: said, extra, id, name }, index) => {
    for (const event of endOfThought(extra && { call: id, extra })) fold.push(event)
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

/** Ends a block of reasoning that its host wants back. */
export const endOfThought = (data: ReasoningData | undefined): ReadonlyArray<OutputEvent> =>
  data === undefined ? [] : [{ _tag: "ReasoningEnd", data }]

/** What a message thinks and says. */
const saidIn = (
  message: JsonObject,
  { field, tags }: ReadOptions,
  finish: FinishReason | undefined
): ReadonlyArray<OutputEvent> => {
  const found = thoughtIn(message, field)
  const content = textOf(message["content"])
  const split =
    tags === "none" || found.text !== "" ? { reasoning: "", text: content } : splitThought(content, tags, isCut(finish))
  const reasoning = found.text || split.reasoning
  const data = dataOf(split.reasoning === "" ? found.field : BETWEEN_TAGS, found.details)
  return [
    { _tag: "Reasoning", text: reasoning },
    ...endOfThought(data),
    { _tag: "Text", text: split.text },
    { _tag: "Refusal", text: textIn(message, "refusal") ?? "" }
  ]
}

/** A tool call's arguments as text; some hosts send the parsed value. */
export const argumentsOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)

/** What is said where a host leaves out the arguments of a whole call: callers parse what they get. */
export const NO_ARGUMENTS = "{}"

/** Whether the last call of an answer may lack its end. */
export const isCut = (finish: FinishReason | undefined): boolean => finish === "length" || finish === "content_filter"

/** A call, with what its host wants back beside it. */
interface Called extends ToolCall {
  readonly extra: JsonObject | undefined
}

const decodeToolCalls = (message: JsonObject, requestId: string): ReadonlyArray<Called> => {
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

/** What hosts, among them Mistral, OpenRouter, DeepSeek and Z.ai, give as the reason where they broke off themselves. */
const BROKEN_OFF: ReadonlySet<unknown> = new Set(["error", "insufficient_system_resource", "network_error"])

/** The fault of a host that says of an answer that it broke it off: what came of it is not whole. */
export const faultOfChoice = (choice: JsonObject): ProviderFault | undefined => {
  const error = errorIn(choice)
  if (error !== undefined) return faultOfError(error)
  const reason = choice["finish_reason"]
  return BROKEN_OFF.has(reason)
    ? { _tag: "ServerError", status: 503, detail: `the host broke off with ${String(reason)}` }
    : undefined
}

/** A stop in the domain's words; an unknown one is a plain stop, and one beside tool calls is for their sake. */
export const finishOf = (reason: unknown, calledTools: boolean): FinishReason | undefined => {
  if (typeof reason !== "string" || reason === "") return undefined
  const finish = FINISH_REASONS[reason] ?? "stop"
  return finish === "stop" && calledTools ? "tool_calls" : finish
}

/** The stop sequence that ended a choice, as vLLM and SGLang name it; a number there is a token that ended it. */
export const stopSequenceOf = (choice: JsonObject): string | undefined =>
  choice["finish_reason"] === "stop" ? (textIn(choice, "stop_reason") ?? textIn(choice, "matched_stop")) : undefined

/**
 * Reported usage in disjoint buckets. This wire's `prompt_tokens` includes what was read from and written to the cache, and
 * its `completion_tokens` the reasoning; a host that adds reasoning only to its total is told by the sum. Zero is a value.
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
  // A count that is missing is no zero: all that the model said would be free.
  const completion = countIn(usage, "completion_tokens") ?? (total > prompt ? total - prompt : undefined)
  if (completion === undefined) return undefined
  const thought = countIn(objectOf(usage["completion_tokens_details"]), "reasoning_tokens") ?? 0
  const apart = thought > 0 && total === prompt + completion + thought
  const output = apart ? completion + thought : completion
  return { input: prompt - cached - cacheWrite, cached, cacheWrite, output, reasoning: Math.min(thought, output) }
}

const malformed = (detail: string) => Result.fail<ProviderFault>({ _tag: "Malformed", detail })

import { Result } from "effect"
import type { ReasoningData } from "../../domain/Conversation.ts"
import { finishEvent, type FinishReason, type Output, type OutputEvent, OutputFold } from "../../domain/Output.ts"
import type { PromptUsage, TokenUsage } from "../../domain/Usage.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { faultIn } from "./Failure.ts"
import { redactedData, signatureData } from "./Thinking.ts"
import { countIn, type JsonObject, listOf, objectOf, parseJsonExact, textIn } from "../wire/Json.ts"

/** Decodes a complete answer. `requestId` seeds ids for tool calls that arrived without one. */
export const decodeChat = (body: Uint8Array, requestId: string): Result.Result<Output, ProviderFault> => {
  const answer = objectOf(parseJsonExact(body))
  if (answer === undefined) return malformed("the body is not a JSON object")
  const fault = faultIn(answer)
  if (fault !== undefined) return Result.fail(fault)
  if (!Array.isArray(answer["content"])) return malformed("the body has no content")
  const output = new OutputFold()
  let calls = 0
  for (const block of listOf(answer["content"])) {
    for (const event of eventsIn(objectOf(block) ?? {}, requestId, calls)) {
      if (event._tag === "ToolStart") calls++
      output.push(event)
    }
  }
  for (const event of editsIn(answer)) output.push(event)
  const refusal = refusalOf(answer)
  if (refusal !== "") output.push({ _tag: "Refusal", text: refusal })
  const finish = finishOf(answer["stop_reason"], calls > 0)
  if (finish !== undefined) output.push(finishEvent(finish, textIn(answer, "stop_sequence")))
  const usage = usageOf(objectOf(answer["usage"]))
  if (usage !== undefined) output.push({ _tag: "Usage", usage })
  return Result.succeed(output.output())
}

/** The events of one content block. `calls` is the number of tool calls before it. */
const eventsIn = (block: JsonObject, requestId: string, calls: number): ReadonlyArray<OutputEvent> => {
  switch (block["type"]) {
    case "text":
      return [{ _tag: "Text", text: textIn(block, "text") ?? "" }]
    case "thinking":
      return [
        { _tag: "Reasoning", text: textIn(block, "thinking") ?? "" },
        ...endOfThinking(signatureData(textIn(block, "signature")))
      ]
    case "redacted_thinking":
      return endOfThinking(redactedData(textIn(block, "data")))
    case "tool_use": {
      const name = textIn(block, "name")
      if (name === undefined) return []
      const id = textIn(block, "id") ?? toolCallId(requestId, calls)
      return [
        { _tag: "ToolStart", index: calls, id, name },
        { _tag: "ToolDelta", index: calls, text: argumentsOf(block["input"]) }
      ]
    }
    default:
      return []
  }
}

/** The context edits that the host reports it has applied. */
export const editsIn = (message: JsonObject): ReadonlyArray<OutputEvent> => {
  const management = objectOf(message["context_management"])
  if (management === undefined) return []
  const applied = listOf(management["applied_edits"]).map((edit) => objectOf(edit) ?? {})
  return [{ _tag: "ContextEdits", applied }]
}

/** Ends a block of thinking that the host needs back in the next request. */
export const endOfThinking = (data: ReasoningData | undefined): ReadonlyArray<OutputEvent> =>
  data === undefined ? [] : [{ _tag: "ReasoningEnd", data }]

/** The input of a tool call as JSON text, which callers parse. An absent input becomes an empty object. */
export const argumentsOf = (input: unknown): string => JSON.stringify(objectOf(input) ?? {})

/** The host's own explanation of why it stopped the answer. */
export const refusalOf = (stop: JsonObject): string => {
  if (stop["stop_reason"] !== "refusal") return ""
  return textIn(objectOf(stop["stop_details"]) ?? {}, "explanation") ?? ""
}

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter"
}

/**
 * The stop reason in the domain's terms. An unknown reason counts as a normal stop, and one beside tool calls counts as a tool call.
 */
export const finishOf = (reason: unknown, calledTools: boolean): FinishReason | undefined => {
  if (typeof reason !== "string" || reason === "") return undefined
  const finish = FINISH_REASONS[reason] ?? "stop"
  return finish === "stop" && calledTools ? "tool_calls" : finish
}

/**
 * Reported usage. The buckets of this wire format are already disjoint: `input_tokens` excludes cache reads and cache writes, and
 * `output_tokens` includes all thinking.
 */
export const usageOf = (usage: JsonObject | undefined): TokenUsage | undefined => {
  const input = countIn(usage, "input_tokens")
  const output = countIn(usage, "output_tokens")
  if (usage === undefined || input === undefined || output === undefined) return undefined
  const written = objectOf(usage["cache_creation"])
  const cacheWrite = countIn(usage, "cache_creation_input_tokens") ?? writtenOf(written)
  const long = countIn(written, "ephemeral_1h_input_tokens") ?? 0
  return {
    input,
    cached: countIn(usage, "cache_read_input_tokens") ?? 0,
    cacheWrite,
    ...(long === 0 ? {} : { cacheWriteLong: Math.min(cacheWrite, long) }),
    output,
    reasoning: Math.min(output, countIn(objectOf(usage["output_tokens_details"]), "thinking_tokens") ?? 0)
  }
}

/**
 * The prompt's part of a usage that arrives before the answer. It may be the only report, so if any of its counts is missing, none is
 * used.
 */
export const promptUsageOf = (usage: JsonObject | undefined): PromptUsage | undefined => {
  const read = usageOf({ ...usage, output_tokens: 0 })
  const isNone = (name: string) => (usage?.[name] ?? 0) !== 0 && countIn(usage, name) === undefined
  if (read === undefined || isNone("cache_read_input_tokens") || isNone("cache_creation_input_tokens")) return undefined
  const { cached, cacheWrite, cacheWriteLong, input } = read
  return { input, cached, cacheWrite, ...(cacheWriteLong === undefined ? {} : { cacheWriteLong }) }
}

/** The cache writes by lifetime: the parts of the sum, which some hosts omit. */
const writtenOf = (written: JsonObject | undefined): number =>
  (countIn(written, "ephemeral_5m_input_tokens") ?? 0) + (countIn(written, "ephemeral_1h_input_tokens") ?? 0)

const malformed = (detail: string) => Result.fail<ProviderFault>({ _tag: "Malformed", detail })

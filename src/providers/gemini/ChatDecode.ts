import { Result } from "effect"
import { type FinishReason, type Output, type OutputEvent, OutputFold } from "../../domain/Output.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import { countIn, type JsonObject, listOf, objectOf, parseJsonExact, textIn } from "../wire/Json.ts"
import { PromptReports } from "../wire/PromptReports.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { refusedFault } from "../wire/Refusal.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { faultIn } from "./Failure.ts"

/**
 * Decodes a complete answer, or a list of all its chunks. It is folded as a stream of one chunk, so that both produce the same output.
 * `requestId` seeds ids for tool calls that arrived without one.
 */
export const decodeChat = (body: Uint8Array, requestId: string): Result.Result<Output, ProviderFault> => {
  const answer = parseJsonExact(body)
  const chunks = new ChunkFold(requestId)
  const output = new OutputFold()
  for (const chunk of Array.isArray(answer) ? answer : [answer]) {
    for (const event of chunks.push(chunk)) output.push(event)
  }
  if (chunks.fault !== undefined) return Result.fail(chunks.fault)
  if (!chunks.answered) return Result.fail({ _tag: "Malformed", detail: "the answer has no candidate" })
  for (const event of chunks.end()) output.push(event)
  return Result.succeed(output.output())
}

/**
 * Folds an answer's chunks into output events. It keeps the finish and the usage until the end, because every chunk reports usage as
 * the sum so far. When the end is missing, only the prompt's usage is reported.
 */
export class ChunkFold {
  readonly #requestId: string
  #answered = false
  #spoke = false
  #calls = 0
  #finish: FinishReason | undefined
  /** The last value of every count. A chunk may omit, or set to zero, a count of an earlier chunk. */
  readonly #usage: Record<string, number> = {}
  readonly #prompt = new PromptReports()
  #fault: ProviderFault | undefined

  constructor(requestId: string) {
    this.#requestId = requestId
  }

  /** Whether a candidate has arrived. */
  get answered(): boolean {
    return this.#answered
  }

  /** Whether the model has stopped. */
  get stopped(): boolean {
    return this.#finish !== undefined
  }

  /** The fault, to be raised after the events before it. */
  get fault(): ProviderFault | undefined {
    return this.#fault
  }

  /** The events of one chunk. */
  push(value: unknown, event = ""): ReadonlyArray<OutputEvent> {
    if (this.#fault !== undefined) return []
    const chunk = objectOf(value)
    if (chunk === undefined) {
      this.#fault = { _tag: "Malformed", detail: "the answer is not a JSON object" }
      return []
    }
    this.#fault = faultIn(chunk, event)
    if (this.#fault !== undefined) return []
    const usage = objectOf(chunk["usageMetadata"])
    for (const name in usage) {
      const count = usage[name]
      if (typeof count === "number" && (count !== 0 || this.#usage[name] === undefined)) this.#usage[name] = count
    }
    const counted = usage === undefined ? undefined : usageOf(this.#usage)
    const promptEvents = counted === undefined ? [] : this.#prompt.by(counted)
    const candidate = objectOf(listOf(chunk["candidates"])[0])
    const events = candidate === undefined ? promptEvents : [...promptEvents, ...this.#contentOf(candidate)]
    const blocked = textIn(objectOf(chunk["promptFeedback"]) ?? {}, "blockReason")
    if (blocked !== undefined) this.#onFiltered(`the prompt was blocked (${blocked})`)
    if (candidate !== undefined) this.#onFinish(textIn(candidate, "finishReason"))
    return events
  }

  /** The last events of an answer that ended correctly. */
  end(): ReadonlyArray<OutputEvent> {
    const out: Array<OutputEvent> = []
    if (this.#finish !== undefined) {
      out.push({ _tag: "Finish", reason: this.#finish === "stop" && this.#calls > 0 ? "tool_calls" : this.#finish })
    }
    const usage = usageOf(this.#usage)
    if (usage !== undefined) out.push({ _tag: "Usage", usage })
    return out
  }

  #contentOf(candidate: JsonObject): ReadonlyArray<OutputEvent> {
    this.#answered = true
    const events = listOf(objectOf(candidate["content"])?.["parts"]).flatMap((part) =>
      this.#partOf(objectOf(part) ?? {})
    )
    const content = logprobsOf(candidate["logprobsResult"])
    if (content.length > 0) events.push({ _tag: "Logprobs", content })
    if (events.length > 0) this.#spoke = true
    return events
  }

  #partOf(part: JsonObject): Array<OutputEvent> {
    const text = textIn(part, "text")
    const signature = textIn(part, "thoughtSignature")
    const call = objectOf(part["functionCall"])
    const name = call === undefined ? undefined : textIn(call, "name")
    if (call === undefined || name === undefined) {
      const thought = part["thought"] === true
      const answerEvents: ReadonlyArray<OutputEvent> =
        text === undefined ? [] : [{ _tag: thought ? "Reasoning" : "Text", text }]
      // The signature belongs to the thought before a text.
      const end = endOfThought(signature, undefined)
      return thought ? [...answerEvents, ...end] : [...end, ...answerEvents]
    }
    const index = this.#calls++
    const id = textIn(call, "id") ?? toolCallId(this.#requestId, index)
    return [
      ...endOfThought(signature, id),
      { _tag: "ToolStart", index, id, name },
      { _tag: "ToolDelta", index, text: JSON.stringify(call["args"] ?? {}) }
    ]
  }

  #onFinish(reason: string | undefined): void {
    if (reason === undefined || reason === "FINISH_REASON_UNSPECIFIED") return
    if (FILTERED.has(reason)) this.#onFiltered(`the answer was blocked (${reason})`)
    else if (MISMADE.has(reason)) {
      this.#fault = { _tag: "Malformed", detail: `the model stopped with ${reason}`, ofModel: true }
    } else this.#finish = reason === "MAX_TOKENS" ? "length" : "stop"
  }

  /**
   * An answer that is blocked before its first word counts as a refusal. As an empty answer, it would look like a failure and be
   * retried.
   */
  #onFiltered(detail: string): void {
    if (this.#spoke) this.#finish = "content_filter"
    else this.#fault ??= refusedFault(400, detail)
  }
}

/** Ends a block of thoughts with the signature of a part, and with the id of its call if the part is one. */
const endOfThought = (signature: string | undefined, call: string | undefined): ReadonlyArray<OutputEvent> => {
  if (signature === undefined) return []
  return [{ _tag: "ReasoningEnd", data: call === undefined ? { signature } : { signature, call } }]
}

/** Finish reasons of content filters. */
const FILTERED: ReadonlySet<string> = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION"
])

/** Finish reasons for output that the host could not parse. The output before it is not an answer. */
const MISMADE: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE"
])

/**
 * Reported usage in disjoint buckets. `promptTokenCount` includes cache reads, and the tokens of tools that the host ran are added to
 * it. `candidatesTokenCount` excludes thoughts, except at hosts with a total that shows otherwise. An absent count is zero, as always in
 * protobuf JSON.
 */
export const usageOf = (usage: JsonObject | undefined): TokenUsage | undefined => {
  const prompt = countIn(usage, "promptTokenCount")
  if (prompt === undefined) return undefined
  const cached = Math.min(prompt, countIn(usage, "cachedContentTokenCount") ?? 0)
  const tools = countIn(usage, "toolUsePromptTokenCount") ?? 0
  const candidates = countIn(usage, "candidatesTokenCount") ?? 0
  const thoughts = countIn(usage, "thoughtsTokenCount") ?? 0
  const within = thoughts <= candidates && countIn(usage, "totalTokenCount") === prompt + tools + candidates
  return {
    input: prompt - cached + tools,
    cached,
    cacheWrite: 0,
    output: within ? candidates : candidates + thoughts,
    reasoning: thoughts
  }
}

const logprobsOf = (value: unknown): ReadonlyArray<unknown> => {
  const result = objectOf(value)
  const top = listOf(result?.["topCandidates"])
  return listOf(result?.["chosenCandidates"]).map((chosen, at) => ({
    ...logprobOf(chosen),
    top_logprobs: listOf(objectOf(top[at])?.["candidates"]).map(logprobOf)
  }))
}

const logprobOf = (value: unknown): object => {
  const { token, logProbability } = objectOf(value) ?? {}
  const text = typeof token === "string" ? token : ""
  return {
    token: text,
    logprob: typeof logProbability === "number" ? logProbability : 0,
    bytes: [...Buffer.from(text)]
  }
}

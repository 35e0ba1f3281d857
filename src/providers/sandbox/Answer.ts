import type { Message, Part, Tool } from "../../domain/Conversation.ts"
import type { FinishReason, OutputEvent } from "../../domain/Output.ts"
import { tokenCost } from "../../domain/Pricing.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import type { ChatCall } from "../Provider.ts"
import { toolCallId } from "../wire/ToolCallId.ts"
import { logprobOf } from "./Logprobs.ts"
import { sampleOf } from "./Sample.ts"
import type { Steering } from "./Steering.ts"
import { argumentsFor, isNamed } from "./ToolSample.ts"

/** The double's answer to a call: its content in pieces, and the usage at the end. */
export interface Answer {
  readonly chunks: ReadonlyArray<ReadonlyArray<OutputEvent>>
  readonly finish: FinishReason
  readonly stopSequence: string | undefined
  readonly usage: TokenUsage | undefined
}

/** The answer to a call. It depends only on the call and its steering. */
export const answerOf = (call: ChatCall, steering: Steering): Answer => {
  const prompt = promptTokensOf(call)
  const made = steering.fault === "empty" ? nothing : contentWithinCap(call, steering)
  const { chunks, finish, stopSequence } = made
  return { chunks, finish, stopSequence, usage: usageOf(call, steering, prompt, made) }
}

interface VisibleContent {
  readonly chunks: Answer["chunks"]
  readonly finish: FinishReason
  readonly stopSequence?: string | undefined
  /** The number of tokens; delivery stops when the output cap is reached. */
  readonly tokens: number
}

interface DeliveredAnswer extends Omit<Answer, "usage"> {
  readonly output: number
  readonly reasoning: number
}

type Content =
  | { readonly _tag: "Text"; readonly text: string; readonly filler: boolean }
  | { readonly _tag: "Tools"; readonly tools: ReadonlyArray<Tool> }

const nothing: DeliveredAnswer = { chunks: [], finish: "stop", stopSequence: undefined, output: 0, reasoning: 0 }
const BYTES_PER_TOKEN = 4
const TOKENS_PER_IMAGE = 85
const FILLER = "This sentence of the sandbox fills the answer up to the length that was asked for. "
const THOUGHT = "Considering what was asked. "

/** The content within the cap: reasoning first, then as much visible text as fits. */
const contentWithinCap = (call: ChatCall, steering: Steering): DeliveredAnswer => {
  const requested = requestedReasoning(call)
  const reasoning = Math.min(Math.max(steering.reasoningTokens, requested), call.maxOutputTokens)
  const room = call.maxOutputTokens - reasoning
  const wanted = steering.outputTokens === undefined ? undefined : Math.max(0, steering.outputTokens - reasoning)
  const content = contentOf(call, steering)
  const { chunks, finish, stopSequence, tokens } =
    content._tag === "Tools" ? toolContent(call, content.tools, room, wanted) : textContent(call, content, room, wanted)
  // Models that hide their reasoning show none unless it was requested.
  const shown = requested > 0 || (reasoning > 0 && !call.candidate.model.hiddenReasoning)
  const thought = cut(THOUGHT, reasoning * BYTES_PER_TOKEN)
  return {
    chunks: [...(shown ? [[{ _tag: "Reasoning", text: thought } as const]] : []), ...chunks],
    finish: tokens > room ? "length" : finish,
    stopSequence: tokens > room ? undefined : stopSequence,
    output: reasoning + Math.min(tokens, room),
    reasoning
  }
}

/** A short thought when the request asks a reasoning model for it, using at most half of the cap. */
const requestedReasoning = ({
  candidate: { model, offer },
  conversation: { reasoning },
  maxOutputTokens
}: ChatCall) => {
  const able = model.capabilities.includes("reasoning") && !offer.unsupported.includes("reasoning")
  const { effort, enabled, maxTokens } = reasoning ?? {}
  if (!able || enabled === false || effort === "none") return 0
  if (enabled === undefined && effort === undefined && maxTokens === undefined) return 0
  return Math.min(tokensOf(THOUGHT), maxTokens ?? Infinity, Math.floor(maxOutputTokens / 2))
}

const textContent = (
  call: ChatCall,
  content: Extract<Content, { readonly _tag: "Text" }>,
  room: number,
  wanted: number | undefined
): VisibleContent => {
  const full =
    wanted !== undefined && content.filler
      ? FILLER.repeat(Math.ceil((Math.min(wanted, room) * BYTES_PER_TOKEN) / FILLER.length)).slice(
          0,
          wanted * BYTES_PER_TOKEN
        )
      : content.text
  const { sampling } = call.conversation
  const stopped = stopIn(full, sampling.stop ?? [])
  const shownText = full.slice(0, stopped?.at)
  return {
    chunks: pieces(cut(shownText, room * BYTES_PER_TOKEN)).map((text) => [
      { _tag: "Text", text },
      ...(sampling.logprobs === true
        ? [{ _tag: "Logprobs", content: [logprobOf(text, sampling.topLogprobs ?? 0)] } as const]
        : [])
    ]),
    finish: "stop",
    stopSequence: stopped?.sequence,
    tokens: stopped === undefined && wanted !== undefined ? wanted : tokensOf(shownText)
  }
}

/** The first stop sequence in a text, and its offset. */
const stopIn = (text: string, stop: ReadonlyArray<string>) =>
  stop
    .map((sequence) => ({ sequence, at: sequence === "" ? -1 : text.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .toSorted((a, b) => a.at - b.at)[0]

const toolContent = (
  { conversation, requestId }: ChatCall,
  tools: ReadonlyArray<Tool>,
  room: number,
  wanted: number | undefined
): VisibleContent => {
  const chunks: Array<ReadonlyArray<OutputEvent>> = []
  const words = wordsOf(conversation.messages.at(-1))
  let tokens = 0
  for (const [index, tool] of tools.entries()) {
    const { name } = tool
    const argumentText = JSON.stringify(argumentsFor(tool, words))
    const left = room - tokens
    if (left > 0) {
      chunks.push([{ _tag: "ToolStart", index, id: toolCallId(requestId, index), name }])
      for (const text of pieces(cut(argumentText, left * BYTES_PER_TOKEN)))
        chunks.push([{ _tag: "ToolDelta", index, text }])
    }
    tokens += tokensOf(argumentText) + tokensOf(name)
  }
  return { chunks, finish: "tool_calls", tokens: wanted ?? tokens }
}

/** A steering text wins unless a tool must be called; then tools, then JSON, then plain text. */
const contentOf = (call: ChatCall, steering: Steering): Content => {
  const { format } = call.conversation
  const tools = toolsOf(call)
  const must = call.conversation.toolChoice.type === "required" || call.conversation.toolChoice.type === "tool"
  if (tools.length > 0 && (must || steering.text === undefined)) return { _tag: "Tools", tools }
  if (steering.text !== undefined) return { _tag: "Text", text: steering.text, filler: false }
  if (format.type === "text") return { _tag: "Text", text: plainText(call), filler: true }
  const value =
    format.type === "json_schema" && format.schema !== undefined ? sampleOf(format.schema) : { answer: plainText(call) }
  return { _tag: "Text", text: JSON.stringify(value), filler: false }
}

/**
 * The forced tool, or else all tools that the user's last message names, or else the first one. Only one when parallel calls are
 * disabled.
 */
const toolsOf = ({ conversation }: ChatCall): ReadonlyArray<Tool> => {
  const { messages, parallelToolCalls, toolChoice, tools } = conversation
  // A system message may follow the user's, because agents send reminders.
  const last = messages.findLast(({ role }) => role !== "system")
  if (tools.length === 0 || toolChoice.type === "none" || last?.role !== "user") return []
  if (toolChoice.type === "tool") return tools.filter((tool) => tool.name === toolChoice.name).slice(0, 1)
  const words = wordsOf(last)
  const named = tools.filter((tool) => isNamed(words, tool))
  return named.length === 0 || parallelToolCalls === false ? [...named, ...tools].slice(0, 1) : named
}

const wordsOf = (message: Message | undefined): ReadonlySet<string> =>
  new Set(message === undefined ? [] : textOf(message).split(/[^A-Za-z0-9_-]+/))

const plainText = ({ conversation: { messages }, candidate }: ChatCall): string => {
  const results = messages.slice(messages.findLastIndex((message) => message.role !== "tool") + 1).map(textOf)
  if (results.length > 0) return `The tool answered: ${excerpt(results.join(" "), 200)}`
  const question = messages.findLast((message) => message.role === "user")
  const quoted = question === undefined ? "nothing" : `"${excerpt(textOf(question), 80)}"`
  return `You said ${quoted}. The sandbox answers in place of ${candidate.model.id}.`
}

const textOf = (message: Message): string =>
  message.content.map((part) => (part.type === "text" ? part.text : "[image]")).join(" ")

const excerpt = (text: string, maxChars: number): string => {
  const line = [...text.replaceAll(/\s+/g, " ").trim()]
  return line.length <= maxChars ? line.join("") : `${line.slice(0, maxChars).join("")}…`
}

/** Splits a text into words. Text without spaces is split too, so that JSON streams like any other text. */
const pieces = (text: string): ReadonlyArray<string> => text.match(/\S{1,12}\s*|\s+/gu) ?? []

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

/** At most this many bytes of a text, without splitting a character. */
const cut = (text: string, bytes: number): string =>
  Buffer.byteLength(text) <= bytes
    ? text
    : new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true })

/** Each page of a PDF file is an image. */
const tokensOfPart = (part: Part): number => {
  if (part.type === "text") return tokensOf(part.text)
  return part.type === "image" ? TOKENS_PER_IMAGE : part.pages * TOKENS_PER_IMAGE
}

const promptTokensOf = ({ conversation: { messages, tools }, promptBound }: ChatCall): number => {
  const declared = tools.map(({ description, name, parameters, strict }) => ({ name, description, parameters, strict }))
  let tokens = declared.length === 0 ? 0 : tokensOf(JSON.stringify(declared))
  for (const message of messages) {
    for (const part of message.content) tokens += tokensOfPart(part)
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls) tokens += tokensOf(call.name) + tokensOf(call.arguments)
  }
  return Math.min(promptBound, Math.max(1, tokens))
}

const usageOf = (call: ChatCall, steering: Steering, prompt: number, made: DeliveredAnswer): TokenUsage | undefined => {
  if (steering.fault === "no_usage") return undefined
  if (steering.usageHeld) return heldUsage(call, made.reasoning)
  const times = steering.fault === "wrong_usage" ? 10 : 1
  const cached = Math.min(prompt, steering.cachedTokens)
  return {
    input: (prompt - cached) * times,
    cached: cached * times,
    cacheWrite: 0,
    output: made.output * times,
    reasoning: made.reasoning * times
  }
}

/**
 * The whole prompt bound, and the fewest output tokens with which the cost reaches the hold. If output is free, it raises the input
 * instead.
 */
const heldUsage = ({ candidate: { price }, promptBound, held }: ChatCall, reasoning: number): TokenUsage => {
  const usage = (input: number, output: number): TokenUsage => ({
    input,
    cached: 0,
    cacheWrite: 0,
    output,
    reasoning: Math.min(reasoning, output)
  })
  const output = fewest((count) => tokenCost(price, usage(promptBound, count)) >= held)
  if (output !== undefined) return usage(promptBound, output)
  const more = fewest((count) => tokenCost(price, usage(promptBound + count, 0)) >= held)
  return usage(promptBound + (more ?? 0), 0)
}

const MAX_TOKENS = 2 ** 40

/** The smallest sufficient count, for a condition that stays true once it is. */
const fewest = (enough: (count: number) => boolean): number | undefined => {
  if (!enough(MAX_TOKENS)) return undefined
  let below = -1
  let at = MAX_TOKENS
  while (at - below > 1) {
    const middle = Math.floor((below + at) / 2)
    if (enough(middle)) at = middle
    else below = middle
  }
  return at
}

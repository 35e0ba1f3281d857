import type { Message, Tool } from "../../domain/Conversation.ts"
import type { FinishReason, OutputEvent } from "../../domain/Output.ts"
import { tokenCost } from "../../domain/Pricing.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import type { ChatCall } from "../Provider.ts"
import { sampleOf } from "./Sample.ts"
import type { Steering } from "./Steering.ts"

/** What the double says to a call: its content piece by piece, and the report at the end. */
export interface Answer {
  readonly chunks: ReadonlyArray<OutputEvent>
  readonly finish: FinishReason
  readonly usage: TokenUsage | undefined
}

/** The answer to a call, made from nothing but the call and its steering. */
export const answerOf = (call: ChatCall, steering: Steering): Answer => {
  const prompt = promptTokensOf(call)
  const made = steering.fault === "empty" ? nothing : deliveredOf(call, steering)
  const usage = usageOf(call, steering, prompt, made)
  return { chunks: made.chunks, finish: made.finish, usage }
}

interface Delivered {
  readonly chunks: ReadonlyArray<OutputEvent>
  readonly finish: FinishReason
  readonly output: number
  readonly reasoning: number
}

type Content =
  | { readonly _tag: "Text"; readonly text: string; readonly filler: boolean }
  | { readonly _tag: "Tool"; readonly tool: Tool; readonly text: string }

const nothing: Delivered = { chunks: [], finish: "stop", output: 0, reasoning: 0 }
const BYTES_PER_TOKEN = 4
const TOKENS_PER_IMAGE = 85
const FILLER = "This sentence of the sandbox fills the answer up to the length that was asked for. "
const THOUGHT = "Considering what was asked. "

/** Content within the cap: reasoning first, what is visible in the room it leaves. */
const deliveredOf = (call: ChatCall, steering: Steering): Delivered => {
  const reasoning = Math.min(steering.reasoningTokens, call.maxOutputTokens)
  const room = call.maxOutputTokens - reasoning
  const content = contentOf(call, steering)
  const wanted = steering.outputTokens === undefined ? undefined : Math.max(0, steering.outputTokens - reasoning)
  const visible = wanted ?? tokensOf(content.text) + (content._tag === "Tool" ? tokensOf(content.tool.name) : 0)
  const full =
    wanted !== undefined && content._tag === "Text" && content.filler
      ? FILLER.repeat(Math.ceil((Math.min(wanted, room) * BYTES_PER_TOKEN) / FILLER.length)).slice(0, wanted * 4)
      : content.text
  const text = cut(full, room * BYTES_PER_TOKEN)
  const thought = steering.reasoningTokens > 0 && !call.candidate.model.hiddenReasoning
  return {
    chunks: [
      ...(thought ? [{ _tag: "Reasoning", text: THOUGHT } as const] : []),
      ...(content._tag === "Tool" && room > 0 ? toolChunks(call, content.tool, text) : textChunks(text))
    ],
    finish: visible > room ? "length" : content._tag === "Tool" ? "tool_calls" : "stop",
    output: reasoning + Math.min(visible, room),
    reasoning
  }
}

/** A text given wins unless a tool must be called; then tools, then JSON, then plain words. */
const contentOf = (call: ChatCall, steering: Steering): Content => {
  const { format } = call.conversation
  const tool = toolOf(call)
  const must = call.conversation.toolChoice.type === "required" || call.conversation.toolChoice.type === "tool"
  if (tool !== undefined && (must || steering.text === undefined)) {
    return { _tag: "Tool", tool, text: JSON.stringify(sampleOf(tool.parameters ?? { type: "object" })) }
  }
  if (steering.text !== undefined) return { _tag: "Text", text: steering.text, filler: false }
  if (format.type === "text") return { _tag: "Text", text: plainText(call), filler: true }
  const value =
    format.type === "json_schema" && format.schema !== undefined ? sampleOf(format.schema) : { answer: plainText(call) }
  return { _tag: "Text", text: JSON.stringify(value), filler: false }
}

const toolOf = ({ conversation: { messages, tools, toolChoice } }: ChatCall): Tool | undefined => {
  if (toolChoice.type === "none" || messages.at(-1)?.role !== "user") return undefined
  return toolChoice.type === "tool" ? tools.find((tool) => tool.name === toolChoice.name) : tools[0]
}

const plainText = ({ conversation: { messages }, candidate }: ChatCall): string => {
  const results = messages.slice(messages.findLastIndex((message) => message.role !== "tool") + 1).map(textOf)
  if (results.length > 0) return `The tool answered: ${excerpt(results.join(" "), 200)}`
  const asked = messages.findLast((message) => message.role === "user")
  const said = asked === undefined ? "nothing" : `"${excerpt(textOf(asked), 80)}"`
  return `You said ${said}. The sandbox answers in place of ${candidate.model.id}.`
}

const textOf = (message: Message): string =>
  message.content.map((part) => (part.type === "text" ? part.text : "[image]")).join(" ")

const excerpt = (text: string, maxChars: number): string => {
  const line = [...text.replaceAll(/\s+/g, " ").trim()]
  return line.length <= maxChars ? line.join("") : `${line.slice(0, maxChars).join("")}…`
}

const toolChunks = ({ requestId }: ChatCall, tool: Tool, text: string): ReadonlyArray<OutputEvent> => [
  { _tag: "ToolStart", index: 0, id: `call_${requestId.replaceAll(/[^A-Za-z0-9]/g, "").slice(-24)}`, name: tool.name },
  ...pieces(text).map((piece) => ({ _tag: "ToolDelta", index: 0, text: piece }) as const)
]

const textChunks = (text: string): ReadonlyArray<OutputEvent> =>
  pieces(text).map((piece) => ({ _tag: "Text", text: piece }))

/** Word by word; what has no spaces is split too, so that JSON streams like anything else. */
const pieces = (text: string): ReadonlyArray<string> => text.match(/\S{1,12}\s*|\s+/gu) ?? []

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)

/** At most so many bytes of a text, without half a character. */
const cut = (text: string, bytes: number): string =>
  Buffer.byteLength(text) <= bytes
    ? text
    : new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true })

const promptTokensOf = ({ conversation: { messages, tools }, promptBound }: ChatCall): number => {
  let tokens = tools.length === 0 ? 0 : tokensOf(JSON.stringify(tools))
  for (const message of messages) {
    for (const part of message.content) tokens += part.type === "text" ? tokensOf(part.text) : TOKENS_PER_IMAGE
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls) tokens += tokensOf(call.name) + tokensOf(call.arguments)
  }
  return Math.min(promptBound, Math.max(1, tokens))
}

const usageOf = (call: ChatCall, steering: Steering, prompt: number, made: Delivered): TokenUsage | undefined => {
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

/** The whole prompt bound, and the fewest output tokens that make the cost reach what is held; of free output, input. */
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

/** The least count that is enough, where more is never less. */
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

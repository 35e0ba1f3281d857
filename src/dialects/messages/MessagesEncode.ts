/** Encodes a paid answer as Anthropic's message. */
import type {
  MessagesAnswer,
  MessagesBlock,
  MessagesStopReason,
  MessagesUsage
} from "../../../schemas/inference/MessagesAnswer.ts"
import { parseWithin } from "../../domain/ExactJson.ts"
import { type Output, type OutputPiece, outputPieces } from "../../domain/Output.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import type { Answer } from "../../domain/Answer.ts"
import { extrasOf } from "../chat/ChatEncode.ts"
import { objectOf } from "../Decode.ts"

/** The id of a message, derived from its request's id, so that a replay has the same one. */
export const messageId = (requestId: string): string => `msg_${requestId.slice(4)}`

/** Usage in Anthropic's format, where input tokens exclude cached ones. */
export const usageOf = (usage: TokenUsage): MessagesUsage => ({
  input_tokens: usage.input,
  cache_creation_input_tokens: usage.cacheWrite,
  cache_read_input_tokens: usage.cached,
  cache_creation: {
    ephemeral_5m_input_tokens: usage.cacheWrite - (usage.cacheWriteLong ?? 0),
    ephemeral_1h_input_tokens: usage.cacheWriteLong ?? 0
  },
  output_tokens: usage.output,
  output_tokens_details: { thinking_tokens: usage.reasoning }
})

/** The content of an answer, as far as it affects the stop reason. */
export interface StopFacts {
  readonly refused: boolean
  readonly called: boolean
}

type End = Pick<Output, "finish" | "stopSequence">

/** After a tool call the caller must continue, whatever reason the provider gave. */
const reasonOf = ({ finish, stopSequence }: End, { called, refused }: StopFacts): MessagesStopReason => {
  if (finish === "content_filter" || refused) return "refusal"
  if (finish === "length") return "max_tokens"
  if (stopSequence !== undefined) return "stop_sequence"
  return called ? "tool_use" : "end_turn"
}

/** Why the model stopped, and at which stop sequence of the caller's. For a streamed answer, only the end may be known. */
export const stopOf = (
  end: End,
  stop: StopFacts
): { readonly stop_reason: MessagesStopReason; readonly stop_sequence: string | null } => {
  const stop_reason = reasonOf(end, stop)
  return { stop_reason, stop_sequence: stop_reason === "stop_sequence" ? (end.stopSequence ?? null) : null }
}

/** A tool call's arguments as an object; undefined when they are not one. */
export const argumentsOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return objectOf(parseWithin(text))
  } catch {
    return undefined
  }
}

/**
 * Tool input is an object on this wire. Arguments that are not an object, for example because the output cap truncated them, are put as
 * text into the member `arguments`: no tool mistakes that for its input, and the caller can read what the model wrote. A stream does
 * the same, except for a truncated object, because its beginning has already been sent.
 */
export const inputOf = (text: string): Readonly<Record<string, unknown>> =>
  text.trim() === "" ? {} : (argumentsOf(text) ?? { arguments: text })

/** The caller of every tool: no code that a server runs calls tools here. */
export const DIRECT = { type: "direct" } as const

type Thought = Extract<OutputPiece, { readonly kind: "reasoning" }>

const thinkingOf = ({ seal = "", text }: Thought, showsThinking: boolean): MessagesBlock =>
  text === ""
    ? { type: "redacted_thinking", data: seal }
    : { type: "thinking", thinking: showsThinking ? text : "", signature: seal }

/**
 * Whether a thinking block is returned. A block without text after other content is only for answers that continue with tools, because
 * clients do not expect other answers to end in thinking.
 */
const isShown = ({ toolCalls }: Output, { seal, text }: Thought, at: number): boolean =>
  text !== "" || (seal !== undefined && (at === 0 || toolCalls.length > 0))

/** The content in order. A refusal is a text block of its own. */
const contentOf = (output: Output, showsThinking: boolean): ReadonlyArray<MessagesBlock> =>
  outputPieces(output).flatMap((one, at): ReadonlyArray<MessagesBlock> => {
    if (one.kind === "reasoning") return isShown(output, one, at) ? [thinkingOf(one, showsThinking)] : []
    if (one.kind !== "tool") return [{ type: "text", text: one.text }]
    const { arguments: text, id, name } = one.call
    return [{ type: "tool_use", id, name, input: inputOf(text), caller: DIRECT }]
  })

/** The edits made to the prompt, for a request that asks for edits. */
export const editsOf = ({ contextEdits = [] }: Output, asked: boolean): Pick<MessagesAnswer, "context_management"> =>
  asked ? { context_management: { applied_edits: contextEdits.map((edit) => ({ ...edit })) } } : {}

/** A complete answer. `editsContext`: the request asks for edits of its prompt. */
export const encodeMessage = (answer: Answer, showsThinking: boolean, editsContext = false): MessagesAnswer => ({
  id: messageId(answer.requestId),
  type: "message",
  role: "assistant",
  model: answer.model,
  content: contentOf(answer.output, showsThinking),
  ...stopOf(answer.output, { refused: answer.output.refusal !== "", called: answer.output.toolCalls.length > 0 }),
  usage: usageOf(answer.usage),
  ...editsOf(answer.output, editsContext),
  ...extrasOf(answer)
})

/** A paid answer as Anthropic's message. */
import type {
  MessagesAnswer,
  MessagesBlock,
  MessagesStopReason,
  MessagesUsage
} from "../../../schemas/inference/Messages.ts"
import { parseExact } from "../../domain/ExactJson.ts"
import { type Output, type Said as Piece, saidIn } from "../../domain/Output.ts"
import type { TokenUsage } from "../../domain/Usage.ts"
import type { Answer } from "../../inference/Answer.ts"
import { extrasOf } from "../chat/ChatEncode.ts"
import { objectOf } from "../Decode.ts"

/** The id of a message follows from its request's, so that a replay has the same. */
export const messageId = (requestId: string): string => `msg_${requestId.slice(4)}`

/** Usage in Anthropic's words: input tokens exclude the cached ones. */
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

/** What was in an answer, as far as it says why the model stopped. */
export interface Said {
  readonly refused: boolean
  readonly called: boolean
}

type End = Pick<Output, "finish" | "stopSequence">

/** A call of a tool is what its caller goes on from, whatever a provider calls the reason. */
const reasonOf = ({ finish, stopSequence }: End, { called, refused }: Said): MessagesStopReason => {
  if (finish === "content_filter" || refused) return "refusal"
  if (finish === "length") return "max_tokens"
  if (stopSequence !== undefined) return "stop_sequence"
  return called ? "tool_use" : "end_turn"
}

/** Why the model stopped, and at which of the caller's stop sequences. Of a streamed answer only the end may be known. */
export const stopOf = (
  end: End,
  said: Said
): { readonly stop_reason: MessagesStopReason; readonly stop_sequence: string | null } => {
  const stop_reason = reasonOf(end, said)
  return { stop_reason, stop_sequence: stop_reason === "stop_sequence" ? (end.stopSequence ?? null) : null }
}

/** The object that a tool's arguments are as JSON; undefined where they are none. */
export const argumentsOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return objectOf(parseExact(text))
  } catch {
    return undefined
  }
}

/**
 * Input is an object on this wire. Arguments that are none, as those cut off by the cap on the output, stand in it as the text
 * they are, under `arguments`: no tool takes that for its input, and what the model wrote can be read. A stream says the same, save of an object
 * that is cut off: its beginning has been said before that is known.
 */
export const inputOf = (text: string): Readonly<Record<string, unknown>> =>
  text.trim() === "" ? {} : (argumentsOf(text) ?? { arguments: text })

type Thought = Extract<Piece, { readonly kind: "reasoning" }>

const thinkingOf = ({ seal = "", text }: Thought, showsThinking: boolean): MessagesBlock =>
  text === ""
    ? { type: "redacted_thinking", data: seal }
    : { type: "thinking", thinking: showsThinking ? text : "", signature: seal }

/**
 * Whether a block of thinking is given out. Without a text, and after something else, it is for answers that go on with tools:
 * clients do not expect others to end in thinking.
 */
const isShown = ({ toolCalls }: Output, { seal, text }: Thought, at: number): boolean =>
  text !== "" || (seal !== undefined && (at === 0 || toolCalls.length > 0))

/** In the order in which it came. A refusal is a text of its own. */
const contentOf = (output: Output, showsThinking: boolean): ReadonlyArray<MessagesBlock> =>
  saidIn(output).flatMap((one, at): ReadonlyArray<MessagesBlock> => {
    if (one.kind === "reasoning") return isShown(output, one, at) ? [thinkingOf(one, showsThinking)] : []
    if (one.kind !== "tool") return [{ type: "text", text: one.text }]
    const { arguments: text, id, name } = one.call
    return [{ type: "tool_use", id, name, input: inputOf(text) }]
  })

/** What was taken out of the prompt, for a request that asks for edits. */
export const editsOf = ({ contextEdits = [] }: Output, asked: boolean): Pick<MessagesAnswer, "context_management"> =>
  asked ? { context_management: { applied_edits: contextEdits.map((edit) => ({ ...edit })) } } : {}

/** The whole answer. `editsContext` where the request asks for edits of its prompt. */
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

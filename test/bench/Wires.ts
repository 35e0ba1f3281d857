/** The mock upstream's answers in the wire format of each kind of provider. */
import { MARK } from "./Traffic.ts"

const PROMPT_TOKENS = 148
const WHOLE_TOKENS = 24
const created = 1_780_000_000

const TEXT = `This is a case for the warranty (${MARK}). Please do not open the piano; we will have it picked up.`

export interface Wire {
  /** The body of an answer without streaming. */
  readonly whole: string
  /** The stream events before the content, for each chunk, and after a number of chunks. */
  readonly opening: string
  readonly piece: (text: string) => string
  readonly closing: (pieces: number) => string
}

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`

const openaiUsage = (completion: number) => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: completion,
  total_tokens: PROMPT_TOKENS + completion
})

const chunk = (choices: ReadonlyArray<object>, more: object = {}) =>
  data({ id: "chatcmpl-bench", object: "chat.completion.chunk", created, model: "gpt-4o-mini", choices, ...more })

const delta = (content: object, finish: string | null = null) => [{ index: 0, delta: content, finish_reason: finish }]

const openai: Wire = {
  whole: JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created,
    model: "gpt-4o-mini",
    choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
    usage: openaiUsage(WHOLE_TOKENS)
  }),
  opening: chunk(delta({ role: "assistant", content: "" })),
  piece: (content) => chunk(delta({ content })),
  closing: (pieces) => `${chunk(delta({}, "stop"))}${chunk([], { usage: openaiUsage(pieces) })}data: [DONE]\n\n`
}

const event = (type: string, more: object = {}) => `event: ${type}\n${data({ type, ...more })}`

const message = {
  id: "msg_bench",
  type: "message",
  role: "assistant",
  model: "claude-haiku-4-5",
  content: [] as ReadonlyArray<object>,
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: { input_tokens: PROMPT_TOKENS, output_tokens: 1 }
}

const anthropic: Wire = {
  whole: JSON.stringify({
    ...message,
    content: [{ type: "text", text: TEXT }],
    stop_reason: "end_turn",
    usage: { ...message.usage, output_tokens: WHOLE_TOKENS }
  }),
  opening:
    event("message_start", { message }) +
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  piece: (text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
  closing: (pieces) =>
    event("content_block_stop", { index: 0 }) +
    event("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: pieces }
    }) +
    event("message_stop")
}

const candidate = (text: string, tokens: number, finish?: string) => ({
  candidates: [{ content: { parts: [{ text }], role: "model" }, finishReason: finish, index: 0 }],
  usageMetadata: {
    promptTokenCount: PROMPT_TOKENS,
    candidatesTokenCount: tokens,
    totalTokenCount: PROMPT_TOKENS + tokens
  },
  modelVersion: "gemini-3.8-flash",
  responseId: "bench"
})

const gemini: Wire = {
  whole: JSON.stringify(candidate(TEXT, WHOLE_TOKENS, "STOP")),
  opening: "",
  piece: (text) => data(candidate(text, 1)),
  closing: (pieces) => data(candidate("", pieces, "STOP"))
}

/** The wire format at a path. */
export const wireAt = (path: string): Wire => {
  if (path.startsWith("/v1beta/")) return gemini
  return path === "/v1/messages" ? anthropic : openai
}

/** How an ask is put in each dialect, and what is heard in an answer to it. */
import { nanoFromUsd, type Nano } from "../../src/domain/Money.ts"
import type { Ask, Dialect } from "./Notes.ts"
import { promptOf } from "./Upstream.ts"

/** The end of every prompt: ordinary words. */
export const QUESTION = "tell me of the sea and of the ships on it"

/** What one frame, or the body of a whole answer or of an error, says. */
export interface Heard {
  /** Text, or the arguments of a tool call. */
  readonly content: string
  readonly code: string | undefined
  readonly answerId: string | undefined
  readonly cost: Nano | undefined
  /** Nothing comes after it, and the answer is whole. */
  readonly last: boolean
}

interface Words {
  /** Below the API's base. */
  readonly path: string
  readonly body: (ask: Ask, prompt: string) => object
  readonly hear: (piece: Piece) => Omit<Heard, "answerId" | "cost">
  /** Which part of a piece says what the answer cost, and whose it is. */
  readonly bill: (piece: Piece) => Bill | undefined
}

interface Bill {
  readonly request_id?: string
  readonly cost_usd?: number | null
}

interface ChatDelta {
  readonly content?: string | null
  readonly tool_calls?: ReadonlyArray<{ readonly function?: { readonly arguments?: string } }>
}

interface MessagesBlock {
  readonly text?: string
  readonly input?: { readonly arguments?: string }
}

interface ResponsesBody extends Bill {
  readonly output?: ReadonlyArray<{ readonly arguments?: string; readonly content?: ReadonlyArray<{ text?: string }> }>
}

/** All that is looked at in any dialect. */
interface Piece extends ResponsesBody {
  readonly error?: { readonly code?: string } | null
  readonly choices?: ReadonlyArray<{ readonly delta?: ChatDelta; readonly message?: ChatDelta }>
  readonly type?: string
  readonly code?: string
  readonly content?: ReadonlyArray<MessagesBlock>
  /** An object in messages, a text in responses. */
  readonly delta?: string | { readonly text?: string; readonly partial_json?: string }
  readonly response?: ResponsesBody
}

const tool = {
  name: "look_up",
  description: "Looks something up",
  parameters: { type: "object", properties: { what: { type: "string" } } }
}

/** What messages are capped at where the ask has no cap, which they cannot leave out. */
const CAP = 200

const chat: Words = {
  path: "/chat/completions",
  body: (ask, prompt) => ({
    messages: [{ role: "user", content: prompt }],
    ...(ask.tools ? { tools: [{ type: "function", function: tool }] } : {}),
    ...(ask.maxTokens === undefined ? {} : { max_tokens: ask.maxTokens })
  }),
  hear: ({ choices, error }) => {
    const said = choices?.[0]?.delta ?? choices?.[0]?.message
    const calls = (said?.tool_calls ?? []).map((call) => call.function?.arguments ?? "")
    return { content: `${said?.content ?? ""}${calls.join("")}`, code: error?.code, last: false }
  },
  bill: (piece) => piece
}

/** Arguments that are no JSON object, as those of the upstream, come in one piece, as the input under this name. */
const argumentsIn = (json: string): string =>
  json === "" ? "" : ((JSON.parse(json) as { readonly arguments?: string }).arguments ?? "")

const messages: Words = {
  path: "/messages",
  body: (ask, prompt) => ({
    messages: [{ role: "user", content: prompt }],
    max_tokens: ask.maxTokens ?? CAP,
    ...(ask.tools ? { tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }] } : {})
  }),
  hear: ({ content, delta, error, type }) => {
    const whole = (content ?? []).map(({ input, text }) => text ?? input?.arguments ?? "").join("")
    const piece = typeof delta === "object" ? `${delta.text ?? ""}${argumentsIn(delta.partial_json ?? "")}` : ""
    return { content: whole + piece, code: error?.code, last: type === "message_stop" }
  },
  bill: (piece) => piece
}

const deltas = new Set(["response.output_text.delta", "response.function_call_arguments.delta"])
const ends = new Set(["response.completed", "response.incomplete"])

const responses: Words = {
  path: "/responses",
  body: (ask, prompt) => ({
    input: prompt,
    ...(ask.tools ? { tools: [{ type: "function", ...tool }] } : {}),
    ...(ask.maxTokens === undefined ? {} : { max_output_tokens: ask.maxTokens })
  }),
  hear: ({ code, delta, error, output, type = "" }) => ({
    content:
      typeof delta === "string" && deltas.has(type)
        ? delta
        : (output ?? []).map((item) => item.arguments ?? item.content?.map(({ text }) => text).join("") ?? "").join(""),
    code: type === "error" ? code : error?.code,
    last: ends.has(type)
  }),
  bill: ({ response, type = "", ...body }) => (response === undefined ? body : ends.has(type) ? response : undefined)
}

const all: Readonly<Record<Dialect, Words>> = { chat, messages, responses }

/** Where an ask is posted. */
export const pathOf = ({ dialect }: Ask): string => `/api/v1${all[dialect].path}`

/** What is posted for an ask: the same bytes at every try. */
export const bodyOf = (ask: Ask): string =>
  JSON.stringify({
    model: ask.model,
    ...(ask.stream ? { stream: true } : {}),
    ...all[ask.dialect].body(ask, `${promptOf(ask.id)}${QUESTION}`)
  })

/** The data of a frame of a stream; undefined of a comment. */
export const dataOf = (frame: string): string | undefined => {
  const at = frame.indexOf("data: ")
  return at === -1 ? undefined : frame.slice(at + "data: ".length)
}

const parse = (text: string): Piece | undefined => {
  try {
    return JSON.parse(text) as Piece
  } catch {
    return undefined
  }
}

/** What is heard in a body, or in the data of a frame; undefined where it is no JSON. */
export const hear = ({ dialect }: Pick<Ask, "dialect">, text: string): Heard | undefined => {
  if (dialect === "chat" && text === "[DONE]") {
    return { content: "", code: undefined, answerId: undefined, cost: undefined, last: true }
  }
  const piece = parse(text)
  if (piece === undefined) return undefined
  const { bill, hear: words } = all[dialect]
  const { cost_usd: cost, request_id } = bill(piece) ?? {}
  return {
    ...words(piece),
    answerId: cost == null ? undefined : request_id,
    cost: cost == null ? undefined : nanoFromUsd(cost)
  }
}

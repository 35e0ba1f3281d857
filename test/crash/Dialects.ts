/** The request body of an operation in each dialect, and the parser of its answers. */
import { type Nano, nanoFromUsd } from "../../src/domain/Money.ts"
import type { Dialect, Operation } from "./Evidence.ts"
import { promptOf } from "./Upstream.ts"

/** The end of every prompt. */
export const QUESTION = "tell me of the sea and of the ships on it"

/** The content of one stream frame, or of a whole body. */
export interface AnswerPart {
  /** Text, or the arguments of a tool call. */
  readonly content: string
  readonly code: string | undefined
  readonly answerId: string | undefined
  readonly cost: Nano | undefined
  /** The dialect's last frame of a complete answer. */
  readonly last: boolean
}

interface DialectApi {
  /** Below `/api/v1`. */
  readonly path: string
  readonly body: (operation: Operation, prompt: string) => object
  readonly read: (json: AnswerJson) => Omit<AnswerPart, "answerId" | "cost">
  /** The object with the answer's cost and request id. */
  readonly costFields: (json: AnswerJson) => CostFields | undefined
}

interface CostFields {
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

interface ResponsesBody extends CostFields {
  readonly output?: ReadonlyArray<{ readonly arguments?: string; readonly content?: ReadonlyArray<{ text?: string }> }>
}

/** The fields of all dialects that the parser reads. */
interface AnswerJson extends ResponsesBody {
  readonly error?: { readonly code?: string } | null
  readonly choices?: ReadonlyArray<{ readonly delta?: ChatDelta; readonly message?: ChatDelta }>
  readonly type?: string
  readonly code?: string
  readonly content?: ReadonlyArray<MessagesBlock>
  /** An object in `messages`, a string in `responses`. */
  readonly delta?: string | { readonly text?: string; readonly partial_json?: string }
  readonly response?: ResponsesBody
}

const tool = {
  name: "look_up",
  description: "Looks something up",
  parameters: { type: "object", properties: { what: { type: "string" } } }
}

/** The default of `max_tokens` in `messages`, which requires the field. */
const MESSAGES_MAX_TOKENS = 200

const chat: DialectApi = {
  path: "/chat/completions",
  body: (operation, prompt) => ({
    messages: [{ role: "user", content: prompt }],
    ...(operation.tools ? { tools: [{ type: "function", function: tool }] } : {}),
    ...(operation.maxTokens === undefined ? {} : { max_tokens: operation.maxTokens })
  }),
  read: ({ choices, error }) => {
    const answer = choices?.[0]?.delta ?? choices?.[0]?.message
    const calls = (answer?.tool_calls ?? []).map((call) => call.function?.arguments ?? "")
    return { content: `${answer?.content ?? ""}${calls.join("")}`, code: error?.code, last: false }
  },
  costFields: (json) => json
}

/** Unwraps tool arguments that are no JSON object, like the upstream's: the gateway sends them whole under `arguments`. */
const argumentsIn = (json: string): string =>
  json === "" ? "" : ((JSON.parse(json) as { readonly arguments?: string }).arguments ?? "")

const messages: DialectApi = {
  path: "/messages",
  body: (operation, prompt) => ({
    messages: [{ role: "user", content: prompt }],
    max_tokens: operation.maxTokens ?? MESSAGES_MAX_TOKENS,
    ...(operation.tools
      ? { tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }] }
      : {})
  }),
  read: ({ content, delta, error, type }) => {
    const blocks = (content ?? []).map(({ input, text }) => text ?? input?.arguments ?? "").join("")
    const piece = typeof delta === "object" ? `${delta.text ?? ""}${argumentsIn(delta.partial_json ?? "")}` : ""
    return { content: blocks + piece, code: error?.code, last: type === "message_stop" }
  },
  costFields: (json) => json
}

const deltas = new Set(["response.output_text.delta", "response.function_call_arguments.delta"])
const ends = new Set(["response.completed", "response.incomplete"])

const responses: DialectApi = {
  path: "/responses",
  body: (operation, prompt) => ({
    input: prompt,
    ...(operation.tools ? { tools: [{ type: "function", ...tool }] } : {}),
    ...(operation.maxTokens === undefined ? {} : { max_output_tokens: operation.maxTokens })
  }),
  read: ({ code, delta, error, output, type = "" }) => ({
    content:
      typeof delta === "string" && deltas.has(type)
        ? delta
        : (output ?? []).map((item) => item.arguments ?? item.content?.map(({ text }) => text).join("") ?? "").join(""),
    code: type === "error" ? code : error?.code,
    last: ends.has(type)
  }),
  costFields: ({ response, type = "", ...body }) =>
    response === undefined ? body : ends.has(type) ? response : undefined
}

const apis: Readonly<Record<Dialect, DialectApi>> = { chat, messages, responses }

export const pathOf = ({ dialect }: Operation): string => `/api/v1${apis[dialect].path}`

/** The request body of an operation: the same bytes in every attempt. */
export const bodyOf = (operation: Operation): string =>
  JSON.stringify({
    model: operation.model,
    ...(operation.stream ? { stream: true } : {}),
    ...apis[operation.dialect].body(operation, `${promptOf(operation.id)}${QUESTION}`)
  })

/** The data of a stream frame; undefined for a comment. */
export const dataOf = (frame: string): string | undefined => {
  const at = frame.indexOf("data: ")
  return at === -1 ? undefined : frame.slice(at + "data: ".length)
}

const parseJson = (text: string): AnswerJson | undefined => {
  try {
    return JSON.parse(text) as AnswerJson
  } catch {
    return undefined
  }
}

/** Parses a body, or the data of a frame; returns undefined for invalid JSON. */
export const parsePart = ({ dialect }: Pick<Operation, "dialect">, text: string): AnswerPart | undefined => {
  if (dialect === "chat" && text === "[DONE]") {
    return { content: "", code: undefined, answerId: undefined, cost: undefined, last: true }
  }
  const json = parseJson(text)
  if (json === undefined) return undefined
  const { costFields, read } = apis[dialect]
  const { cost_usd: cost, request_id } = costFields(json) ?? {}
  return {
    ...read(json),
    answerId: cost == null ? undefined : request_id,
    cost: cost == null ? undefined : nanoFromUsd(cost)
  }
}

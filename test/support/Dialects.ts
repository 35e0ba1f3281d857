/** The same question in every dialect, and what its answer delivered and cost. */
import type { TokenUsage } from "../../src/domain/Usage.ts"
import type { Frame } from "./Streams.ts"

/** A user's message, optionally followed by a tool call and its result. */
export interface Question {
  readonly model: string
  readonly text: string
  readonly system?: string
  /** A data URL. */
  readonly image?: string
  readonly tools?: boolean
  /** The result of a call of the tool, as the last message. */
  readonly toolAnswer?: string
  readonly effort?: "low" | "high"
  readonly schema?: object
  /** Absent for no limit, which `messages` cannot express. */
  readonly maxTokens?: number
  /** Fields with the same name and form in all dialects. */
  readonly more?: object
}

/** An answer, independent of its dialect. */
export interface Delivered {
  readonly requestId: string
  readonly cost: number
  readonly usage: TokenUsage
  readonly text: string
  readonly reasoning: string
  readonly calls: ReadonlyArray<readonly [name: string, input: unknown]>
}

/** Writes questions and reads answers in one dialect. */
export interface Dialect {
  readonly name: string
  readonly path: string
  /** The request body of a question; undefined if the dialect cannot express it. */
  readonly ask: (question: Question, stream: boolean) => object | undefined
  /** Reads a complete answer. */
  readonly read: (body: Frame) => Delivered
  /** Reads the frames of a stream. */
  readonly fold: (frames: ReadonlyArray<Frame>) => Delivered
}

const tool = {
  name: "weather",
  description: "The weather of a city",
  schema: { type: "object", properties: { city: { const: "Oslo" } }, required: ["city"], additionalProperties: false }
}
const call = { id: "call_before", input: { city: "Oslo" } }

const unless = <A>(value: A | undefined, members: (value: A) => object): object =>
  value === undefined ? {} : members(value)

const chatUsage = (usage: Frame): TokenUsage => {
  const { cached_tokens: cached = 0, cache_creation_tokens: cacheWrite = 0 } = usage.prompt_tokens_details ?? {}
  return {
    input: usage.prompt_tokens - cached - cacheWrite,
    cached,
    cacheWrite,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0
  }
}

const chatMessages = ({ image, system, text, toolAnswer }: Question): ReadonlyArray<object> => [
  ...(system === undefined ? [] : [{ role: "system", content: system }]),
  {
    role: "user",
    content:
      image === undefined
        ? text
        : [
            { type: "text", text },
            { type: "image_url", image_url: { url: image } }
          ]
  },
  ...(toolAnswer === undefined
    ? []
    : [
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: call.id, type: "function", function: { name: tool.name, arguments: JSON.stringify(call.input) } }
          ]
        },
        { role: "tool", tool_call_id: call.id, content: toolAnswer }
      ])
]

const chat: Dialect = {
  name: "chat completions",
  path: "/chat/completions",
  ask: (question, stream) => ({
    model: question.model,
    messages: chatMessages(question),
    ...(stream ? { stream } : {}),
    ...unless(question.maxTokens, (max_tokens) => ({ max_tokens })),
    ...unless(question.effort, (effort) => ({ reasoning: { effort } })),
    ...(question.tools === true
      ? {
          tools: [
            {
              type: "function",
              function: { name: tool.name, description: tool.description, parameters: tool.schema, strict: true }
            }
          ]
        }
      : {}),
    ...unless(question.schema, (schema) => ({
      response_format: { type: "json_schema", json_schema: { name: "output", schema, strict: true } }
    })),
    ...question.more
  }),
  read: (body) => {
    const { message } = body.choices[0]
    return {
      requestId: body.request_id,
      cost: body.cost_usd,
      usage: chatUsage(body.usage),
      text: message.content ?? "",
      reasoning: message.reasoning ?? "",
      calls: (message.tool_calls ?? []).map((one: Frame) => [one.function.name, JSON.parse(one.function.arguments)])
    }
  },
  fold: (frames) => {
    const chunks = frames.filter((frame) => frame !== "[DONE]")
    const last = chunks.find((frame) => frame.cost_usd !== undefined)
    const deltas = chunks.flatMap((frame) => frame.choices.map((choice: Frame) => choice.delta))
    const parts = deltas.flatMap((delta) => delta.tool_calls ?? [])
    const named = parts.filter((part) => part.function.name !== undefined)
    const argumentsOf = (index: number) =>
      parts.filter((part) => part.index === index).map((part) => part.function.arguments ?? "")
    return {
      requestId: last.request_id,
      cost: last.cost_usd,
      usage: chatUsage(last.usage),
      text: deltas.map((delta) => delta.content ?? "").join(""),
      reasoning: deltas.map((delta) => delta.reasoning ?? "").join(""),
      calls: named.map((part) => [part.function.name, JSON.parse(argumentsOf(part.index).join(""))])
    }
  }
}

const legacy: Dialect = {
  ...chat,
  name: "legacy chat",
  path: "/chat",
  ask: (question, stream) => {
    const { effort, schema, toolAnswer, tools } = question
    const more = tools === true || toolAnswer !== undefined || effort !== undefined || schema !== undefined
    return stream || more ? undefined : chat.ask(question, false)
  }
}

const messagesUsage = (usage: Frame): TokenUsage => ({
  input: usage.input_tokens,
  cached: usage.cache_read_input_tokens,
  cacheWrite: usage.cache_creation_input_tokens,
  output: usage.output_tokens,
  reasoning: usage.output_tokens_details.thinking_tokens
})

const inlined = (url: string) => {
  const [, media_type, data] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? []
  return { type: "image", source: { type: "base64", media_type, data } }
}

const messages: Dialect = {
  name: "messages",
  path: "/messages",
  ask: ({ effort, image, maxTokens, model, more, schema, system, text, toolAnswer, tools }, stream) =>
    maxTokens === undefined
      ? undefined
      : {
          model,
          max_tokens: maxTokens,
          ...(stream ? { stream } : {}),
          ...unless(system, (said) => ({ system: said })),
          messages: [
            { role: "user", content: image === undefined ? text : [{ type: "text", text }, inlined(image)] },
            ...(toolAnswer === undefined
              ? []
              : [
                  {
                    role: "assistant",
                    content: [{ type: "tool_use", id: call.id, name: tool.name, input: call.input }]
                  },
                  { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: toolAnswer }] }
                ])
          ],
          ...(tools === true
            ? {
                tools: [{ name: tool.name, description: tool.description, input_schema: tool.schema, strict: true }]
              }
            : {}),
          // An effort alone applies to the whole answer, and does not turn thinking on.
          ...unless(effort, () => ({ thinking: { type: "adaptive" } })),
          ...(effort === undefined && schema === undefined
            ? {}
            : {
                output_config: {
                  ...unless(effort, (one) => ({ effort: one })),
                  ...unless(schema, (one) => ({ format: { type: "json_schema", schema: one } }))
                }
              }),
          ...more
        },
  read: (body) => {
    const textIn = (type: string, member: string) =>
      body.content.map((block: Frame) => (block.type === type ? block[member] : "")).join("")
    return {
      requestId: body.request_id,
      cost: body.cost_usd,
      usage: messagesUsage(body.usage),
      text: textIn("text", "text"),
      reasoning: textIn("thinking", "thinking"),
      calls: body.content
        .filter((block: Frame) => block.type === "tool_use")
        .map((block: Frame) => [block.name, block.input])
    }
  },
  fold: (frames) => {
    const last = frames.find((frame) => frame.type === "message_delta")
    const deltas = frames.filter((frame) => frame.type === "content_block_delta")
    const joined = (member: string, index?: number) =>
      deltas
        .filter((frame) => index === undefined || frame.index === index)
        .map((frame) => frame.delta[member] ?? "")
        .join("")
    return {
      requestId: last.request_id,
      cost: last.cost_usd,
      usage: messagesUsage(last.usage),
      text: joined("text"),
      reasoning: joined("thinking"),
      calls: frames
        .filter((frame) => frame.type === "content_block_start" && frame.content_block.type === "tool_use")
        .map((frame) => [frame.content_block.name, JSON.parse(joined("partial_json", frame.index))])
    }
  }
}

const responseOf = (body: Frame): Delivered => ({
  requestId: body.request_id,
  cost: body.cost_usd,
  usage: {
    input:
      body.usage.input_tokens -
      body.usage.input_tokens_details.cached_tokens -
      body.usage.input_tokens_details.cache_creation_tokens,
    cached: body.usage.input_tokens_details.cached_tokens,
    cacheWrite: body.usage.input_tokens_details.cache_creation_tokens,
    output: body.usage.output_tokens,
    reasoning: body.usage.output_tokens_details.reasoning_tokens
  },
  text: body.output_text,
  reasoning: body.output
    .flatMap((item: Frame) => (item.type === "reasoning" ? item.summary.map((part: Frame) => part.text) : []))
    .join(""),
  calls: body.output
    .filter((item: Frame) => item.type === "function_call")
    .map((item: Frame) => [item.name, JSON.parse(item.arguments)])
})

const responses: Dialect = {
  name: "responses",
  path: "/responses",
  ask: ({ effort, image, maxTokens, model, more, schema, system, text, toolAnswer, tools }, stream) => ({
    model,
    input:
      image === undefined && toolAnswer === undefined
        ? text
        : [
            {
              role: "user",
              content: [
                { type: "input_text", text },
                ...(image === undefined ? [] : [{ type: "input_image", image_url: image }])
              ]
            },
            ...(toolAnswer === undefined
              ? []
              : [
                  {
                    type: "function_call",
                    call_id: call.id,
                    name: tool.name,
                    arguments: JSON.stringify(call.input)
                  },
                  { type: "function_call_output", call_id: call.id, output: toolAnswer }
                ])
          ],
    ...(stream ? { stream } : {}),
    ...unless(system, (instructions) => ({ instructions })),
    ...unless(maxTokens, (max_output_tokens) => ({ max_output_tokens })),
    ...unless(effort, (one) => ({ reasoning: { effort: one } })),
    ...(tools === true
      ? {
          tools: [
            { type: "function", name: tool.name, description: tool.description, parameters: tool.schema, strict: true }
          ]
        }
      : {}),
    ...unless(schema, (one) => ({
      text: { format: { type: "json_schema", name: "output", schema: one, strict: true } }
    })),
    ...more
  }),
  read: responseOf,
  fold: (frames) =>
    responseOf(frames.find(({ type }) => type === "response.completed" || type === "response.incomplete").response)
}

export const dialects: ReadonlyArray<Dialect> = [chat, messages, responses, legacy]

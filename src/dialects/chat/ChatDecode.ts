/** OpenAI's chat completion request, decoded to the canonical conversation. */
import { Result } from "effect"
import { ChatCompletionRequest } from "../../../schemas/inference/ChatCompletions.ts"
import type {
  Conversation,
  Message,
  OutputFormat,
  Part,
  Reasoning,
  Sampling,
  TextPart,
  Tool,
  ToolChoice
} from "../../domain/Conversation.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import type { RoutingPolicy } from "../../domain/Plan.ts"
import type { AutoWish } from "../../inference/Request.ts"
import { decoder, MAX_PROBLEMS, objectOf } from "../Decode.ts"
import { decodeAuto, ignoredAuto } from "../Router.ts"
import { decodePolicy, ignoredRouting } from "../Routing.ts"
import { firstUnsupported, ignoredMembers } from "./Foreign.ts"

type Wire = Omit<ChatCompletionRequest, "messages">
type WireMessage = ChatCompletionRequest["messages"][number]

/** What a chat request asks for, before the router's chain is read from its model strings. */
export interface ChatWish {
  readonly model: string | undefined
  readonly models: ReadonlyArray<string> | undefined
  readonly conversation: Conversation
  readonly policy: RoutingPolicy
  readonly auto: AutoWish
  readonly parameters: ReadonlyArray<string>
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly budgetCents: number | undefined
}

/** A decoded request. */
export interface DecodedChat extends ChatWish {
  /** Members without effect: those nobody knows, and those that nothing is done with. */
  readonly ignored: ReadonlyArray<string>
}

/** An image sent inline may have so many bytes before its encoding. */
const IMAGE_MAX_BYTES = 20 * 1_048_576

const fields = new Set(Object.keys(ChatCompletionRequest.fields))
const decodeWire = decoder(ChatCompletionRequest, { strict: false })

/** Members of the request that nothing is done with. */
const withoutEffect = ["metadata"]

const reasoningMembers = new Set(["effort", "max_tokens", "enabled"])

type AssistantContent = Extract<WireMessage, { readonly role: "assistant" }>["content"]

const textParts = (content: AssistantContent): Array<TextPart> => {
  if (content == null) return []
  if (typeof content === "string") return [{ type: "text", text: content }]
  return content.map((part) => ({ type: "text", text: part.type === "text" ? part.text : part.refusal }))
}

const parts = (content: Extract<WireMessage, { readonly role: "user" }>["content"]): ReadonlyArray<Part> =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : content.map((part) =>
        part.type === "text"
          ? { type: "text", text: part.text }
          : { type: "image", url: part.image_url.url, detail: part.image_url.detail ?? "auto" }
      )

const messagesOf = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<Message> =>
  messages.map((message): Message => {
    switch (message.role) {
      case "system":
      case "developer":
        return { role: "system", content: textParts(message.content) }
      case "user":
        return { role: "user", content: parts(message.content) }
      case "assistant":
        return {
          role: "assistant",
          content: textParts(message.content),
          toolCalls: (message.tool_calls ?? []).map(({ function: call, id }) => ({ id, ...call }))
        }
      case "tool":
        return { role: "tool", toolCallId: message.tool_call_id, content: parts(message.content) }
    }
  })

const toolsOf = (tools: Wire["tools"]): ReadonlyArray<Tool> =>
  (tools ?? []).map(({ function: tool }) => ({
    name: tool.name,
    description: tool.description ?? undefined,
    parameters: tool.parameters ?? undefined,
    strict: tool.strict ?? undefined
  }))

const toolChoiceOf = (choice: Wire["tool_choice"]): ToolChoice => {
  if (choice == null) return { type: "auto" }
  return typeof choice === "string" ? { type: choice } : { type: "tool", name: choice.function.name }
}

const formatOf = (format: Wire["response_format"]): OutputFormat => {
  if (format == null || format.type === "text") return { type: "text" }
  if (format.type === "json_object") return { type: "json_object" }
  const { name, schema, strict } = format.json_schema
  return { type: "json_schema", name, schema: schema ?? undefined, strict: strict ?? undefined }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const samplingOf = (wire: Wire): Sampling => {
  const sampling: Writable<Sampling> = {}
  if (wire.temperature != null) sampling.temperature = wire.temperature
  if (wire.top_p != null) sampling.topP = wire.top_p
  if (wire.top_k != null) sampling.topK = wire.top_k
  if (wire.min_p != null) sampling.minP = wire.min_p
  if (wire.repetition_penalty != null) sampling.repetitionPenalty = wire.repetition_penalty
  if (wire.frequency_penalty != null) sampling.frequencyPenalty = wire.frequency_penalty
  if (wire.presence_penalty != null) sampling.presencePenalty = wire.presence_penalty
  if (wire.seed != null) sampling.seed = wire.seed
  if (wire.stop != null) sampling.stop = typeof wire.stop === "string" ? [wire.stop] : wire.stop
  if (wire.logprobs != null) sampling.logprobs = wire.logprobs
  if (wire.top_logprobs != null) sampling.topLogprobs = wire.top_logprobs
  return sampling
}

const reasoningOf = (wire: Wire): Reasoning | undefined => {
  if (wire.reasoning == null && wire.reasoning_effort == null) return undefined
  return {
    effort: wire.reasoning?.effort ?? wire.reasoning_effort ?? undefined,
    maxTokens: wire.reasoning?.max_tokens,
    enabled: wire.reasoning?.enabled
  }
}

const optional = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "repetition_penalty",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "stop",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning",
  "logprobs",
  "top_logprobs"
] as const

const parametersOf = (wire: Wire): ReadonlyArray<string> => {
  const names: Array<string> = optional.filter((name) => wire[name] != null)
  if (wire.response_format?.type === "json_schema") names.push("structured_outputs")
  return names
}

const checkImages = (messages: ReadonlyArray<Message>): Failure | undefined => {
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    if (message.role !== "user" && message.role !== "tool") continue
    for (let part = 0; part < message.content.length; part++) {
      const value = message.content[part]!
      if (value.type !== "image") continue
      const field = `messages.${index}.content.${part}.image_url.url`
      if (/^https:\/\/[^/\s]+/i.test(value.url)) continue
      const data = /^data:image\/[a-z0-9.+-]+;base64,/i.exec(value.url)
      if (data === null) return invalid(field, "an https URL, or a data URL with a base64-encoded image")
      if ((value.url.length - data[0].length) * 0.75 > IMAGE_MAX_BYTES) {
        return failure({ _tag: "ImageTooLarge", param: field, limitBytes: IMAGE_MAX_BYTES })
      }
    }
  }
  return undefined
}

const checkTools = (wire: Wire): Failure | undefined => {
  const choice = wire.tool_choice
  if (choice == null || choice === "auto" || choice === "none") return undefined
  const names = (wire.tools ?? []).map((tool) => tool.function.name)
  if (names.length === 0) return invalid("tool_choice", "requires tools")
  if (typeof choice === "string" || names.includes(choice.function.name)) return undefined
  return invalid("tool_choice.function.name", `no tool is named ${choice.function.name}`)
}

/** `reasoning` is closed, unlike the request around it. */
const checkReasoning = (body: Readonly<Record<string, unknown>>): Failure | undefined => {
  const reasoning = objectOf(body["reasoning"])
  if (reasoning === undefined) return undefined
  const names = Object.keys(reasoning).slice(0, MAX_PROBLEMS)
  const extra = names.filter((name) => !reasoningMembers.has(name))
  const [first, ...others] = extra.map((name) => ({
    field: `reasoning.${name}`,
    message: "Expected no excess property"
  }))
  return first === undefined ? undefined : invalid(first.field, first.message, ...others)
}

/** Reads a chat request from its members, once they are decoded; `body` is what they were decoded from. */
export const wishOf = (
  body: Readonly<Record<string, unknown>>,
  wire: Wire,
  wireMessages: ChatCompletionRequest["messages"]
): Result.Result<ChatWish, Failure> => {
  const closed = checkReasoning(body)
  if (closed !== undefined) return Result.fail(closed)
  const policy = decodePolicy(body)
  if (Result.isFailure(policy)) return Result.fail(policy.failure)
  const options = decodeAuto(body)
  if (Result.isFailure(options)) return Result.fail(options.failure)
  const messages = messagesOf(wireMessages)
  const problem = checkTools(wire) ?? checkImages(messages)
  if (problem !== undefined) return Result.fail(problem)
  return Result.succeed({
    model: wire.model ?? undefined,
    models: wire.models ?? undefined,
    conversation: {
      messages,
      tools: toolsOf(wire.tools),
      toolChoice: toolChoiceOf(wire.tool_choice),
      parallelToolCalls: wire.parallel_tool_calls ?? undefined,
      format: formatOf(wire.response_format),
      sampling: samplingOf(wire),
      reasoning: reasoningOf(wire),
      maxOutputTokens: wire.max_completion_tokens ?? wire.max_tokens ?? undefined,
      user: wire.user ?? undefined
    },
    policy: policy.success,
    auto: { options: options.success, sessionId: wire.session_id ?? undefined },
    parameters: parametersOf(wire),
    stream: wire.stream === true,
    includeUsage: wire.stream_options?.include_usage === true,
    budgetCents: wire.budget_cents ?? undefined
  })
}

const ignoredOf = (body: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const idle = withoutEffect.filter((name) => body[name] != null)
  return [...ignoredMembers(body, fields), ...idle, ...ignoredAuto(body), ...ignoredRouting(body)]
}

/** Decodes a request body. Wrong fields are named; nothing is dropped in silence. */
export const decodeChat = (body: unknown): Result.Result<DecodedChat, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", "Expected a JSON object"))
  const foreign = firstUnsupported(object)
  if (foreign !== undefined) return Result.fail(foreign)
  return Result.flatMap(decodeWire(object), (wire) =>
    Result.map(wishOf(object, wire, wire.messages), (wish) => ({ ...wish, ignored: ignoredOf(object) }))
  )
}

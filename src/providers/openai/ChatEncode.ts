import type {
  AssistantMessage,
  Conversation,
  Message,
  Part,
  PdfPart,
  TextPart,
  ToolResult
} from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import type { ChatCall } from "../Provider.ts"
import { WORDLESS_FAILURE } from "../wire/ToolFailure.ts"
import { stopSequencesOf } from "../wire/StopSequences.ts"
import { callIdFor } from "./CallId.ts"
import {
  type Effort,
  effortBesideTools,
  EFFORTS,
  EFFORTS_OF_MISTRAL,
  effortOf,
  effortsOfOpenAi,
  nearestEffort,
  wantedEffort
} from "./Effort.ts"
import { endUserOf } from "./EndUser.ts"
import {
  type HostTraits,
  NO_TRAITS,
  reasoningOffFields,
  reasoningOnFields,
  type ChatWireOptions
} from "./HostTraits.ts"
import { parametersFor } from "./ToolParameters.ts"
import { type ReturnedReasoning, returnedReasoning, acceptedReasoning } from "./ReasoningFields.ts"

/** A host's options with its traits for the model of one call. */
interface Wire extends ChatWireOptions {
  readonly traits: HostTraits
}

/** Encodes a chat call as the JSON of `POST /chat/completions`. It always requests usage. */
export const encodeChat = (call: ChatCall, stream: boolean, options: ChatWireOptions): string => {
  const { conversation, candidate, maxOutputTokens } = call
  const traits = options.traitsOf?.(candidate) ?? NO_TRAITS
  const wire: Wire = { ...options, traits }
  const usage = traits.stream_options === false ? undefined : { include_usage: true }
  const cap = traits.max_tokens_field ?? (options.flavour === "openai" ? "max_completion_tokens" : "max_tokens")
  return JSON.stringify({
    model: candidate.offer.upstreamId,
    messages: encodeMessages(call, wire),
    ...(stream ? { stream: true, stream_options: tells(candidate, usage) } : {}),
    [cap]: maxOutputTokens,
    ...encodeTools(conversation, candidate, wire),
    response_format: encodeFormat(conversation, traits),
    ...encodeSampling(conversation, candidate, wire),
    ...encodeReasoning(call, wire),
    user: tells(candidate, conversation.user && endUserOf(conversation.user)),
    prompt_cache_key: options.flavour === "openai" ? conversation.cacheKey : undefined
  })
}

/**
 * Sets the detail of images. With the default, OpenAI's newer models bill an image by its pixels without a limit, which no hold could
 * cover; at high detail they shrink it first. `domain/Tokens.ts` relies on that.
 */
export const boundedImages = (messages: ReadonlyArray<Message>, { model }: Candidate): ReadonlyArray<Message> => {
  if (model.vendor !== "openai") return messages
  const bounded = (part: Part): Part =>
    part.type === "image" && part.detail === "auto" ? { ...part, detail: "high" } : part
  return messages.map((message) =>
    message.role === "user" || message.role === "tool" ? { ...message, content: message.content.map(bounded) } : message
  )
}

/** Replaces the ids of tool calls with ids that the model's host accepts. */
export const withIdsFor = (candidate: Candidate, messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  messages.map((message) => {
    if (message.role === "tool") return { ...message, toolCallId: callIdFor(message.toolCallId, candidate) }
    if (message.role !== "assistant" || message.toolCalls.length === 0) return message
    const toolCalls = message.toolCalls.map((call) => ({ ...call, id: callIdFor(call.id, candidate) }))
    return { ...message, toolCalls }
  })

/** Tool results contain only text on this wire, so their images and files follow in a user message. */
const encodeMessages = ({ candidate, conversation }: ChatCall, options: Wire): ReadonlyArray<unknown> => {
  const messages = withIdsFor(candidate, boundedImages(conversation.messages, candidate))
  const accepted = acceptedReasoning(conversation, candidate, options)
  const encoded: Array<unknown> = []
  let toolFiles: Array<Part> = []
  const flush = () => {
    if (toolFiles.length > 0) encoded.push({ role: "user", content: toolFiles.flatMap(encodePart) })
    toolFiles = []
  }
  for (const message of messages) {
    if (message.role !== "tool") flush()
    encoded.push(
      message.role === "assistant"
        ? encodeSaid(message, returnedReasoning(message, candidate, accepted), options)
        : encodeMessage(message, options)
    )
    if (message.role === "tool") toolFiles.push(...message.content.filter((part) => part.type !== "text"))
  }
  flush()
  return encoded
}

/** Hosts of open models may reject unknown fields, and their models ignore names. */
const nameOf = (message: Exclude<Message, ToolResult>, { flavour }: ChatWireOptions) =>
  flavour === "openai" ? message.name : undefined

const encodeMessage = (message: Exclude<Message, AssistantMessage>, options: Wire): unknown => {
  if (message.role === "tool") {
    return { role: "tool", tool_call_id: message.toolCallId, content: encodeResult(message, options) }
  }
  const role = message.role === "system" ? (options.traits.system_role ?? "system") : "user"
  return { role, name: nameOf(message, options), content: encodeContent(message.content, options) }
}

const encodeSaid = (
  message: AssistantMessage,
  { before, members, ofCalls, parts }: ReturnedReasoning,
  options: Wire
): unknown => {
  const { toolCalls } = message
  const content = before === "" ? message.content : [{ type: "text", text: before } as const, ...message.content]
  const base = {
    role: "assistant",
    name: nameOf(message, options),
    content:
      parts.length > 0 ? [...parts, ...content.flatMap(encodePart)] : encodeContent(joined(content, before), options),
    ...members
  }
  if (toolCalls.length === 0) return base
  return {
    ...base,
    content: content.length + parts.length === 0 ? null : base.content,
    tool_calls: toolCalls.map(({ arguments: text, id, name }) => ({
      id,
      type: "function",
      function: { name, arguments: text === "" ? "{}" : text },
      extra_content: ofCalls.get(id)
    }))
  }
}

/** Joins the leading text with the text after it. */
const joined = (content: ReadonlyArray<TextPart>, before: string): ReadonlyArray<TextPart> => {
  const [first, second, ...rest] = content
  if (before === "" || first === undefined || second === undefined) return content
  return [{ ...second, text: first.text + second.text }, ...rest]
}

/** This wire format has no failure flag for a tool result, so the result's own text must express it. */
const encodeResult = ({ content, isError }: ToolResult, options: Wire): unknown => {
  const texts = content.filter((part): part is TextPart => part.type === "text")
  return isError === true && texts.every((part) => part.text === "") ? WORDLESS_FAILURE : encodeContent(texts, options)
}

/** Most hosts of open models accept text parts only in user messages, and some not even there. */
const takesParts = ({ flavour, traits }: Wire): boolean =>
  (traits.tool_content ?? (flavour === "openai" ? "parts" : "string")) === "parts"

/** A single text is sent as a string, which every host accepts for every role. */
const encodeContent = (content: ReadonlyArray<Part>, options: Wire): unknown => {
  const [only, second] = content
  if (only === undefined) return ""
  if (!takesParts(options)) {
    const texts = content.filter((part): part is TextPart => part.type === "text")
    if (texts.length === content.length) return texts.map(({ text }) => text).join("\n")
  }
  return second === undefined && only.type === "text" ? only.text : content.flatMap(encodePart)
}

const encodePart = (part: Part): ReadonlyArray<unknown> => {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }]
    case "image": {
      const { detail, url } = part
      return [{ type: "image_url", image_url: { url, detail: detail === "auto" ? undefined : detail } }]
    }
    case "pdf":
      return [
        ...(part.context === undefined ? [] : [{ type: "text", text: part.context }]),
        { type: "file", file: fileOf(part) }
      ]
  }
}

/** A file needs a name on OpenAI's wires. */
export const fileOf = ({ data, name }: PdfPart) => ({
  filename: name ?? "document.pdf",
  file_data: `data:application/pdf;base64,${data}`
})

/** Mistral's own host rejects each field outside its API with 422, and returns a stream's usage without being asked. */
const isMistral = ({ offer }: Candidate): boolean => offer.provider === "mistral"

/** Returns the value if the host's API has the field. */
const tells = <A>(candidate: Candidate, value: A): A | undefined => (isMistral(candidate) ? undefined : value)

/** OpenAI's models, xAI's and Mistral's host reject unknown parameters. Other hosts ignore them. */
const isOpen = (candidate: Candidate, { flavour }: ChatWireOptions): boolean =>
  flavour === "compatible" && candidate.model.vendor !== "xai" && !isMistral(candidate)

/** Returns a parameter if the model accepts it. */
export const ifAccepted =
  (candidate: Candidate, options: ChatWireOptions) =>
  <A>(name: string, value: A | undefined): A | undefined => {
    if (value === undefined || options.traitsOf?.(candidate).omits?.includes(name) === true) return undefined
    return isOpen(candidate, options) || candidate.model.supportedParameters.includes(name) ? value : undefined
  }

const encodeTools = (
  { tools, toolChoice, parallelToolCalls }: Conversation,
  candidate: Candidate,
  wire: Wire
): object => {
  if (tools.length === 0) return {}
  const { namedChoice, omits } = wire.traits
  const named = toolChoice.type === "tool" ? toolChoice.name : undefined
  // A host that accepts no named tool choice receives only that tool.
  const alone = named !== undefined && namedChoice === false
  const offered = alone ? tools.filter(({ name }) => name === named) : tools
  const choice = alone
    ? "required"
    : named === undefined
      ? toolChoice.type
      : { type: "function", function: { name: named } }
  return {
    tools: offered.map(({ name, description, isOpen, parameters, strict }) => ({
      type: "function",
      function: {
        name,
        description,
        parameters: parameters && parametersFor(parameters, candidate),
        strict: isOpen === true || omits?.includes("strict") === true ? undefined : strict
      }
    })),
    tool_choice: choice,
    parallel_tool_calls: ifAccepted(candidate, wire)("parallel_tool_calls", parallelToolCalls)
  }
}

const encodeFormat = ({ format }: Conversation, { jsonObject }: HostTraits): object | undefined => {
  if (format.type === "text") return undefined
  if (format.type === "json_object") {
    if (jsonObject !== false) return { type: "json_object" }
    return { type: "json_schema", json_schema: { name: "object", schema: { type: "object" } } }
  }
  const { description, name, schema, strict } = format
  return { type: "json_schema", json_schema: { name, description, schema, strict } }
}

/** OpenAI's reasoning models accept no sampling parameters, and xAI's only some. */
const encodeSampling = ({ sampling }: Conversation, candidate: Candidate, options: ChatWireOptions): object => {
  const open = isOpen(candidate, options)
  const taken = ifAccepted(candidate, options)
  return {
    temperature: taken("temperature", sampling.temperature),
    top_p: taken("top_p", sampling.topP),
    frequency_penalty: taken("frequency_penalty", sampling.frequencyPenalty),
    presence_penalty: taken("presence_penalty", sampling.presencePenalty),
    [isMistral(candidate) ? "random_seed" : "seed"]: taken("seed", sampling.seed),
    stop: taken("stop", stopSequencesOf(sampling)),
    logprobs: taken("logprobs", sampling.logprobs),
    top_logprobs: taken("top_logprobs", sampling.topLogprobs),
    ...(open
      ? {
          top_k: taken("top_k", sampling.topK),
          min_p: taken("min_p", sampling.minP),
          repetition_penalty: taken("repetition_penalty", sampling.repetitionPenalty)
        }
      : { verbosity: taken("verbosity", sampling.verbosity) })
  }
}

const besideTools = ({ candidate, conversation }: ChatCall, { flavour }: ChatWireOptions): Effort | undefined =>
  flavour === "openai" && conversation.tools.length > 0 ? effortBesideTools(candidate.offer.upstreamId) : undefined

/** Fields that control how much a call reasons, and those that make the host separate the reasoning from the answer. */
const encodeReasoning = (call: ChatCall, wire: Wire): object => {
  const { candidate, conversation } = call
  const { traits } = wire
  const beside = besideTools(call, wire)
  if (beside !== undefined) return { reasoning_effort: beside }
  const adds = candidate.model.capabilities.includes("reasoning") ? traits.adds : undefined
  const wanted = wantedEffort(conversation.reasoning, candidate)
  if (wanted === undefined) return { ...adds }
  const off = wanted === "none" ? reasoningOffFields(traits) : undefined
  if (off !== undefined) return { ...adds, ...off }
  const effort = nearestEffort(wanted, traits.efforts ?? effortsOf(call, wire))
  const on = wanted === "none" ? undefined : reasoningOnFields(traits, effort)
  return { ...adds, ...on, reasoning_effort: effort }
}

/** The reasoning effort of a call in a value that its model accepts; undefined when the request names none. */
export const requestedEffort = (call: ChatCall, options: ChatWireOptions): Effort | undefined =>
  effortOf(call.conversation.reasoning, call.candidate, effortsOf(call, options))

const effortsOf = ({ candidate }: ChatCall, { efforts, flavour }: ChatWireOptions): ReadonlyArray<Effort> => {
  const { upstreamId } = candidate.offer
  if (efforts !== undefined) return efforts(upstreamId)
  if (candidate.model.vendor === "mistral") return EFFORTS_OF_MISTRAL
  return flavour === "openai" ? effortsOfOpenAi(upstreamId) : EFFORTS
}

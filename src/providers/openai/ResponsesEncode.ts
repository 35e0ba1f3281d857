import type { Conversation, Message, OutputFormat, Part } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { type OwnReasoning, ownReasoning, type Piece, piecesOf } from "../../domain/Reasoning.ts"
import type { ChatCall } from "../Provider.ts"
import { WORDLESS_FAILURE } from "../wire/ToolFailure.ts"
import { requestedEffort, boundedImages, fileOf, ifAccepted, withIdsFor } from "./ChatEncode.ts"
import type { ChatWireOptions } from "./HostTraits.ts"
import { effortBesideTools } from "./Effort.ts"
import { endUserOf } from "./EndUser.ts"
import { parametersFor } from "./ToolParameters.ts"

/** The smallest output cap that the API accepts. */
const MIN_OUTPUT_TOKENS = 16

/** Whether a call should reason together with functions, which its model does only in this API. */
export const reasonsBesideTools = (call: ChatCall, options: ChatWireOptions): boolean => {
  const { candidate, conversation, maxOutputTokens } = call
  if (options.flavour !== "openai" || conversation.tools.length === 0) return false
  if (maxOutputTokens < MIN_OUTPUT_TOKENS) return false
  if (effortBesideTools(candidate.offer.upstreamId) === undefined) return false
  const effort = requestedEffort(call, options)
  return effort !== undefined && effort !== "none"
}

/**
 * Encodes a chat call as the JSON of `POST /responses` (https://platform.openai.com/docs/api-reference/responses/create), with storage
 * at the host turned off. The API has no stop sequences, seeds or penalties, and models that reason accept none anyway.
 */
export const encodeResponse = (call: ChatCall, stream: boolean, options: ChatWireOptions): string => {
  const { candidate, conversation, maxOutputTokens } = call
  const taken = ifAccepted(candidate, options)
  const { parallelToolCalls, sampling } = conversation
  return JSON.stringify({
    model: candidate.offer.upstreamId,
    input: withIdsFor(candidate, boundedImages(conversation.messages, candidate)).flatMap((message) =>
      itemsOf(message, candidate)
    ),
    store: false,
    include: ["reasoning.encrypted_content"],
    ...(stream ? { stream: true, stream_options: { include_obfuscation: false } } : {}),
    max_output_tokens: maxOutputTokens,
    ...toolsOf(conversation, candidate),
    parallel_tool_calls: taken("parallel_tool_calls", parallelToolCalls),
    reasoning: { effort: requestedEffort(call, options) },
    text: { format: formatOf(conversation.format), verbosity: taken("verbosity", sampling.verbosity) },
    temperature: taken("temperature", sampling.temperature),
    top_p: taken("top_p", sampling.topP),
    user: conversation.user && endUserOf(conversation.user),
    prompt_cache_key: conversation.cacheKey
  })
}

/** A message as items: an assistant's calls come with the reasoning that led to them. */
const itemsOf = (message: Message, candidate: Candidate): ReadonlyArray<unknown> => {
  switch (message.role) {
    case "system":
    case "user":
      return [{ role: message.role, content: contentOf(message.content) }]
    case "tool": {
      const wordless = message.content.every((part) => part.type === "text" && part.text === "")
      const output = message.isError === true && wordless ? WORDLESS_FAILURE : contentOf(message.content)
      return [{ type: "function_call_output", call_id: message.toolCallId, output }]
    }
    case "assistant": {
      const items = piecesOf(message, ownReasoning(message, candidate)).flatMap(itemOf)
      return items.length === 0 ? [{ role: "assistant", content: "" }] : items
    }
  }
}

const itemOf = (piece: Piece): ReadonlyArray<unknown> => {
  switch (piece.type) {
    case "reasoning":
      return reasoningItems(piece.reasoning)
    case "text":
      return [{ role: "assistant", content: piece.part.text }]
    case "call": {
      const { arguments: text, id, name } = piece.call
      return [{ type: "function_call", call_id: id, name, arguments: text === "" ? "{}" : text }]
    }
  }
}

/** Reasoning that the host encrypted. Reasoning in another form is omitted. */
const reasoningItems = ({ data, text }: OwnReasoning): ReadonlyArray<unknown> => {
  const { encrypted, id } = data
  if (typeof encrypted !== "string") return []
  const summary = text === "" ? [] : [{ type: "summary_text", text }]
  return [{ type: "reasoning", id, summary, encrypted_content: encrypted }]
}

/** A single text is sent as a string. */
const contentOf = (content: ReadonlyArray<Part>): unknown => {
  const [only, second] = content
  if (only === undefined) return ""
  return second === undefined && only.type === "text" ? only.text : content.flatMap(partsOf)
}

const partsOf = (part: Part): ReadonlyArray<unknown> => {
  switch (part.type) {
    case "text":
      return [{ type: "input_text", text: part.text }]
    case "image":
      return [{ type: "input_image", image_url: part.url, detail: part.detail }]
    case "pdf":
      return [
        ...(part.context === undefined ? [] : [{ type: "input_text", text: part.context }]),
        { type: "input_file", ...fileOf(part) }
      ]
  }
}

/** The meaning of an absent schema, which chat completions accepts and this API does not. */
const ANY_OBJECT = { type: "object", properties: {} }

/** The meaning of an absent schema in strict mode, which accepts only closed objects. */
const NO_PARAMETERS = { ...ANY_OBJECT, required: [], additionalProperties: false }

const toolsOf = ({ toolChoice, tools }: Conversation, candidate: Candidate): object => ({
  // Without the field, this API is strict and changes schemas, while chat completions is not strict.
  tools: tools.map(({ description, isOpen = false, name, parameters, strict = false }) => ({
    type: "function",
    name,
    description,
    parameters: parameters ? parametersFor(parameters, candidate) : strict ? NO_PARAMETERS : ANY_OBJECT,
    strict: strict && !isOpen
  })),
  tool_choice: toolChoice.type === "tool" ? { type: "function", name: toolChoice.name } : toolChoice.type
})

const formatOf = (format: OutputFormat): object => {
  if (format.type !== "json_schema") return { type: format.type }
  const { description, name, schema, strict } = format
  return { type: "json_schema", name, description, schema: schema ?? ANY_OBJECT, strict: schema ? strict : false }
}

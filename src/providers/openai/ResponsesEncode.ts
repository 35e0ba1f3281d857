import type { Conversation, Message, OutputFormat, Part } from "../../domain/Conversation.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { type OwnReasoning, ownReasoning, type Piece, piecesOf } from "../../domain/Reasoning.ts"
import type { ChatCall } from "../Provider.ts"
import { WORDLESS_FAILURE } from "../ToolFailure.ts"
import { askedEffort, boundedImages, type ChatWireOptions, takenBy, withIdsFor } from "./ChatEncode.ts"
import { effortBesideTools } from "./Effort.ts"
import { endUserOf } from "./EndUser.ts"

/** This wire refuses a smaller cap, in which nothing could be reasoned. */
const LEAST_OUTPUT_TOKENS = 16

/** Whether a call is to reason beside functions, which its model does on this wire alone. */
export const reasonsBesideTools = (call: ChatCall, options: ChatWireOptions): boolean => {
  const { candidate, conversation, maxOutputTokens } = call
  if (options.flavour !== "openai" || conversation.tools.length === 0) return false
  if (maxOutputTokens < LEAST_OUTPUT_TOKENS) return false
  if (effortBesideTools(candidate.offer.upstreamId) === undefined) return false
  const effort = askedEffort(call, options)
  return effort !== undefined && effort !== "none"
}

/**
 * A chat call as the JSON text of a `POST /responses` (https://platform.openai.com/docs/api-reference/responses/create). The host is
 * to keep none of it. The wire knows no stop sequences, seeds and penalties, and models that reason take none.
 */
export const encodeResponse = (call: ChatCall, stream: boolean, options: ChatWireOptions): string => {
  const { candidate, conversation, maxOutputTokens } = call
  const taken = takenBy(candidate, options)
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
    ...toolsOf(conversation),
    parallel_tool_calls: taken("parallel_tool_calls", parallelToolCalls),
    reasoning: { effort: askedEffort(call, options) },
    text: { format: formatOf(conversation.format), verbosity: taken("verbosity", sampling.verbosity) },
    temperature: taken("temperature", sampling.temperature),
    top_p: taken("top_p", sampling.topP),
    user: conversation.user && endUserOf(conversation.user),
    prompt_cache_key: conversation.cacheKey
  })
}

/** A message, and the calls of one of the assistant's with the reasoning that led to them, as items. */
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

/** Reasoning that the host encrypted; none of another form. */
const reasoningItems = ({ data, text }: OwnReasoning): ReadonlyArray<unknown> => {
  const { encrypted, id } = data
  if (typeof encrypted !== "string") return []
  const summary = text === "" ? [] : [{ type: "summary_text", text }]
  return [{ type: "reasoning", id, summary, encrypted_content: encrypted }]
}

/** One text goes as a string. */
const contentOf = (content: ReadonlyArray<Part>): unknown => {
  const [only, second] = content
  if (only === undefined) return ""
  return second === undefined && only.type === "text" ? only.text : content.map(partOf)
}

const partOf = (part: Part): unknown =>
  part.type === "text"
    ? { type: "input_text", text: part.text }
    : { type: "input_image", image_url: part.url, detail: part.detail }

/** What is meant by no schema, which the other wire takes and this one does not. */
const ANY_OBJECT = { type: "object", properties: {} }

/** The same where only closed objects are taken. */
const NO_PARAMETERS = { ...ANY_OBJECT, required: [], additionalProperties: false }

const toolsOf = ({ toolChoice, tools }: Conversation): object => ({
  // Where nothing is said of it, this wire means strict, which changes schemas; the other one means that it is not.
  tools: tools.map(({ description, name, parameters, strict = false }) => ({
    type: "function",
    name,
    description,
    parameters: parameters ?? (strict ? NO_PARAMETERS : ANY_OBJECT),
    strict
  })),
  tool_choice: toolChoice.type === "tool" ? { type: "function", name: toolChoice.name } : toolChoice.type
})

const formatOf = (format: OutputFormat): object => {
  if (format.type !== "json_schema") return { type: format.type }
  const { description, name, schema, strict } = format
  return { type: "json_schema", name, description, schema: schema ?? ANY_OBJECT, strict: schema ? strict : false }
}

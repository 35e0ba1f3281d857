import { hash } from "node:crypto"
import type {
  AssistantMessage,
  Conversation,
  ImagePart,
  Message,
  Part,
  PdfPart,
  ToolCall,
  ToolResult
} from "../../domain/Conversation.ts"
import { inlineImage } from "../../domain/ImageType.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { type OwnReasoning, piecesOf } from "../../domain/Reasoning.ts"
import { objectOf, parsedWithin } from "../wire/Json.ts"
import type { ChatCall } from "../Provider.ts"
import { fitsClaude, isStructured } from "../structured/Structured.ts"
import { WORDLESS_FAILURE } from "../wire/ToolFailure.ts"
import { objectSchema } from "../wire/ToolSchema.ts"
import { type Block, markOf, type Prompt, withBreakpoints } from "./CacheBreakpoints.ts"
import { outputSchemaOf } from "./OutputSchema.ts"
import { signedThinking, type Thinking, thinkingBlock, thinkingOf } from "./Thinking.ts"

/**
 * Encodes a chat call as the JSON of `POST /v1/messages`. A parameter that the model does not accept is omitted or replaced by the
 * nearest one.
 */
export const encodeChat = (call: ChatCall, stream: boolean): string => {
  const { candidate, conversation, maxOutputTokens } = call
  const thinking = thinkingOf(call)
  const schema = schemaOf(conversation, candidate)
  const { system, tools, turns } = withBreakpoints(call, {
    tools: encodeTools(conversation, candidate),
    ...encodeMessages(call, thinking, schema)
  })
  return JSON.stringify({
    model: candidate.offer.upstreamId,
    max_tokens: maxOutputTokens,
    ...(system.length === 0 ? {} : { system }),
    messages: turns,
    ...(stream ? { stream: true } : {}),
    ...(tools.length === 0 ? {} : { tools, tool_choice: encodeToolChoice(conversation, thinking) }),
    ...encodeSampling(conversation, candidate, thinking),
    thinking: thinking.config,
    output_config:
      thinking.effort === undefined && schema === undefined
        ? undefined
        : { effort: thinking.effort, format: schema === undefined ? undefined : { type: "json_schema", schema } },
    metadata: isOpaque(conversation.user) ? { user_id: conversation.user } : undefined,
    context_management: contextManagementOf(conversation)
  })
}

/** Compaction is left out, because it would put a summary into the answer, which no dialect can represent. */
const contextManagementOf = ({ contextEdits = [] }: Conversation): object | undefined => {
  const edits = contextEdits.filter(({ kind }) => kind !== "compact").map(({ wire }) => wire)
  return edits.length === 0 ? undefined : { edits }
}

/** The `anthropic-beta` values that context edits and other fields require. */
export const betasOf = ({ betas = [], contextEdits = [] }: Conversation): ReadonlyArray<string> => {
  const edits = contextEdits.some(({ kind }) => kind !== "compact")
  return edits && !betas.some((beta) => beta.startsWith("context-management-"))
    ? [...betas, "context-management-2025-06-27"]
    : betas
}

interface Turn {
  readonly role: "user" | "assistant"
  /** These must come before all other content of their turn. */
  readonly results: Array<Block>
  readonly blocks: Array<Block>
}

/** Replaces a turn without content, and completes a conversation that the user does not begin or end, because the host rejects both. */
const PLACEHOLDER: Block = { body: { type: "text", text: "." }, breakpoint: false }

/** The wire format has no "any JSON object" format, so the prompt asks for it. */
const INSTRUCTION: Block = {
  body: { type: "text", text: "Answer with one JSON object and nothing else." },
  breakpoint: false
}

/**
 * Moves all system messages in front of the conversation, in their order. Only the newest models accept them in its middle, and as user
 * messages they would lose their authority.
 */
const encodeMessages = (call: ChatCall, thinking: Thinking, schema: object | undefined): Omit<Prompt, "tools"> => {
  const { format, messages } = call.conversation
  const instruction = format.type === "text" || schema !== undefined ? [] : [INSTRUCTION]
  const system = messages.flatMap((message) => (message.role === "system" ? encodeParts(message.content) : []))
  // When the model does not think, the host rejects earlier thinking.
  const thoughtsOf = (message: AssistantMessage) => (thinking.on ? signedThinking(message, call.candidate) : [])
  const turns = turnsOf(messages, system, thoughtsOf)
  // A conversation of instructions only: they become the user's question.
  if (turns.length === 0 && system.some(isTaken)) turns.push({ role: "user", results: [], blocks: system.splice(0) })
  const placeholder: Turn = { role: "user", results: [], blocks: [PLACEHOLDER] }
  if (turns[0]?.role !== "user") turns.unshift(placeholder)
  // The model must not continue the assistant's text when an instruction follows it.
  if (messages.at(-1)?.role === "system" && turns.at(-1)?.role === "assistant") turns.push(placeholder)
  return {
    system: [...system, ...instruction],
    turns: turns.map(({ blocks, results, role }) => ({ role, blocks: [...results, ...blocks] }))
  }
}

const isTaken = (block: Block): boolean => block.body !== undefined

/** The turns of user and assistant in strict alternation. System messages go to `system`. */
const turnsOf = (messages: ReadonlyArray<Message>, system: Array<Block>, thoughtsOf: ThoughtsOf): Array<Turn> => {
  const turns: Array<Turn> = []
  const spoken = messages.filter((message) => message.role !== "system")
  for (const message of spoken) {
    const role = message.role === "assistant" ? "assistant" : "user"
    const blocks = encodeMessage(message, message === spoken.at(-1), thoughtsOf)
    let turn = turns.at(-1)
    if (!blocks.some(isTaken)) {
      ;(turn?.blocks ?? system).push(...blocks)
      continue
    }
    if (turn?.role !== role) {
      turn = { role, results: [], blocks: [] }
      turns.push(turn)
    }
    ;(message.role === "tool" ? turn.results : turn.blocks).push(...blocks)
  }
  return turns
}

type ThoughtsOf = (message: AssistantMessage) => ReadonlyArray<OwnReasoning>

const encodeMessage = (
  message: Exclude<Message, { role: "system" }>,
  last: boolean,
  thoughtsOf: ThoughtsOf
): ReadonlyArray<Block> => {
  switch (message.role) {
    case "user":
      return encodeParts(message.content)
    case "tool":
      return [encodeResult(message)]
    case "assistant":
      return encodeSaid(message, last, thoughtsOf(message))
  }
}

const encodeSaid = (
  message: AssistantMessage,
  last: boolean,
  thoughts: ReadonlyArray<OwnReasoning>
): ReadonlyArray<Block> => {
  const blocks = piecesOf(message, thoughts).map((piece): Block & { readonly thought?: true } => {
    switch (piece.type) {
      case "reasoning":
        return { body: thinkingBlock(piece.reasoning), breakpoint: false, thought: true }
      case "text": {
        // Text that the model continues must not end in whitespace.
        const { part } = piece
        return encodeBlock(last ? { ...part, text: part.text.trimEnd() } : part)
      }
      case "call":
        return encodeToolCall(piece.call)
    }
  })
  // The host rejects a turn that ends in thinking.
  const end = blocks.findLastIndex(({ body, thought }) => body !== undefined && thought !== true)
  return blocks.filter(({ thought }, at) => thought !== true || at < end)
}

/** On this wire, a failed tool result must have text, and text only. A result with an image is therefore not marked as failed. */
const encodeResult = (result: ToolResult): Block => {
  const { content, isError, toolCallId } = result
  const parts = encodeParts(content).flatMap(({ body }) => (body === undefined ? [] : [body]))
  const failed = isError === true && content.every((part) => part.type === "text")
  const resultParts = failed && parts.length === 0 ? [{ type: "text", text: WORDLESS_FAILURE }] : parts
  return {
    body: {
      type: "tool_result",
      tool_use_id: idOf(toolCallId),
      content: resultParts.length === 0 ? undefined : resultParts,
      is_error: failed ? true : undefined
    },
    breakpoint: markOf(result) || markOf(content.findLast((part) => part.cacheBreakpoint === true) ?? {})
  }
}

/** The host rejects texts of whitespace only, so they are omitted. */
const encodeParts = (parts: ReadonlyArray<Part>): Array<Block> => parts.map(encodeBlock)

const encodeBlock = (part: Part): Block => ({ body: encodePart(part), breakpoint: markOf(part) })

const encodePart = (part: Part): object | undefined => {
  if (part.type === "image") return encodeImage(part)
  if (part.type === "pdf") return encodePdf(part)
  return part.text.trim() === "" ? undefined : { type: "text", text: part.text }
}

const encodeImage = ({ url }: ImagePart): object => {
  const { data, type } = inlineImage(url)
  return { type: "image", source: { type: "base64", media_type: type, data } }
}

const encodePdf = ({ context, data, name }: PdfPart): object => ({
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data },
  title: name,
  context
})

const encodeToolCall = (call: ToolCall): Block => ({
  body: { type: "tool_use", id: idOf(call.id), name: call.name, input: inputOf(call.arguments) },
  breakpoint: markOf(call)
})

/**
 * Ids from another provider may contain characters that this host rejects. Call and result change in the same way, and a hash
 * distinguishes ids that differ only in such characters.
 */
const idOf = (id: string): string =>
  /^[A-Za-z0-9_-]+$/.test(id) ? id : `${id.replaceAll(/[^A-Za-z0-9_-]/g, "_")}_${hash("sha256", id, "hex").slice(0, 8)}`

/** Tool input is an object on this wire. Arguments that are not an object are kept as their text. */
const inputOf = (text: string): object => {
  if (text.trim() === "") return {}
  return objectOf(parsedWithin(text)) ?? { arguments: text }
}

const encodeTools = ({ messages, tools }: Conversation, candidate: Candidate): ReadonlyArray<Block> => {
  if (tools.length === 0) return toolsOfHistory(messages)
  return tools.map((tool) => {
    const { description, name, parameters, strict, typed } = tool
    if (typed !== undefined) return { body: typed, breakpoint: markOf(tool) }
    const schema = objectSchema(parameters ?? {})
    // Strict mode closes objects, so an object with free member names would have none.
    const held = strict === true && isStructured(candidate) && fitsClaude(schema)
    return {
      body: { name, description, input_schema: held ? outputSchemaOf(schema) : schema, ...(held ? { strict } : {}) },
      breakpoint: markOf(tool)
    }
  })
}

/** The host rejects tool calls and results in a request without tools, so the tools that were called are declared by name. */
const toolsOfHistory = (messages: ReadonlyArray<Message>): ReadonlyArray<Block> => {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []))
  const names = new Set(calls.map(({ name }) => name))
  return [...names].map((name) => ({ body: { name, input_schema: { type: "object" } }, breakpoint: false }))
}

const encodeToolChoice = ({ parallelToolCalls, toolChoice, tools }: Conversation, { freeChoice }: Thinking): object => {
  if (toolChoice.type === "none" || tools.length === 0) return { type: "none" }
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  if (toolChoice.type === "auto" || freeChoice) return { type: "auto", ...single }
  return toolChoice.type === "tool" ? { type: "tool", name: toolChoice.name, ...single } : { type: "any", ...single }
}

const schemaOf = ({ format }: Conversation, candidate: Candidate): object | undefined =>
  format.type === "json_schema" && format.schema !== undefined && isStructured(candidate)
    ? outputSchemaOf(format.schema)
    : undefined

/**
 * Newer models reject all sampling parameters. All models reject them while they think, and reject a temperature together with a top-p.
 */
const encodeSampling = ({ sampling }: Conversation, { model }: Candidate, thinking: Thinking): object => {
  const takes = (name: string) => !thinking.on && model.supportedParameters.includes(name)
  const stop = sampling.stop?.filter((text) => text.trim() !== "") ?? []
  const temperature = takes("temperature") ? sampling.temperature : undefined
  return {
    // Other vendors' scale ends at 2, this one at 1.
    temperature: temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: temperature === undefined && takes("top_p") ? sampling.topP : undefined,
    top_k: takes("top_k") ? sampling.topK : undefined,
    stop_sequences: stop.length === 0 ? undefined : stop
  }
}

/** The host rejects an email address or a phone number as a user id. */
const isOpaque = (user: string | undefined): boolean =>
  user !== undefined && /^[A-Za-z0-9_-]{1,256}$/.test(user) && /[A-Za-z]/.test(user)

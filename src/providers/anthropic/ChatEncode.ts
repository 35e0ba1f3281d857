import type { Conversation, ImagePart, Message, Part, ToolCall } from "../../domain/Conversation.ts"
import { inlineImage } from "../../domain/ImageType.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { objectOf, parsed } from "../Json.ts"
import type { ChatCall } from "../Provider.ts"
import { isStructured } from "../Structured.ts"
import { outputSchemaOf } from "./OutputSchema.ts"
import { type Thinking, thinkingOf } from "./Thinking.ts"

/** A chat call as the JSON text of a `POST /v1/messages`. What the model does not take is left out or put as near as it can be. */
export const encodeChat = (call: ChatCall, stream: boolean): string => {
  const { candidate, conversation, maxOutputTokens } = call
  const thinking = thinkingOf(call)
  const schema = schemaOf(conversation, candidate)
  return JSON.stringify({
    model: candidate.offer.upstreamId,
    max_tokens: maxOutputTokens,
    ...encodeMessages(conversation, schema),
    ...(stream ? { stream: true } : {}),
    ...encodeTools(conversation, candidate, thinking),
    ...encodeSampling(conversation, candidate, thinking),
    thinking: thinking.config,
    output_config:
      thinking.effort === undefined && schema === undefined
        ? undefined
        : { effort: thinking.effort, format: schema === undefined ? undefined : { type: "json_schema", schema } },
    metadata: isOpaque(conversation.user) ? { user_id: conversation.user } : undefined
  })
}

interface Turn {
  readonly role: "user" | "assistant"
  /** Must come before all else in their turn. */
  readonly results: Array<object>
  readonly blocks: Array<object>
}

/** What the host refuses as a turn without content, or as a conversation that the user does not begin, says this instead. */
const PLACEHOLDER = { type: "text", text: "." }

/** The wire has no word for any JSON object: it is asked for. */
const INSTRUCTION = { type: "text", text: "Answer with one JSON object and nothing else." }

/**
 * All system messages go before the conversation, in their order, wherever they stood: only the newest models take them in
 * its midst, and as a user's words they would lose their authority.
 */
const encodeMessages = ({ format, messages }: Conversation, schema: object | undefined): object => {
  const instruction = format.type === "text" || schema !== undefined ? [] : [INSTRUCTION]
  const system = messages.flatMap((message) => (message.role === "system" ? encodeParts(message.content) : []))
  const turns = turnsOf(messages)
  // Instructions alone are the question.
  if (turns.length === 0 && system.length > 0) turns.push({ role: "user", results: [], blocks: system.splice(0) })
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", results: [], blocks: [PLACEHOLDER] })
  const all = [...system, ...instruction]
  return {
    ...(all.length === 0 ? {} : { system: all }),
    messages: turns.map(({ blocks, results, role }) => ({ role, content: [...results, ...blocks] }))
  }
}

/** The turns of user and assistant in strict alternation. */
const turnsOf = (messages: ReadonlyArray<Message>): Array<Turn> => {
  const turns: Array<Turn> = []
  const spoken = messages.filter((message) => message.role !== "system")
  for (const message of spoken) {
    const role = message.role === "assistant" ? "assistant" : "user"
    const blocks = encodeMessage(message, message === spoken.at(-1))
    if (blocks.length === 0) continue
    let turn = turns.at(-1)
    if (turn?.role !== role) {
      turn = { role, results: [], blocks: [] }
      turns.push(turn)
    }
    ;(message.role === "tool" ? turn.results : turn.blocks).push(...blocks)
  }
  return turns
}

const encodeMessage = (message: Exclude<Message, { role: "system" }>, last: boolean): ReadonlyArray<object> => {
  switch (message.role) {
    case "user":
      return encodeParts(message.content)
    case "tool": {
      const content = encodeParts(message.content)
      const block = { type: "tool_result", tool_use_id: idOf(message.toolCallId) }
      return [content.length === 0 ? block : { ...block, content }]
    }
    case "assistant": {
      // A beginning that the model is to go on with must not end in blanks.
      const content = last
        ? message.content.map((part) => ({ type: part.type, text: part.text.trimEnd() }))
        : message.content
      return [...encodeParts(content), ...message.toolCalls.map(encodeToolCall)]
    }
  }
}

/** Texts of nothing but blanks are refused, so they are left out. */
const encodeParts = (parts: ReadonlyArray<Part>): Array<object> =>
  parts
    .filter((part) => part.type === "image" || part.text.trim() !== "")
    .map((part) => (part.type === "text" ? { type: "text", text: part.text } : encodeImage(part)))

const encodeImage = ({ url }: ImagePart): object => {
  const { data, type } = inlineImage(url)
  return { type: "image", source: { type: "base64", media_type: type, data } }
}

const encodeToolCall = (call: ToolCall): object => ({
  type: "tool_use",
  id: idOf(call.id),
  name: call.name,
  input: inputOf(call.arguments)
})

/** Ids that another provider gave may have characters that are refused here; call and result change alike. */
const idOf = (id: string): string => id.replaceAll(/[^A-Za-z0-9_-]/g, "_")

/** Input is an object on this wire; what a model wrote that is none is kept as the text it was. */
const inputOf = (text: string): object => {
  if (text.trim() === "") return {}
  return objectOf(parsed(text)) ?? { arguments: text }
}

const encodeTools = (conversation: Conversation, candidate: Candidate, thinking: Thinking): object => {
  const { parallelToolCalls, toolChoice, tools } = conversation
  if (tools.length === 0) return {}
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  return {
    tools: tools.map(({ description, name, parameters, strict }) => {
      const schema = { type: "object", ...parameters }
      const held = strict === true && isStructured(candidate)
      return { name, description, input_schema: held ? outputSchemaOf(schema) : schema, ...(held ? { strict } : {}) }
    }),
    tool_choice: encodeToolChoice(toolChoice, thinking, single)
  }
}

const encodeToolChoice = (choice: Conversation["toolChoice"], { freeChoice }: Thinking, single: object) => {
  if (choice.type === "none") return { type: "none" }
  if (choice.type === "auto" || freeChoice) return { type: "auto", ...single }
  return choice.type === "tool" ? { type: "tool", name: choice.name, ...single } : { type: "any", ...single }
}

const schemaOf = ({ format }: Conversation, candidate: Candidate): object | undefined =>
  format.type === "json_schema" && format.schema !== undefined && isStructured(candidate)
    ? outputSchemaOf(format.schema)
    : undefined

/** Newer models refuse all sampling, and all refuse it while they think, or both a temperature and a nucleus. */
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

/** An address or a telephone number is refused as the name of an end user. */
const isOpaque = (user: string | undefined): boolean =>
  user !== undefined && /^[A-Za-z0-9_-]{1,256}$/.test(user) && /[A-Za-z]/.test(user)

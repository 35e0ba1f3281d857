import { countTokens as countPiece } from "gpt-tokenizer/encoding/o200k_base"
import type { Conversation, Part } from "./Conversation.ts"
import type { Output } from "./Output.ts"

/** Framing of a message in any known chat template: role, separators, name. */
const TOKENS_PER_MESSAGE = 16

/** What a chat template adds once. */
const TOKENS_PER_PROMPT = 32

/** The hidden instructions some vendors add when tools are offered (Anthropic documents up to 813). */
const TOKENS_FOR_TOOLS = 1_024

/** No vendor of the catalogue bills one image at more: the largest documented is a tiled image at high detail. */
const TOKENS_PER_IMAGE = 6_144

/** The tokenizer's time grows with the square of an unbroken run, so long texts are counted in pieces of this length. */
const PIECE_LENGTH = 512

const plainText = { disallowedSpecial: new Set<string>() }

const bytesOf = (text: string): number => Buffer.byteLength(text, "utf8")

const partBound = (part: Part): number => (part.type === "text" ? bytesOf(part.text) : TOKENS_PER_IMAGE)

/**
 * An upper bound of a conversation's prompt tokens, from the request alone. The tokenizers of all model families in the
 * catalogue are byte-level or fall back to bytes, so no text has more tokens than UTF-8 bytes; images, tools and the chat
 * template are added at the documented maxima above.
 */
export const promptBound = (conversation: Conversation): number => {
  let bound = TOKENS_PER_PROMPT
  for (const message of conversation.messages) {
    bound += TOKENS_PER_MESSAGE
    for (const part of message.content) bound += partBound(part)
    if (message.role === "tool") bound += bytesOf(message.toolCallId)
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls) {
      bound += TOKENS_PER_MESSAGE + bytesOf(call.id) + bytesOf(call.name) + bytesOf(call.arguments)
    }
  }
  if (conversation.tools.length > 0) bound += TOKENS_FOR_TOOLS
  for (const tool of conversation.tools) {
    bound += TOKENS_PER_MESSAGE + bytesOf(tool.name) + bytesOf(tool.description ?? "")
    if (tool.parameters !== undefined) bound += bytesOf(JSON.stringify(tool.parameters))
  }
  if (conversation.format.type === "json_schema") {
    bound += TOKENS_PER_MESSAGE + bytesOf(JSON.stringify(conversation.format.schema ?? {}))
  }
  return bound
}

/** The bound for a prompt of which only the text, or a number of tokens, is known. */
export const textBound = (text: string): number => TOKENS_PER_PROMPT + TOKENS_PER_MESSAGE + bytesOf(text)

/** A likely number of tokens for so many bytes of ordinary text: four bytes each. For estimates shown, never for money. */
export const likelyTokens = (bytes: number): number => Math.ceil(bytes / 4)

/**
 * Tokens of a text by the o200k vocabulary, the count used where a provider reports none. Exact to about a percent on long
 * texts, which are counted in pieces.
 */
export const countTokens = (text: string): number => {
  let tokens = 0
  for (let start = 0; start < text.length; start += PIECE_LENGTH) {
    tokens += countPiece(text.slice(start, start + PIECE_LENGTH), plainText)
  }
  return tokens
}

/** Prompt tokens of a conversation, counted. */
export const countPrompt = (conversation: Conversation): number => {
  let tokens = 3
  for (const message of conversation.messages) {
    tokens += 4
    for (const part of message.content) tokens += part.type === "text" ? countTokens(part.text) : 765
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls) tokens += 3 + countTokens(call.name) + countTokens(call.arguments)
  }
  for (const tool of conversation.tools) {
    tokens += 8 + countTokens(`${tool.name} ${tool.description ?? ""} ${JSON.stringify(tool.parameters ?? {})}`)
  }
  return tokens
}

/** Output tokens of what was delivered, counted. */
export const countOutput = (output: Output): number => {
  let tokens = countTokens(output.text) + countTokens(output.reasoning) + countTokens(output.refusal)
  for (const call of output.toolCalls) tokens += 3 + countTokens(call.name) + countTokens(call.arguments)
  return tokens
}

/** The messages of a chat completion, and the parts of their content. */
import { Schema } from "effect"
import { atMost, Count, JsonObject, orNull } from "../Bounds.ts"

/**
 * Marks the end of a part of the prompt to keep in the provider's prompt cache, as on OpenRouter. It has no effect for providers that
 * cache automatically. Only the last four of a request count.
 */
export const CacheControl = Schema.Struct({
  type: Schema.Literal("ephemeral"),
  /** How long the provider keeps it: five minutes, which is the default, or an hour, where the provider offers that. */
  ttl: orNull(Schema.Literals(["5m", "1h"]))
}).annotate({ identifier: "ChatCacheControl" })

/** The field with which a part or a tool of a prompt can end a cached part. */
export const cacheable = { cache_control: orNull(CacheControl) }

/** Text of a message. */
export const TextPart = Schema.Struct({
  type: Schema.Literal("text"),
  /** The text. */
  text: Schema.String,
  ...cacheable
}).annotate({ identifier: "ChatTextPart" })

/** An image of a message. */
export const ImagePart = Schema.Struct({
  type: Schema.Literal("image_url"),
  /** Where the image is, and in which detail the model sees it. */
  image_url: Schema.Struct({
    /** An https URL, or a data URL with base64. */
    url: Schema.String.check(Schema.isMinLength(1, { message: "must be a URL" })),
    /** Default: `auto`. `original` means `high`, because the full-size image has no cost limit. */
    detail: orNull(Schema.Literals(["auto", "low", "high", "original"]))
  }),
  ...cacheable
}).annotate({ identifier: "ChatImagePart" })

/**
 * A PDF file, for models with vision of Anthropic, Google and OpenAI; or a file of text, which every model reads after a line with the
 * file's name.
 */
export const FilePart = Schema.Struct({
  type: Schema.Literal("file"),
  /** The file, inline. */
  file: Schema.Struct({
    /**
     * A data URL with base64, at most 20 MiB: of type `application/pdf`, or of type `text/…` or `application/json` in UTF-8. The PDF
     * files of a request may have 100 pages in all.
     */
    file_data: Schema.String,
    /** The name under which the model sees the file. */
    filename: orNull(Schema.String)
  }),
  ...cacheable
}).annotate({ identifier: "ChatFilePart" })

/** A refusal of the assistant in an earlier answer. */
export const RefusalPart = Schema.Struct({
  type: Schema.Literal("refusal"),
  /** The text of the refusal. */
  refusal: Schema.String
}).annotate({ identifier: "ChatRefusalPart" })

/** Content of a message: a text, or up to 512 parts. */
const contentOf = <S extends Schema.Top>(part: S) =>
  Schema.Union([Schema.String, Schema.NonEmptyArray(part).check(atMost(512))])

/** Text as a string or in parts. */
export const TextContent = contentOf(TextPart)
/** Text as a string, or text, images and files as parts. */
export const RichContent = contentOf(Schema.Union([TextPart, ImagePart, FilePart]))
/** Text as a string, or text and refusals as parts. */
const AssistantContent = contentOf(Schema.Union([TextPart, RefusalPart]))

/** A tool call of the assistant. */
export const ToolCall = Schema.Struct({
  /** The `tool_call_id` of the message with the result. */
  id: Schema.String,
  type: Schema.Literal("function"),
  /** The function that the model calls. */
  function: Schema.Struct({
    /** The name of a declared function. */
    name: Schema.String,
    /** JSON text, as the model wrote it. It may be invalid or break the function's schema. */
    arguments: Schema.String
  })
}).annotate({ identifier: "ChatToolCall" })

/**
 * A piece of an answer's reasoning in OpenRouter's format. Send the pieces back unchanged with their message, and the model continues from its reasoning. Only this service can read a
 * signature, and only for the account for which it was made.
 */
export const ReasoningDetail = Schema.Struct({
  /** Whether the piece has its text. */
  type: Schema.Literals(["reasoning.text", "reasoning.encrypted"]),
  /** In a stream, the text comes earlier, as `reasoning`. */
  text: Schema.optionalKey(Schema.String),
  /** Contains the reasoning and the provider's data, encrypted. */
  signature: Schema.optionalKey(Schema.String),
  /** The same of a piece without its text. */
  data: Schema.optionalKey(Schema.String),
  format: Schema.Literal("unknown"),
  /** The place of the piece in the answer. */
  index: Count
}).annotate({ identifier: "ChatReasoningDetail" })
export type ReasoningDetail = typeof ReasoningDetail.Type

/** Reasoning of an assistant message in the request. */
export const reasoningFields = {
  /** The text of the answer's reasoning. */
  reasoning: orNull(Schema.String),
  /** The same text under DeepSeek's name. */
  reasoning_content: orNull(Schema.String),
  /** The details of the earlier answer, unchanged. They override the two texts. Details that this service did not sign are ignored. */
  reasoning_details: orNull(Schema.Array(JsonObject).check(atMost(512)))
}

const named = {
  /** The name of the speaker. Only OpenAI's models see it. */
  name: orNull(Schema.String)
}

/** A message of the conversation. Only messages of users and tools may contain images and files. */
export const ChatMessage = Schema.Union([
  Schema.Struct({ role: Schema.Literal("system"), content: TextContent, ...named }),
  Schema.Struct({ role: Schema.Literal("developer"), content: TextContent, ...named }),
  Schema.Struct({ role: Schema.Literal("user"), content: RichContent, ...named }),
  Schema.Struct({
    role: Schema.Literal("assistant"),
    content: orNull(AssistantContent),
    ...named,
    /** The refusal of an earlier answer. */
    refusal: orNull(Schema.String),
    ...reasoningFields,
    /** The calls that the model made, at most 128. A message of role `tool` has the result of each. */
    tool_calls: orNull(Schema.Array(ToolCall).check(atMost(128)))
  }),
  Schema.Struct({
    role: Schema.Literal("tool"),
    content: RichContent,
    /** The `id` of the call whose result this message is. */
    tool_call_id: Schema.String
  })
]).annotate({ identifier: "ChatMessage" })

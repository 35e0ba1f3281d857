import { Schema } from "effect"
import {
  atMost,
  between,
  integer,
  JsonObject,
  MESSAGES_MAX,
  orNull,
  sized,
  textOf,
  TOOL_NAME_MAX,
  TOOLS_MAX
} from "../Bounds.ts"
import { cacheable, MessagesCacheControl } from "./MessagesCache.ts"
import { MessagesContextManagement } from "./MessagesContext.ts"
import { MessagesTool, MessagesToolChoice } from "./MessagesTools.ts"
import { modelFields, routingFields, samplingFields } from "./RequestFields.ts"

const filled = (what: string) => Schema.String.check(Schema.isMinLength(1, { message: what }))

/** Text. Citations are not supported. */
export const MessagesTextBlock = Schema.Struct({
  type: Schema.Literal("text"),
  /** The text. */
  text: Schema.String,
  /** Must be absent or empty. */
  citations: orNull(Schema.Array(Schema.Unknown)),
  ...cacheable
}).annotate({ identifier: "MessagesTextBlock" })

/** An image, inline or at an https URL. */
export const MessagesImageBlock = Schema.Struct({
  type: Schema.Literal("image"),
  /** Where the image is. */
  source: Schema.Union([
    Schema.Struct({
      type: Schema.Literal("base64"),
      /** The type of the image. */
      media_type: Schema.Literals(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      /** The image in base64. */
      data: filled("must be a base64-encoded image")
    }),
    Schema.Struct({
      type: Schema.Literal("url"),
      /** An https URL. */
      url: filled("must be a URL")
    })
  ]),
  ...cacheable
}).annotate({ identifier: "MessagesImageBlock" })

const uncited = {
  /** Citations are not supported. */
  citations: orNull(
    Schema.Struct({
      /** Must be absent or false. */
      enabled: orNull(Schema.Boolean)
    })
  )
}

/**
 * A document: a text, which every model reads; or a PDF file, for models with vision of Anthropic, Google and OpenAI. The request must
 * contain the document itself.
 */
export const MessagesDocumentBlock = Schema.Struct({
  type: Schema.Literal("document"),
  /** The content: a text, text blocks, or a file in base64. */
  source: Schema.Union([
    Schema.Struct({
      type: Schema.Literal("text"),
      /** The type of the text. */
      media_type: Schema.Literal("text/plain"),
      /** The text. */
      data: Schema.String
    }),
    Schema.Struct({
      type: Schema.Literal("base64"),
      /** `application/pdf`, or `text/plain` for UTF-8. */
      media_type: Schema.String,
      /** The file in base64, a PDF file of at most 20 MiB. The PDF files of a request may have 100 pages in all. */
      data: Schema.String
    }),
    Schema.Struct({
      type: Schema.Literal("content"),
      /** A text, or at most 512 text blocks. */
      content: Schema.Union([Schema.String, Schema.Array(MessagesTextBlock).check(atMost(512))])
    })
  ]),
  /** The title. The model reads it before the text. */
  title: orNull(Schema.String),
  /** What the document is, which the model reads after the title. */
  context: orNull(Schema.String),
  ...uncited,
  ...cacheable
}).annotate({ identifier: "MessagesDocumentBlock" })

/** A tool call of the assistant. */
export const MessagesToolUseBlock = Schema.Struct({
  type: Schema.Literal("tool_use"),
  /** The `tool_use_id` of the block with the result, 1 to 256 characters. */
  id: textOf(1, 256),
  /** The name of the tool. */
  name: textOf(1, TOOL_NAME_MAX),
  /** The input of the tool. */
  input: JsonObject,
  /** Must be absent or `direct`: the model made the call. */
  caller: orNull(Schema.Struct({ type: Schema.Literal("direct") })),
  ...cacheable
}).annotate({ identifier: "MessagesToolUseBlock" })

/** A result of the client's own search, which every model reads as text. */
export const MessagesSearchResultBlock = Schema.Struct({
  type: Schema.Literal("search_result"),
  /** Where the result comes from. */
  source: Schema.String,
  /** The title of the result. */
  title: Schema.String,
  /** The result: at most 512 text blocks. */
  content: Schema.Array(MessagesTextBlock).check(atMost(512)),
  ...uncited,
  ...cacheable
}).annotate({ identifier: "MessagesSearchResultBlock" })

const prompting = [MessagesTextBlock, MessagesImageBlock, MessagesDocumentBlock, MessagesSearchResultBlock] as const

/** A tool that a client's search for tools found. The model reads its name; all tools are loaded. */
export const MessagesToolReferenceBlock = Schema.Struct({
  type: Schema.Literal("tool_reference"),
  /** The name of the tool. */
  tool_name: textOf(1, TOOL_NAME_MAX),
  ...cacheable
}).annotate({ identifier: "MessagesToolReferenceBlock" })

/** The result of a tool call. */
export const MessagesToolResultBlock = Schema.Struct({
  type: Schema.Literal("tool_result"),
  /** The `id` of the call, 1 to 256 characters. */
  tool_use_id: textOf(1, 256),
  /** A text, or at most 512 blocks. Default: empty. */
  content: orNull(
    Schema.Union([
      Schema.String,
      Schema.Array(Schema.Union([...prompting, MessagesToolReferenceBlock])).check(atMost(512))
    ])
  ),
  /** Whether the tool failed. Default: false. */
  is_error: orNull(Schema.Boolean),
  ...cacheable
}).annotate({ identifier: "MessagesToolResultBlock" })

/**
 * Thinking of an earlier answer, with its signature. Send it back unchanged, and a model of the same provider continues from it. A
 * signature that this service did not make for the same account is rejected. Thinking without a signature is plain text, which most
 * providers do not accept.
 */
export const MessagesThinkingBlock = Schema.Struct({
  type: Schema.Literal("thinking"),
  /** The text, which may be empty beside a signature. */
  thinking: Schema.String,
  /** The signature of the block in the answer, unchanged. */
  signature: orNull(Schema.String)
}).annotate({ identifier: "MessagesThinkingBlock" })

/** Thinking of an earlier answer without its text. */
export const MessagesRedactedBlock = Schema.Struct({
  type: Schema.Literal("redacted_thinking"),
  /** The data of the block in the answer, unchanged. */
  data: Schema.String
}).annotate({ identifier: "MessagesRedactedBlock" })

const blocks = <S extends Schema.Top>(block: S) => Schema.Array(block).check(...sized(1, 512, "items"))

/** One turn. System messages may also appear among the turns. */
export const MessagesMessage = Schema.Union([
  Schema.Struct({
    role: Schema.Literal("user"),
    /** A text that is not empty, or 1 to 512 blocks. */
    content: Schema.Union([filled("must not be empty"), blocks(Schema.Union([...prompting, MessagesToolResultBlock]))])
  }),
  Schema.Struct({
    role: Schema.Literal("assistant"),
    /** A text, or at most 512 blocks. */
    content: Schema.Union([
      Schema.String,
      Schema.Array(
        Schema.Union([MessagesTextBlock, MessagesToolUseBlock, MessagesThinkingBlock, MessagesRedactedBlock])
      ).check(atMost(512))
    ])
  }),
  Schema.Struct({
    role: Schema.Literal("system"),
    /** A text, or 1 to 512 text blocks. */
    content: Schema.Union([Schema.String, blocks(MessagesTextBlock)])
  })
]).annotate({ identifier: "MessagesMessage" })

const display = {
  /** `omitted`: the answer contains the signatures of its thinking without its text. Default: `summarized`. */
  display: orNull(Schema.Literals(["summarized", "omitted"]))
}

/**
 * Whether the model thinks before it answers. `adaptive`: as much as the question needs. Default: the model's own.
 */
export const MessagesThinking = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("enabled"),
    /** The maximum number of thinking tokens, at least 1,024. */
    budget_tokens: integer(1_024, Number.MAX_SAFE_INTEGER),
    ...display
  }),
  Schema.Struct({ type: Schema.Literal("disabled") }),
  Schema.Struct({ type: Schema.Literal("adaptive"), ...display })
]).annotate({ identifier: "MessagesThinking" })

/** A JSON Schema that the answer conforms to. */
export const MessagesOutputFormat = Schema.Struct({
  type: Schema.Literal("json_schema"),
  /** The JSON Schema. */
  schema: JsonObject
}).annotate({ identifier: "MessagesOutputFormat" })

/**
 * Anthropic's Messages request, for any model, with additional fields of this service. A null counts as absent. Unknown and unsupported
 * fields are rejected with `unsupported_parameter`; none is ignored.
 */
export const MessagesRequest = Schema.Struct({
  ...modelFields,
  /** The maximum number of output tokens, thinking included. */
  max_tokens: integer(1, Number.MAX_SAFE_INTEGER),
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  messages: Schema.Array(MessagesMessage).check(...sized(1, MESSAGES_MAX, "items")),
  /** Instructions before all messages: a text, or at most 512 text blocks. */
  system: orNull(Schema.Union([Schema.String, Schema.Array(MessagesTextBlock).check(atMost(512))])),
  /** Whether the answer is a stream of events. Default: false. */
  stream: orNull(Schema.Boolean),
  /** From 0 to 1. Higher values make the answer more random. Default: the model's own. */
  temperature: orNull(between(0, 1)),
  top_p: samplingFields.top_p,
  top_k: samplingFields.top_k,
  /** Up to four texts at which the model stops. The answer does not contain them. */
  stop_sequences: orNull(Schema.Array(Schema.String).check(atMost(4))),
  /** The tools that the model may call, at most 512. */
  tools: orNull(Schema.Array(MessagesTool).check(atMost(TOOLS_MAX))),
  tool_choice: orNull(MessagesToolChoice),
  thinking: orNull(MessagesThinking),
  /** The effort and the format of the answer. */
  output_config: orNull(
    Schema.Struct({
      /** How much a reasoning model thinks. Default: the model's own. `max` means `xhigh`. */
      effort: orNull(Schema.Literals(["low", "medium", "high", "xhigh", "max"])),
      format: orNull(MessagesOutputFormat)
    })
  ),
  /** The same as `output_config.format`, which takes precedence. */
  output_format: orNull(MessagesOutputFormat),
  /** Facts about the request. */
  metadata: orNull(
    Schema.Struct({
      /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
      user_id: orNull(textOf(0, 256))
    })
  ),
  /** No effect: every request is served at the standard tier. */
  service_tier: orNull(Schema.Literals(["auto", "standard_only"])),
  /** No effect: every request is served at the standard speed. */
  speed: orNull(Schema.Literal("standard")),
  /** Sets prompt cache breakpoints automatically, as `routing.caching: "auto"` does. */
  cache_control: orNull(MessagesCacheControl),
  /** Anthropic performs the edits itself. For other providers, the gateway removes the content. */
  context_management: orNull(MessagesContextManagement),
  /** The same as `metadata.user_id`, which it overrides. At most 256 characters. */
  user: orNull(textOf(0, 256)),
  /** OpenRouter's form of `routing`. */
  provider: orNull(JsonObject),
  ...routingFields
}).annotate({ identifier: "MessagesRequest" })
export type MessagesRequest = typeof MessagesRequest.Type

/** A messages request for a token count. `max_tokens` may be omitted. */
export const MessagesCountRequest = Schema.Struct({
  ...MessagesRequest.fields,
  max_tokens: orNull(MessagesRequest.fields.max_tokens)
}).annotate({ identifier: "MessagesCountRequest" })
export type MessagesCountRequest = typeof MessagesCountRequest.Type

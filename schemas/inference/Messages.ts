import { Schema } from "effect"
import {
  atMost,
  between,
  Count,
  integer,
  MESSAGES_MAX,
  sized,
  textOf,
  TOOL_NAME_MAX,
  ToolName,
  TOOLS_MAX,
  Usd
} from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { MessagesErrorObject } from "../MessagesErrors.ts"
import { MessagesContextManagement } from "./MessagesContext.ts"
import { BalanceWarning, RouterOptions, RoutingPolicy, RoutingSummary } from "../Routing.ts"

const filled = (what: string) => Schema.String.check(Schema.isMinLength(1, { message: what }))
const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

// --- request

/**
 * Caches the prompt up to and including this block at the provider, for five minutes or an hour. Writing it for an hour costs more if
 * the provider's price list says so.
 */
export const MessagesCacheControl = Schema.Struct({
  type: Schema.Literal("ephemeral"),
  ttl: orNull(Schema.Literals(["5m", "1h"])),
  /** How widely Anthropic shares the cached prompt. Passed on when `anthropic-beta` asks for it. */
  scope: orNull(textOf(1, 64))
}).annotate({ identifier: "MessagesCacheControl" })

const cacheable = { cache_control: orNull(MessagesCacheControl) }

/** Text. Citations of an earlier answer cannot be passed on, so they must be omitted. */
export const MessagesTextBlock = Schema.Struct({
  type: Schema.Literal("text"),
  text: Schema.String,
  citations: orNull(Schema.Array(Schema.Unknown)),
  ...cacheable
}).annotate({ identifier: "MessagesTextBlock" })

/** An image, inline or at an https URL. */
export const MessagesImageBlock = Schema.Struct({
  type: Schema.Literal("image"),
  source: Schema.Union([
    Schema.Struct({
      type: Schema.Literal("base64"),
      media_type: Schema.Literals(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      data: filled("must be a base64-encoded image")
    }),
    Schema.Struct({ type: Schema.Literal("url"), url: filled("must be a URL") })
  ]),
  ...cacheable
}).annotate({ identifier: "MessagesImageBlock" })

/**
 * A document of text: as it is, base64-encoded UTF-8 of type `text/plain`, or in blocks. Or a PDF file of type `application/pdf` and up
 * to 20 MiB, for models with vision of Anthropic, Google and OpenAI. The PDF files of a request may have 100 pages.
 */
export const MessagesDocumentBlock = Schema.Struct({
  type: Schema.Literal("document"),
  source: Schema.Union([
    Schema.Struct({ type: Schema.Literal("text"), media_type: Schema.Literal("text/plain"), data: Schema.String }),
    Schema.Struct({ type: Schema.Literal("base64"), media_type: Schema.String, data: Schema.String }),
    Schema.Struct({
      type: Schema.Literal("content"),
      content: Schema.Union([Schema.String, Schema.Array(MessagesTextBlock).check(atMost(512))])
    })
  ]),
  title: orNull(Schema.String),
  context: orNull(Schema.String),
  citations: orNull(Schema.Struct({ enabled: orNull(Schema.Boolean) })),
  ...cacheable
}).annotate({ identifier: "MessagesDocumentBlock" })

/** A tool call of the assistant. */
export const MessagesToolUseBlock = Schema.Struct({
  type: Schema.Literal("tool_use"),
  id: textOf(1, 256),
  name: textOf(1, TOOL_NAME_MAX),
  input: JsonObject,
  caller: orNull(Schema.Struct({ type: Schema.Literal("direct") })),
  ...cacheable
}).annotate({ identifier: "MessagesToolUseBlock" })

const prompting = [MessagesTextBlock, MessagesImageBlock, MessagesDocumentBlock] as const

/** The result of a tool call. */
export const MessagesToolResultBlock = Schema.Struct({
  type: Schema.Literal("tool_result"),
  tool_use_id: textOf(1, 256),
  content: orNull(Schema.Union([Schema.String, Schema.Array(Schema.Union(prompting)).check(atMost(512))])),
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
  thinking: Schema.String,
  signature: orNull(Schema.String)
}).annotate({ identifier: "MessagesThinkingBlock" })

/** Thinking of an earlier answer without its text. */
export const MessagesRedactedBlock = Schema.Struct({
  type: Schema.Literal("redacted_thinking"),
  data: Schema.String
}).annotate({ identifier: "MessagesRedactedBlock" })

const blocks = <S extends Schema.Top>(block: S) => Schema.Array(block).check(...sized(1, 512, "items"))

/** One turn. System messages may also appear among the turns. */
export const MessagesMessage = Schema.Union([
  Schema.Struct({
    role: Schema.Literal("user"),
    content: Schema.Union([filled("must not be empty"), blocks(Schema.Union([...prompting, MessagesToolResultBlock]))])
  }),
  Schema.Struct({
    role: Schema.Literal("assistant"),
    content: Schema.Union([
      Schema.String,
      Schema.Array(
        Schema.Union([MessagesTextBlock, MessagesToolUseBlock, MessagesThinkingBlock, MessagesRedactedBlock])
      ).check(atMost(512))
    ])
  }),
  Schema.Struct({
    role: Schema.Literal("system"),
    content: Schema.Union([Schema.String, blocks(MessagesTextBlock)])
  })
]).annotate({ identifier: "MessagesMessage" })

/** A tool that the client defines. */
export const MessagesCustomTool = Schema.Struct({
  type: orNull(Schema.Literal("custom")),
  name: ToolName,
  description: orNull(Schema.String),
  /** The JSON Schema of the input, an object. */
  input_schema: JsonObject,
  strict: orNull(Schema.Boolean),
  /** Has no effect: input is always streamed as it arrives. */
  eager_input_streaming: orNull(Schema.Boolean),
  /** Has no effect: all tools are loaded. */
  defer_loading: orNull(Schema.Boolean),
  ...cacheable
}).annotate({ identifier: "MessagesCustomTool" })

/**
 * A tool that Anthropic's API defines by its type and the client runs. Anthropic receives it unchanged. Other providers receive a
 * function with the tool's published input.
 */
export const MessagesTypedTool = Schema.Struct({
  type: Schema.String.check(
    Schema.isPattern(/^(bash|text_editor|memory|computer)_\d{8}$/, {
      message: "must be bash_*, text_editor_*, memory_* or computer_*"
    })
  ),
  name: ToolName,
  /** For a text editor: the maximum number of characters that `view` shows. */
  max_characters: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  /** For a computer: the size of its screen. */
  display_width_px: orNull(integer(1, 100_000)),
  display_height_px: orNull(integer(1, 100_000)),
  display_number: orNull(integer(0, 100_000)),
  enable_zoom: orNull(Schema.Boolean),
  strict: orNull(Schema.Boolean),
  defer_loading: orNull(Schema.Boolean),
  ...cacheable
}).annotate({ identifier: "MessagesTypedTool" })
export type MessagesTypedTool = typeof MessagesTypedTool.Type

/** A tool that the client runs. */
export const MessagesTool = Schema.Union([MessagesCustomTool, MessagesTypedTool]).annotate({
  identifier: "MessagesTool"
})

const single = { disable_parallel_tool_use: orNull(Schema.Boolean) }

/** Whether the model may, must or must not call tools. `any` means that it must call one of them. */
export const MessagesToolChoice = Schema.Union([
  Schema.Struct({ type: Schema.Literal("auto"), ...single }),
  Schema.Struct({ type: Schema.Literal("any"), ...single }),
  Schema.Struct({ type: Schema.Literal("tool"), name: Schema.String, ...single }),
  Schema.Struct({ type: Schema.Literal("none") })
]).annotate({ identifier: "MessagesToolChoice" })

/** `omitted`: the answer contains the signatures of its thinking without its text. */
const display = { display: orNull(Schema.Literals(["summarized", "omitted"])) }

/** Whether the model thinks before it answers, and its maximum number of thinking tokens. */
export const MessagesThinking = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("enabled"),
    budget_tokens: integer(1_024, Number.MAX_SAFE_INTEGER),
    ...display
  }),
  Schema.Struct({ type: Schema.Literal("disabled") }),
  Schema.Struct({ type: Schema.Literal("adaptive"), ...display })
]).annotate({ identifier: "MessagesThinking" })

/** A JSON Schema that the answer conforms to. */
export const MessagesOutputFormat = Schema.Struct({
  type: Schema.Literal("json_schema"),
  schema: JsonObject
}).annotate({ identifier: "MessagesOutputFormat" })

/**
 * Anthropic's Messages request, for any model, with additional fields of this service. A null counts as absent. Unknown and unsupported
 * fields are rejected with `unsupported_parameter`; none is ignored.
 */
export const MessagesRequest = Schema.Struct({
  /**
   * A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is
   * given.
   */
  model: orNull(ModelString),
  /** The fallback chain as a list. */
  models: orNull(Schema.Array(ModelString).check(...sized(1, 15, "items"))),
  max_tokens: integer(1, Number.MAX_SAFE_INTEGER),
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  messages: Schema.Array(MessagesMessage).check(...sized(1, MESSAGES_MAX, "items")),
  system: orNull(Schema.Union([Schema.String, Schema.Array(MessagesTextBlock).check(atMost(512))])),
  stream: orNull(Schema.Boolean),
  temperature: orNull(between(0, 1)),
  top_p: orNull(between(0, 1)),
  top_k: orNull(integer(0, 1_000_000)),
  stop_sequences: orNull(Schema.Array(Schema.String).check(atMost(4))),
  tools: orNull(Schema.Array(MessagesTool).check(atMost(TOOLS_MAX))),
  tool_choice: orNull(MessagesToolChoice),
  thinking: orNull(MessagesThinking),
  output_config: orNull(
    Schema.Struct({
      /** How much a reasoning model thinks. `max` means `xhigh`. */
      effort: orNull(Schema.Literals(["low", "medium", "high", "xhigh", "max"])),
      format: orNull(MessagesOutputFormat)
    })
  ),
  /** The same as `output_config.format`, which takes precedence. */
  output_format: orNull(MessagesOutputFormat),
  metadata: orNull(Schema.Struct({ user_id: orNull(textOf(0, 256)) })),
  /** Every request is served at the standard tier. */
  service_tier: orNull(Schema.Literals(["auto", "standard_only"])),
  /** Sets prompt cache breakpoints automatically, as `routing.caching: "auto"` does. */
  cache_control: orNull(MessagesCacheControl),
  /** Anthropic performs the edits itself. For other providers, the gateway removes the content. */
  context_management: orNull(MessagesContextManagement),
  /** The same as `metadata.user_id`, which it overrides. */
  user: orNull(textOf(0, 256)),
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  session_id: orNull(textOf(1, 256)),
  routing: orNull(RoutingPolicy),
  /** OpenRouter's form of `routing`. */
  provider: orNull(JsonObject),
  /** Options for `svc/auto`. */
  router: orNull(RouterOptions),
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  budget_cents: orNull(between(0, 1_000_000_000))
}).annotate({ identifier: "MessagesRequest" })
export type MessagesRequest = typeof MessagesRequest.Type

/** A messages request for a token count. `max_tokens` may be omitted. */
export const MessagesCountRequest = Schema.Struct({
  ...MessagesRequest.fields,
  max_tokens: orNull(MessagesRequest.fields.max_tokens)
}).annotate({ identifier: "MessagesCountRequest" })
export type MessagesCountRequest = typeof MessagesCountRequest.Type

// --- response

/** Tokens in disjoint buckets: `input_tokens` excludes prompt cache reads and writes. */
export const MessagesUsage = Schema.Struct({
  input_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
  /** The tokens of `cache_creation_input_tokens` by lifetime. */
  cache_creation: Schema.Struct({ ephemeral_5m_input_tokens: Count, ephemeral_1h_input_tokens: Count }),
  output_tokens: Count,
  /** The part of `output_tokens` that was thinking. */
  output_tokens_details: Schema.Struct({ thinking_tokens: Count })
}).annotate({ identifier: "MessagesUsage" })
export type MessagesUsage = typeof MessagesUsage.Type

/**
 * A content block of an answer. Thinking has a signature of this service, which the client sends back with the conversation so that the
 * model can continue from it. Thinking that its provider does not show is `redacted_thinking`.
 */
export const MessagesBlock = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("thinking"), thinking: Schema.String, signature: Schema.String }),
  Schema.Struct({ type: Schema.Literal("redacted_thinking"), data: Schema.String }),
  Schema.Struct({ type: Schema.Literal("tool_use"), id: Schema.String, name: Schema.String, input: JsonObject })
]).annotate({ identifier: "MessagesBlock" })
export type MessagesBlock = typeof MessagesBlock.Type

/** Why the model stopped. */
export const MessagesStopReason = Schema.Literals([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "refusal"
]).annotate({ identifier: "MessagesStopReason" })
export type MessagesStopReason = typeof MessagesStopReason.Type

const extras = {
  /** The parts that were removed from the prompt; present when the request contains `context_management`. */
  context_management: Schema.optionalKey(Schema.Struct({ applied_edits: Schema.Array(JsonObject) })),
  cost_usd: Usd,
  request_id: RequestId,
  provider: Schema.String,
  resolved_model: ModelString,
  routing: RoutingSummary,
  balance_warning: Schema.optionalKey(BalanceWarning)
}

const head = {
  id: Schema.String,
  type: Schema.Literal("message"),
  role: Schema.Literal("assistant"),
  model: ModelString
}

/** A complete answer. `cost_usd` is the charge, as on the receipt of `request_id`. */
export const MessagesAnswer = Schema.Struct({
  ...head,
  content: Schema.Array(MessagesBlock),
  stop_reason: MessagesStopReason,
  stop_sequence: Schema.NullOr(Schema.String),
  usage: MessagesUsage,
  ...extras
}).annotate({ identifier: "MessagesAnswer" })
export type MessagesAnswer = typeof MessagesAnswer.Type

const index = { index: Count }

/**
 * One event of a streamed answer. Its `type` is also the event's name. The input tokens in `message_start` are an estimate.
 * `message_delta` contains the charged counts and their cost. Nothing follows an `error`.
 */
export const MessagesStreamEvent = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("message_start"),
    message: Schema.Struct({
      ...head,
      content: Schema.Array(MessagesBlock),
      stop_reason: Schema.Null,
      stop_sequence: Schema.Null,
      usage: MessagesUsage
    })
  }),
  Schema.Struct({ type: Schema.Literal("content_block_start"), ...index, content_block: MessagesBlock }),
  Schema.Struct({
    type: Schema.Literal("content_block_delta"),
    ...index,
    delta: Schema.Union([
      Schema.Struct({ type: Schema.Literal("text_delta"), text: Schema.String }),
      Schema.Struct({ type: Schema.Literal("thinking_delta"), thinking: Schema.String }),
      Schema.Struct({ type: Schema.Literal("signature_delta"), signature: Schema.String }),
      Schema.Struct({ type: Schema.Literal("input_json_delta"), partial_json: Schema.String })
    ])
  }),
  Schema.Struct({ type: Schema.Literal("content_block_stop"), ...index }),
  Schema.Struct({
    type: Schema.Literal("message_delta"),
    delta: Schema.Struct({ stop_reason: MessagesStopReason, stop_sequence: Schema.NullOr(Schema.String) }),
    usage: MessagesUsage,
    ...extras
  }),
  Schema.Struct({ type: Schema.Literal("message_stop") }),
  Schema.Struct({ type: Schema.Literal("ping") }),
  Schema.Struct({ type: Schema.Literal("error"), error: MessagesErrorObject, request_id: RequestId })
]).annotate({ identifier: "MessagesStreamEvent" })
export type MessagesStreamEvent = typeof MessagesStreamEvent.Type

/** The tokens of a prompt, counted by one tokenizer for all models. A provider's own count may differ slightly. */
export const MessagesTokenCount = Schema.Struct({ input_tokens: Count }).annotate({ identifier: "MessagesTokenCount" })

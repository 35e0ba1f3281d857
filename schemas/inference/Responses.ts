import { Schema } from "effect"
import { atMost, between, Count, integer, MESSAGES_MAX, sized, textOf, TOOLS_MAX, Usd } from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { RouterOptions, RoutingPolicy, RoutingSummary } from "../Routing.ts"
import {
  ResponsesAdditionalTools,
  ResponsesCallItem,
  ResponsesCustomCallItem,
  ResponsesSaidCall,
  ResponsesSaidCustomCall,
  ResponsesSaidSearch,
  ResponsesSearchItem,
  ResponsesSearchOutput,
  ResponsesTool,
  ResponsesToolChoice
} from "./ResponsesTools.ts"

const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const short = (maximum: number) => textOf(0, maximum)
const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

/** The maximum number of pairs in `metadata`. */
const METADATA_MAX = 16

// --- request

/** Text of a prompt. */
export const ResponsesInputText = Schema.Struct({ type: Schema.Literal("input_text"), text: Schema.String }).annotate({
  identifier: "ResponsesInputText"
})

/** An image of a prompt: an https URL or a data URL. File ids are not supported. */
export const ResponsesInputImage = Schema.Struct({
  type: Schema.Literal("input_image"),
  image_url: Schema.String,
  /** `original` means `high`, because the full-size image has no cost limit. */
  detail: orNull(Schema.Literals(["auto", "low", "high", "original"]))
}).annotate({ identifier: "ResponsesInputImage" })

/**
 * A file as a data URL with base64. Text and JSON are put to the model as text. PDF files are for models with vision of Anthropic,
 * Google and OpenAI, and may have 100 pages in a request. Ids and URLs of files are not offered.
 */
export const ResponsesInputFile = Schema.Struct({
  type: Schema.Literal("input_file"),
  file_data: Schema.String,
  filename: orNull(short(256))
}).annotate({ identifier: "ResponsesInputFile" })

/** A part of a prompt. */
export const ResponsesInputPart = Schema.Union([ResponsesInputText, ResponsesInputImage, ResponsesInputFile])
export type ResponsesInputPart = typeof ResponsesInputPart.Type

/** A text of the assistant in an earlier answer. */
export const ResponsesSaidPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("output_text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("input_text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String })
])

const Parts = Schema.NonEmptyArray(ResponsesInputPart).check(atMost(512))

/** A message of the prompt. Only user messages may contain images. */
export const ResponsesInputMessage = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("message")),
  role: Schema.Literals(["user", "system", "developer"]),
  content: Schema.Union([Schema.String, Parts])
}).annotate({ identifier: "ResponsesInputMessage" })

/** A message of the assistant, from an earlier answer or written by the client. */
export const ResponsesSaidMessage = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("message")),
  role: Schema.Literal("assistant"),
  content: Schema.Union([Schema.String, Schema.Array(ResponsesSaidPart).check(atMost(512))])
}).annotate({ identifier: "ResponsesSaidMessage" })

/**
 * Reasoning of an earlier answer. Send it back with its `encrypted_content`, and a model of the same provider continues from it. An
 * item with content that this service did not encrypt for the same account is ignored.
 */
export const ResponsesSaidReasoning = Schema.Struct({
  type: Schema.Literal("reasoning"),
  encrypted_content: orNull(Schema.String),
  summary: orNull(Schema.Array(JsonObject)),
  content: orNull(Schema.Array(JsonObject))
}).annotate({ identifier: "ResponsesSaidReasoning" })

const output = {
  /** The id of the call. An agent's own report that answers no call has none, and names its tool instead. */
  call_id: orNull(Schema.String),
  name: orNull(Schema.String),
  namespace: orNull(Schema.String),
  output: Schema.Union([Schema.String, Parts])
}

/** The result of a tool call. */
export const ResponsesCallOutput = Schema.Struct({
  type: Schema.Literal("function_call_output"),
  ...output
}).annotate({ identifier: "ResponsesCallOutput" })

/** The result of a custom tool call. */
export const ResponsesCustomOutput = Schema.Struct({
  type: Schema.Literal("custom_tool_call_output"),
  ...output
}).annotate({ identifier: "ResponsesCustomOutput" })

/**
 * One item of a conversation. The `id` and `status` of an item that comes from an answer ask for nothing; other members beyond these are
 * named in `X-Svc-Ignored-Parameters`.
 */
export const ResponsesInputItem = Schema.Union([
  ResponsesInputMessage,
  ResponsesSaidMessage,
  ResponsesSaidReasoning,
  ResponsesSaidCall,
  ResponsesCallOutput,
  ResponsesSaidCustomCall,
  ResponsesCustomOutput,
  ResponsesAdditionalTools,
  ResponsesSaidSearch,
  ResponsesSearchOutput
])

/** The format of the answer's text. */
export const ResponsesTextFormat = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text") }),
  Schema.Struct({ type: Schema.Literal("json_object") }),
  Schema.Struct({
    type: Schema.Literal("json_schema"),
    name: textOf(1, 64),
    description: orNull(Schema.String),
    schema: orNull(JsonObject),
    strict: orNull(Schema.Boolean)
  })
]).annotate({ identifier: "ResponsesTextFormat" })

/** How much a reasoning model thinks. Unknown fields are rejected. */
export const ResponsesReasoning = Schema.Struct({
  /** `max` means `xhigh`. */
  effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  /** No effect: the answer always contains the reasoning that a provider shows. */
  summary: orNull(Schema.Literals(["auto", "concise", "detailed"])),
  max_tokens: orNull(integer(0, Number.MAX_SAFE_INTEGER)),
  enabled: orNull(Schema.Boolean),
  /** No effect: which earlier reasoning OpenAI's servers would read again. */
  context: orNull(Schema.Literals(["auto", "current_turn", "all_turns"]))
}).annotate({ identifier: "ResponsesReasoning" })

const MetadataKey = short(64)

/** Up to 16 pairs that the answer repeats. */
export const ResponsesMetadata = Schema.Record(Schema.String, short(512)).check(
  Schema.isMaxProperties(METADATA_MAX, { message: `must have at most ${METADATA_MAX} pairs` }),
  Schema.isPropertyNames(MetadataKey, { message: "must have keys of at most 64 characters" })
)

/**
 * OpenAI's Responses request, as far as it stores nothing between requests: the client sends the whole conversation each time. A null
 * counts as absent. The gateway ignores unknown fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects
 * fields of that API that would change the answer and are not supported (`store: true`, `previous_response_id`, `background: true`,
 * `conversation`, `prompt`, file ids) with `unsupported_parameter`. Tools that only OpenAI's servers run are left out and listed in
 * that header.
 */
export const ResponsesRequest = Schema.Struct({
  /**
   * A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is
   * given.
   */
  model: orNull(ModelString),
  /** The fallback chain as a list. */
  models: orNull(Schema.Array(ModelString).check(...sized(1, 15, "items"))),
  /** The user's text, or the items of a conversation: at most 1,000, or `MAX_MESSAGES` if the operator set it higher. */
  input: Schema.Union([Schema.String, Schema.Array(ResponsesInputItem).check(...sized(1, MESSAGES_MAX, "items"))]),
  /** A system message before all others. */
  instructions: orNull(Schema.String),
  /** Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  max_output_tokens: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  temperature: orNull(between(0, 2)),
  top_p: orNull(between(0, 1)),
  top_k: orNull(integer(0, 1_000_000)),
  frequency_penalty: orNull(between(-2, 2)),
  presence_penalty: orNull(between(-2, 2)),
  /** The number of alternatives to each token; only with the log-probabilities of a stream, see `include`. */
  top_logprobs: orNull(integer(0, 20)),
  tools: orNull(Schema.Array(ResponsesTool).check(atMost(TOOLS_MAX))),
  tool_choice: orNull(ResponsesToolChoice),
  parallel_tool_calls: orNull(Schema.Boolean),
  text: orNull(
    Schema.Struct({
      format: orNull(ResponsesTextFormat),
      verbosity: orNull(Schema.Literals(["low", "medium", "high"]))
    })
  ),
  reasoning: orNull(ResponsesReasoning),
  stream: orNull(Schema.Boolean),
  /** `message.output_text.logprobs` affects only streams, because a complete answer cannot contain log-probabilities. */
  include: orNull(Schema.Array(short(64)).check(atMost(32))),
  /** A prompt is never truncated: `auto` has no effect. */
  truncation: orNull(Schema.Literals(["auto", "disabled"])),
  /** No effect: it limits calls of hosted tools, which do not exist here. */
  max_tool_calls: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  /** No effect. */
  stream_options: orNull(Schema.Struct({ include_obfuscation: orNull(Schema.Boolean) })),
  metadata: orNull(ResponsesMetadata),
  user: orNull(short(256)),
  /** Used when `user` is absent. */
  safety_identifier: orNull(short(64)),
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. */
  prompt_cache_key: orNull(short(64)),
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  session_id: orNull(textOf(1, 256)),
  routing: orNull(RoutingPolicy),
  /** Options for `svc/auto`. */
  router: orNull(RouterOptions),
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  budget_cents: orNull(between(0, 1_000_000_000))
}).annotate({ identifier: "ResponsesRequest" })
export type ResponsesRequest = typeof ResponsesRequest.Type

const { input } = ResponsesRequest.fields

/** A Responses request for a token count. The model and the input may be absent. */
export const ResponsesTokensRequest = Schema.Struct({ ...ResponsesRequest.fields, input: orNull(input) }).annotate({
  identifier: "ResponsesTokensRequest"
})

// --- response

const ItemStatus = Schema.Literals(["completed", "incomplete"])

const textPart = <S extends Schema.Top>(type: S) => Schema.Struct({ type, text: Schema.String })

/** The model's reasoning, if the provider shows it. */
export const ResponsesReasoningItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("reasoning"),
  status: ItemStatus,
  summary: Schema.Array(textPart(Schema.Literal("summary_text"))),
  /** Present only when `include` contains `reasoning.encrypted_content`. Send it back so that the model continues from it. */
  encrypted_content: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ResponsesReasoningItem" })

/** The model's text. A refusal is text like any other. */
export const ResponsesMessageItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("message"),
  status: ItemStatus,
  role: Schema.Literal("assistant"),
  content: Schema.Array(
    Schema.Struct({
      type: Schema.Literal("output_text"),
      text: Schema.String,
      annotations: Schema.Array(Schema.Unknown)
    })
  )
}).annotate({ identifier: "ResponsesMessageItem" })

/** An item of an answer. */
export const ResponsesOutputItem = Schema.Union([
  ResponsesReasoningItem,
  ResponsesMessageItem,
  ResponsesCallItem,
  ResponsesCustomCallItem,
  ResponsesSearchItem
])
export type ResponsesOutputItem = typeof ResponsesOutputItem.Type

/** Token counts. `input_tokens` includes cached ones, `output_tokens` includes reasoning. */
export const ResponsesUsage = Schema.Struct({
  input_tokens: Count,
  input_tokens_details: Schema.Struct({ cached_tokens: Count, cache_creation_tokens: Count }),
  output_tokens: Count,
  output_tokens_details: Schema.Struct({ reasoning_tokens: Count }),
  total_tokens: Count
}).annotate({ identifier: "ResponsesUsage" })

/** The members that an answer has from its start. */
const said = {
  id: Schema.String,
  object: Schema.Literal("response"),
  created_at: Schema.Int,
  error: Schema.Null,
  instructions: Schema.NullOr(Schema.String),
  max_output_tokens: Schema.NullOr(Schema.Int),
  model: ModelString,
  parallel_tool_calls: Schema.Boolean,
  previous_response_id: Schema.Null,
  store: Schema.Literal(false),
  request_id: RequestId,
  metadata: Schema.Record(Schema.String, Schema.String)
}

/**
 * A complete answer. It has exactly these members, so a low balance is reported in the `X-Balance-Warning` header. `cost_usd` is the
 * charge, as on the receipt of `request_id`.
 */
export const ResponseObject = Schema.Struct({
  ...said,
  status: ItemStatus,
  incomplete_details: Schema.NullOr(
    Schema.Struct({ reason: Schema.Literals(["max_output_tokens", "content_filter"]) })
  ),
  output: Schema.Array(ResponsesOutputItem),
  output_text: Schema.String,
  usage: ResponsesUsage,
  cost_usd: Usd,
  provider: Schema.NullOr(Schema.String),
  routing: RoutingSummary
}).annotate({ identifier: "Response" })
export type ResponseObject = typeof ResponseObject.Type

/**
 * The answer at the start of a stream. Its status is `in_progress`, and members that are known only at the end, such as `usage`, are
 * null.
 */
export const ResponseBegun = Schema.Struct({
  ...said,
  status: Schema.Literal("in_progress"),
  incomplete_details: Schema.Null,
  output: Schema.Tuple([]),
  output_text: Schema.Literal(""),
  usage: Schema.Null,
  cost_usd: Schema.Null,
  provider: Schema.Null,
  routing: Schema.Null
}).annotate({ identifier: "ResponseBegun" })
export type ResponseBegun = typeof ResponseBegun.Type

/** The tokens of a prompt, by the tokenizer that the service uses when a provider reports no usage. */
export const ResponsesTokens = Schema.Struct({
  object: Schema.Literal("response.input_tokens"),
  input_tokens: Count
}).annotate({ identifier: "ResponsesTokens" })
export type ResponsesTokens = typeof ResponsesTokens.Type

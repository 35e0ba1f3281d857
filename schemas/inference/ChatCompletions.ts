import { Schema } from "effect"
import { between, integer, MESSAGES_MAX, sized, textOf, ToolName, TOOLS_MAX, Count, Usd } from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { BalanceWarning, RouterOptions, RoutingPolicy, RoutingSummary } from "../Routing.ts"

const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const atMost = (maximum: number) => Schema.isMaxLength(maximum, { message: `at most ${maximum} items` })
const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

// --- request

/**
 * Ends a part of the prompt that is worth keeping in the provider's prompt cache, as on OpenRouter; for models whose provider
 * chooses for itself it says nothing. The last four of a request count.
 */
export const CacheControl = Schema.Struct({
  type: Schema.Literal("ephemeral"),
  ttl: orNull(Schema.Literals(["5m", "1h"]))
}).annotate({ identifier: "ChatCacheControl" })
const cacheable = { cache_control: orNull(CacheControl) }

export const TextPart = Schema.Struct({
  type: Schema.Literal("text"),
  text: Schema.String,
  ...cacheable
}).annotate({ identifier: "ChatTextPart" })
export const ImagePart = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({
    /** An https URL or a data URL. */
    url: Schema.String.check(Schema.isMinLength(1, { message: "a URL" })),
    /** `original` asks for what `high` does: the image as it is has no bound. */
    detail: orNull(Schema.Literals(["auto", "low", "high", "original"]))
  }),
  ...cacheable
}).annotate({ identifier: "ChatImagePart" })

/**
 * A file: a PDF file, for models with vision of Anthropic, Google and OpenAI, or one of nothing but text, which any model reads
 * behind a line with its name.
 */
export const FilePart = Schema.Struct({
  type: Schema.Literal("file"),
  file: Schema.Struct({
    /**
     * A data URL with base64 of type `application/pdf`, or of type `text/…` or `application/json` in UTF-8, of up to 20 MiB. The PDF
     * files of a request may have 100 pages.
     */
    file_data: Schema.String,
    filename: orNull(Schema.String)
  }),
  ...cacheable
}).annotate({ identifier: "ChatFilePart" })

/** What the assistant said in place of an answer, as it is sent back in a conversation. */
export const RefusalPart = Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String }).annotate({
  identifier: "ChatRefusalPart"
})

/** Content of a message: a text, or up to 512 parts. */
const contentOf = <S extends Schema.Top>(part: S) =>
  Schema.Union([Schema.String, Schema.NonEmptyArray(part).check(atMost(512))])

/** Text, whole or in parts. */
export const TextContent = contentOf(TextPart)
/** Text, whole or in parts, images and files. */
export const RichContent = contentOf(Schema.Union([TextPart, ImagePart, FilePart]))
const AssistantContent = contentOf(Schema.Union([TextPart, RefusalPart]))

export const ToolCall = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("function"),
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
}).annotate({ identifier: "ChatToolCall" })

/**
 * A piece of an answer's reasoning, in OpenRouter's shape: `reasoning.text` has a `signature`, `reasoning.encrypted` has `data`
 * alone. Send the pieces back with their message, as they came, and the model goes on from its reasoning. Only this service can read
 * a signature, and only for the account it was made for.
 */
export const ReasoningDetail = Schema.Struct({
  type: Schema.Literals(["reasoning.text", "reasoning.encrypted"]),
  /** In a stream the text comes before, as `reasoning`. */
  text: Schema.optionalKey(Schema.String),
  signature: Schema.optionalKey(Schema.String),
  data: Schema.optionalKey(Schema.String),
  format: Schema.Literal("unknown"),
  index: Count
}).annotate({ identifier: "ChatReasoningDetail" })
export type ReasoningDetail = typeof ReasoningDetail.Type

/** Reasoning of an assistant's message, as it is sent back. */
export const saidReasoning = {
  reasoning: orNull(Schema.String),
  /** The same under the name that DeepSeek gave it. */
  reasoning_content: orNull(Schema.String),
  /** As they came with the message. They go before the two texts; pieces that this service did not sign are ignored. */
  reasoning_details: orNull(Schema.Array(JsonObject).check(atMost(512)))
}

export const ChatMessage = Schema.Union([
  Schema.Struct({ role: Schema.Literal("system"), content: TextContent, name: orNull(Schema.String) }),
  Schema.Struct({ role: Schema.Literal("developer"), content: TextContent, name: orNull(Schema.String) }),
  Schema.Struct({ role: Schema.Literal("user"), content: RichContent, name: orNull(Schema.String) }),
  Schema.Struct({
    role: Schema.Literal("assistant"),
    content: orNull(AssistantContent),
    name: orNull(Schema.String),
    refusal: orNull(Schema.String),
    ...saidReasoning,
    tool_calls: orNull(Schema.Array(ToolCall).check(atMost(128)))
  }),
  Schema.Struct({ role: Schema.Literal("tool"), content: RichContent, tool_call_id: Schema.String })
]).annotate({ identifier: "ChatMessage" })

export const ChatTool = Schema.Struct({
  type: Schema.Literal("function"),
  function: Schema.Struct({
    name: ToolName,
    description: orNull(Schema.String),
    /** JSON Schema of the arguments. */
    parameters: orNull(JsonObject),
    strict: orNull(Schema.Boolean)
  }),
  ...cacheable
}).annotate({ identifier: "ChatTool" })

const NamedTool = Schema.Struct({
  type: Schema.Literal("function"),
  function: Schema.Struct({ name: Schema.String })
})

export const ToolChoice = Schema.Union([
  Schema.Literals(["auto", "none", "required"]),
  NamedTool,
  Schema.Struct({
    type: Schema.Literal("allowed_tools"),
    /** The model is offered only these of the tools. */
    allowed_tools: Schema.Struct({
      mode: Schema.Literals(["auto", "required"]),
      tools: Schema.Array(NamedTool).check(...sized(1, TOOLS_MAX, "items"))
    })
  })
]).annotate({ identifier: "ChatToolChoice" })

export const ResponseFormat = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text") }),
  Schema.Struct({ type: Schema.Literal("json_object") }),
  Schema.Struct({
    type: Schema.Literal("json_schema"),
    json_schema: Schema.Struct({
      name: textOf(1, 64),
      description: orNull(Schema.String),
      schema: orNull(JsonObject),
      strict: orNull(Schema.Boolean)
    })
  })
]).annotate({ identifier: "ChatResponseFormat" })

/** How much a reasoning model thinks. Nothing but these fields is allowed. */
export const ChatReasoning = Schema.Struct({
  effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh"])),
  max_tokens: orNull(integer(0, Number.MAX_SAFE_INTEGER)),
  enabled: orNull(Schema.Boolean)
}).annotate({ identifier: "ChatReasoning" })

/**
 * OpenAI's chat completion request with OpenRouter's additions. A null counts as absent, as it does there. Members this service
 * does not know are ignored and named in the header `X-Svc-Ignored-Parameters`; members of those APIs that would change the
 * answer and are not offered are refused as `unsupported_parameter`.
 */
export const ChatCompletionRequest = Schema.Struct({
  /**
   * A model id, a fallback chain of up to 15 ids joined by commas, or `@` and the slug of a preset. Required unless `models` is
   * given.
   */
  model: orNull(ModelString),
  /** The fallback chain as a list. */
  models: orNull(Schema.Array(ModelString).check(...sized(1, 15, "items"))),
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  messages: Schema.Array(ChatMessage).check(...sized(1, MESSAGES_MAX, "items")),
  stream: orNull(Schema.Boolean),
  stream_options: orNull(Schema.Struct({ include_usage: orNull(Schema.Boolean) })),
  /** Without one the service chooses a ceiling, and holds what the account has towards it. */
  max_tokens: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  max_completion_tokens: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  temperature: orNull(between(0, 2)),
  top_p: orNull(between(0, 1)),
  top_k: orNull(integer(0, 1_000_000)),
  min_p: orNull(between(0, 1)),
  repetition_penalty: orNull(between(0, 2)),
  frequency_penalty: orNull(between(-2, 2)),
  presence_penalty: orNull(between(-2, 2)),
  seed: orNull(Schema.Int),
  stop: orNull(Schema.Union([Schema.String, Schema.Array(Schema.String).check(atMost(4))])),
  tools: orNull(Schema.Array(ChatTool).check(atMost(TOOLS_MAX))),
  tool_choice: orNull(ToolChoice),
  parallel_tool_calls: orNull(Schema.Boolean),
  response_format: orNull(ResponseFormat),
  reasoning: orNull(ChatReasoning),
  /** The same as `reasoning.effort`, which wins; `max` means `xhigh`. */
  reasoning_effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  logprobs: orNull(Schema.Boolean),
  top_logprobs: orNull(integer(0, 20)),
  /** How much is said in an answer. */
  verbosity: orNull(Schema.Literals(["low", "medium", "high"])),
  user: orNull(textOf(0, 256)),
  /** Stands in for `user`, where that is absent. */
  safety_identifier: orNull(textOf(0, 64)),
  /** A hint for OpenAI's prompt cache: requests with the same one have much in common. */
  prompt_cache_key: orNull(textOf(0, 64)),
  metadata: orNull(Schema.Record(Schema.String, Schema.String)),
  /** Requests with the same one are of one session; see `router.pin_model`. */
  session_id: orNull(textOf(1, 256)),
  routing: orNull(RoutingPolicy),
  /** How `svc/auto` may choose. */
  router: orNull(RouterOptions),
  /** The most this request may cost, in US cents; models that could cost more are left out. */
  budget_cents: orNull(between(0, 1_000_000_000))
}).annotate({ identifier: "ChatCompletionRequest" })
export type ChatCompletionRequest = typeof ChatCompletionRequest.Type

// --- response

/** Tokens of a chat call; `prompt_tokens` includes cached ones, `completion_tokens` includes reasoning. */
export const ChatUsage = Schema.Struct({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: Schema.Struct({ cached_tokens: Count, cache_creation_tokens: Count }),
  completion_tokens_details: Schema.Struct({ reasoning_tokens: Count })
}).annotate({ identifier: "ChatUsage" })

const Logprobs = Schema.NullOr(
  Schema.Struct({ content: Schema.NullOr(Schema.Array(Schema.Unknown)), refusal: Schema.Null })
)

export const FinishReason = Schema.Literals(["stop", "length", "tool_calls", "content_filter"])

/** What a model shows of its reasoning; the first two are the same text, since clients read one or the other. */
const shownReasoning = {
  reasoning: Schema.optionalKey(Schema.String),
  reasoning_content: Schema.optionalKey(Schema.String),
  reasoning_details: Schema.optionalKey(Schema.Array(ReasoningDetail))
}

export const ChatChoice = Schema.Struct({
  index: Count,
  message: Schema.Struct({
    role: Schema.Literal("assistant"),
    content: Schema.String,
    ...shownReasoning,
    refusal: Schema.optionalKey(Schema.NullOr(Schema.String)),
    tool_calls: Schema.optionalKey(Schema.Array(ToolCall))
  }),
  finish_reason: FinishReason,
  logprobs: Schema.optionalKey(Logprobs)
}).annotate({ identifier: "ChatChoice" })

/** A whole answer. `cost_usd` is what was charged; the receipt of `request_id` says the same. */
export const ChatCompletion = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("chat.completion"),
  created: Schema.Int,
  model: ModelString,
  resolved_model: ModelString,
  provider: Schema.String,
  choices: Schema.Array(ChatChoice),
  usage: ChatUsage,
  cost_usd: Usd,
  request_id: RequestId,
  routing: RoutingSummary,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "ChatCompletion" })
export type ChatCompletion = typeof ChatCompletion.Type

/**
 * One piece of a streamed answer. The last before `[DONE]` carries usage and cost; when `include_usage` was asked it has no
 * choices, else one with an empty delta. An error after the stream began comes as `error` with `finish_reason: "error"`.
 */
export const ChatCompletionChunk = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("chat.completion.chunk"),
  created: Schema.Int,
  model: ModelString,
  choices: Schema.Array(
    Schema.Struct({
      index: Count,
      delta: Schema.Struct({
        role: Schema.optionalKey(Schema.Literal("assistant")),
        content: Schema.optionalKey(Schema.String),
        ...shownReasoning,
        refusal: Schema.optionalKey(Schema.String),
        tool_calls: Schema.optionalKey(
          Schema.Array(
            Schema.Struct({
              index: Count,
              id: Schema.optionalKey(Schema.String),
              type: Schema.optionalKey(Schema.Literal("function")),
              function: Schema.Struct({
                name: Schema.optionalKey(Schema.String),
                arguments: Schema.optionalKey(Schema.String)
              })
            })
          )
        )
      }),
      finish_reason: Schema.NullOr(Schema.Literals(["stop", "length", "tool_calls", "content_filter", "error"])),
      logprobs: Schema.optionalKey(Logprobs)
    })
  ),
  usage: Schema.optionalKey(ChatUsage),
  cost_usd: Schema.optionalKey(Usd),
  request_id: Schema.optionalKey(RequestId),
  provider: Schema.optionalKey(Schema.String),
  resolved_model: Schema.optionalKey(ModelString),
  routing: Schema.optionalKey(RoutingSummary),
  balance_warning: Schema.optionalKey(BalanceWarning),
  error: Schema.optionalKey(
    Schema.Struct({
      message: Schema.String,
      type: Schema.String,
      code: Schema.String,
      param: Schema.NullOr(Schema.String)
    })
  )
}).annotate({ identifier: "ChatCompletionChunk" })
export type ChatCompletionChunk = typeof ChatCompletionChunk.Type

import { Schema } from "effect"
import { atMost, between, integer, MESSAGES_MAX, sized, textOf, ToolName, TOOLS_MAX, Count, Usd } from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { BalanceWarning, RouterOptions, RoutingPolicy, RoutingSummary } from "../Routing.ts"

const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

// --- request

/**
 * Marks the end of a part of the prompt to keep in the provider's prompt cache, as on OpenRouter. It has no effect for providers that
 * cache automatically. Only the last four of a request count.
 */
export const CacheControl = Schema.Struct({
  type: Schema.Literal("ephemeral"),
  ttl: orNull(Schema.Literals(["5m", "1h"]))
}).annotate({ identifier: "ChatCacheControl" })
const cacheable = { cache_control: orNull(CacheControl) }

/** Text of a message. */
export const TextPart = Schema.Struct({
  type: Schema.Literal("text"),
  text: Schema.String,
  ...cacheable
}).annotate({ identifier: "ChatTextPart" })
/** An image of a message. */
export const ImagePart = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({
    /** An https URL or a data URL. */
    url: Schema.String.check(Schema.isMinLength(1, { message: "must be a URL" })),
    /** `original` means `high`, because the full-size image has no cost limit. */
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

/** A refusal of the assistant in an earlier answer. */
export const RefusalPart = Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String }).annotate({
  identifier: "ChatRefusalPart"
})

/** Content of a message: a text, or up to 512 parts. */
const contentOf = <S extends Schema.Top>(part: S) =>
  Schema.Union([Schema.String, Schema.NonEmptyArray(part).check(atMost(512))])

/** Text as a string or in parts. */
export const TextContent = contentOf(TextPart)
/** Text as a string, or text, images and files as parts. */
export const RichContent = contentOf(Schema.Union([TextPart, ImagePart, FilePart]))
const AssistantContent = contentOf(Schema.Union([TextPart, RefusalPart]))

/** A tool call of the assistant. */
export const ToolCall = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("function"),
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
}).annotate({ identifier: "ChatToolCall" })

/**
 * A piece of an answer's reasoning in OpenRouter's format: `reasoning.text` has a `signature`, and `reasoning.encrypted` has only
 * `data`. Send the pieces back unchanged with their message, and the model continues from its reasoning. Only this service can read a
 * signature, and only for the account for which it was made.
 */
export const ReasoningDetail = Schema.Struct({
  type: Schema.Literals(["reasoning.text", "reasoning.encrypted"]),
  /** In a stream, the text comes earlier, as `reasoning`. */
  text: Schema.optionalKey(Schema.String),
  signature: Schema.optionalKey(Schema.String),
  data: Schema.optionalKey(Schema.String),
  format: Schema.Literal("unknown"),
  index: Count
}).annotate({ identifier: "ChatReasoningDetail" })
export type ReasoningDetail = typeof ReasoningDetail.Type

/** Reasoning of an assistant message in the request. */
export const saidReasoning = {
  reasoning: orNull(Schema.String),
  /** The same text under DeepSeek's name. */
  reasoning_content: orNull(Schema.String),
  /** The details of the earlier answer, unchanged. They override the two texts. Details that this service did not sign are ignored. */
  reasoning_details: orNull(Schema.Array(JsonObject).check(atMost(512)))
}

/** A message of the conversation. */
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

/** A function that the model may call. */
export const ChatTool = Schema.Struct({
  type: Schema.Literal("function"),
  function: Schema.Struct({
    name: ToolName,
    description: orNull(Schema.String),
    /** The JSON Schema of the arguments. */
    parameters: orNull(JsonObject),
    strict: orNull(Schema.Boolean)
  }),
  ...cacheable
}).annotate({ identifier: "ChatTool" })

const NamedTool = Schema.Struct({
  type: Schema.Literal("function"),
  function: Schema.Struct({ name: Schema.String })
})

/** Whether the model calls tools, and which. */
export const ToolChoice = Schema.Union([
  Schema.Literals(["auto", "none", "required"]),
  NamedTool,
  Schema.Struct({
    type: Schema.Literal("allowed_tools"),
    /** The model may call only these tools. */
    allowed_tools: Schema.Struct({
      mode: Schema.Literals(["auto", "required"]),
      tools: Schema.Array(NamedTool).check(...sized(1, TOOLS_MAX, "items"))
    })
  })
]).annotate({ identifier: "ChatToolChoice" })

/** The format of the answer: text, any JSON object, or JSON that conforms to a schema. */
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

/** How much a reasoning model thinks. Unknown fields are rejected. */
export const ChatReasoning = Schema.Struct({
  effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh"])),
  max_tokens: orNull(integer(0, Number.MAX_SAFE_INTEGER)),
  enabled: orNull(Schema.Boolean)
}).annotate({ identifier: "ChatReasoning" })

/**
 * OpenAI's chat completion request with OpenRouter's additions. A null counts as absent, as it does there. The gateway ignores unknown
 * fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects fields of those APIs that would change the answer
 * and are not supported, with `unsupported_parameter`.
 */
export const ChatCompletionRequest = Schema.Struct({
  /**
   * A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is
   * given.
   */
  model: orNull(ModelString),
  /** The fallback chain as a list. */
  models: orNull(Schema.Array(ModelString).check(...sized(1, 15, "items"))),
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  messages: Schema.Array(ChatMessage).check(...sized(1, MESSAGES_MAX, "items")),
  stream: orNull(Schema.Boolean),
  stream_options: orNull(Schema.Struct({ include_usage: orNull(Schema.Boolean) })),
  /** Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
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
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  reasoning_effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  logprobs: orNull(Schema.Boolean),
  top_logprobs: orNull(integer(0, 20)),
  /** How detailed the answer is. */
  verbosity: orNull(Schema.Literals(["low", "medium", "high"])),
  user: orNull(textOf(0, 256)),
  /** Used when `user` is absent. */
  safety_identifier: orNull(textOf(0, 64)),
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. */
  prompt_cache_key: orNull(textOf(0, 64)),
  metadata: orNull(Schema.Record(Schema.String, Schema.String)),
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  session_id: orNull(textOf(1, 256)),
  routing: orNull(RoutingPolicy),
  /** Options for `svc/auto`. */
  router: orNull(RouterOptions),
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  budget_cents: orNull(between(0, 1_000_000_000))
}).annotate({ identifier: "ChatCompletionRequest" })
export type ChatCompletionRequest = typeof ChatCompletionRequest.Type

// --- response

/** Token counts of a chat. `prompt_tokens` includes cached ones, `completion_tokens` includes reasoning. */
export const ChatUsage = Schema.Struct({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: Schema.Struct({ cached_tokens: Count, cache_creation_tokens: Count }),
  completion_tokens_details: Schema.Struct({ reasoning_tokens: Count }),
  /** The same as `cost_usd`, where OpenRouter's clients read it. */
  cost: Schema.optionalKey(Usd)
}).annotate({ identifier: "ChatUsage" })

const Logprobs = Schema.NullOr(
  Schema.Struct({ content: Schema.NullOr(Schema.Array(Schema.Unknown)), refusal: Schema.Null })
)

export const FinishReason = Schema.Literals(["stop", "length", "tool_calls", "content_filter"])

/** The reasoning that a model shows. The first two members contain the same text, because clients read one or the other. */
const shownReasoning = {
  reasoning: Schema.optionalKey(Schema.String),
  reasoning_content: Schema.optionalKey(Schema.String),
  reasoning_details: Schema.optionalKey(Schema.Array(ReasoningDetail))
}

/** One choice of an answer. There is always exactly one. */
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

/** A complete answer. `cost_usd` is the charge, as on the receipt of `request_id`. */
export const ChatCompletion = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("chat.completion"),
  created: Schema.Int,
  model: ModelString,
  resolved_model: ModelString,
  provider: Schema.String,
  choices: Schema.Array(ChatChoice),
  usage: ChatUsage,
  /** Always null. OpenRouter's clients require the member. */
  system_fingerprint: Schema.Null,
  cost_usd: Usd,
  request_id: RequestId,
  routing: RoutingSummary,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "ChatCompletion" })
export type ChatCompletion = typeof ChatCompletion.Type

/**
 * One chunk of a streamed answer. The last one before `[DONE]` contains usage and cost: with `include_usage` it has no choices,
 * otherwise one with an empty delta. An error after the start of the stream is a chunk with `error` and `finish_reason: "error"`.
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

import { Schema } from "effect"
import {
  atMost,
  between,
  Count,
  integer,
  JsonObject,
  MESSAGES_MAX,
  orNull,
  sized,
  textOf,
  ToolName,
  TOOLS_MAX,
  Usd
} from "../Bounds.ts"
import { ErrorObject } from "../Errors.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { BalanceWarning, RoutingSummary } from "../Routing.ts"
import { cacheable, ChatMessage, ReasoningDetail, ToolCall } from "./ChatMessages.ts"
import { endUserFields, modelFields, routingFields, samplingFields } from "./RequestFields.ts"

// --- request

/** A function that the model may call. */
export const ChatTool = Schema.Struct({
  type: Schema.Literal("function"),
  /** The function. */
  function: Schema.Struct({
    /** 1 to 256 letters, digits, underscores and dashes. */
    name: ToolName,
    /** What the function does, from which the model decides when to call it. */
    description: orNull(Schema.String),
    /** The JSON Schema of the arguments. Default: no arguments. */
    parameters: orNull(JsonObject),
    /** Whether the arguments must conform to `parameters`, where the provider can ensure that. */
    strict: orNull(Schema.Boolean)
  }),
  ...cacheable
}).annotate({ identifier: "ChatTool" })

const NamedTool = Schema.Struct({
  type: Schema.Literal("function"),
  /** The function to call. */
  function: Schema.Struct({
    /** The name of a declared function. */
    name: Schema.String
  })
})

/**
 * Whether the model calls tools, and which. `auto`, the default: the model decides. `none`: it calls none. `required`: it calls at least
 * one. A function: it calls that one.
 */
export const ToolChoice = Schema.Union([
  Schema.Literals(["auto", "none", "required"]),
  NamedTool,
  Schema.Struct({
    type: Schema.Literal("allowed_tools"),
    /** The model may call only these tools. */
    allowed_tools: Schema.Struct({
      /** Whether the model decides, or must call one of them. */
      mode: Schema.Literals(["auto", "required"]),
      /** The functions, 1 to 512. */
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
    /** The schema and its name. */
    json_schema: Schema.Struct({
      /** 1 to 64 characters. */
      name: textOf(1, 64),
      /** What the answer is, for the model. */
      description: orNull(Schema.String),
      /** The JSON Schema. */
      schema: orNull(JsonObject),
      /** Whether the answer must conform to the schema, where the provider can ensure that. */
      strict: orNull(Schema.Boolean)
    })
  })
]).annotate({ identifier: "ChatResponseFormat" })

/** How much a reasoning model thinks. Unknown fields are rejected. */
export const ChatReasoning = Schema.Struct({
  /** Default: the model's own. A model without the word uses the nearest one that it has. */
  effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh"])),
  /** The maximum number of reasoning tokens, for models with such a limit. */
  max_tokens: orNull(integer(0, Number.MAX_SAFE_INTEGER)),
  /** Whether the model reasons, for models that can do both. Default: the model's own. */
  enabled: orNull(Schema.Boolean)
}).annotate({ identifier: "ChatReasoning" })

/**
 * OpenAI's chat completion request with OpenRouter's additions. A null counts as absent, as it does there. The gateway ignores unknown
 * fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects fields of those APIs that would change the answer
 * and are not supported, with `unsupported_parameter`, and likewise fields that only another format has, such as `max_output_tokens`.
 */
export const ChatCompletionRequest = Schema.Struct({
  ...modelFields,
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  messages: Schema.Array(ChatMessage).check(...sized(1, MESSAGES_MAX, "items")),
  /** Whether the answer is a stream of chunks. Default: false. */
  stream: orNull(Schema.Boolean),
  /** Options for a stream. */
  stream_options: orNull(
    Schema.Struct({
      /** Whether the last chunk, which has the usage and the cost, has no choices, as OpenAI sends it. Default: false. */
      include_usage: orNull(Schema.Boolean)
    })
  ),
  /**
   * The maximum number of output tokens. Without a limit, the service chooses a ceiling and holds money for it as far as the balance
   * allows.
   */
  max_tokens: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  /** OpenAI's newer name of `max_tokens`, which it overrides. */
  max_completion_tokens: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  ...samplingFields,
  /** From 0 to 1. The model leaves out tokens below this share of the most likely token's probability. Default: the model's own. */
  min_p: orNull(between(0, 1)),
  /** From 0 to 2. Above 1, tokens that have occurred become less likely. Default: the model's own. */
  repetition_penalty: orNull(between(0, 2)),
  /** Requests with the same seed tend to get the same answer, where the provider supports that. */
  seed: orNull(Schema.Int),
  /** A text, or up to four, at which the model stops. The answer does not contain it. */
  stop: orNull(Schema.Union([Schema.String, Schema.Array(Schema.String).check(atMost(4))])),
  /** The functions that the model may call, at most 512. */
  tools: orNull(Schema.Array(ChatTool).check(atMost(TOOLS_MAX))),
  tool_choice: orNull(ToolChoice),
  /** Whether an answer may call several tools. Default: the model's own. */
  parallel_tool_calls: orNull(Schema.Boolean),
  response_format: orNull(ResponseFormat),
  reasoning: orNull(ChatReasoning),
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  reasoning_effort: orNull(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  /** Whether the answer has the log-probabilities of its tokens, where the model supports that. Default: false. */
  logprobs: orNull(Schema.Boolean),
  /** The number of alternatives to each token among the log-probabilities. Default: 0. */
  top_logprobs: orNull(integer(0, 20)),
  /** How detailed the answer is. Default: the model's own. */
  verbosity: orNull(Schema.Literals(["low", "medium", "high"])),
  ...endUserFields,
  /** Texts of the client's own. They have no effect. */
  metadata: orNull(Schema.Record(Schema.String, Schema.String)),
  ...routingFields
}).annotate({ identifier: "ChatCompletionRequest" })
export type ChatCompletionRequest = typeof ChatCompletionRequest.Type

// --- response

/** Token counts of a chat. */
export const ChatUsage = Schema.Struct({
  /** The tokens of the prompt, prompt cache reads and writes included. */
  prompt_tokens: Count,
  /** The tokens of the output, reasoning included. */
  completion_tokens: Count,
  /** The sum of both. */
  total_tokens: Count,
  /** Parts of `prompt_tokens`. */
  prompt_tokens_details: Schema.Struct({
    /** Tokens read from the prompt cache. */
    cached_tokens: Count,
    /** Tokens written to the prompt cache. */
    cache_creation_tokens: Count
  }),
  /** Parts of `completion_tokens`. */
  completion_tokens_details: Schema.Struct({
    /** Tokens of reasoning, shown or hidden. */
    reasoning_tokens: Count
  }),
  /** The same as `cost_usd`, where OpenRouter's clients read it. */
  cost: Schema.optionalKey(Usd)
}).annotate({ identifier: "ChatUsage" })

/** Log-probabilities in OpenAI's format; null without any. */
const Logprobs = Schema.NullOr(
  Schema.Struct({
    /** An entry for each token. */
    content: Schema.NullOr(Schema.Array(Schema.Unknown)),
    /** Always null. */
    refusal: Schema.Null
  })
)

/**
 * Why the answer ended: the model was done or wrote a stop sequence, the limit of the output was reached, the model called tools, or the
 * answer was filtered.
 */
export const FinishReason = Schema.Literals(["stop", "length", "tool_calls", "content_filter"])

/** The reasoning that a model shows. The first two members contain the same text, because clients read one or the other. */
const shownReasoning = {
  /** The text of the reasoning, if the model shows it. */
  reasoning: Schema.optionalKey(Schema.String),
  /** The same text under DeepSeek's name. */
  reasoning_content: Schema.optionalKey(Schema.String),
  /** The reasoning in pieces, which the client sends back with its message. */
  reasoning_details: Schema.optionalKey(Schema.Array(ReasoningDetail))
}

/** One choice of an answer. There is always exactly one. */
export const ChatChoice = Schema.Struct({
  /** Always 0. */
  index: Count,
  /** The model's message. */
  message: Schema.Struct({
    role: Schema.Literal("assistant"),
    /** The text; empty when there is none. */
    content: Schema.String,
    ...shownReasoning,
    /** The text of a refusal; null without one. */
    refusal: Schema.optionalKey(Schema.NullOr(Schema.String)),
    /** The calls that the model makes; absent without any. */
    tool_calls: Schema.optionalKey(Schema.Array(ToolCall))
  }),
  finish_reason: FinishReason,
  logprobs: Schema.optionalKey(Logprobs)
}).annotate({ identifier: "ChatChoice" })

/** A complete answer. */
export const ChatCompletion = Schema.Struct({
  /** `chatcmpl-` and the end of the request's id. */
  id: Schema.String,
  object: Schema.Literal("chat.completion"),
  /** Unix seconds. */
  created: Schema.Int,
  /** The model as the request names it. */
  model: ModelString,
  /** The model that served. */
  resolved_model: ModelString,
  /** The provider that served. */
  provider: Schema.String,
  /** The answer: exactly one choice. */
  choices: Schema.Array(ChatChoice),
  usage: ChatUsage,
  /** Always null. OpenRouter's clients require the member. */
  system_fingerprint: Schema.Null,
  /** The charge in USD, as on the receipt of `request_id`. */
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
  /** `chatcmpl-` and the end of the request's id. */
  id: Schema.String,
  object: Schema.Literal("chat.completion.chunk"),
  /** Unix seconds. */
  created: Schema.Int,
  /** The model as the request names it. */
  model: ModelString,
  /** The next part of the answer. */
  choices: Schema.Array(
    Schema.Struct({
      /** Always 0. */
      index: Count,
      /** What is added to the message. */
      delta: Schema.Struct({
        role: Schema.optionalKey(Schema.Literal("assistant")),
        /** The next piece of the text. */
        content: Schema.optionalKey(Schema.String),
        ...shownReasoning,
        /** The next piece of a refusal. */
        refusal: Schema.optionalKey(Schema.String),
        /** The next pieces of tool calls. */
        tool_calls: Schema.optionalKey(
          Schema.Array(
            Schema.Struct({
              /** The place of the call in the message. */
              index: Count,
              /** The id of the call, in its first piece. */
              id: Schema.optionalKey(Schema.String),
              type: Schema.optionalKey(Schema.Literal("function")),
              /** The called function. */
              function: Schema.Struct({
                /** The name, in the first piece. */
                name: Schema.optionalKey(Schema.String),
                /** The next piece of the arguments. */
                arguments: Schema.optionalKey(Schema.String)
              })
            })
          )
        )
      }),
      /** Why the answer ended; null before. `error`: the answer broke off. */
      finish_reason: Schema.NullOr(Schema.Literals(["stop", "length", "tool_calls", "content_filter", "error"])),
      logprobs: Schema.optionalKey(Logprobs)
    })
  ),
  usage: Schema.optionalKey(ChatUsage),
  /** The charge in USD, in the chunk with the usage or with the error. */
  cost_usd: Schema.optionalKey(Usd),
  /** The id of the request, in the chunk with the usage or with the error. */
  request_id: Schema.optionalKey(RequestId),
  /** The provider that served, in the chunk with the usage. */
  provider: Schema.optionalKey(Schema.String),
  /** The model that served, in the chunk with the usage. */
  resolved_model: Schema.optionalKey(ModelString),
  routing: Schema.optionalKey(RoutingSummary),
  balance_warning: Schema.optionalKey(BalanceWarning),
  error: Schema.optionalKey(ErrorObject)
}).annotate({ identifier: "ChatCompletionChunk" })
export type ChatCompletionChunk = typeof ChatCompletionChunk.Type

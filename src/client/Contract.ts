// Written from schemas/published/openapi.json by `npm run published`; a change here is lost.

/** One chunk of a streamed answer. The last one before `[DONE]` contains usage and cost: with `include_usage` it has no choices, otherwise one with an empty delta. An error after the start of the stream is a chunk with `error` and `finish_reason: "error"`. */
export type ChatCompletionChunk = {
  readonly id: string
  readonly object: "chat.completion.chunk"
  readonly created: number
  readonly model: string
  readonly choices: ReadonlyArray<{
    readonly index: number
    readonly delta: {
      readonly role?: "assistant"
      readonly content?: string
      readonly reasoning?: string
      readonly reasoning_content?: string
      readonly reasoning_details?: ReadonlyArray<ChatReasoningDetail>
      readonly refusal?: string
      readonly tool_calls?: ReadonlyArray<{
        readonly index: number
        readonly id?: string
        readonly type?: "function"
        readonly function: {
          readonly name?: string
          readonly arguments?: string
        }
      }>
    }
    readonly finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "error" | null
    readonly logprobs?: {
      readonly content: ReadonlyArray<unknown> | null
      readonly refusal: null
    } | null
  }>
  readonly usage?: ChatUsage
  readonly cost_usd?: number
  readonly request_id?: RequestId
  readonly provider?: string
  readonly resolved_model?: string
  readonly routing?: RoutingSummary
  readonly balance_warning?: BalanceWarning
  readonly error?: {
    readonly message: string
    readonly type: string
    readonly code: string
    readonly param: string | null
  }
}

/** One event of a streamed response, numbered from 0. The last one is `response.completed` or `response.incomplete`, which contains the complete answer. A failing stream ends with `response.failed` and then `error`, because some clients read only one of the two. There is no `[DONE]`. */
export type ResponsesStreamEvent =
  | {
      readonly type: "response.created"
      readonly sequence_number: number
      readonly response: ResponseBegun
    }
  | {
      readonly type: "response.in_progress"
      readonly sequence_number: number
      readonly response: ResponseBegun
    }
  | {
      readonly type: "response.output_item.added"
      readonly sequence_number: number
      readonly output_index: number
      readonly item: ResponsesStreamItem
    }
  | {
      readonly type: "response.output_item.done"
      readonly sequence_number: number
      readonly output_index: number
      readonly item: ResponsesStreamItem
    }
  | {
      readonly type: "response.content_part.added"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly content_index: number
      readonly part: ResponsesStreamPart
    }
  | {
      readonly type: "response.content_part.done"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly content_index: number
      readonly part: ResponsesStreamPart
    }
  | {
      readonly type: "response.output_text.delta"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly content_index: number
      readonly delta: string
      readonly logprobs: ReadonlyArray<unknown>
    }
  | {
      readonly type: "response.output_text.done"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly content_index: number
      readonly text: string
      readonly logprobs: ReadonlyArray<unknown>
    }
  | {
      readonly type: "response.refusal.delta"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly content_index: number
      readonly delta: string
    }
  | {
      readonly type: "response.refusal.done"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly content_index: number
      readonly refusal: string
    }
  | {
      readonly type: "response.reasoning_summary_part.added"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly summary_index: number
      readonly part: {
        readonly type: "summary_text"
        readonly text: string
      }
    }
  | {
      readonly type: "response.reasoning_summary_part.done"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly summary_index: number
      readonly part: {
        readonly type: "summary_text"
        readonly text: string
      }
    }
  | {
      readonly type: "response.reasoning_summary_text.delta"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly summary_index: number
      readonly delta: string
    }
  | {
      readonly type: "response.reasoning_summary_text.done"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly summary_index: number
      readonly text: string
    }
  | {
      readonly type: "response.function_call_arguments.delta"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly delta: string
    }
  | {
      readonly type: "response.function_call_arguments.done"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly name: string
      readonly arguments: string
    }
  | {
      readonly type: "response.custom_tool_call_input.delta"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly delta: string
    }
  | {
      readonly type: "response.custom_tool_call_input.done"
      readonly sequence_number: number
      readonly item_id: string
      readonly output_index: number
      readonly input: string
    }
  | {
      readonly type: "response.completed"
      readonly sequence_number: number
      readonly response: Response
      readonly balance_warning?: BalanceWarning
    }
  | {
      readonly type: "response.incomplete"
      readonly sequence_number: number
      readonly response: Response
      readonly balance_warning?: BalanceWarning
    }
  | {
      readonly type: "response.failed"
      readonly sequence_number: number
      readonly response: {
        readonly id: string
        readonly object: "response"
        readonly created_at: number
        readonly error: {
          readonly code: string
          readonly message: string
        }
        readonly instructions: string | null
        readonly max_output_tokens: number | null
        readonly model: string
        readonly parallel_tool_calls: boolean
        readonly previous_response_id: null
        readonly store: false
        readonly request_id: RequestId
        readonly metadata: Readonly<Record<string, string>>
        readonly status: "failed"
        readonly incomplete_details: null
        readonly output: ReadonlyArray<unknown>
        readonly output_text: ""
        readonly usage: null
        readonly cost_usd: null
        readonly provider: null
        readonly routing: null
      }
    }
  | {
      readonly type: "error"
      readonly sequence_number: number
      readonly code: string
      readonly message: string
      readonly param: string | null
    }

/** One event of a streamed answer. Its `type` is also the event's name. The input tokens in `message_start` are an estimate. `message_delta` contains the charged counts and their cost. Nothing follows an `error`. */
export type MessagesStreamEvent =
  | {
      readonly type: "message_start"
      readonly message: {
        readonly id: string
        readonly type: "message"
        readonly role: "assistant"
        readonly model: string
        readonly content: ReadonlyArray<MessagesBlock>
        readonly stop_reason: null
        readonly stop_sequence: null
        readonly usage: MessagesUsage
      }
    }
  | {
      readonly type: "content_block_start"
      readonly index: number
      readonly content_block: MessagesBlock
    }
  | {
      readonly type: "content_block_delta"
      readonly index: number
      readonly delta:
        | {
            readonly type: "text_delta"
            readonly text: string
          }
        | {
            readonly type: "thinking_delta"
            readonly thinking: string
          }
        | {
            readonly type: "signature_delta"
            readonly signature: string
          }
        | {
            readonly type: "input_json_delta"
            readonly partial_json: string
          }
    }
  | {
      readonly type: "content_block_stop"
      readonly index: number
    }
  | {
      readonly type: "message_delta"
      readonly delta: {
        readonly stop_reason: MessagesStopReason
        readonly stop_sequence: string | null
      }
      readonly usage: MessagesUsage
      readonly context_management?: {
        readonly applied_edits: ReadonlyArray<Readonly<Record<string, unknown>>>
      }
      readonly cost_usd: number
      readonly request_id: RequestId
      readonly provider: string
      readonly resolved_model: string
      readonly routing: RoutingSummary
      readonly balance_warning?: BalanceWarning
    }
  | {
      readonly type: "message_stop"
    }
  | {
      readonly type: "ping"
    }
  | {
      readonly type: "error"
      readonly error: MessagesErrorObject
      readonly request_id: RequestId
    }

/** `req_` and a 26-character ULID. Ids sort by time. */
export type RequestId = string

/** An error with Anthropic's `type`. The other members are the standard ones. */
export type MessagesErrorObject = {
  readonly message: string
  readonly type:
    | "invalid_request_error"
    | "authentication_error"
    | "billing_error"
    | "permission_error"
    | "not_found_error"
    | "request_too_large"
    | "rate_limit_error"
    | "api_error"
    | "timeout_error"
    | "overloaded_error"
  readonly code: string
  readonly param: string | null
  /** Present when the request asked for `thread`, which is not supported: Anthropic's clients then send the whole conversation themselves. */
  readonly details?: {
    readonly error_code: "thread_unsupported_request"
    readonly unsupported: ReadonlyArray<string>
  }
}

/** The threshold, present beside a generated answer while the balance is below $5.00. */
export type BalanceWarning = {
  readonly warning: "low_balance"
  readonly threshold: string
}

/** How a request was routed. */
export type RoutingSummary = {
  readonly strategy: "balanced" | "cost" | "latency" | "quality"
  readonly requested_models: ReadonlyArray<string>
  readonly resolved_model: string
  readonly provider: string | null
  readonly provider_attempts?: ReadonlyArray<ProviderAttempt>
  readonly fallbacks_allowed: boolean
  readonly data_policy: "default" | "no_training" | "zero_retention"
  readonly caching?: "auto"
  readonly source?: "request" | "project" | "default"
  readonly router?: RouterDecisionSummary
}

/** How `svc/auto` chose the model. */
export type RouterDecisionSummary = {
  readonly id: "svc/auto"
  readonly task: string
  readonly classified_by: "regex" | "llm" | "llm-cached"
  readonly override: "long_context" | "multilingual" | null
  readonly reasoning: string
  readonly candidates: ReadonlyArray<string>
  readonly considered: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** One call to one provider. */
export type ProviderAttempt = {
  readonly provider: string
  readonly outcome: "served" | "failed_over" | "failed"
  readonly attempt_index: number
}

/** Tokens in disjoint buckets: `input_tokens` excludes prompt cache reads and writes. */
export type MessagesUsage = {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  /** The tokens of `cache_creation_input_tokens` by lifetime. */
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
  readonly output_tokens: number
  /** The part of `output_tokens` that was thinking. */
  readonly output_tokens_details: {
    readonly thinking_tokens: number
  }
}

/** Why the model stopped. */
export type MessagesStopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal"

/** A content block of an answer. Thinking has a signature of this service, which the client sends back with the conversation so that the model can continue from it. Thinking that its provider does not show is `redacted_thinking`. */
export type MessagesBlock =
  | {
      readonly type: "text"
      readonly text: string
    }
  | {
      readonly type: "thinking"
      readonly thinking: string
      readonly signature: string
    }
  | {
      readonly type: "redacted_thinking"
      readonly data: string
    }
  | {
      readonly type: "tool_use"
      readonly id: string
      readonly name: string
      readonly input: Readonly<Record<string, unknown>>
    }

/** A complete answer. It has exactly these members, so a low balance is reported in the `X-Balance-Warning` header. `cost_usd` is the charge, as on the receipt of `request_id`. */
export type Response = {
  readonly id: string
  readonly object: "response"
  readonly created_at: number
  readonly error: null
  readonly instructions: string | null
  readonly max_output_tokens: number | null
  readonly model: string
  readonly parallel_tool_calls: boolean
  readonly previous_response_id: null
  readonly store: false
  readonly request_id: RequestId
  readonly metadata: Readonly<Record<string, string>>
  readonly status: "completed" | "incomplete"
  readonly incomplete_details: {
    readonly reason: "max_output_tokens" | "content_filter"
  } | null
  readonly output: ReadonlyArray<
    ResponsesReasoningItem | ResponsesMessageItem | ResponsesCallItem | ResponsesCustomCallItem | ResponsesSearchItem
  >
  readonly output_text: string
  readonly usage: ResponsesUsage
  readonly cost_usd: number
  readonly provider: string | null
  readonly routing: RoutingSummary
}

/** Token counts. `input_tokens` includes cached ones, `output_tokens` includes reasoning. */
export type ResponsesUsage = {
  readonly input_tokens: number
  readonly input_tokens_details: {
    readonly cached_tokens: number
    readonly cache_creation_tokens: number
  }
  readonly output_tokens: number
  readonly output_tokens_details: {
    readonly reasoning_tokens: number
  }
  readonly total_tokens: number
}

/** A search for tools that the client should run; only when the request declares the search. */
export type ResponsesSearchItem = {
  readonly id: string
  readonly status: "completed" | "incomplete"
  readonly call_id: string
  readonly type: "tool_search_call"
  readonly execution: "client"
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A call of a custom tool; only when the request declares one. */
export type ResponsesCustomCallItem = {
  readonly id: string
  readonly status: "completed" | "incomplete"
  readonly call_id: string
  readonly type: "custom_tool_call"
  readonly name: string
  readonly namespace?: string
  readonly input: string
}

/** A tool call of the model. Send its result back with the same `call_id`. */
export type ResponsesCallItem = {
  readonly id: string
  readonly status: "completed" | "incomplete"
  readonly call_id: string
  readonly type: "function_call"
  readonly name: string
  /** Only for a tool that the request declares in a namespace. */
  readonly namespace?: string
  readonly arguments: string
}

/** The model's text. A refusal is text like any other. */
export type ResponsesMessageItem = {
  readonly id: string
  readonly type: "message"
  readonly status: "completed" | "incomplete"
  readonly role: "assistant"
  readonly content: ReadonlyArray<{
    readonly type: "output_text"
    readonly text: string
    readonly annotations: ReadonlyArray<unknown>
  }>
}

/** The model's reasoning, if the provider shows it. */
export type ResponsesReasoningItem = {
  readonly id: string
  readonly type: "reasoning"
  readonly status: "completed" | "incomplete"
  readonly summary: ReadonlyArray<{
    readonly type: "summary_text"
    readonly text: string
  }>
  /** Present only when `include` contains `reasoning.encrypted_content`. Send it back so that the model continues from it. */
  readonly encrypted_content?: string
}

/** A part of a message. In a stream, a refusal has a part type of its own; in the complete answer it is text. */
export type ResponsesStreamPart =
  | {
      readonly type: "output_text"
      readonly text: string
      readonly annotations: ReadonlyArray<unknown>
    }
  | {
      readonly type: "refusal"
      readonly refusal: string
    }

/** An item while it is streamed: `in_progress` and empty when it is added. */
export type ResponsesStreamItem =
  | {
      readonly id: string
      readonly type: "reasoning"
      readonly status: "in_progress" | "completed" | "incomplete"
      readonly summary: ReadonlyArray<{
        readonly type: "summary_text"
        readonly text: string
      }>
      readonly encrypted_content?: string
    }
  | {
      readonly id: string
      readonly type: "message"
      readonly status: "in_progress" | "completed" | "incomplete"
      readonly role: "assistant"
      readonly content: ReadonlyArray<ResponsesStreamPart>
    }
  | {
      readonly id: string
      readonly status: "in_progress" | "completed" | "incomplete"
      readonly call_id: string
      readonly type: "function_call"
      readonly name: string
      readonly namespace?: string
      readonly arguments: string
    }
  | {
      readonly id: string
      readonly status: "in_progress" | "completed" | "incomplete"
      readonly call_id: string
      readonly type: "custom_tool_call"
      readonly name: string
      readonly namespace?: string
      readonly input: string
    }
  | {
      readonly id: string
      readonly status: "in_progress" | "completed" | "incomplete"
      readonly call_id: string
      readonly type: "tool_search_call"
      readonly execution: "client"
      readonly arguments: Readonly<Record<string, unknown>>
    }

/** The answer at the start of a stream. Its status is `in_progress`, and members that are known only at the end, such as `usage`, are null. */
export type ResponseBegun = {
  readonly id: string
  readonly object: "response"
  readonly created_at: number
  readonly error: null
  readonly instructions: string | null
  readonly max_output_tokens: number | null
  readonly model: string
  readonly parallel_tool_calls: boolean
  readonly previous_response_id: null
  readonly store: false
  readonly request_id: RequestId
  readonly metadata: Readonly<Record<string, string>>
  readonly status: "in_progress"
  readonly incomplete_details: null
  readonly output: ReadonlyArray<unknown>
  readonly output_text: ""
  readonly usage: null
  readonly cost_usd: null
  readonly provider: null
  readonly routing: null
}

/** Token counts of a chat. `prompt_tokens` includes cached ones, `completion_tokens` includes reasoning. */
export type ChatUsage = {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: {
    readonly cached_tokens: number
    readonly cache_creation_tokens: number
  }
  readonly completion_tokens_details: {
    readonly reasoning_tokens: number
  }
  /** The same as `cost_usd`, where OpenRouter's clients read it. */
  readonly cost?: number
}

/** A piece of an answer's reasoning in OpenRouter's format: `reasoning.text` has a `signature`, and `reasoning.encrypted` has only `data`. Send the pieces back unchanged with their message, and the model continues from its reasoning. Only this service can read a signature, and only for the account for which it was made. */
export type ChatReasoningDetail = {
  readonly type: "reasoning.text" | "reasoning.encrypted"
  /** In a stream, the text comes earlier, as `reasoning`. */
  readonly text?: string
  readonly signature?: string
  readonly data?: string
  readonly format: "unknown"
  readonly index: number
}

/** An invalid field of a request. */
export type FieldDetail = {
  readonly field: string
  readonly message: string
}

/** The tokens of a prompt, counted by one tokenizer for all models. A provider's own count may differ slightly. */
export type MessagesTokenCount = {
  readonly input_tokens: number
}

/** A messages request for a token count. `max_tokens` may be omitted. */
export type MessagesCountRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list. */
  readonly models?: ReadonlyArray<string> | null
  readonly max_tokens?: number | null
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<MessagesMessage>
  readonly system?: string | ReadonlyArray<MessagesTextBlock> | null
  readonly stream?: boolean | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly stop_sequences?: ReadonlyArray<string> | null
  readonly tools?: ReadonlyArray<MessagesTool> | null
  readonly tool_choice?: MessagesToolChoice | null
  readonly thinking?: MessagesThinking | null
  readonly output_config?: {
    readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | null
    readonly format?: MessagesOutputFormat | null
  } | null
  /** The same as `output_config.format`, which takes precedence. */
  readonly output_format?: MessagesOutputFormat | null
  readonly metadata?: {
    readonly user_id?: string | null
  } | null
  /** Every request is served at the standard tier. */
  readonly service_tier?: "auto" | "standard_only" | null
  /** Sets prompt cache breakpoints automatically, as `routing.caching: "auto"` does. */
  readonly cache_control?: MessagesCacheControl | null
  /** Anthropic performs the edits itself. For other providers, the gateway removes the content. */
  readonly context_management?: MessagesContextManagement | null
  /** The same as `metadata.user_id`, which it overrides. */
  readonly user?: string | null
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
}

/** Options for `svc/auto`. Unknown fields are rejected. For other models the options have no effect. */
export type RouterOptions = {
  /** Use only these models, given as ids or patterns such as `anthropic/*`. */
  readonly allowed_models?: ReadonlyArray<string>
  /** Never use these models, even if they are allowed. */
  readonly excluded_models?: ReadonlyArray<string>
  /** A fifth of the suitable models by price; `low` contains the cheapest. Default: the three lowest fifths. */
  readonly cost_tier?: "low" | "medium" | "high" | "xhigh" | "max"
  /** Whether requests with the same `session_id` use the model that was chosen for the first of them. */
  readonly pin_model?: boolean
}

/** Routing options of a request. Unknown fields are rejected. */
export type RoutingPolicy = {
  readonly strategy?: "balanced" | "cost" | "latency" | "quality"
  readonly providers?: {
    readonly only?: ReadonlyArray<string>
    readonly order?: ReadonlyArray<string>
    readonly ignore?: ReadonlyArray<string>
  }
  /** Whether another provider or model may be tried when the first fails. Default: true. */
  readonly allow_fallbacks?: boolean
  /** Providers that do not meet the policy are left out, never silently used. */
  readonly data_policy?: "default" | "no_training" | "zero_retention"
  /** `auto`: the gateway sets prompt cache breakpoints for providers that need them. */
  readonly caching?: "auto"
  /** Leave out providers that do not support every parameter of the request. */
  readonly require_parameters?: boolean
  /** Upper limits in USD: per million prompt or completion tokens, per request, per image. */
  readonly max_price?: {
    readonly prompt?: number
    readonly completion?: number
    readonly request?: number
    readonly image?: number
  }
  /** Time limits of one attempt in milliseconds. They can shorten the service's limits, not extend them. */
  readonly timeouts?: {
    readonly connect_ms?: number
    readonly first_token_ms?: number
    readonly total_ms?: number
  }
}

/** The parts to remove from the prompt before the model reads it. */
export type MessagesContextManagement = {
  readonly edits?: ReadonlyArray<MessagesClearToolUses | MessagesClearThinking | MessagesCompact> | null
}

/** Asks the provider to summarize a long conversation. The gateway does not pass this on, so `applied_edits` never contains it. */
export type MessagesCompact = {
  readonly type: string
  readonly trigger?: {
    readonly type: "input_tokens"
    readonly value: number
  } | null
  readonly pause_after_compaction?: boolean | null
  readonly instructions?: string | null
}

/** Removes the thinking of earlier turns from the prompt. */
export type MessagesClearThinking = {
  readonly type: string
  readonly keep?:
    | "all"
    | {
        readonly type: "all"
      }
    | {
        readonly type: "thinking_turns"
        readonly value: number
      }
    | null
}

/** Removes old tool results from the prompt once it is long enough. */
export type MessagesClearToolUses = {
  readonly type: string
  /** The size from which on results are removed. Default: 100,000 tokens. */
  readonly trigger?:
    | {
        readonly type: "input_tokens"
        readonly value: number
      }
    | {
        readonly type: "tool_uses"
        readonly value: number
      }
    | null
  /** How many of the latest results stay. Default: three. */
  readonly keep?: {
    readonly type: "tool_uses"
    readonly value: number
  } | null
  /** The minimum number of tokens to remove. */
  readonly clear_at_least?: {
    readonly type: "input_tokens"
    readonly value: number
  } | null
  readonly exclude_tools?: ReadonlyArray<string> | null
  /** Whether the input of the calls is removed as well, for all tools or for the named ones. */
  readonly clear_tool_inputs?: boolean | ReadonlyArray<string> | null
}

/** Caches the prompt up to and including this block at the provider, for five minutes or an hour. Writing it for an hour costs more if the provider's price list says so. */
export type MessagesCacheControl = {
  readonly type: "ephemeral"
  readonly ttl?: "5m" | "1h" | null
  /** How widely Anthropic shares the cached prompt. Passed on when `anthropic-beta` asks for it. */
  readonly scope?: string | null
}

/** A JSON Schema that the answer conforms to. */
export type MessagesOutputFormat = {
  readonly type: "json_schema"
  readonly schema: Readonly<Record<string, unknown>>
}

/** Whether the model thinks before it answers, and its maximum number of thinking tokens. */
export type MessagesThinking =
  | {
      readonly type: "enabled"
      readonly budget_tokens: number
      readonly display?: "summarized" | "omitted" | null
    }
  | {
      readonly type: "disabled"
    }
  | {
      readonly type: "adaptive"
      readonly display?: "summarized" | "omitted" | null
    }

/** Whether the model may, must or must not call tools. `any` means that it must call one of them. */
export type MessagesToolChoice =
  | {
      readonly type: "auto"
      readonly disable_parallel_tool_use?: boolean | null
    }
  | {
      readonly type: "any"
      readonly disable_parallel_tool_use?: boolean | null
    }
  | {
      readonly type: "tool"
      readonly name: string
      readonly disable_parallel_tool_use?: boolean | null
    }
  | {
      readonly type: "none"
    }

/** A tool that the client runs. */
export type MessagesTool = MessagesCustomTool | MessagesTypedTool

/** A tool that Anthropic's API defines by its type and the client runs. Anthropic receives it unchanged. Other providers receive a function with the tool's published input. */
export type MessagesTypedTool = {
  readonly type: string
  readonly name: string
  /** For a text editor: the maximum number of characters that `view` shows. */
  readonly max_characters?: number | null
  /** For a computer: the size of its screen. */
  readonly display_width_px?: number | null
  readonly display_height_px?: number | null
  readonly display_number?: number | null
  readonly enable_zoom?: boolean | null
  readonly strict?: boolean | null
  readonly defer_loading?: boolean | null
  readonly cache_control?: MessagesCacheControl | null
}

/** A tool that the client defines. */
export type MessagesCustomTool = {
  readonly type?: "custom" | null
  readonly name: string
  readonly description?: string | null
  /** The JSON Schema of the input, an object. */
  readonly input_schema: Readonly<Record<string, unknown>>
  readonly strict?: boolean | null
  /** Has no effect: input is always streamed as it arrives. */
  readonly eager_input_streaming?: boolean | null
  /** Has no effect: all tools are loaded. */
  readonly defer_loading?: boolean | null
  readonly cache_control?: MessagesCacheControl | null
}

/** Text. Citations of an earlier answer cannot be passed on, so they must be omitted. */
export type MessagesTextBlock = {
  readonly type: "text"
  readonly text: string
  readonly citations?: ReadonlyArray<unknown> | null
  readonly cache_control?: MessagesCacheControl | null
}

/** One turn. System messages may also appear among the turns. */
export type MessagesMessage =
  | {
      readonly role: "user"
      readonly content:
        | string
        | ReadonlyArray<MessagesTextBlock | MessagesImageBlock | MessagesDocumentBlock | MessagesToolResultBlock>
    }
  | {
      readonly role: "assistant"
      readonly content:
        | string
        | ReadonlyArray<MessagesTextBlock | MessagesToolUseBlock | MessagesThinkingBlock | MessagesRedactedBlock>
    }
  | {
      readonly role: "system"
      readonly content: string | ReadonlyArray<MessagesTextBlock>
    }

/** Thinking of an earlier answer without its text. */
export type MessagesRedactedBlock = {
  readonly type: "redacted_thinking"
  readonly data: string
}

/** Thinking of an earlier answer, with its signature. Send it back unchanged, and a model of the same provider continues from it. A signature that this service did not make for the same account is rejected. Thinking without a signature is plain text, which most providers do not accept. */
export type MessagesThinkingBlock = {
  readonly type: "thinking"
  readonly thinking: string
  readonly signature?: string | null
}

/** A tool call of the assistant. */
export type MessagesToolUseBlock = {
  readonly type: "tool_use"
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly caller?: {
    readonly type: "direct"
  } | null
  readonly cache_control?: MessagesCacheControl | null
}

/** The result of a tool call. */
export type MessagesToolResultBlock = {
  readonly type: "tool_result"
  readonly tool_use_id: string
  readonly content?: string | ReadonlyArray<MessagesTextBlock | MessagesImageBlock | MessagesDocumentBlock> | null
  readonly is_error?: boolean | null
  readonly cache_control?: MessagesCacheControl | null
}

/** A document of text: as it is, base64-encoded UTF-8 of type `text/plain`, or in blocks. Or a PDF file of type `application/pdf` and up to 20 MiB, for models with vision of Anthropic, Google and OpenAI. The PDF files of a request may have 100 pages. */
export type MessagesDocumentBlock = {
  readonly type: "document"
  readonly source:
    | {
        readonly type: "text"
        readonly media_type: "text/plain"
        readonly data: string
      }
    | {
        readonly type: "base64"
        readonly media_type: string
        readonly data: string
      }
    | {
        readonly type: "content"
        readonly content: string | ReadonlyArray<MessagesTextBlock>
      }
  readonly title?: string | null
  readonly context?: string | null
  readonly citations?: {
    readonly enabled?: boolean | null
  } | null
  readonly cache_control?: MessagesCacheControl | null
}

/** An image, inline or at an https URL. */
export type MessagesImageBlock = {
  readonly type: "image"
  readonly source:
    | {
        readonly type: "base64"
        readonly media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"
        readonly data: string
      }
    | {
        readonly type: "url"
        readonly url: string
      }
  readonly cache_control?: MessagesCacheControl | null
}

/** A complete answer. `cost_usd` is the charge, as on the receipt of `request_id`. */
export type MessagesAnswer = {
  readonly id: string
  readonly type: "message"
  readonly role: "assistant"
  readonly model: string
  readonly content: ReadonlyArray<MessagesBlock>
  readonly stop_reason: MessagesStopReason
  readonly stop_sequence: string | null
  readonly usage: MessagesUsage
  /** The parts that were removed from the prompt; present when the request contains `context_management`. */
  readonly context_management?: {
    readonly applied_edits: ReadonlyArray<Readonly<Record<string, unknown>>>
  }
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly provider: string
  readonly resolved_model: string
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
}

/** Anthropic's Messages request, for any model, with additional fields of this service. A null counts as absent. Unknown and unsupported fields are rejected with `unsupported_parameter`; none is ignored. */
export type MessagesRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list. */
  readonly models?: ReadonlyArray<string> | null
  readonly max_tokens: number
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<MessagesMessage>
  readonly system?: string | ReadonlyArray<MessagesTextBlock> | null
  readonly stream?: boolean | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly stop_sequences?: ReadonlyArray<string> | null
  readonly tools?: ReadonlyArray<MessagesTool> | null
  readonly tool_choice?: MessagesToolChoice | null
  readonly thinking?: MessagesThinking | null
  readonly output_config?: {
    readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | null
    readonly format?: MessagesOutputFormat | null
  } | null
  /** The same as `output_config.format`, which takes precedence. */
  readonly output_format?: MessagesOutputFormat | null
  readonly metadata?: {
    readonly user_id?: string | null
  } | null
  /** Every request is served at the standard tier. */
  readonly service_tier?: "auto" | "standard_only" | null
  /** Sets prompt cache breakpoints automatically, as `routing.caching: "auto"` does. */
  readonly cache_control?: MessagesCacheControl | null
  /** Anthropic performs the edits itself. For other providers, the gateway removes the content. */
  readonly context_management?: MessagesContextManagement | null
  /** The same as `metadata.user_id`, which it overrides. */
  readonly user?: string | null
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
}

/** A served request of a batch, with the answer that its operation returns. `error` replaces `response` only when an earlier attempt with the same idempotency key served and charged the request, and its answer was not stored. */
export type BatchItem = {
  /** Its index in `requests`. */
  readonly index: number
  readonly custom_id: string | null
  readonly response: {
    readonly status_code: number
    readonly request_id: RequestId
    readonly body: Readonly<Record<string, unknown>>
  } | null
  readonly error: {
    readonly code: string
    readonly message: string
  } | null
}

/** An error: a sentence for people, `type` and `code` for programs, and `param` for the field concerned. */
export type ErrorObject = {
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param: string | null
}

/** A session with all its messages, in order. Times are Unix seconds. */
export type SessionExport = {
  readonly object: "session.export"
  readonly session: Session
  readonly messages: ReadonlyArray<SessionMessage>
  readonly exported_at: number
}

/** A message of a session, as it was sent, except that data URLs are replaced by their type and size: `data:image/png (48213 bytes)`. An answer also contains its model, its usage and its cost. */
export type SessionMessage = {
  readonly role: string
  readonly content: unknown
  /** Unix seconds. */
  readonly created_at: number
  readonly model?: string
  readonly usage?: ChatUsage
  readonly cost_usd?: number
}

/** A recorded conversation of the legacy chat. Times are Unix seconds. */
export type Session = {
  readonly id: ResourceId
  readonly object: "session"
  readonly created_at: number
  /** When a message was last added. */
  readonly updated_at: number
  readonly session_id: string | null
  readonly model: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly message_count: number
}

/** 24 lowercase hexadecimal characters that sort by time. */
export type ResourceId = string

/** Opens a session. If the account has already used this `session_id`, the response is that session, unchanged. */
export type SessionRequest = {
  readonly session_id?: string | null
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** The intended model of the session. Every request names its own. */
  readonly model?: string | null
}

/** The video job on the legacy routes, where its id has a second name. */
export type LegacyVideoJob = {
  readonly id: ResourceId
  readonly object: "video"
  readonly model: string
  readonly status: "queued" | "processing" | "completed" | "failed"
  readonly created_at: number
  readonly completed_at: number | null
  readonly prompt: string
  readonly duration: number
  readonly aspect_ratio: "16:9" | "9:16"
  readonly progress?: number
  readonly video_url?: string
  readonly error: {
    readonly code: string
    readonly message: string
  } | null
  readonly cost_usd: number
  readonly refunded: boolean
  readonly provider: string | null
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
  readonly job_id: ResourceId
}

/** A request for a video. Unknown fields are rejected; a null counts as absent. The catalogue lists the durations, aspect ratios and references that each model supports. URLs must be public https URLs; the service downloads them when the job starts. */
export type VideoRequest = {
  readonly model: string
  readonly prompt: string
  /** Whole seconds. */
  readonly duration: number
  readonly aspect_ratio: "16:9" | "9:16"
  /** The first frame. */
  readonly image_url?: string | null
  /** Whether it has sound. Default: false. */
  readonly generate_audio?: boolean | null
  /** Images of what the video should show. */
  readonly reference_images?: ReadonlyArray<string> | null
  /** A video that it should resemble. */
  readonly reference_video?: string | null
}

/** The images: at least one, and at most as many as requested. */
export type ImageList = {
  /** Unix seconds. */
  readonly created: number
  readonly data: ReadonlyArray<Image>
  readonly model: string
  readonly provider: string
  readonly cost_usd: number
  readonly request_id: string
  readonly balance_warning?: BalanceWarning
}

/** One image: its URL, or its bytes in base64. */
export type Image = {
  readonly url?: string
  readonly b64_json?: string
  /** The prompt as the model rewrote it, if it reports that. */
  readonly revised_prompt?: string
}

/** A request to make images or to edit one. Unknown fields are rejected; a null counts as absent. A parameter that the model does not support is rejected by name. */
export type ImageRequest = {
  readonly model: string
  readonly prompt: string
  /** Default: 1. Each delivered image is charged. */
  readonly n?: number | null
  /** The image to edit: the https URL of a PNG, JPEG, GIF or WebP image of at most 20 MiB, or a base64 data URL. For models that edit images. */
  readonly image?: string | null
  /** `auto`, or no size, leaves it to the model. */
  readonly size?: string | null
  readonly quality?: "auto" | "low" | "medium" | "high" | "standard" | "hd" | null
  /** Default: `url`, a URL at which the image stays for 30 days. */
  readonly response_format?: "url" | "b64_json" | null
  readonly output_format?: "png" | "jpeg" | "webp" | null
  readonly background?: "transparent" | "opaque" | "auto" | null
  readonly style?: "vivid" | "natural" | null
  readonly user?: string | null
}

/** A complete answer. `cached: true` means that the same account and project asked the same before. Such an answer is free: its usage has no tokens, its routing no provider attempts, and it has a request id of its own but no receipt. */
export type LegacyChatCompletion = {
  readonly id: string
  readonly object: "chat.completion"
  readonly created: number
  readonly model: string
  readonly resolved_model: string
  readonly provider: string
  readonly choices: ReadonlyArray<ChatChoice>
  readonly usage: ChatUsage
  /** Always null. OpenRouter's clients require the member. */
  readonly system_fingerprint: null
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
  readonly cached: boolean
}

/** One choice of an answer. There is always exactly one. */
export type ChatChoice = {
  readonly index: number
  readonly message: {
    readonly role: "assistant"
    readonly content: string
    readonly reasoning?: string
    readonly reasoning_content?: string
    readonly reasoning_details?: ReadonlyArray<ChatReasoningDetail>
    readonly refusal?: string | null
    readonly tool_calls?: ReadonlyArray<ChatToolCall>
  }
  readonly finish_reason: "stop" | "length" | "tool_calls" | "content_filter"
  readonly logprobs?: {
    readonly content: ReadonlyArray<unknown> | null
    readonly refusal: null
  } | null
}

/** A tool call of the assistant. */
export type ChatToolCall = {
  readonly id: string
  readonly type: "function"
  readonly function: {
    readonly name: string
    readonly arguments: string
  }
}

/** The legacy chat request. Unknown fields are rejected. Each field means the same as in a chat completion, and a null counts as absent. It supports neither streaming nor tools. */
export type LegacyChatRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or a preset as `@slug`. */
  readonly model: string
  readonly messages: ReadonlyArray<LegacyChatMessage>
  readonly budget_cents?: number | null
  readonly max_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  readonly seed?: number | null
  readonly stop?: string | ReadonlyArray<string> | null
  readonly user?: string | null
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
}

/** A message of the legacy chat: a role and a text. */
export type LegacyChatMessage =
  | {
      readonly role: "system"
      readonly content: string | ReadonlyArray<ChatTextPart>
    }
  | {
      readonly role: "developer"
      readonly content: string | ReadonlyArray<ChatTextPart>
    }
  | {
      readonly role: "user"
      readonly content: string | ReadonlyArray<ChatTextPart | ChatImagePart | ChatFilePart>
    }
  | {
      readonly role: "assistant"
      readonly content: string | ReadonlyArray<ChatTextPart>
      readonly reasoning?: string | null
      readonly reasoning_content?: string | null
      readonly reasoning_details?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
    }

/** Text of a message. */
export type ChatTextPart = {
  readonly type: "text"
  readonly text: string
  readonly cache_control?: ChatCacheControl | null
}

/** Marks the end of a part of the prompt to keep in the provider's prompt cache, as on OpenRouter. It has no effect for providers that cache automatically. Only the last four of a request count. */
export type ChatCacheControl = {
  readonly type: "ephemeral"
  readonly ttl?: "5m" | "1h" | null
}

/** A file: a PDF file, for models with vision of Anthropic, Google and OpenAI, or one of nothing but text, which any model reads behind a line with its name. */
export type ChatFilePart = {
  readonly type: "file"
  readonly file: {
    readonly file_data: string
    readonly filename?: string | null
  }
  readonly cache_control?: ChatCacheControl | null
}

/** An image of a message. */
export type ChatImagePart = {
  readonly type: "image_url"
  readonly image_url: {
    readonly url: string
    readonly detail?: "auto" | "low" | "high" | "original" | null
  }
  readonly cache_control?: ChatCacheControl | null
}

/** One top-up. */
export type TopUpReport = {
  readonly data: TopUp
}

/** A payment into the account. It is `open` until it is paid at `checkout_url`, which is possible for a day, and while the money is on its way. A `paid` top-up has been credited. */
export type TopUp = {
  readonly id: ResourceId
  readonly object: "top_up"
  readonly status: "open" | "paid" | "expired" | "failed"
  readonly amount_usd: number
  /** Null once the top-up has ended, and while the payment processor has not been reached. */
  readonly checkout_url: string | null
  /** Unix seconds. */
  readonly created_at: number
  readonly paid_at: number | null
}

/** The event was received and need not be delivered again. */
export type EventReceived = {
  readonly received: true
}

/** The confirmation that an operator has signed out. */
export type OperatorSessionEnded = {
  readonly object: "operator_session"
  readonly ended: true
}

/** A signed-in operator. The session acts with the key that began it and ends with that key at the latest. */
export type OperatorSession = {
  readonly object: "operator_session"
  readonly key: {
    readonly id: ResourceId
    readonly name: string
  }
  /** Must be sent as `X-CSRF-Token` with every method other than GET. */
  readonly csrf_token: string
  /** When it ends even if it is used, in Unix seconds. */
  readonly ends_at: number
}

/** One page of the audit log, newest first. `next_cursor` is null on the last page. */
export type AuditLogList = {
  readonly object: "list"
  readonly data: ReadonlyArray<AuditLog>
  readonly next_cursor: ResourceId | null
}

/** An action on the account, its actor and its outcome. It never changes and never contains a secret. */
export type AuditLog = {
  readonly id: ResourceId
  readonly object: "audit_log"
  /** The action in the past tense, such as `key.revoked`. */
  readonly type: string
  /** Unix seconds. */
  readonly effective_at: number
  /** A key, the owner, an operator, or the service itself. */
  readonly actor: {
    readonly type: "key" | "owner" | "operator" | "service"
    readonly id: string
  }
  readonly resource: {
    readonly type: string
    readonly id: string
  }
  /** The `X-Request-ID` of the request that caused it; null when none did. */
  readonly request_id: RequestId | null
  /** `pending`: the outcome is not known yet. */
  readonly status: "completed" | "pending"
  /** Null while it is pending. */
  readonly outcome: "succeeded" | "failed" | null
  /** The code of the error it failed with. */
  readonly code: string | null
  readonly changes: Readonly<Record<string, unknown>>
}

/** One page of operators' changes, newest first. `next_cursor` is null on the last page. */
export type OperatorChangeList = {
  readonly object: "list"
  readonly data: ReadonlyArray<OperatorChange>
  readonly next_cursor: ResourceId | null
}

/** A change by an operator: of an account, or of what concerns no single account, such as a price plan. It never changes. */
export type OperatorChange = {
  readonly id: ResourceId
  readonly object: "audit_log"
  /** The action in the past tense, such as `key.revoked`. */
  readonly type: string
  /** Unix seconds. */
  readonly effective_at: number
  /** The operator key, or `command-line` for the admin command. */
  readonly actor: {
    readonly type: "operator"
    readonly id: string
    readonly name: string | null
  }
  readonly resource: {
    readonly type: string
    readonly id: string
  }
  /** The `X-Request-ID` of the request that caused it; null when none did. */
  readonly request_id: RequestId | null
  /** `pending`: the outcome is not known yet. */
  readonly status: "completed" | "pending"
  /** Null while it is pending. */
  readonly outcome: "succeeded" | "failed" | null
  /** The code of the error it failed with. */
  readonly code: string | null
  readonly changes: Readonly<Record<string, unknown>>
  /** The changed account; null for a change that concerns no single one. */
  readonly account_id: ResourceId | null
  /** The address of that account's owner. */
  readonly email: string | null
}

/** The bound of a provider after a change. */
export type ProviderSpendLimitResult = {
  readonly data: {
    readonly object: "provider_spend"
    readonly provider: string
    readonly limit_usd: number | null
  }
}

/** A new bound in USD per UTC day; null removes it. */
export type ProviderSpendLimit = {
  readonly limit_usd: number | null
}

/** All bounds, by provider. Figures are at most a few seconds old. */
export type ProviderSpendList = {
  readonly object: "list"
  readonly data: ReadonlyArray<ProviderSpend>
}

/** A bound on what a provider may cost in a UTC day, and what the current day has cost. `all` stands for all providers together. */
export type ProviderSpend = {
  readonly object: "provider_spend"
  readonly provider: string
  readonly limit_usd: number
  /** Cost of ended requests. */
  readonly settled_usd: number
  /** The most that running requests may cost. */
  readonly reserved_usd: number
}

/** The plan of an account after a change. */
export type AccountPlanResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    readonly plan_id: ResourceId | null
  }
}

/** The plan of an account; null ends its plan. */
export type AccountPlan = {
  readonly plan_id: ResourceId | null
}

/** The result of removing a plan. */
export type PlanRemoved = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "plan"
    readonly deleted: true
  }
}

/** A plan. */
export type PlanResult = {
  readonly data: Plan
}

/** A price plan. */
export type Plan = {
  readonly id: ResourceId
  readonly object: "plan"
  readonly name: string
  readonly markup_basis_points: number
  readonly prices: ReadonlyArray<PlanPrice>
  readonly limits: {
    readonly requests_per_minute: number | null
    readonly running_videos: number | null
    readonly running_batches: number | null
    readonly daily_spend_usd: number | null
  }
  /** The number of accounts that belong to it. */
  readonly accounts: number
  /** Unix seconds. */
  readonly created_at: number
}

/** A fixed price of one model. */
export type PlanPrice = PlanTokenPrice | PlanUnitPrice

/** A fixed price of a model that is priced per image, second, character or request, in USD for one of them. */
export type PlanUnitPrice = {
  readonly model: string
  readonly per_unit_usd: number
}

/** A fixed price of a model that is priced per token. A cached or cache-write rate that is absent is the input rate. */
export type PlanTokenPrice = {
  readonly model: string
  readonly input_usd_per_million: number
  readonly output_usd_per_million: number
  readonly cached_input_usd_per_million?: number
  readonly cache_write_usd_per_million?: number
  readonly per_request_usd?: number
}

/** A change of a plan. Absent properties stay as they are; `prices` replaces the whole list. */
export type PlanChange = {
  readonly name?: string
  readonly markup_basis_points?: number
  readonly prices?: ReadonlyArray<PlanPrice>
  /** Absent limits stay as they are. */
  readonly limits?: PlanLimits
}

/** The limits of each account of a plan. Null leaves the usual limit. */
export type PlanLimits = {
  /** Chat requests a minute per key. The other rate limits change in proportion. An account's own factor wins. */
  readonly requests_per_minute?: number | null
  /** Unfinished videos. */
  readonly running_videos?: number | null
  /** Unfinished batches of files. */
  readonly running_batches?: number | null
  /** The most that an account spends in a UTC day, over all its keys. */
  readonly daily_spend_usd?: number | null
}

/** A new price plan. */
export type PlanCreate = {
  /** Unique without regard to case. */
  readonly name: string
  /** In hundredths of a percent of the catalogue's prices. Default: 0. */
  readonly markup_basis_points?: number
  /** Fixed prices, at most one per model. They win over every markup. */
  readonly prices?: ReadonlyArray<PlanPrice>
  readonly limits?: PlanLimits
}

/** All plans, by name. */
export type PlanList = {
  readonly object: "list"
  readonly data: ReadonlyArray<Plan>
}

/** An operator's decision about a top-up. */
export type TopUpDecision = {
  readonly data: {
    readonly object: "top_up_decision"
    readonly top_up_id: ResourceId
    readonly account_id: ResourceId
    readonly action: "settled" | "dismissed"
    readonly amount_usd: number
    readonly status: "open" | "paid" | "expired" | "failed"
    readonly balance_usd: number
    readonly reason: string
    readonly reference: string
    readonly repeated: boolean
  }
}

/** Dismisses a top-up that needs an operator: no money moves. One that waited for an operator to be paid becomes `expired`. */
export type TopUpDismissal = {
  /** The reason, for the audit log. */
  readonly reason: string
}

/** Settles a top-up that needs an operator. One that is not paid is credited and becomes `paid`; one that was paid twice is credited again. Any other that is paid is taken back from the account's balance, because the processor gave the money back or it is disputed. */
export type TopUpSettlement = {
  /** In USD and whole cents. Default: the amount of the top-up when it is credited; what the processor reports to have given back, less what was taken back before, when it is taken back. */
  readonly amount_usd?: number
  /** The reason, for the audit log. */
  readonly reason: string
}

/** One page of top-ups, newest first. `next_cursor` is null on the last page. */
export type OperatorTopUpList = {
  readonly object: "list"
  readonly data: ReadonlyArray<OperatorTopUp>
  readonly next_cursor: ResourceId | null
}

/** A top-up. Times are Unix seconds. */
export type OperatorTopUp = {
  readonly id: ResourceId
  readonly object: "top_up"
  readonly account_id: ResourceId
  readonly email: string
  readonly amount_usd: number
  /** The amount credited to the account; null before that. */
  readonly credited_usd: number | null
  /** The amount that the processor gave back to the payer, as it reports. */
  readonly refunded_usd: number
  /** The amount that operators have taken back from the account since it was credited. */
  readonly taken_back_usd: number
  readonly processor: "stripe" | "simulated"
  readonly status: "open" | "paid" | "expired" | "failed"
  /** Why it needs an operator; null when it does not. */
  readonly attention: string | null
  readonly created_at: number
  readonly paid_at: number | null
}

/** One page of a report, in order of day, account, model and provider. `next_cursor` is null on the last page. */
export type OperatorReport = {
  readonly object: "list"
  readonly from: string
  readonly to: string
  readonly data: ReadonlyArray<ReportRow>
  /** All groups together, across all pages. */
  readonly totals: {
    readonly requests: number
    readonly revenue_usd: number
    readonly provider_cost_usd: number
    readonly attempt_cost_usd: number
    readonly margin_usd: number
    readonly margin_basis_points: number | null
    readonly uncosted_requests: number
    readonly absorbed_usd: number
  }
  readonly next_cursor: string | null
}

/** The revenue and the cost of a group of requests. A property is null unless the report is grouped by it. */
export type ReportRow = {
  readonly day: string | null
  readonly account_id: string | null
  /** The address of the account's owner. */
  readonly email: string | null
  readonly model: string | null
  /** Also null for requests that no provider served. */
  readonly provider: string | null
  readonly requests: number
  /** Charges less refunds. */
  readonly revenue_usd: number
  /** The sum of the known provider charges. */
  readonly provider_cost_usd: number
  /** The cost of attempts that served no answer: those that failed after their provider had begun to work, and the slower ones of hedged requests. They count for their own provider and model. Part of it is an estimate. */
  readonly attempt_cost_usd: number
  /** Revenue less the providers' cost and the cost of such attempts. */
  readonly margin_usd: number
  /** The margin in hundredths of a percent of the revenue; null without revenue. */
  readonly margin_basis_points: number | null
  /** Charged requests of which the provider's cost is unknown. */
  readonly uncosted_requests: number
  /** The price of usage beyond holds, which the operator bears. */
  readonly absorbed_usd: number
}

/** The properties that a report can be grouped by. */
export type ReportGroup = "day" | "account" | "model" | "provider"

/** The result of a refund. */
export type OperatorRefund = {
  readonly data: {
    readonly object: "refund"
    readonly request_id: RequestId
    readonly account_id: ResourceId
    readonly amount_usd: number
    readonly refunded_usd: number
    readonly cost_usd: number
    readonly balance_usd: number
    readonly reference: string
    readonly repeated: boolean
  }
}

/** A refund of a request. */
export type OperatorRefundRequest = {
  /** In USD, with at most nine decimals. Default: everything that is left of the cost. */
  readonly amount_usd?: number
  /** The reason, for the audit log. */
  readonly reason: string
}

/** A receipt with the provider's cost and every movement of money. */
export type OperatorReceiptResult = {
  readonly data: {
    readonly id: RequestId
    readonly object: "request"
    readonly created_at: number
    readonly operation: string
    readonly status: "open" | "succeeded" | "failed" | "cancelled"
    readonly model: string
    readonly resolved_model: string | null
    readonly provider: string | null
    readonly preset?: string
    readonly streamed: boolean
    readonly usage: ReceiptUsage | null
    readonly usage_basis: "reported" | "counted" | "none"
    readonly cost_usd: number
    readonly held_usd: number
    readonly settled_usd: number
    readonly absorbed_usd: number
    readonly refunded_usd: number
    readonly paid_with: "real" | "simulated"
    readonly price: ReceiptPrice | null
    readonly routing: RoutingSummary | null
    readonly timings: {
      readonly queue_ms: number | null
      readonly hold_ms: number | null
      readonly first_token_ms: number | null
      readonly total_ms: number | null
      readonly settle_ms: number | null
      readonly overhead_ms: number | null
      readonly attempts: ReadonlyArray<AttemptTiming>
    }
    readonly finish_reason: string | null
    readonly error: {
      readonly code: string
      readonly message: string
    } | null
    readonly idempotency_key: string | null
    readonly replayed_from?: RequestId
    readonly cached: boolean
    readonly key_id: string
    readonly project_id: string | null
    readonly trace_id: string | null
    readonly account_id: ResourceId
    readonly provider_cost_usd: number | null
    readonly attempt_cost_usd: number
    readonly attempt_costs: ReadonlyArray<OperatorAttemptCost>
    readonly price_rule: {
      readonly by: "account" | "plan" | "plan_price"
      readonly plan?: string
      readonly markup?: number
    } | null
    readonly email: string
    readonly transfers: ReadonlyArray<OperatorMovement>
  }
}

/** A movement of money for a request. `amount_usd` is above zero when money came to the account. */
export type OperatorMovement = {
  /** Unix seconds. */
  readonly at: number
  readonly kind: string
  readonly amount_usd: number
  readonly reference: string | null
}

/** An attempt that served no answer although its provider had begun to work. */
export type OperatorAttemptCost = {
  /** As in `routing.provider_attempts`. */
  readonly attempt_index: number
  readonly provider: string
  readonly model: string
  readonly cost_usd: number
  /** `estimated`: the provider reported no usage, and the gateway counted what it sent and what had arrived. */
  readonly basis: "reported" | "estimated"
}

/** When one attempt ran, in milliseconds. */
export type AttemptTiming = {
  /** The `attempt_index` of `routing.provider_attempts`. */
  readonly attempt_index: number
  /** From the arrival of the request to the start of the attempt. */
  readonly start_ms: number
  /** To its failure, or to the end of its answer. Null for the attempt that was serving when the gateway lost the request. */
  readonly duration_ms: number | null
}

/** Rates per token, or the price of one unit of another kind. */
export type ReceiptPrice = ReceiptTokenPrice | ReceiptUnitPrice

/** The price in USD per unit when the request was admitted. */
export type ReceiptUnitPrice = {
  readonly unit: "request" | "image" | "second" | "character"
  readonly per_unit: number
  readonly promotion?: {
    readonly label: string
    readonly discount_percent: number
  }
  readonly plan?: string
}

/** Rates in USD per token when the request was admitted. */
export type ReceiptTokenPrice = {
  readonly unit: "token"
  readonly input: number
  readonly cached_input: number
  readonly cache_write: number
  /** The rate for `cache_creation_1h_tokens`; there only where the request asked for an hour and the price list has such a rate. */
  readonly cache_write_1h?: number
  readonly output: number
  readonly per_request: number
  readonly promotion?: {
    readonly label: string
    readonly discount_percent: number
  }
  readonly plan?: string
}

/** Tokens, or units of another kind, depending on the model's price. */
export type ReceiptUsage = ReceiptTokens | ReceiptUnits

/** The usage of work that is not measured in tokens, such as spoken characters or searches. */
export type ReceiptUnits = {
  readonly units: number
  readonly unit: "request" | "image" | "second" | "character"
}

/** Tokens in disjoint buckets: no token is in two of the first three. `reasoning_tokens` is a part of `output_tokens`. */
export type ReceiptTokens = {
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly cache_creation_tokens: number
  /** The part of `cache_creation_tokens` that the provider keeps for an hour; absent where there is none. */
  readonly cache_creation_1h_tokens?: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
}

/** One page of the receipts of all accounts, newest first. A page examines at most 10,000 requests, so it may be short or empty. */
export type OperatorAnyReceiptList = {
  readonly object: "list"
  readonly data: ReadonlyArray<OperatorAnyReceipt>
  readonly next_cursor: RequestId | null
  /** When the oldest request that this page examined arrived, in Unix seconds; null when it examined all of them. */
  readonly searched_to: number | null
}

/** A receipt of any account with the address of its owner. */
export type OperatorAnyReceipt = {
  readonly id: RequestId
  readonly object: "request"
  /** Unix seconds. */
  readonly created_at: number
  readonly operation: string
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  readonly model: string
  readonly resolved_model: string | null
  readonly provider: string | null
  readonly preset?: string
  readonly streamed: boolean
  readonly usage: ReceiptUsage | null
  readonly usage_basis: "reported" | "counted" | "none"
  readonly cost_usd: number
  readonly held_usd: number
  readonly settled_usd: number
  readonly absorbed_usd: number
  readonly refunded_usd: number
  /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
  readonly paid_with: "real" | "simulated"
  readonly price: ReceiptPrice | null
  readonly routing: RoutingSummary | null
  readonly timings: {
    readonly queue_ms: number | null
    readonly hold_ms: number | null
    readonly first_token_ms: number | null
    readonly total_ms: number | null
    readonly settle_ms: number | null
    readonly overhead_ms: number | null
    readonly attempts: ReadonlyArray<AttemptTiming>
  }
  readonly finish_reason: string | null
  readonly error: {
    readonly code: string
    readonly message: string
  } | null
  readonly idempotency_key: string | null
  /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
  readonly replayed_from?: RequestId
  readonly cached: boolean
  readonly key_id: string
  readonly project_id: string | null
  readonly trace_id: string | null
  readonly account_id: ResourceId
  /** The provider's charge to the operator; null when the provider did not report it and no price list states it. */
  readonly provider_cost_usd: number | null
  /** The cost of attempts that served no answer, all together. The account never pays for them. */
  readonly attempt_cost_usd: number
  /** These attempts, in the order of `routing.provider_attempts`. */
  readonly attempt_costs: ReadonlyArray<OperatorAttemptCost>
  /** How the price came about; null for the catalogue's price. */
  readonly price_rule: {
    readonly by: "account" | "plan" | "plan_price"
    readonly plan?: string
    readonly markup?: number
  } | null
  /** The address of the account's owner. */
  readonly email: string
}

/** One page of an account's receipts, newest first, as `RequestList` describes it. */
export type OperatorReceiptList = {
  readonly object: "list"
  readonly data: ReadonlyArray<OperatorReceipt>
  readonly next_cursor: RequestId | null
  /** When the oldest request that this page searched arrived, in Unix seconds; null when the page searched all of them. */
  readonly searched_to: number | null
}

/** A receipt with the provider's cost. */
export type OperatorReceipt = {
  readonly id: RequestId
  readonly object: "request"
  readonly created_at: number
  readonly operation: string
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  readonly model: string
  readonly resolved_model: string | null
  readonly provider: string | null
  readonly preset?: string
  readonly streamed: boolean
  readonly usage: ReceiptUsage | null
  readonly usage_basis: "reported" | "counted" | "none"
  readonly cost_usd: number
  readonly held_usd: number
  readonly settled_usd: number
  readonly absorbed_usd: number
  readonly refunded_usd: number
  readonly paid_with: "real" | "simulated"
  readonly price: ReceiptPrice | null
  readonly routing: RoutingSummary | null
  readonly timings: {
    readonly queue_ms: number | null
    readonly hold_ms: number | null
    readonly first_token_ms: number | null
    readonly total_ms: number | null
    readonly settle_ms: number | null
    readonly overhead_ms: number | null
    readonly attempts: ReadonlyArray<AttemptTiming>
  }
  readonly finish_reason: string | null
  readonly error: {
    readonly code: string
    readonly message: string
  } | null
  readonly idempotency_key: string | null
  readonly replayed_from?: RequestId
  readonly cached: boolean
  readonly key_id: string
  readonly project_id: string | null
  readonly trace_id: string | null
  readonly account_id: ResourceId
  readonly provider_cost_usd: number | null
  readonly attempt_cost_usd: number
  readonly attempt_costs: ReadonlyArray<OperatorAttemptCost>
  readonly price_rule: {
    readonly by: "account" | "plan" | "plan_price"
    readonly plan?: string
    readonly markup?: number
  } | null
}

/** The confirmation that a key was revoked. */
export type KeyRevoked = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "key"
    readonly status: "revoked"
  }
}

/** One page of an account's keys of both kinds, newest first. `next_cursor` is null on the last page. */
export type OperatorKeyList = {
  readonly object: "list"
  readonly data: ReadonlyArray<OperatorKey>
  readonly next_cursor: ResourceId | null
}

/** A key of an account, without its secret. Times are Unix seconds. */
export type OperatorKey = {
  readonly id: ResourceId
  readonly object: "key"
  readonly kind: "inference" | "management"
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  readonly last4: string
  readonly scopes: ReadonlyArray<string>
  readonly project_id: ResourceId | null
  readonly status: "active" | "revoked" | "expired"
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

/** The rate limits of an account after a change. */
export type AccountLimitsResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    readonly limit_scale: number
  }
}

/** A new factor for the rate limits of an account: 0.001 to 1,000,000. */
export type AccountLimits = {
  readonly limit_scale: number
}

/** The markup of an account after a change. */
export type AccountMarkupResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    readonly markup_basis_points: number
  }
}

/** A new markup, in hundredths of a percent of the catalogue's prices: -9,999 to 100,000. */
export type AccountMarkup = {
  readonly markup_basis_points: number
}

/** The state of an account after a change. */
export type AccountStateResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    readonly state: AccountState
    readonly reason: string
  }
}

/** The state of an account. `suspended` ends with a resume; `closed` is final. */
export type AccountState = "active" | "suspended" | "closed"

/** The reason of a change of state. The account's owner sees the reason of a suspension, and the audit log keeps every reason. */
export type AccountStateChange = {
  readonly reason: string
}

/** An account with what an operator asks about it first. */
export type OperatorAccountResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    readonly email: string
    readonly state: AccountState
    readonly state_reason: string | null
    readonly balance_usd: number
    readonly held_usd: number
    readonly play_balance_usd: number
    readonly play_held_usd: number
    readonly limit_scale: number
    readonly markup_basis_points: number
    readonly plan: {
      readonly id: ResourceId
      readonly name: string
    } | null
    readonly created_at: number
    readonly spent_30d_usd: number
    readonly open_requests: number
    readonly keys: {
      readonly active: number
      readonly inactive: number
    }
    readonly budgets: ReadonlyArray<OperatorBudget>
  }
}

/** A budget in its current period: of a key or a project, or the daily one of the account by its plan. */
export type OperatorBudget = {
  readonly scope: "account" | "key" | "project"
  /** The id of the key, the project or the account. */
  readonly owner_id: ResourceId
  readonly name: string
  readonly period: "daily" | "weekly" | "monthly" | "lifetime"
  readonly limit_usd: number
  readonly spent_usd: number
  readonly held_usd: number
}

/** One page of accounts, newest first. `next_cursor` is null on the last page. */
export type OperatorAccountList = {
  readonly object: "list"
  readonly data: ReadonlyArray<OperatorAccount>
  readonly next_cursor: ResourceId | null
}

/** An account with its money and its state. */
export type OperatorAccount = {
  readonly id: ResourceId
  readonly object: "account"
  readonly email: string
  readonly state: AccountState
  /** The operator's reason for the state; null while the account is active. */
  readonly state_reason: string | null
  /** The balance in real money; simulated money is not included. */
  readonly balance_usd: number
  readonly held_usd: number
  /** Simulated money of a sandbox, which cannot pay a real provider. */
  readonly play_balance_usd: number
  readonly play_held_usd: number
  /** The factor for the account's rate limits. */
  readonly limit_scale: number
  /** The account's markup on the catalogue's prices, in hundredths of a percent. A negative markup is a discount. */
  readonly markup_basis_points: number
  /** The account's price plan; null without one. */
  readonly plan: {
    readonly id: ResourceId
    readonly name: string
  } | null
  /** Unix seconds. */
  readonly created_at: number
}

/** One page of top-ups, newest first. `next_cursor` is null on the last page. */
export type TopUpList = {
  readonly object: "list"
  readonly data: ReadonlyArray<TopUp>
  readonly next_cursor: ResourceId | null
}

/** The amount to pay: $5.00 to $10,000.00, in whole cents. */
export type NewTopUp = {
  readonly amount_usd: number
}

/** The confirmation that a management key was revoked. */
export type ManagementKeyRevoked = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "management_key"
    readonly status: "revoked"
  }
}

/** A management key with its secret, which is shown only once. */
export type ManagementKeyWithSecret = {
  readonly key: string
  readonly data: ManagementKey
}

/** A management key, without its secret. Times are Unix seconds. */
export type ManagementKey = {
  readonly id: ResourceId
  readonly object: "management_key"
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  readonly last4: string
  readonly scopes: ReadonlyArray<string>
  /** An expired key is also `revoked`. Neither becomes active again. */
  readonly status: "active" | "revoked"
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

/** A management key to create. */
export type NewManagementKey = {
  readonly name: string
  readonly scopes: ReadonlyArray<
    | "keys:read"
    | "keys:write"
    | "projects:read"
    | "projects:write"
    | "webhooks:read"
    | "webhooks:write"
    | "presets:read"
    | "routing:write"
    | "usage:read"
    | "audit:read"
  >
  /** Unix seconds, in the future. */
  readonly expires_at?: number | null
}

/** One page of management keys, newest first. `next_cursor` is null on the last page. */
export type ManagementKeyList = {
  readonly object: "list"
  readonly data: ReadonlyArray<ManagementKey>
  readonly next_cursor: ResourceId | null
}

/** The company behind the account, as its statements name it. */
export type BillingDetailsReport = {
  readonly data: {
    readonly object: "billing_details"
    readonly company_name: string | null
    readonly address_lines: ReadonlyArray<string>
    readonly tax_id: string | null
  }
}

/** Details to change. Absent fields stay as they are; null removes one. */
export type BillingDetailsChange = {
  readonly company_name?: string | null
  readonly address_lines?: ReadonlyArray<string>
  readonly tax_id?: string | null
}

/** Which notices the owner gets by email. All are on until the owner declines them. The change of the address itself is always told. */
export type NotificationChoices = {
  readonly data: {
    readonly object: "notifications"
    readonly low_balance: boolean
    readonly budget_alert: boolean
    readonly webhook_disabled: boolean
    readonly sign_in: boolean
    readonly key_change: boolean
  }
}

/** Choices to change. Absent ones stay as they are. */
export type NotificationChange = {
  readonly low_balance?: boolean
  readonly budget_alert?: boolean
  readonly webhook_disabled?: boolean
  readonly sign_in?: boolean
  readonly key_change?: boolean
}

/** The address of the account was changed. A letter tells the former address. */
export type EmailChanged = {
  readonly data: {
    readonly object: "email"
    readonly email: string
    readonly status: "changed"
    readonly sessions_ended: number
  }
}

/** The code that was sent to the new address. */
export type EmailCode = {
  readonly email: string
  readonly code: string
}

/** A code was sent to the new address. The account keeps its present address until the code is verified. */
export type EmailSent = {
  readonly data: {
    readonly object: "email"
    readonly email: string
    readonly status: "code_sent"
    readonly expires_in: number
    readonly sandbox_code?: string
  }
}

/** The new address of an account, which receives a code. */
export type EmailRequest = {
  readonly email: string
}

/** The phone number of an account. The service stores its last two digits. */
export type PhoneResult = {
  readonly data: {
    readonly object: "phone"
    readonly verified: boolean
    readonly last2: string
    readonly starter_credit_usd: number
    readonly sandbox_code?: string
  }
}

/** The code that was sent to a phone number. */
export type PhoneCode = {
  readonly phone: string
  readonly code: string
}

/** The phone number that should receive a code. */
export type PhoneRequest = {
  readonly phone: string
}

/** The confirmation that sessions have ended. */
export type SessionsEnded = {
  readonly object: "session"
  /** How many sessions ended. */
  readonly ended: number
}

/** One page of sessions, newest first. `next_cursor` is null on the last page. */
export type OwnerSessionList = {
  readonly object: "list"
  readonly data: ReadonlyArray<OwnerSession>
  readonly next_cursor: ResourceId | null
}

/** A session that has not ended. Times are Unix seconds. */
export type OwnerSession = {
  readonly id: ResourceId
  readonly object: "session"
  /** Whether the request was sent with this session. */
  readonly current: boolean
  /** The browser and the system that signed in, such as `Firefox on Linux`; null when they are unknown. */
  readonly browser: string | null
  /** The address that it was begun from; null when it is unknown. */
  readonly address: string | null
  readonly created_at: number
  /** The last use, to within a minute. */
  readonly seen_at: number
  /** When it ends unless it is used before. */
  readonly ends_at: number
}

/** The signed-in owner. */
export type ConsoleSession = {
  readonly object: "session"
  readonly account: {
    readonly id: ResourceId
    readonly object: "account"
    readonly email: string
  }
  /** Must be sent as `X-CSRF-Token` with every method other than GET. */
  readonly csrf_token: string
  readonly phone_verified: boolean
  /** The last two digits of the phone number; null before it is verified. */
  readonly phone_last2: string | null
  /** The starter credit that the account received for its phone number. */
  readonly starter_credit_usd: number
}

/** The code that was sent to an address, and the `sign_in_id` from the response to the request for it. */
export type SignInCode = {
  readonly email: string
  readonly sign_in_id: string
  readonly code: string
}

/** The response for every address, whether or not it has an account. */
export type SignInSent = {
  readonly object: "sign_in"
  readonly status: "code_sent"
  /** Must be sent with the code. The code is useless without it. */
  readonly sign_in_id: string
  /** How long the code is valid, in seconds. */
  readonly expires_in: number
  /** The code itself, only from a sandbox without a mail server. Every client that reaches such a sandbox can sign in as any address. */
  readonly sandbox_code?: string
}

/** The email address that should receive a code. */
export type SignInRequest = {
  readonly email: string
}

/** One page of transactions, newest first. `next_cursor` is null on the last page. */
export type TransactionList = {
  readonly object: "list"
  readonly data: ReadonlyArray<Transaction>
  readonly next_cursor: TransactionId | null
}

/** `txn_` and 16 hexadecimal characters, which do not sort by time. */
export type TransactionId = string

/** A movement of the account's money other than a charge. Charges have receipts: `GET /requests`. `amount_usd` is negative when money left the account. */
export type Transaction = {
  readonly id: TransactionId
  readonly object: "transaction"
  /** `top_up`: the owner's payment. `starter_credit`: the gift for a verified phone number. `credit` and `adjustment`: the operator's movements. `refund`: money that a request had charged. */
  readonly type: "top_up" | "starter_credit" | "credit" | "adjustment" | "refund"
  readonly amount_usd: number
  /** `simulated`: simulated money of a sandbox. */
  readonly paid_with: "real" | "simulated"
  /** Unix seconds. */
  readonly created_at: number
  /** The request whose charge was refunded. */
  readonly request_id: RequestId | null
  readonly top_up_id: ResourceId | null
  /** The operator's reference of a `credit` or an `adjustment`. */
  readonly reference: string | null
}

/** The account's money. `available_usd` is the part that running requests do not hold. */
export type BalanceReport = {
  readonly data: {
    readonly balance_usd: number
    readonly held_usd: number
    readonly available_usd: number
    readonly currency: "USD"
    readonly simulated_usd: number
    readonly low_balance: boolean
    readonly starter_credit_usd: number
  }
}

/** The account's usage over time, up to the moment: the largest groups first, then the rest. Times are Unix seconds. */
export type UsageSeriesReport = {
  readonly object: "usage_series"
  readonly start_time: number
  readonly end_time: number
  readonly interval: "minute" | "hour" | "day" | "week"
  readonly group_by: "model" | "provider" | "key" | "project" | "operation" | "status" | null
  /** The starts of the buckets, without gaps. */
  readonly buckets: ReadonlyArray<number>
  readonly totals: {
    readonly requests: number
    readonly failed_requests: number
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly cost_usd: number
    readonly latency_ms: number | null
  }
  /** The number of groups with usage in the range. */
  readonly groups: number
  readonly data: ReadonlyArray<UsageSeries>
}

/** One group, or all groups beyond the largest ones. Each list of `values` has one entry per bucket. */
export type UsageSeries = {
  readonly object: "series"
  /** The value of the dimension; null for requests without one, for the rest, and without `group_by`. */
  readonly group: string | null
  /** Whether this is the rest: all groups without a series of their own. */
  readonly is_rest: boolean
  readonly totals: {
    readonly requests: number
    readonly failed_requests: number
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly cost_usd: number
    readonly latency_ms: number | null
  }
  readonly values: {
    readonly requests: ReadonlyArray<number>
    readonly failed_requests: ReadonlyArray<number>
    readonly prompt_tokens: ReadonlyArray<number>
    readonly completion_tokens: ReadonlyArray<number>
    readonly cost_usd: ReadonlyArray<number>
    readonly latency_ms: ReadonlyArray<number | null>
  }
}

/** The account's usage, up to the moment: buckets from the oldest on, without empty ones. `totals` cover all pages. `next_cursor` is null on the last page. */
export type UsageBreakdownReport = {
  readonly object: "usage"
  /** Null when the query had times. */
  readonly period: "1d" | "7d" | "30d" | null
  readonly start_time: number
  readonly end_time: number
  readonly bucket_width: "1h" | "1d"
  readonly group_by: ReadonlyArray<"project" | "key" | "model" | "provider">
  readonly totals: {
    readonly requests: number
    readonly prompt_tokens: number
    readonly cached_tokens: number
    readonly cache_creation_tokens: number
    readonly completion_tokens: number
    readonly reasoning_tokens: number
    readonly cost_usd: number
  }
  readonly data: ReadonlyArray<UsageBreakdownBucket>
  readonly next_cursor: string | null
  readonly balance_usd: number
}

/** The usage in one time bucket of one group. It contains only the requested dimensions. Times are Unix seconds. */
export type UsageBreakdownBucket = {
  readonly object: "bucket"
  readonly start_time: number
  readonly end_time: number
  /** Null for keys without a project. */
  readonly project_id?: string | null
  readonly key_id?: string
  /** The model that served, or the requested model if none did. */
  readonly model?: string
  /** Null when no provider served. */
  readonly provider?: string | null
  readonly requests: number
  readonly prompt_tokens: number
  readonly cached_tokens: number
  readonly cache_creation_tokens: number
  readonly completion_tokens: number
  readonly reasoning_tokens: number
  readonly cost_usd: number
}

/** The confirmation that an endpoint was deleted. */
export type WebhookRemoved = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "webhook_endpoint"
    readonly deleted: true
  }
}

/** One delivery. */
export type WebhookDeliveryResult = {
  readonly data: WebhookDelivery
}

/** The delivery of an event to one endpoint, with its last attempts. `event_id` is the `webhook-id` of every attempt. */
export type WebhookDelivery = {
  readonly id: ResourceId
  readonly object: "webhook_delivery"
  readonly event_id: string
  readonly event_type: string
  /** `failed`: no further automatic attempt follows. A delivery that has arrived stays `delivered`, whatever the result of sending it again. */
  readonly status: "pending" | "delivered" | "failed"
  readonly attempt_count: number
  readonly attempts: ReadonlyArray<WebhookAttempt>
  /** Unix seconds; null once the delivery has ended, and during an attempt. */
  readonly next_attempt_at: number | null
  /** Unix seconds. */
  readonly created_at: number
  readonly ended_at: number | null
}

/** One delivery attempt. Without a response, `status_code` is null and `error` contains the reason. `response` is the start of the response body. */
export type WebhookAttempt = {
  /** Unix seconds. */
  readonly started_at: number
  readonly duration_ms: number
  readonly status_code: number | null
  readonly error: string | null
  readonly response: string | null
}

/** One page of deliveries, newest first. `next_cursor` is null on the last page. */
export type WebhookDeliveryList = {
  readonly object: "list"
  readonly data: ReadonlyArray<WebhookDelivery>
  readonly next_cursor: ResourceId | null
}

/** An endpoint with its signing secret, which is shown only once. */
export type WebhookResultWithSecret = {
  readonly data: WebhookEndpointWithSecret
}

/** An endpoint with its signing secret, which is shown only once: `whsec_` and 32 bytes in base64. */
export type WebhookEndpointWithSecret = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  readonly url: string
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
  readonly status: "enabled" | "disabled"
  readonly created_at: number
  readonly secret: string
}

/** The result of a test event: whether the endpoint answered with success, with which status and how fast, or why not. */
export type WebhookTest = {
  readonly data: {
    readonly delivered: boolean
    readonly status_code: number | null
    readonly duration_ms: number
    readonly error: string | null
  }
}

/** One endpoint. */
export type WebhookResult = {
  readonly data: WebhookEndpoint
}

/** A URL that receives events. */
export type WebhookEndpoint = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  readonly url: string
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
  /** `disabled`: the endpoint answered 410, failed for five days, or was disabled by the account. It receives nothing. */
  readonly status: "enabled" | "disabled"
  /** Unix seconds. */
  readonly created_at: number
}

/** The changes to an endpoint, at least one. An endpoint that is enabled again receives its pending events. */
export type WebhookChange = {
  readonly status?: "enabled" | "disabled"
  readonly url?: string
  readonly events?: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
}

/** A public https URL that receives events. */
export type NewWebhook = {
  readonly url: string
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
}

/** One page of endpoints, newest first. `next_cursor` is null on the last page. */
export type WebhookList = {
  readonly object: "list"
  readonly data: ReadonlyArray<WebhookEndpoint>
  readonly next_cursor: ResourceId | null
}

/** One preset. */
export type PresetResult = {
  readonly data: Preset
}

/** A preset with the configuration of its active version. */
export type Preset = {
  readonly id: ResourceId
  readonly object: "preset"
  readonly slug: PresetSlug
  readonly name: string
  readonly description: string | null
  readonly active_version: number
  readonly created_at: number
  readonly updated_at: number
  readonly config: PresetConfig
}

/** The part of a chat request that a preset supplies: its models, parameters, routing, and instructions before the caller's messages. The messages, the end user and the format of the stream belong to the request. Unknown fields are rejected. */
export type PresetConfig = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly min_p?: number | null
  readonly repetition_penalty?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  readonly seed?: number | null
  readonly stop?: string | ReadonlyArray<string> | null
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  readonly logprobs?: boolean | null
  readonly top_logprobs?: number | null
  readonly verbosity?: "low" | "medium" | "high" | null
  readonly routing?: RoutingPolicy | null
  readonly router?: RouterOptions | null
  readonly budget_cents?: number | null
  /** A system message before all others. */
  readonly instructions?: string | null
}

/** How much a reasoning model thinks. Unknown fields are rejected. */
export type ChatReasoning = {
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null
  readonly max_tokens?: number | null
  readonly enabled?: boolean | null
}

/** The format of the answer: text, any JSON object, or JSON that conforms to a schema. */
export type ChatResponseFormat =
  | {
      readonly type: "text"
    }
  | {
      readonly type: "json_object"
    }
  | {
      readonly type: "json_schema"
      readonly json_schema: {
        readonly name: string
        readonly description?: string | null
        readonly schema?: Readonly<Record<string, unknown>> | null
        readonly strict?: boolean | null
      }
    }

/** Whether the model calls tools, and which. */
export type ChatToolChoice =
  | "auto"
  | "none"
  | "required"
  | {
      readonly type: "function"
      readonly function: {
        readonly name: string
      }
    }
  | {
      readonly type: "allowed_tools"
      readonly allowed_tools: {
        readonly mode: "auto" | "required"
        readonly tools: ReadonlyArray<{
          readonly type: "function"
          readonly function: {
            readonly name: string
          }
        }>
      }
    }

/** A function that the model may call. */
export type ChatTool = {
  readonly type: "function"
  readonly function: {
    readonly name: string
    readonly description?: string | null
    readonly parameters?: Readonly<Record<string, unknown>> | null
    readonly strict?: boolean | null
  }
  readonly cache_control?: ChatCacheControl | null
}

/** The name of a preset in paths and, after an `@`, in `model`: 1 to 63 lowercase letters, digits and dashes. */
export type PresetSlug = string

/** One page of versions, newest first. `next_cursor` is null on the last page. */
export type PresetVersionList = {
  readonly object: "list"
  readonly data: ReadonlyArray<PresetVersion>
  readonly next_cursor: number | null
}

/** One version of a preset, which never changes. */
export type PresetVersion = {
  readonly object: "preset.version"
  readonly version: number
  readonly config: PresetConfig
  /** Unix seconds. */
  readonly created_at: number
}

/** The confirmation that a preset was deleted. */
export type PresetDeleted = {
  readonly data: {
    readonly slug: PresetSlug
    readonly object: "preset"
    readonly deleted: true
  }
}

/** The changes to a preset, at least one. A new `config` becomes the next version, which is then active. */
export type PresetChange = {
  readonly name?: string
  readonly description?: string | null
  readonly config?: PresetConfig
}

/** A preset to create. */
export type NewPreset = {
  readonly slug: PresetSlug
  readonly name: string
  readonly description?: string | null
  readonly config: PresetConfig
}

/** One page of presets, newest first. `next_cursor` is null on the last page. */
export type PresetList = {
  readonly object: "list"
  readonly data: ReadonlyArray<PresetSummary>
  readonly next_cursor: ResourceId | null
}

/** A preset, without the configuration of its active version. */
export type PresetSummary = {
  readonly id: ResourceId
  readonly object: "preset"
  readonly slug: PresetSlug
  readonly name: string
  readonly description: string | null
  /** The version that requests use. */
  readonly active_version: number
  /** Unix seconds. */
  readonly created_at: number
  readonly updated_at: number
}

/** One project. */
export type ProjectResult = {
  readonly data: Project
}

/** A project, which keys can belong to. Times are Unix seconds. */
export type Project = {
  readonly id: ResourceId
  readonly object: "project"
  readonly name: string
  readonly slug: PresetSlug
  /** An archived project is final: it accepts no keys and no changes. */
  readonly status: "active" | "archived"
  readonly budget_cents: number | null
  readonly budget_period: "daily" | "weekly" | "monthly" | "lifetime" | null
  /** The spending in USD cents, which may have fractions, in the budget's current period; null without a budget. */
  readonly spent_cents: number | null
  readonly routing: RoutingPolicy | null
  readonly data_policy: "default" | "no_training" | "zero_retention"
  readonly created_at: number
  readonly updated_at: number
  readonly archived_at: number | null
}

/** The changes to a project, at least one. A null removes a value. */
export type ProjectChange = {
  readonly name?: string
  readonly slug?: PresetSlug
  readonly budget_cents?: number | null
  /** Null only without a budget. */
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  /** Requires the scope `routing:write`. */
  readonly routing?: KeptRoutingPolicy | null
  /** Requires the scope `routing:write`. */
  readonly data_policy?: "default" | "no_training" | "zero_retention"
}

/** The routing options stored with a key or a project, for requests that set none. */
export type KeptRoutingPolicy = {
  readonly strategy?: "balanced" | "cost" | "latency" | "quality"
  readonly providers?: {
    readonly only?: ReadonlyArray<string>
    readonly order?: ReadonlyArray<string>
    readonly ignore?: ReadonlyArray<string>
  }
  readonly allow_fallbacks?: boolean
  readonly data_policy?: "default" | "no_training" | "zero_retention"
  readonly caching?: "auto"
  readonly require_parameters?: boolean
  readonly max_price?: {
    readonly prompt?: number
    readonly completion?: number
    readonly request?: number
    readonly image?: number
  }
  readonly timeouts?: {
    readonly connect_ms?: number
    readonly first_token_ms?: number
    readonly total_ms?: number
  }
}

/** A project to create. */
export type NewProject = {
  readonly name: string
  /** Unique in the account. Default: derived from the name. */
  readonly slug?: PresetSlug
  /** The spending limit per period for all its keys together. Default: unlimited. */
  readonly budget_cents?: number | null
  /** Default: its lifetime. Null only without a budget. */
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  /** For requests of its keys that set no routing. Requires the scope `routing:write`. */
  readonly routing?: KeptRoutingPolicy | null
  /** The loosest data policy that requests of its keys may have. Requires the scope `routing:write`. */
  readonly data_policy?: "default" | "no_training" | "zero_retention"
}

/** One page of projects, newest first. `next_cursor` is null on the last page. */
export type ProjectList = {
  readonly object: "list"
  readonly data: ReadonlyArray<Project>
  readonly next_cursor: ResourceId | null
}

/** A key with its secret, which is shown only once. */
export type ManagedKeyWithSecret = {
  readonly key: string
  readonly data: ManagedKey
}

/** An inference key, without its secret. Times are Unix seconds. */
export type ManagedKey = {
  readonly id: ResourceId
  readonly object: "key"
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  readonly last4: string
  readonly project_id: ResourceId | null
  /** An expired key is also `revoked`. Neither becomes active again. */
  readonly status: "active" | "revoked"
  readonly budget_cents: number | null
  readonly budget_period: "daily" | "weekly" | "monthly" | "lifetime" | null
  /** The spending in USD cents, which may have fractions: in the budget's current period or, without a budget, in total. */
  readonly spent_cents: number
  readonly routing: RoutingPolicy | null
  /** The tools of the MCP server that the key may call; null for all of them. */
  readonly allowed_tools: ReadonlyArray<
    | "chat"
    | "list_models"
    | "get_model"
    | "estimate_cost"
    | "generate_image"
    | "create_video"
    | "get_video"
    | "search"
    | "embed"
    | "rerank"
    | "speak"
    | "get_balance"
    | "get_usage"
    | "list_requests"
    | "get_receipt"
  > | null
  readonly created_at: number
  /** When its newest paid request was made. */
  readonly last_used_at: number | null
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

/** Options for rotating a key. */
export type KeyRotation = {
  /** How long the old key works beside the new one, in seconds, at most a day. Default: 0. */
  readonly grace_seconds?: number
}

/** One key. */
export type ManagedKeyResult = {
  readonly data: ManagedKey
}

/** The changes to a key, at least one. A null removes a value. */
export type ManagedKeyChange = {
  readonly name?: string
  /** Requires the scope `routing:write`, because the project's routing and data policy apply to the key. */
  readonly project_id?: ResourceId | null
  readonly budget_cents?: number | null
  /** Null only with `budget_cents: null`. */
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly expires_at?: number | null
  /** Requires the scope `routing:write`. */
  readonly routing?: KeptRoutingPolicy | null
  /** Null allows all tools. */
  readonly allowed_tools?: ReadonlyArray<
    | "chat"
    | "list_models"
    | "get_model"
    | "estimate_cost"
    | "generate_image"
    | "create_video"
    | "get_video"
    | "search"
    | "embed"
    | "rerank"
    | "speak"
    | "get_balance"
    | "get_usage"
    | "list_requests"
    | "get_receipt"
  > | null
}

/** An inference key to create. */
export type NewManagedKey = {
  readonly name: string
  readonly project_id?: ResourceId | null
  /** The spending limit per period. Default: unlimited. */
  readonly budget_cents?: number | null
  /** The UTC day, the week from Monday, the month, or the key's lifetime, which is the default. Null only without a budget. */
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly expires_at?: number | null
  /** For requests that set no routing. Requires the scope `routing:write`. */
  readonly routing?: KeptRoutingPolicy | null
  /** The tools of the MCP server that the key may call. Default: all. */
  readonly allowed_tools?: ReadonlyArray<
    | "chat"
    | "list_models"
    | "get_model"
    | "estimate_cost"
    | "generate_image"
    | "create_video"
    | "get_video"
    | "search"
    | "embed"
    | "rerank"
    | "speak"
    | "get_balance"
    | "get_usage"
    | "list_requests"
    | "get_receipt"
  > | null
}

/** One page of keys, newest first. `next_cursor` is null on the last page. */
export type ManagedKeyList = {
  readonly object: "list"
  readonly data: ReadonlyArray<ManagedKey>
  readonly next_cursor: ResourceId | null
}

/** A model of the catalogue, with its prices and its providers. */
export type ModelDetail = {
  readonly object: "model"
  readonly id: string
  readonly name: string
  /** The release date, in Unix seconds. */
  readonly created: number
  readonly owned_by: string
  readonly modality: "text" | "image" | "image_edit" | "video" | "audio" | "embedding" | "rerank" | "search"
  readonly status: "preview" | "ga" | "deprecated" | "retired"
  /** Whether a request for it can be served now. */
  readonly servable: boolean
  readonly capabilities: ReadonlyArray<string>
  readonly pricing: ModelPricing
  /** In order of preference. */
  readonly providers: ReadonlyArray<ModelProvider>
  /** Optional request parameters that change the answer. */
  readonly supportedParameters: ReadonlyArray<string>
  readonly brand: string
  readonly description: string
  /** In tokens; 0 for models that do not count tokens. */
  readonly contextWindow: number
  readonly maxOutputTokens: number
  /** Whether the id stands for a choice among other models. */
  readonly virtual: boolean
  readonly pricingNote: string
  readonly overlay: ModelOverlay
  /** The model's changes, oldest first. Prices that vary by the hour of the day are not recorded. */
  readonly history: ReadonlyArray<ModelEvent>
  /** The same as `id`. */
  readonly canonical_slug: string
  /** The same as `contextWindow`. */
  readonly context_length: number
  readonly architecture: ModelArchitecture
  /** The preferred provider. The gateway does not moderate, and does not know whether the provider does. */
  readonly top_provider: {
    readonly context_length: number
    readonly max_completion_tokens: number | null
    readonly is_moderated: false
  }
  /** The same as `supportedParameters`. */
  readonly supported_parameters: ReadonlyArray<string>
  /** The path of this model. */
  readonly links: {
    readonly details: string
  }
  readonly per_request_limits: null
  readonly default_parameters: null
  readonly supported_voices: null
}

/** The kinds of input and output of a model, in OpenRouter's words. */
export type ModelArchitecture = {
  readonly input_modalities: ReadonlyArray<"text" | "image" | "file">
  readonly output_modalities: ReadonlyArray<"text" | "image" | "video" | "speech" | "embeddings" | "rerank">
  /** Both lists in one text, such as `text+image->text`. */
  readonly modality: string
  readonly instruct_type: null
}

/** A change of a model. */
export type ModelEvent = {
  /** `released`, `price_changed`, `promotion_started`, `promotion_ended`, a status, or a word that the operator chose. */
  readonly event: string
  /** `YYYY-MM-DD`, in UTC. */
  readonly date: string
  /** Present when it happened at one provider only. */
  readonly provider?: string
  readonly detail?: string
  /** For token prices, as in `pricing`: the price from then on, without promotions. */
  readonly meteredPromptPerToken?: number
  readonly meteredCompletionPerToken?: number
  /** For any other price. */
  readonly perUnitUsd?: number
}

/** How the entry differs from the published data of the model. */
export type ModelOverlay = {
  /** Whether the price was set by this service, because no price list has it or the operator changed it. */
  readonly isOverlay: boolean
  /** `provider` for a model that is called, `router` for an id that chooses a model. */
  readonly dispatch: "provider" | "router"
  /** Which of price and status this service sets itself. */
  readonly overrideStatus: "none" | "price" | "status" | "price_and_status"
}

/** A provider that offers the model. */
export type ModelProvider = {
  readonly provider: string
  readonly providerDisplayName: string
  readonly upstreamModelId: string
  /** `primary`: the first available provider; its price is shown. The routing of a request decides which provider it uses first. */
  readonly role: "primary" | "fallback"
  readonly available: boolean
  /** Capabilities of the model that this provider does not support. */
  readonly unsupportedCapabilities: ReadonlyArray<string>
  readonly trainsOnData: boolean
  readonly zeroRetentionAvailable: boolean
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly performance: ProviderPerformance
}

/** A provider's performance for the model in the last 30 minutes, across all nodes. Unknown values are null. */
export type ProviderPerformance = {
  readonly samples: number
  /** 0 to 1. */
  readonly successRate: number | null
  /** Of successful requests, as are all times. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** From the request to the first content of a stream. */
  readonly medianTtftMs: number | null
  /** True for fewer than 20 samples, which are not reliable. */
  readonly thin: boolean
}

/** The model's price at its preferred available provider, in USD. A member is null when its unit does not apply. If long prompts cost more, these are the rates of the shortest. */
export type ModelPricing = {
  /** The unit of the price. */
  readonly unit: "token" | "request" | "image" | "second" | "character"
  /** For comparison: the cost of a text request with 1,000 prompt and 500 output tokens, an embedding of 1,000 tokens, a rerank of 10,000 tokens, one image, 5 seconds of video, 1,000 characters of speech, or one search. */
  readonly typicalRequestUsd: number | null
  readonly meteredPromptPerToken: number | null
  readonly meteredCachedPromptPerToken: number | null
  readonly meteredCacheWritePromptPerToken: number | null
  readonly meteredCompletionPerToken: number | null
  /** Charged once per request, whatever it uses. */
  readonly perRequestUsd: number | null
  readonly perUnitUsd: number | null
  /** `perUnitUsd` without the promotion; for token prices, `meteredPromptPerToken` without it. Null when there is no promotion. */
  readonly listPerUnitUsd: number | null
  /** The promotion that lowers all prices shown here. */
  readonly promotion: Promotion | null
  /** Per token. `0` for models with another unit, `-1` for a model whose price is not known in advance. */
  readonly prompt: string
  /** Per token, as `prompt`. */
  readonly completion: string
  readonly request?: string
  /** Per image that the model makes. */
  readonly image_output?: string
  readonly input_cache_read?: string
  readonly input_cache_write?: string
}

/** A temporary price cut, from `startsAt` until just before `endsAt`. A request keeps the price at which it was admitted. */
export type Promotion = {
  readonly label: string
  /** Above 0 and below 100. Discounted rates are rounded up to a multiple of 1e-12 USD. */
  readonly discountPercent: number
  /** ISO 8601. */
  readonly startsAt: string
  /** ISO 8601. */
  readonly endsAt: string
}

/** All models that pass the filters, on one page unless `limit` is smaller. */
export type ModelList = {
  readonly object: "list"
  readonly data: ReadonlyArray<ModelDetail>
  /** Whether more models follow; with `before_id`, whether more come before. */
  readonly has_more: boolean
  /** The ids of the first and the last model on the page; null when it is empty. */
  readonly first_id: string | null
  readonly last_id: string | null
  /** The number of models that pass the filters, on all pages. */
  readonly total_count: number
  /** `next` is the path and query of the next page, null on the last. */
  readonly links: {
    readonly next: string | null
  }
}

/** The confirmation that an endpoint was deleted. */
export type WebhookDeleted = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  readonly deleted: true
}

/** A receipt in OpenRouter's form. `GET /requests/{request_id}` has every fact of it. Members that OpenRouter's clients require and the gateway does not record are null. Token counts are the provider's, and null for work that is not priced by tokens. */
export type Generation = {
  readonly data: {
    readonly id: string
    readonly request_id: RequestId
    readonly created_at: string
    readonly model: string
    readonly provider_name: string | null
    readonly provider_responses: ReadonlyArray<GenerationAttempt> | null
    readonly api_type: "completions" | "embeddings" | "rerank" | "video" | "tts" | "image" | null
    readonly streamed: boolean
    readonly cancelled: boolean
    readonly finish_reason: string | null
    readonly native_finish_reason: string | null
    readonly tokens_prompt: number | null
    readonly tokens_completion: number | null
    readonly native_tokens_prompt: number | null
    readonly native_tokens_completion: number | null
    readonly native_tokens_cached: number | null
    readonly native_tokens_reasoning: number | null
    readonly native_tokens_completion_images: null
    readonly total_cost: number
    readonly usage: number
    readonly latency: number | null
    readonly generation_time: number | null
    readonly router: string | null
    readonly preset_id: string | null
    readonly is_byok: false
    readonly data_region: "global"
    readonly origin: string
    readonly cache_discount: null
    readonly upstream_inference_cost: null
    readonly upstream_id: null
    readonly app_id: null
    readonly external_user: null
    readonly http_referer: null
    readonly user_agent: null
    readonly moderation_latency: null
    readonly num_fetches: null
    readonly num_input_audio_prompt: null
    readonly num_media_completion: null
    readonly num_media_prompt: null
    readonly num_search_results: null
    readonly service_tier: null
    readonly web_search_engine: null
    readonly workspace_id: null
  }
}

/** An attempt at a provider. `status` is 200 for the one that served, null for the others. */
export type GenerationAttempt = {
  readonly provider_name: string
  readonly status: number | null
}

/** The account's credits as OpenRouter's clients read them: `total_credits` minus `total_usage` is the balance. A charge made up front counts as usage once its work has ended. */
export type CreditsReport = {
  readonly data: {
    readonly total_credits: number
    readonly total_usage: number
  }
}

/** The calling key, without its secret. Times are Unix seconds. Each class of operations has a rate limit, which includes all factors. `spend_usd` is the key's spending since the start of the UTC day, week (Monday) and month, and in total. */
export type KeyReport = {
  readonly object: "key"
  readonly id: ResourceId
  readonly kind: "inference" | "management"
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  readonly last4: string
  readonly project_id: string | null
  readonly created_at: number
  /** When its newest paid request was made. */
  readonly last_used_at: number | null
  readonly expires_at: number | null
  /** The key's own budget. */
  readonly budget: KeyBudget | null
  /** The project's budget, which all of its keys share. */
  readonly project_budget: KeyBudget | null
  /** The account's factor for rate limits. */
  readonly limit_scale: number
  readonly rate_limits: {
    readonly default: KeyRateLimit
    readonly chat: KeyRateLimit
    readonly search: KeyRateLimit
    readonly images: KeyRateLimit
    readonly video: KeyRateLimit
  }
  readonly spend_usd: {
    readonly today: number
    readonly this_week: number
    readonly this_month: number
    readonly all_time: number
  }
  readonly balance_usd: number
}

/** The number of requests that a key may make in a window of this many seconds. */
export type KeyRateLimit = {
  readonly requests: number
  readonly window_seconds: number
}

/** A budget in USD cents, which may have fractions, in the current UTC period. Money held by running requests counts neither as spent nor as remaining. */
export type KeyBudget = {
  readonly period: "daily" | "weekly" | "monthly" | "lifetime"
  readonly budget_cents: number
  readonly spent_cents: number
  readonly remaining_cents: number
}

/** The account's usage in a period, up to the moment. Buckets are UTC hours for `1d` and UTC days for `7d` and `30d`, sorted by start, model and provider. Buckets without usage are omitted. `end_time` is the end of the current bucket. */
export type UsageReport = {
  readonly object: "usage"
  readonly period: "1d" | "7d" | "30d"
  readonly start_time: number
  readonly end_time: number
  readonly totals: {
    readonly requests: number
    readonly prompt_tokens: number
    readonly cached_tokens: number
    readonly cache_creation_tokens: number
    readonly completion_tokens: number
    readonly reasoning_tokens: number
    readonly cost_usd: number
  }
  readonly data: ReadonlyArray<UsageBucket>
  readonly balance_usd: number
}

/** The usage of one model at one provider in one time bucket. Times are Unix seconds. */
export type UsageBucket = {
  readonly object: "bucket"
  readonly start_time: number
  readonly end_time: number
  /** The model that served, or the requested model if none did. */
  readonly model: string
  /** Null when no provider served. */
  readonly provider: string | null
  readonly requests: number
  readonly prompt_tokens: number
  readonly cached_tokens: number
  readonly cache_creation_tokens: number
  readonly completion_tokens: number
  readonly reasoning_tokens: number
  readonly cost_usd: number
}

/** The receipt of one paid request. `cost_usd` is the final charge: settled minus refunded. `absorbed_usd` is what the provider charged beyond the hold, which the house bears. Work charged up front is settled at once, and its receipt stays open until the work has ended; undelivered parts are refunded then. */
export type RequestReceipt = {
  readonly id: RequestId
  readonly object: "request"
  /** Unix seconds. */
  readonly created_at: number
  readonly operation: string
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  readonly model: string
  readonly resolved_model: string | null
  readonly provider: string | null
  readonly preset?: string
  readonly streamed: boolean
  readonly usage: ReceiptUsage | null
  readonly usage_basis: "reported" | "counted" | "none"
  readonly cost_usd: number
  readonly held_usd: number
  readonly settled_usd: number
  readonly absorbed_usd: number
  readonly refunded_usd: number
  /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
  readonly paid_with: "real" | "simulated"
  readonly price: ReceiptPrice | null
  readonly routing: RoutingSummary | null
  readonly timings: {
    readonly queue_ms: number | null
    readonly hold_ms: number | null
    readonly first_token_ms: number | null
    readonly total_ms: number | null
    readonly settle_ms: number | null
    readonly overhead_ms: number | null
    readonly attempts: ReadonlyArray<AttemptTiming>
  }
  readonly finish_reason: string | null
  readonly error: {
    readonly code: string
    readonly message: string
  } | null
  readonly idempotency_key: string | null
  /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
  readonly replayed_from?: RequestId
  readonly cached: boolean
  readonly key_id: string
  readonly project_id: string | null
  readonly trace_id: string | null
}

/** One page of receipts, newest first. `next_cursor` is null on the last page. With a filter, a page searches a limited number of requests: it may contain fewer receipts than `limit`, or none, and still have a `next_cursor`. */
export type RequestList = {
  readonly object: "list"
  readonly data: ReadonlyArray<RequestReceipt>
  readonly next_cursor: RequestId | null
  /** When the oldest request that this page searched arrived, in Unix seconds; null when the page searched all of them. */
  readonly searched_to: number | null
}

/** The confirmation that a file was deleted. */
export type FileDeleted = {
  readonly id: string
  readonly object: "file"
  readonly deleted: true
}

/** A file of the account in OpenAI's format. Times are Unix seconds. */
export type FileObject = {
  readonly id: string
  readonly object: "file"
  readonly bytes: number
  readonly created_at: number
  readonly filename: string
  readonly purpose: "batch" | "batch_output"
  readonly status: "processed"
  readonly expires_at: number | null
}

/** One page of files, newest first by default. `last_id` is the `after` of the next page. */
export type FileList = {
  readonly object: "list"
  readonly data: ReadonlyArray<FileObject>
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

/** The upload form, of at most 32 MiB. `purpose` is `batch`, and `file` contains one request per line, at most 50,000. The file is kept for 30 days, or as long as `expires_after[seconds]` says, from an hour to 30 days. An account can have at most 1,000 input files, of 512 MiB in total. */
export type NewFile = {
  readonly purpose: "batch"
  readonly file: Blob
  readonly "expires_after[anchor]"?: "created_at"
  readonly "expires_after[seconds]"?: string
}

/** A background batch in OpenAI's format. Each line is an ordinary request with a receipt of its own. Failed requests are lines of the error file. `request_counts` grow as lines end. Times are Unix seconds. */
export type BatchObject = {
  readonly id: string
  readonly object: "batch"
  readonly endpoint: string
  readonly errors: {
    readonly object: "list"
    readonly data: ReadonlyArray<BatchFault>
  } | null
  readonly input_file_id: string
  readonly completion_window: "24h"
  readonly status:
    | "validating"
    | "in_progress"
    | "finalizing"
    | "completed"
    | "failed"
    | "expired"
    | "cancelling"
    | "cancelled"
  readonly output_file_id: string | null
  readonly error_file_id: string | null
  readonly created_at: number
  readonly in_progress_at: number | null
  readonly expires_at: number
  readonly finalizing_at: number | null
  readonly completed_at: number | null
  readonly failed_at: number | null
  readonly expired_at: number | null
  readonly cancelling_at: number | null
  readonly cancelled_at: number | null
  readonly request_counts: {
    readonly total: number
    readonly completed: number
    readonly failed: number
  }
  readonly metadata: Readonly<Record<string, string>> | null
}

/** A fault in the input of a batch. Lines count from 1. */
export type BatchFault = {
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly line: number | null
}

/** One page of batches, newest first. `last_id` is the `after` of the next page. */
export type BatchPage = {
  readonly object: "list"
  readonly data: ReadonlyArray<BatchObject>
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

/** A batch of requests that are the lines of a file. Unknown fields are rejected. */
export type NewBatch = {
  /** The id of a file with the purpose `batch`. */
  readonly input_file_id: string
  readonly endpoint:
    | "/v1/chat/completions"
    | "/chat/completions"
    | "/v1/responses"
    | "/responses"
    | "/v1/embeddings"
    | "/embeddings"
    | "/v1/messages"
    | "/messages"
  readonly completion_window: "24h"
  readonly metadata?: Readonly<Record<string, string>> | null
  /** How long the output and error files are kept after they are written. Default: 30 days. */
  readonly output_expires_after?: {
    readonly anchor: "created_at"
    readonly seconds: number
  } | null
}

/** The answers to all requests of a batch, in order. `cost_usd` is their total cost. Each request has a receipt of its own. */
export type BatchList = {
  readonly object: "list"
  readonly data: ReadonlyArray<BatchItem>
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
}

/** Up to 100 requests, which are all validated before any of them starts. Unknown fields are rejected. */
export type BatchRequest = {
  readonly requests: ReadonlyArray<BatchEntry>
}

/** One request of a batch. `body` is the body of the operation, without streaming; `params` is an alias. */
export type BatchEntry = {
  /** The client's name for the request, unique within the batch. */
  readonly custom_id?: string
  /** Default: `/chat/completions`. */
  readonly url?: "/chat/completions" | "/messages" | "/responses" | "/embeddings"
  readonly body?: Readonly<Record<string, unknown>>
  readonly params?: Readonly<Record<string, unknown>>
}

/** A video job and its progress. It ends as `completed` or `failed`, which is final. */
export type VideoJob = {
  readonly id: ResourceId
  readonly object: "video"
  readonly model: string
  readonly status: "queued" | "processing" | "completed" | "failed"
  /** Unix time in seconds, as is `completed_at`. */
  readonly created_at: number
  /** When it was completed or failed. */
  readonly completed_at: number | null
  readonly prompt: string
  readonly duration: number
  readonly aspect_ratio: "16:9" | "9:16"
  /** A whole percentage, if the provider reports it; 100 once the video is completed. */
  readonly progress?: number
  /** The URL of the video, once it is completed. Any client that has the URL may read it. */
  readonly video_url?: string
  /** Why it failed. */
  readonly error: {
    readonly code: string
    readonly message: string
  } | null
  /** The charge minus the refund. */
  readonly cost_usd: number
  /** Whether everything was refunded, which is so for every failed job. */
  readonly refunded: boolean
  /** The provider that makes it, once one has accepted it. */
  readonly provider: string | null
  /** The id of the request that created it, and of its receipt. */
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
}

/** One page of video jobs, newest first by default. `last_id` is the `after` of the next page. */
export type VideoPage = {
  readonly object: "list"
  readonly data: ReadonlyArray<VideoJob>
  readonly first_id: ResourceId | null
  readonly last_id: ResourceId | null
  readonly has_more: boolean
}

/** The results, query by query. `cost_usd` is charged per query, and only on success. */
export type SearchResponse = {
  readonly id: string
  readonly results: ReadonlyArray<SearchResult>
  /** The time of the answer, ISO 8601. */
  readonly server_time: string
  readonly model: string
  readonly provider: string
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
}

/** A page, best first. Dates are `YYYY-MM-DD`. */
export type SearchResult = {
  readonly title: string
  readonly url: string
  readonly snippet: string
  readonly date?: string
  readonly last_updated?: string
  /** The index of the query that it answers, if there were several. */
  readonly query_index?: number
}

/** A query for a search engine, or up to five that are answered and charged together. Unknown fields are rejected, and a null counts as absent. Days are whole days in UTC, and a range includes both of its days. A page without a known date is in no range. */
export type SearchRequest = {
  readonly query: string | ReadonlyArray<string>
  /** Default: the first search engine that the key's routing admits. */
  readonly model?: string | null
  /** Per query. Default: 10. */
  readonly max_results?: number | null
  /** The limit for all snippets together, at four characters per token; the rest is left out. */
  readonly max_tokens?: number | null
  /** The limit for one snippet, at four characters per token; the rest is cut. */
  readonly max_tokens_per_page?: number | null
  /** Prefers pages of this country, a two-letter ISO 3166-1 code. */
  readonly country?: string | null
  /** Only pages of these domains and their subdomains; a domain with `-` in front is excluded. */
  readonly search_domain_filter?: ReadonlyArray<string> | null
  /** Only pages in these languages, as two-letter ISO 639-1 codes. */
  readonly search_language_filter?: ReadonlyArray<string> | null
  /** Only pages published within this time. */
  readonly search_recency_filter?: "hour" | "day" | "week" | "month" | "year" | null
  readonly search_after_date_filter?: string | null
  readonly search_before_date_filter?: string | null
  readonly last_updated_after_filter?: string | null
  readonly last_updated_before_filter?: string | null
  /** Default: `web`. */
  readonly search_mode?: "web" | "academic" | "sec" | null
  /** How much of each page is returned, if the engine offers a choice. Default: `medium`. */
  readonly search_context_size?: "low" | "medium" | "high" | null
}

/** A text to speak, of 1 to 4,096 characters (Unicode code points), each of which is charged. Unknown fields are rejected; a null counts as absent. */
export type SpeechRequest = {
  readonly model: string
  readonly input: string
  readonly voice: "alloy" | "ash" | "coral" | "echo" | "fable" | "onyx" | "nova" | "sage" | "shimmer"
  /** Default: `mp3`. */
  readonly response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm" | null
  /** Default: 1. */
  readonly speed?: number | null
}

/** The documents, most relevant first. `index` is a document's position in the request. */
export type RerankResult = {
  readonly model: string
  readonly provider: string
  readonly results: ReadonlyArray<{
    readonly index: number
    readonly relevance_score: number
    readonly document?: {
      readonly text: string
    }
  }>
  readonly usage: {
    readonly total_tokens: number
  }
  readonly cost_usd: number
  readonly request_id: string
  readonly balance_warning?: BalanceWarning
}

/** A rerank request. Unknown fields are rejected; a null counts as absent. If the query with a document is longer than the model's context window, the request is rejected unless `truncation` is true. */
export type RerankRequest = {
  readonly model: string
  readonly query: string
  readonly documents: ReadonlyArray<string>
  /** Default: all. */
  readonly top_n?: number | null
  /** Default: false. */
  readonly return_documents?: boolean | null
  /** Default: false. */
  readonly truncation?: boolean | null
}

/** The vectors of all inputs, in order. */
export type EmbeddingsList = {
  readonly object: "list"
  readonly model: string
  readonly data: ReadonlyArray<Embedding>
  readonly usage: {
    readonly prompt_tokens: number
    readonly total_tokens: number
  }
  readonly cost_usd: number
  readonly request_id: string
  readonly balance_warning?: BalanceWarning
}

/** The vector of the input with this index: numbers, or a string for base64. */
export type Embedding = {
  readonly object: "embedding"
  readonly index: number
  readonly embedding: ReadonlyArray<number> | string
}

/** An embeddings request. Unknown fields are rejected; a null counts as absent. `input` is a text, up to 2,048 texts, the tokens of one text, or the tokens of up to 2,048 texts. Models that accept only texts reject tokens. An input longer than the model's context window is rejected, unless `truncation` is true and the model supports it. `input_type` is for models that embed queries and documents differently, and has no effect on others. */
export type EmbeddingsRequest = {
  readonly model: string
  readonly input: string | ReadonlyArray<string> | ReadonlyArray<number> | ReadonlyArray<ReadonlyArray<number>>
  /** Default: the model's own number of dimensions. */
  readonly dimensions?: number | null
  /** Default: `float`. `base64` is the base64 of little-endian 32-bit floats. */
  readonly encoding_format?: "float" | "base64" | null
  readonly input_type?: "query" | "document" | null
  /** Default: false. */
  readonly truncation?: boolean | null
  readonly user?: string | null
}

/** The tokens of a prompt, by the tokenizer that the service uses when a provider reports no usage. */
export type ResponsesTokens = {
  readonly object: "response.input_tokens"
  readonly input_tokens: number
}

/** A Responses request for a token count. The model and the input may be absent. */
export type ResponsesTokensRequest = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
  readonly input?:
    | string
    | ReadonlyArray<
        | ResponsesInputMessage
        | ResponsesSaidMessage
        | ResponsesSaidReasoning
        | ResponsesSaidCall
        | ResponsesCallOutput
        | ResponsesSaidCustomCall
        | ResponsesCustomOutput
        | ResponsesAdditionalTools
        | ResponsesSaidSearch
        | ResponsesSearchOutput
      >
    | null
  readonly instructions?: string | null
  readonly max_output_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  readonly top_logprobs?: number | null
  readonly tools?: ReadonlyArray<ResponsesTool> | null
  readonly tool_choice?: ResponsesToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly text?: {
    readonly format?: ResponsesTextFormat | null
    readonly verbosity?: "low" | "medium" | "high" | null
  } | null
  readonly reasoning?: ResponsesReasoning | null
  readonly stream?: boolean | null
  readonly include?: ReadonlyArray<string> | null
  readonly truncation?: "auto" | "disabled" | null
  readonly max_tool_calls?: number | null
  readonly stream_options?: {
    readonly include_obfuscation?: boolean | null
  } | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly user?: string | null
  readonly safety_identifier?: string | null
  readonly prompt_cache_key?: string | null
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  readonly router?: RouterOptions | null
  readonly budget_cents?: number | null
  readonly store?: false | null
  readonly background?: false | null
  readonly previous_response_id?: null
  readonly conversation?: null
  readonly prompt?: null
  readonly service_tier?: "auto" | "default" | null
  readonly route?: "fallback" | null
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** How much a reasoning model thinks. Unknown fields are rejected. */
export type ResponsesReasoning = {
  /** `max` means `xhigh`. */
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  /** No effect: the answer always contains the reasoning that a provider shows. */
  readonly summary?: "auto" | "concise" | "detailed" | null
  readonly max_tokens?: number | null
  readonly enabled?: boolean | null
  /** No effect: which earlier reasoning OpenAI's servers would read again. */
  readonly context?: "auto" | "current_turn" | "all_turns" | null
}

/** The format of the answer's text. */
export type ResponsesTextFormat =
  | {
      readonly type: "text"
    }
  | {
      readonly type: "json_object"
    }
  | {
      readonly type: "json_schema"
      readonly name: string
      readonly description?: string | null
      readonly schema?: Readonly<Record<string, unknown>> | null
      readonly strict?: boolean | null
    }

/** Whether the model calls tools, and which. */
export type ResponsesToolChoice =
  | "auto"
  | "none"
  | "required"
  | {
      readonly type: "function"
      readonly name: string
      readonly namespace?: string | null
    }
  | {
      readonly type: "custom"
      readonly name: string
      readonly namespace?: string | null
    }
  | {
      readonly type: "tool_search"
    }
  | {
      readonly type: "allowed_tools"
      readonly mode: "auto" | "required"
      readonly tools: ReadonlyArray<
        | {
            readonly type: "function"
            readonly name: string
            readonly namespace?: string | null
          }
        | {
            readonly type: "custom"
            readonly name: string
            readonly namespace?: string | null
          }
        | {
            readonly type: "tool_search"
          }
        | {
            readonly type: "namespace"
            readonly name: string
          }
        | ResponsesHostedTool
      >
    }

/** A tool that only OpenAI's servers run. It is left out and listed in `X-Svc-Ignored-Parameters` as `tools[3]`. */
export type ResponsesHostedTool = {
  readonly type:
    | "web_search"
    | "web_search_preview"
    | "file_search"
    | "computer"
    | "computer_use"
    | "computer_use_preview"
    | "code_interpreter"
    | "image_generation"
    | "mcp"
    | string
}

/** A tool that the model may call. */
export type ResponsesTool =
  | ResponsesFunctionTool
  | ResponsesCustomTool
  | ResponsesNamespaceTool
  | ResponsesToolSearchTool
  | ResponsesHostedTool

/** A search for tools. With `execution: "client"` the client runs it, and the model sees a function. */
export type ResponsesToolSearchTool = {
  readonly type: "tool_search"
  /** Without `client`, the search is left out of the request, because all tools are loaded. */
  readonly execution?: "client" | "server" | null
  readonly description?: string | null
  readonly parameters?: Readonly<Record<string, unknown>> | null
}

/** Tools under a common name. The model sees each as `namespace__name`; its call contains the two separately. */
export type ResponsesNamespaceTool = {
  readonly type: "namespace"
  readonly name: string
  readonly description?: string | null
  readonly tools: ReadonlyArray<ResponsesFunctionTool | ResponsesCustomTool>
}

/** A tool with one text as its input. The model sees a function with one string `input`, and its call is returned as a `custom_tool_call`. A grammar is part of the function's description; the gateway does not enforce it. */
export type ResponsesCustomTool = {
  readonly type: "custom"
  readonly name: string
  readonly description?: string | null
  readonly format?:
    | {
        readonly type: "text"
      }
    | {
        readonly type: "grammar"
        readonly syntax: "lark" | "regex"
        readonly definition: string
      }
    | null
  readonly defer_loading?: boolean | null
}

/** A function that the model may call. All functions are loaded: `defer_loading` has no effect. */
export type ResponsesFunctionTool = {
  readonly type: "function"
  readonly name: string
  readonly description?: string | null
  /** The JSON Schema of the arguments. */
  readonly parameters?: Readonly<Record<string, unknown>> | null
  readonly strict?: boolean | null
  readonly defer_loading?: boolean | null
}

/** The tools that a search found. The model may call them from then on. */
export type ResponsesSearchOutput = {
  readonly type: "tool_search_output"
  readonly call_id?: string | null
  readonly tools: ReadonlyArray<ResponsesTool>
}

/** A search for tools of an earlier answer. */
export type ResponsesSaidSearch = {
  readonly type: "tool_search_call"
  readonly call_id?: string | null
  readonly arguments: unknown
}

/** Tools in addition to those of `tools`. */
export type ResponsesAdditionalTools = {
  readonly type: "additional_tools"
  readonly tools: ReadonlyArray<ResponsesTool>
}

/** The result of a custom tool call. */
export type ResponsesCustomOutput = {
  readonly type: "custom_tool_call_output"
  /** The id of the call. An agent's own report that answers no call has none, and names its tool instead. */
  readonly call_id?: string | null
  readonly name?: string | null
  readonly namespace?: string | null
  readonly output: string | ReadonlyArray<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
}

/** A file as a data URL with base64. Text and JSON are put to the model as text. PDF files are for models with vision of Anthropic, Google and OpenAI, and may have 100 pages in a request. Ids and URLs of files are not offered. */
export type ResponsesInputFile = {
  readonly type: "input_file"
  readonly file_data: string
  readonly filename?: string | null
}

/** An image of a prompt: an https URL or a data URL. File ids are not supported. */
export type ResponsesInputImage = {
  readonly type: "input_image"
  readonly image_url: string
  /** `original` means `high`, because the full-size image has no cost limit. */
  readonly detail?: "auto" | "low" | "high" | "original" | null
}

/** Text of a prompt. */
export type ResponsesInputText = {
  readonly type: "input_text"
  readonly text: string
}

/** A custom tool call of an earlier answer. */
export type ResponsesSaidCustomCall = {
  readonly type: "custom_tool_call"
  readonly call_id: string
  readonly name: string
  readonly namespace?: string | null
  readonly input: string
}

/** The result of a tool call. */
export type ResponsesCallOutput = {
  readonly type: "function_call_output"
  /** The id of the call. An agent's own report that answers no call has none, and names its tool instead. */
  readonly call_id?: string | null
  readonly name?: string | null
  readonly namespace?: string | null
  readonly output: string | ReadonlyArray<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
}

/** A tool call of an earlier answer. */
export type ResponsesSaidCall = {
  readonly type: "function_call"
  readonly call_id: string
  readonly name: string
  readonly namespace?: string | null
  /** JSON text, as the model wrote it. */
  readonly arguments: string
}

/** Reasoning of an earlier answer. Send it back with its `encrypted_content`, and a model of the same provider continues from it. An item with content that this service did not encrypt for the same account is ignored. */
export type ResponsesSaidReasoning = {
  readonly type: "reasoning"
  readonly encrypted_content?: string | null
  readonly summary?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
  readonly content?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
}

/** A message of the assistant, from an earlier answer or written by the client. */
export type ResponsesSaidMessage = {
  readonly type?: "message"
  readonly role: "assistant"
  readonly content:
    | string
    | ReadonlyArray<
        | {
            readonly type: "output_text"
            readonly text: string
          }
        | {
            readonly type: "input_text"
            readonly text: string
          }
        | {
            readonly type: "refusal"
            readonly refusal: string
          }
      >
}

/** A message of the prompt. Only user messages may contain images. */
export type ResponsesInputMessage = {
  readonly type?: "message"
  readonly role: "user" | "system" | "developer"
  readonly content: string | ReadonlyArray<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
}

/** OpenAI's Responses request, as far as it stores nothing between requests: the client sends the whole conversation each time. A null counts as absent. The gateway ignores unknown fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects fields of that API that would change the answer and are not supported (`store: true`, `previous_response_id`, `background: true`, `conversation`, `prompt`, file ids) with `unsupported_parameter`. Tools that only OpenAI's servers run are left out and listed in that header. */
export type ResponsesRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list. */
  readonly models?: ReadonlyArray<string> | null
  /** The user's text, or the items of a conversation: at most 1,000, or `MAX_MESSAGES` if the operator set it higher. */
  readonly input:
    | string
    | ReadonlyArray<
        | ResponsesInputMessage
        | ResponsesSaidMessage
        | ResponsesSaidReasoning
        | ResponsesSaidCall
        | ResponsesCallOutput
        | ResponsesSaidCustomCall
        | ResponsesCustomOutput
        | ResponsesAdditionalTools
        | ResponsesSaidSearch
        | ResponsesSearchOutput
      >
  /** A system message before all others. */
  readonly instructions?: string | null
  /** Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_output_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  /** The number of alternatives to each token; only with the log-probabilities of a stream, see `include`. */
  readonly top_logprobs?: number | null
  readonly tools?: ReadonlyArray<ResponsesTool> | null
  readonly tool_choice?: ResponsesToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly text?: {
    readonly format?: ResponsesTextFormat | null
    readonly verbosity?: "low" | "medium" | "high" | null
  } | null
  readonly reasoning?: ResponsesReasoning | null
  readonly stream?: boolean | null
  /** `message.output_text.logprobs` affects only streams, because a complete answer cannot contain log-probabilities. */
  readonly include?: ReadonlyArray<string> | null
  /** A prompt is never truncated: `auto` has no effect. */
  readonly truncation?: "auto" | "disabled" | null
  /** No effect: it limits calls of hosted tools, which do not exist here. */
  readonly max_tool_calls?: number | null
  /** No effect. */
  readonly stream_options?: {
    readonly include_obfuscation?: boolean | null
  } | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly user?: string | null
  /** Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. */
  readonly prompt_cache_key?: string | null
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  readonly store?: false | null
  readonly background?: false | null
  readonly previous_response_id?: null
  readonly conversation?: null
  readonly prompt?: null
  readonly service_tier?: "auto" | "default" | null
  readonly route?: "fallback" | null
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** A cost estimate. `hold_usd` must be available for the request to be admitted; the same function computes the hold itself. `max_cost_usd` is the maximum cost. The two are equal when `max_tokens` is given, and for all work other than chat. `affordable` tells whether the balance and the budgets of key and project have room for the hold. */
export type CostEstimate = {
  readonly object: "cost_estimate"
  readonly model: string
  readonly resolved_models: ReadonlyArray<string>
  readonly estimated_cost_usd: number
  readonly hold_usd: number
  readonly max_cost_usd: number
  /** The unit of the price. */
  readonly unit: "token" | "request" | "image" | "second" | "character"
  readonly breakdown: ReadonlyArray<EstimateLine | UnitEstimateLine>
  readonly balance_usd: number
  readonly affordable: boolean
}

/** The estimate for one model at one provider with a price per unit. */
export type UnitEstimateLine = {
  readonly model: string
  readonly provider: string
  readonly units: number
  readonly price_per_unit: number
  readonly estimated_cost_usd: number
  readonly max_cost_usd: number
}

/** The estimate for one model at one provider. */
export type EstimateLine = {
  readonly model: string
  readonly provider: string
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly max_output_tokens: number
  readonly price_per_input_token: number
  readonly price_per_output_token: number
  readonly estimated_cost_usd: number
  readonly max_cost_usd: number
}

/** A cost estimate request for work other than chat. It contains the fields that determine the price: for embeddings the texts or the number of their tokens; for reranking `documents` and the query as `input` or `prompt`, or the number of tokens; for speech the text or its `characters`; for images `n`; for videos `duration`; for searches nothing. Other fields are rejected, except the text of the request. */
export type WorkEstimateRequest = {
  readonly model: string
  readonly input?: string | ReadonlyArray<string>
  readonly prompt?: string
  /** The hold covers a quarter more, as it does for a text of about this size. */
  readonly input_tokens?: number
  readonly documents?: ReadonlyArray<string>
  readonly characters?: number
  /** Default: 1. */
  readonly n?: number
  readonly duration?: number
}

/** A cost estimate request: a chat request, in which a text or a number of tokens may replace the messages. Unlike a chat request, it rejects unknown fields. */
export type EstimateRequest = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
  readonly stream?: boolean | null
  readonly stream_options?: {
    readonly include_usage?: boolean | null
  } | null
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly min_p?: number | null
  readonly repetition_penalty?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  readonly seed?: number | null
  readonly stop?: string | ReadonlyArray<string> | null
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  readonly logprobs?: boolean | null
  readonly top_logprobs?: number | null
  readonly verbosity?: "low" | "medium" | "high" | null
  readonly user?: string | null
  readonly safety_identifier?: string | null
  readonly prompt_cache_key?: string | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  readonly router?: RouterOptions | null
  readonly budget_cents?: number | null
  readonly messages?: ReadonlyArray<ChatMessage>
  readonly input?: string
  readonly prompt?: string
  /** The hold covers a quarter more, as it does for a text of about this size. */
  readonly input_tokens?: number
  readonly n?: 1 | null
  readonly store?: false | null
  readonly service_tier?: "auto" | "default" | null
  readonly route?: "fallback" | null
  readonly top_a?: 0 | null
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** A message of the conversation. */
export type ChatMessage =
  | {
      readonly role: "system"
      readonly content: string | ReadonlyArray<ChatTextPart>
      readonly name?: string | null
    }
  | {
      readonly role: "developer"
      readonly content: string | ReadonlyArray<ChatTextPart>
      readonly name?: string | null
    }
  | {
      readonly role: "user"
      readonly content: string | ReadonlyArray<ChatTextPart | ChatImagePart | ChatFilePart>
      readonly name?: string | null
    }
  | {
      readonly role: "assistant"
      readonly content?: string | ReadonlyArray<ChatTextPart | ChatRefusalPart> | null
      readonly name?: string | null
      readonly refusal?: string | null
      readonly reasoning?: string | null
      readonly reasoning_content?: string | null
      readonly reasoning_details?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
      readonly tool_calls?: ReadonlyArray<ChatToolCall> | null
    }
  | {
      readonly role: "tool"
      readonly content: string | ReadonlyArray<ChatTextPart | ChatImagePart | ChatFilePart>
      readonly tool_call_id: string
    }

/** A refusal of the assistant in an earlier answer. */
export type ChatRefusalPart = {
  readonly type: "refusal"
  readonly refusal: string
}

/** A complete answer. `cost_usd` is the charge, as on the receipt of `request_id`. */
export type ChatCompletion = {
  readonly id: string
  readonly object: "chat.completion"
  readonly created: number
  readonly model: string
  readonly resolved_model: string
  readonly provider: string
  readonly choices: ReadonlyArray<ChatChoice>
  readonly usage: ChatUsage
  /** Always null. OpenRouter's clients require the member. */
  readonly system_fingerprint: null
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
}

/** A chat request with a preset. Its own fields override the preset's: `model` or `models` replace the preset's models, and each member of `routing` replaces that of the preset's. */
export type PresetChatRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list. */
  readonly models?: ReadonlyArray<string> | null
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<ChatMessage>
  readonly stream?: boolean | null
  readonly stream_options?: {
    readonly include_usage?: boolean | null
  } | null
  /** Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly min_p?: number | null
  readonly repetition_penalty?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  readonly seed?: number | null
  readonly stop?: string | ReadonlyArray<string> | null
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  readonly logprobs?: boolean | null
  readonly top_logprobs?: number | null
  /** How detailed the answer is. */
  readonly verbosity?: "low" | "medium" | "high" | null
  readonly user?: string | null
  /** Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. */
  readonly prompt_cache_key?: string | null
  readonly metadata?: Readonly<Record<string, string>> | null
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  readonly n?: 1 | null
  readonly store?: false | null
  readonly service_tier?: "auto" | "default" | null
  readonly route?: "fallback" | null
  readonly top_a?: 0 | null
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** OpenAI's chat completion request with OpenRouter's additions. A null counts as absent, as it does there. The gateway ignores unknown fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects fields of those APIs that would change the answer and are not supported, with `unsupported_parameter`. */
export type ChatCompletionRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list. */
  readonly models?: ReadonlyArray<string> | null
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<ChatMessage>
  readonly stream?: boolean | null
  readonly stream_options?: {
    readonly include_usage?: boolean | null
  } | null
  /** Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly min_p?: number | null
  readonly repetition_penalty?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  readonly seed?: number | null
  readonly stop?: string | ReadonlyArray<string> | null
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  readonly logprobs?: boolean | null
  readonly top_logprobs?: number | null
  /** How detailed the answer is. */
  readonly verbosity?: "low" | "medium" | "high" | null
  readonly user?: string | null
  /** Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. */
  readonly prompt_cache_key?: string | null
  readonly metadata?: Readonly<Record<string, string>> | null
  /** Requests with the same id belong to one session; see `router.pin_model`. */
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  readonly n?: 1 | null
  readonly store?: false | null
  readonly service_tier?: "auto" | "default" | null
  readonly route?: "fallback" | null
  readonly top_a?: 0 | null
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** What each operation takes and answers, by its id. */
export interface Operations {
  /** Create a chat completion */
  readonly "chat.completions": {
    readonly body: ChatCompletionRequest
    readonly answer: ChatCompletion
    readonly event: ChatCompletionChunk
  }
  /** Create a chat completion with a preset */
  readonly "presets.chat.completions": {
    readonly path: {
      readonly slug: string
    }
    readonly body: PresetChatRequest
    readonly answer: ChatCompletion
    readonly event: ChatCompletionChunk
  }
  /** Estimate the cost of a request */
  readonly estimate: {
    readonly body: EstimateRequest | WorkEstimateRequest
    readonly answer: CostEstimate
  }
  /** Create a response */
  readonly responses: {
    readonly body: ResponsesRequest
    readonly answer: Response
    readonly event: ResponsesStreamEvent
  }
  /** Count the tokens of a response's input */
  readonly "responses.input_tokens": {
    readonly body: ResponsesTokensRequest
    readonly answer: ResponsesTokens
  }
  /** Embed texts */
  readonly embeddings: {
    readonly body: EmbeddingsRequest
    readonly answer: EmbeddingsList
  }
  /** Order documents by relevance */
  readonly rerank: {
    readonly body: RerankRequest
    readonly answer: RerankResult
  }
  /** Turn text into speech */
  readonly "audio.speech": {
    readonly body: SpeechRequest
    readonly answer: Blob
  }
  /** Make or edit images */
  readonly "images.generations": {
    readonly body: ImageRequest
    readonly answer: ImageList
  }
  /** Search the web */
  readonly search: {
    readonly body: SearchRequest
    readonly answer: SearchResponse
  }
  /** Submit a video */
  readonly "videos.create": {
    readonly body: VideoRequest
    readonly answer: VideoJob
  }
  /** List video jobs, newest first by default */
  readonly "videos.list": {
    readonly query: {
      readonly limit?: number
      readonly after?: ResourceId
      readonly order?: "asc" | "desc"
    }
    readonly answer: VideoPage
  }
  /** Retrieve a video job */
  readonly "videos.get": {
    readonly path: {
      readonly id: string
    }
    readonly answer: VideoJob
  }
  /** Redirect to the file of a completed video */
  readonly "videos.content": {
    readonly path: {
      readonly id: string
    }
    readonly answer: Blob
  }
  /** Run many requests in one */
  readonly batch: {
    readonly body: BatchRequest
    readonly answer: BatchList
  }
  /** Run the requests of a file in the background */
  readonly "batches.create": {
    readonly body: NewBatch
    readonly answer: BatchObject
  }
  /** List batches, newest first */
  readonly "batches.list": {
    readonly query: {
      readonly limit?: number
      readonly after?: ResourceId
    }
    readonly answer: BatchPage
  }
  /** Retrieve a batch */
  readonly "batches.get": {
    readonly path: {
      readonly batch_id: string
    }
    readonly answer: BatchObject
  }
  /** Cancel a batch; running requests finish */
  readonly "batches.cancel": {
    readonly path: {
      readonly batch_id: string
    }
    readonly answer: BatchObject
  }
  /** Upload the input of a batch */
  readonly "files.create": {
    readonly body: FormData
    readonly answer: FileObject
  }
  /** List batch files, newest first by default */
  readonly "files.list": {
    readonly query: {
      readonly limit?: number
      readonly after?: string
      readonly purpose?: "batch" | "batch_output"
      readonly order?: "asc" | "desc"
    }
    readonly answer: FileList
  }
  /** Retrieve a file's metadata */
  readonly "files.get": {
    readonly path: {
      readonly file_id: string
    }
    readonly answer: FileObject
  }
  /** Delete a file */
  readonly "files.delete": {
    readonly path: {
      readonly file_id: string
    }
    readonly answer: FileDeleted
  }
  /** Retrieve the content of a file */
  readonly "files.content": {
    readonly path: {
      readonly file_id: string
    }
    readonly answer: Blob
  }
  /** List receipts, newest first */
  readonly "requests.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: RequestId
      readonly model?: string
      readonly status?: "open" | "succeeded" | "failed" | "cancelled"
      readonly key_id?: ResourceId
      readonly project_id?: ResourceId
      readonly provider?: string
      readonly operation?: string
      readonly min_cost_usd?: number
      readonly max_cost_usd?: number
      readonly min_latency_ms?: number
      readonly max_latency_ms?: number
      readonly start_time?: number
      readonly end_time?: number
    }
    readonly answer: RequestList
  }
  /** Retrieve a receipt */
  readonly "requests.get": {
    readonly path: {
      readonly request_id: RequestId
    }
    readonly answer: RequestReceipt
  }
  /** Usage of a period, in buckets */
  readonly usage: {
    readonly query: {
      readonly period?: "1d" | "7d" | "30d"
    }
    readonly answer: UsageReport
  }
  /** The calling key, its limits and its spend */
  readonly key: {
    readonly answer: KeyReport
  }
  /** The account's credits, as OpenRouter gives them */
  readonly credits: {
    readonly answer: CreditsReport
  }
  /** Retrieve a receipt, as OpenRouter gives it */
  readonly generation: {
    readonly query: {
      readonly id: string
    }
    readonly answer: Generation
  }
  /** Register a webhook; the response shows its secret once */
  readonly "webhooks.create": {
    readonly body: NewWebhook
    readonly answer: WebhookEndpointWithSecret
  }
  /** List webhooks, newest first */
  readonly "webhooks.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: WebhookList
  }
  /** Retrieve a webhook */
  readonly "webhooks.get": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookEndpoint
  }
  /** Change a webhook, or enable it again */
  readonly "webhooks.update": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly body: WebhookChange
    readonly answer: WebhookEndpoint
  }
  /** Delete a webhook */
  readonly "webhooks.delete": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookDeleted
  }
  /** List the deliveries of a webhook, newest first */
  readonly "webhooks.deliveries": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: WebhookDeliveryList
  }
  /** Try a delivery once more */
  readonly "webhooks.redeliver": {
    readonly path: {
      readonly webhook_id: ResourceId
      readonly delivery_id: ResourceId
    }
    readonly answer: WebhookDelivery
  }
  /** Replace the secret of a webhook; both secrets sign for 24 hours */
  readonly "webhooks.rotate_secret": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookEndpointWithSecret
  }
  /** Send a webhook a test event */
  readonly "webhooks.test": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookTest
  }
  /** List models */
  readonly "models.list": {
    readonly query: {
      readonly modality?: "text" | "image" | "image_edit" | "video" | "audio" | "embedding" | "rerank" | "search"
      readonly provider?: string
      readonly zdr?: "true" | "false"
      readonly supported_parameters?: string
      readonly max_price?: number
      readonly q?: string
      readonly sort?: "price" | "-price" | "created" | "-created" | "name" | "context"
      readonly limit?: number
      readonly after_id?: string
      readonly before_id?: string
      readonly offset?: number
    }
    readonly answer: ModelList
  }
  /** Retrieve a model */
  readonly "models.get": {
    readonly path: {
      readonly id: string
    }
    readonly answer: ModelDetail
  }
  /** List keys, newest first */
  readonly "management.keys.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: ManagedKeyList
  }
  /** Create a key; the response shows its secret once */
  readonly "management.keys.create": {
    readonly body: NewManagedKey
    readonly answer: ManagedKeyWithSecret
  }
  /** Retrieve a key */
  readonly "management.keys.get": {
    readonly path: {
      readonly key_id: ResourceId
    }
    readonly answer: ManagedKeyResult
  }
  /** Change a key */
  readonly "management.keys.update": {
    readonly path: {
      readonly key_id: ResourceId
    }
    readonly body: ManagedKeyChange
    readonly answer: ManagedKeyResult
  }
  /** Revoke a key immediately */
  readonly "management.keys.revoke": {
    readonly path: {
      readonly key_id: ResourceId
    }
    readonly answer: KeyRevoked
  }
  /** Replace a key with a new secret; the old key stops at once or after a grace period */
  readonly "management.keys.rotate": {
    readonly path: {
      readonly key_id: ResourceId
    }
    readonly body: KeyRotation
    readonly answer: ManagedKeyWithSecret
  }
  /** List projects, newest first */
  readonly "management.projects.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: ProjectList
  }
  /** Make a project */
  readonly "management.projects.create": {
    readonly body: NewProject
    readonly answer: ProjectResult
  }
  /** Retrieve a project */
  readonly "management.projects.get": {
    readonly path: {
      readonly project_id: ResourceId
    }
    readonly answer: ProjectResult
  }
  /** Change a project */
  readonly "management.projects.update": {
    readonly path: {
      readonly project_id: ResourceId
    }
    readonly body: ProjectChange
    readonly answer: ProjectResult
  }
  /** Archive a project for good, and revoke its keys immediately */
  readonly "management.projects.archive": {
    readonly path: {
      readonly project_id: ResourceId
    }
    readonly answer: ProjectResult
  }
  /** List presets, newest first */
  readonly "management.presets.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: PresetList
  }
  /** Create a preset with its first version */
  readonly "management.presets.create": {
    readonly body: NewPreset
    readonly answer: PresetResult
  }
  /** Retrieve a preset */
  readonly "management.presets.get": {
    readonly path: {
      readonly slug: PresetSlug
    }
    readonly answer: PresetResult
  }
  /** Change a preset; a new config becomes its active version */
  readonly "management.presets.update": {
    readonly path: {
      readonly slug: PresetSlug
    }
    readonly body: PresetChange
    readonly answer: PresetResult
  }
  /** Delete a preset with all its versions */
  readonly "management.presets.delete": {
    readonly path: {
      readonly slug: PresetSlug
    }
    readonly answer: PresetDeleted
  }
  /** List the versions of a preset, newest first */
  readonly "management.presets.versions": {
    readonly path: {
      readonly slug: PresetSlug
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: number
    }
    readonly answer: PresetVersionList
  }
  /** Activate a version of a preset */
  readonly "management.presets.activate": {
    readonly path: {
      readonly slug: PresetSlug
      readonly version: number
    }
    readonly answer: PresetResult
  }
  /** List webhooks, newest first */
  readonly "management.webhooks.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: WebhookList
  }
  /** Register a webhook; the response shows its secret once */
  readonly "management.webhooks.create": {
    readonly body: NewWebhook
    readonly answer: WebhookResultWithSecret
  }
  /** Retrieve a webhook */
  readonly "management.webhooks.get": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookResult
  }
  /** Change a webhook, or enable it again */
  readonly "management.webhooks.update": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly body: WebhookChange
    readonly answer: WebhookResult
  }
  /** Remove a webhook */
  readonly "management.webhooks.delete": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookRemoved
  }
  /** Send a webhook a test event */
  readonly "management.webhooks.test": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookTest
  }
  /** Replace the secret of a webhook; both secrets sign for 24 hours */
  readonly "management.webhooks.rotate_secret": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookResultWithSecret
  }
  /** List the deliveries of a webhook, newest first */
  readonly "management.webhooks.deliveries": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: WebhookDeliveryList
  }
  /** Try a delivery once more */
  readonly "management.webhooks.redeliver": {
    readonly path: {
      readonly webhook_id: ResourceId
      readonly delivery_id: ResourceId
    }
    readonly answer: WebhookDeliveryResult
  }
  /** List actions on the account, newest first */
  readonly "management.audit.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
      readonly "effective_at[gt]"?: number
      readonly "effective_at[gte]"?: number
      readonly "effective_at[lt]"?: number
      readonly "effective_at[lte]"?: number
      readonly "event_types[]"?: ReadonlyArray<string>
      readonly "actor_ids[]"?: ReadonlyArray<string>
      readonly "resource_ids[]"?: ReadonlyArray<string>
    }
    readonly answer: AuditLogList
  }
  /** Usage by project, key, model and provider, in buckets */
  readonly "management.usage": {
    readonly query: {
      readonly period?: "1d" | "7d" | "30d"
      readonly start_time?: number
      readonly end_time?: number
      readonly bucket_width?: "1h" | "1d"
      readonly group_by?: ReadonlyArray<"project" | "key" | "model" | "provider">
      readonly limit?: number
      readonly cursor?: string
    }
    readonly answer: UsageBreakdownReport
  }
  /** Usage over time, divided into its largest groups */
  readonly "management.usage.series": {
    readonly query: {
      readonly period?: "1h" | "1d" | "7d" | "30d"
      readonly start_time?: number
      readonly end_time?: number
      readonly interval?: "minute" | "hour" | "day" | "week"
      readonly group_by?: "model" | "provider" | "key" | "project" | "operation" | "status"
      readonly rank_by?:
        | "cost_usd"
        | "requests"
        | "prompt_tokens"
        | "completion_tokens"
        | "failed_requests"
        | "latency_ms"
      readonly top?: number
      readonly model?: string
      readonly provider?: string
      readonly key_id?: ResourceId
      readonly project_id?: ResourceId
      readonly operation?: string
      readonly status?: "open" | "succeeded" | "failed" | "cancelled"
    }
    readonly answer: UsageSeriesReport
  }
  /** The balance of the account */
  readonly "management.balance": {
    readonly answer: BalanceReport
  }
  /** List top-ups, credits, adjustments and refunds, newest first */
  readonly "management.transactions": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: TransactionId
    }
    readonly answer: TransactionList
  }
  /** Send a code for signing in or up */
  readonly "console.sign_in.create": {
    readonly body: SignInRequest
    readonly answer: SignInSent
  }
  /** Sign in with a code, which sets a cookie; a new address gets a new account */
  readonly "console.sign_in.verify": {
    readonly body: SignInCode
    readonly answer: ConsoleSession
  }
  /** Retrieve the current session */
  readonly "console.session.get": {
    readonly answer: ConsoleSession
  }
  /** Sign out */
  readonly "console.session.delete": {
    readonly answer: SessionsEnded
  }
  /** List the sessions that have not ended, newest first */
  readonly "console.sessions.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: OwnerSessionList
  }
  /** Sign out everywhere */
  readonly "console.sessions.delete": {
    readonly answer: SessionsEnded
  }
  /** End a session */
  readonly "console.sessions.end": {
    readonly path: {
      readonly session_id: ResourceId
    }
    readonly answer: SessionsEnded
  }
  /** Sign out everywhere else */
  readonly "console.sessions.end_others": {
    readonly answer: SessionsEnded
  }
  /** Send a code as a text message */
  readonly "console.phone.create": {
    readonly body: PhoneRequest
    readonly answer: PhoneResult
  }
  /** Verify the phone number for a starter credit of $0.50 */
  readonly "console.phone.verify": {
    readonly body: PhoneCode
    readonly answer: PhoneResult
  }
  /** Send a code to a new address of the account */
  readonly "console.email.create": {
    readonly body: EmailRequest
    readonly answer: EmailSent
  }
  /** Change the address of the account, which ends all other sessions */
  readonly "console.email.verify": {
    readonly body: EmailCode
    readonly answer: EmailChanged
  }
  /** Retrieve which notices the owner gets by email */
  readonly "console.notifications.get": {
    readonly answer: NotificationChoices
  }
  /** Choose which notices come by email */
  readonly "console.notifications.update": {
    readonly body: NotificationChange
    readonly answer: NotificationChoices
  }
  /** Retrieve the company that statements name */
  readonly "console.billing_details.get": {
    readonly answer: BillingDetailsReport
  }
  /** Change the company that statements name */
  readonly "console.billing_details.update": {
    readonly body: BillingDetailsChange
    readonly answer: BillingDetailsReport
  }
  /** List management keys, newest first */
  readonly "console.management_keys.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: ManagementKeyList
  }
  /** Create a management key; the response shows its secret once */
  readonly "console.management_keys.create": {
    readonly body: NewManagementKey
    readonly answer: ManagementKeyWithSecret
  }
  /** Revoke a management key immediately */
  readonly "console.management_keys.revoke": {
    readonly path: {
      readonly key_id: ResourceId
    }
    readonly answer: ManagementKeyRevoked
  }
  /** Create a top-up with a checkout URL */
  readonly "console.top_ups.create": {
    readonly body: NewTopUp
    readonly answer: TopUpReport
  }
  /** List top-ups, newest first */
  readonly "console.top_ups.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: TopUpList
  }
  /** Retrieve a top-up */
  readonly "console.top_ups.get": {
    readonly path: {
      readonly top_up_id: ResourceId
    }
    readonly answer: TopUpReport
  }
  /** Pay a sandbox top-up with simulated money */
  readonly "console.top_ups.simulate": {
    readonly path: {
      readonly top_up_id: ResourceId
    }
    readonly answer: TopUpReport
  }
  /** List or search accounts, newest first */
  readonly "operator.accounts.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
      readonly search?: string
      readonly state?: AccountState
    }
    readonly answer: OperatorAccountList
  }
  /** Retrieve an account with its money, spending, keys and budgets */
  readonly "operator.accounts.get": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly answer: OperatorAccountResult
  }
  /** Stop an account at once on every node; running requests finish */
  readonly "operator.accounts.suspend": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly body: AccountStateChange
    readonly answer: AccountStateResult
  }
  /** Let a suspended account work again */
  readonly "operator.accounts.resume": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly body: AccountStateChange
    readonly answer: AccountStateResult
  }
  /** Close an account for good and revoke its keys; its books stay */
  readonly "operator.accounts.close": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly body: AccountStateChange
    readonly answer: AccountStateResult
  }
  /** Set what an account pays beyond the catalogue's prices; running requests keep their price */
  readonly "operator.accounts.markup": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly body: AccountMarkup
    readonly answer: AccountMarkupResult
  }
  /** Multiply the rate limits of an account, within 30 seconds */
  readonly "operator.accounts.limits": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly body: AccountLimits
    readonly answer: AccountLimitsResult
  }
  /** List the keys of an account, newest first */
  readonly "operator.keys.list": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorKeyList
  }
  /** Revoke a key of an account immediately */
  readonly "operator.keys.revoke": {
    readonly path: {
      readonly account_id: ResourceId
      readonly key_id: ResourceId
    }
    readonly answer: KeyRevoked
  }
  /** List the receipts of an account with the provider's cost */
  readonly "operator.requests.list": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: RequestId
      readonly model?: string
      readonly status?: "open" | "succeeded" | "failed" | "cancelled"
      readonly key_id?: ResourceId
      readonly project_id?: ResourceId
      readonly provider?: string
      readonly operation?: string
      readonly min_cost_usd?: number
      readonly max_cost_usd?: number
      readonly min_latency_ms?: number
      readonly max_latency_ms?: number
      readonly start_time?: number
      readonly end_time?: number
    }
    readonly answer: OperatorReceiptList
  }
  /** List the receipts of all accounts with the provider's cost */
  readonly "operator.requests.all": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: RequestId
      readonly status?: "open" | "succeeded" | "failed" | "cancelled"
      readonly model?: string
      readonly provider?: string
      readonly operation?: string
    }
    readonly answer: OperatorAnyReceiptList
  }
  /** Retrieve a receipt of any account with its movements */
  readonly "operator.requests.get": {
    readonly path: {
      readonly request_id: RequestId
    }
    readonly answer: OperatorReceiptResult
  }
  /** Refund a request whole or in part; requires an `Idempotency-Key` */
  readonly "operator.requests.refund": {
    readonly path: {
      readonly request_id: RequestId
    }
    readonly body: OperatorRefundRequest
    readonly answer: OperatorRefund
  }
  /** Report revenue, provider cost and margin by day, account, model or provider */
  readonly "operator.report": {
    readonly query: {
      readonly "by[]"?: ReadonlyArray<ReportGroup>
      readonly from?: string
      readonly to?: string
      readonly account_id?: ResourceId
      readonly paid_with?: "real" | "simulated"
      readonly limit?: number
      readonly cursor?: string
    }
    readonly answer: OperatorReport
  }
  /** List top-ups that need an operator, newest first */
  readonly "operator.top_ups.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorTopUpList
  }
  /** List the top-ups of an account, newest first */
  readonly "operator.top_ups.of_account": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorTopUpList
  }
  /** Credit a top-up that needs an operator, or take it back; requires an `Idempotency-Key` */
  readonly "operator.top_ups.settle": {
    readonly path: {
      readonly top_up_id: ResourceId
    }
    readonly body: TopUpSettlement
    readonly answer: TopUpDecision
  }
  /** Dismiss a top-up that needs an operator, which moves no money; requires an `Idempotency-Key` */
  readonly "operator.top_ups.dismiss": {
    readonly path: {
      readonly top_up_id: ResourceId
    }
    readonly body: TopUpDismissal
    readonly answer: TopUpDecision
  }
  /** List all price plans, by name */
  readonly "operator.plans.list": {
    readonly answer: PlanList
  }
  /** Create a price plan with a markup, fixed prices and limits */
  readonly "operator.plans.create": {
    readonly body: PlanCreate
    readonly answer: PlanResult
  }
  /** Retrieve a price plan */
  readonly "operator.plans.get": {
    readonly path: {
      readonly plan_id: ResourceId
    }
    readonly answer: PlanResult
  }
  /** Change a price plan; running requests keep their price */
  readonly "operator.plans.set": {
    readonly path: {
      readonly plan_id: ResourceId
    }
    readonly body: PlanChange
    readonly answer: PlanResult
  }
  /** Remove a price plan that no account belongs to */
  readonly "operator.plans.remove": {
    readonly path: {
      readonly plan_id: ResourceId
    }
    readonly answer: PlanRemoved
  }
  /** Move an account to a price plan, or end its plan */
  readonly "operator.accounts.plan": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly body: AccountPlan
    readonly answer: AccountPlanResult
  }
  /** List the bounds on what providers cost, with the cost of the day */
  readonly "operator.spend.list": {
    readonly answer: ProviderSpendList
  }
  /** Bound what a provider, or `all` together, may cost in a UTC day */
  readonly "operator.spend.set": {
    readonly path: {
      readonly provider: string
    }
    readonly body: ProviderSpendLimit
    readonly answer: ProviderSpendLimitResult
  }
  /** List what operators changed, newest first */
  readonly "operator.audit.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorChangeList
  }
  /** List the audit log of an account, newest first */
  readonly "operator.audit.of_account": {
    readonly path: {
      readonly account_id: ResourceId
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
      readonly "effective_at[gt]"?: number
      readonly "effective_at[gte]"?: number
      readonly "effective_at[lt]"?: number
      readonly "effective_at[lte]"?: number
      readonly "event_types[]"?: ReadonlyArray<string>
      readonly "actor_ids[]"?: ReadonlyArray<string>
      readonly "resource_ids[]"?: ReadonlyArray<string>
    }
    readonly answer: AuditLogList
  }
  /** Sign in with an operator key, which sets a cookie for a few hours */
  readonly "operator.session.create": {
    readonly answer: OperatorSession
  }
  /** Retrieve the operator's session */
  readonly "operator.session.get": {
    readonly answer: OperatorSession
  }
  /** Sign the operator out */
  readonly "operator.session.delete": {
    readonly answer: OperatorSessionEnded
  }
  /** Receive a signed event from Stripe, at most 256 KiB */
  readonly "payments.stripe": {
    readonly headers: {
      readonly "stripe-signature"?: string
    }
    readonly answer: EventReceived
  }
  /** Pay a sandbox checkout */
  readonly "payments.simulated": {
    readonly path: {
      readonly session_id: string
    }
    readonly answer: TopUpReport
  }
  /** Create a chat completion, or return the cached one */
  readonly chat: {
    readonly headers: {
      readonly "x-svc-cache"?: string
      readonly "x-svc-cache-ttl"?: string
      readonly "cache-control"?: string
    }
    readonly body: LegacyChatRequest
    readonly answer: LegacyChatCompletion
  }
  /** Make or edit images */
  readonly images: {
    readonly body: ImageRequest
    readonly answer: ImageList
  }
  /** Submit a video */
  readonly video: {
    readonly body: VideoRequest
    readonly answer: LegacyVideoJob
  }
  /** Retrieve a video job */
  readonly "video.status": {
    readonly query: {
      readonly id: string
    }
    readonly answer: LegacyVideoJob
  }
  /** Open a session, or return the one with this `session_id` */
  readonly "sessions.create": {
    readonly body: SessionRequest
    readonly answer: Session
  }
  /** Retrieve a session with its messages */
  readonly "sessions.export": {
    readonly path: {
      readonly id: string
    }
    readonly answer: SessionExport
  }
  /** Create a message */
  readonly messages: {
    readonly headers: {
      readonly "anthropic-version"?: string
      readonly "anthropic-beta"?: string
    }
    readonly body: MessagesRequest
    readonly answer: MessagesAnswer
    readonly event: MessagesStreamEvent
  }
  /** Count the tokens of a message */
  readonly "messages.count_tokens": {
    readonly headers: {
      readonly "anthropic-version"?: string
      readonly "anthropic-beta"?: string
    }
    readonly body: MessagesCountRequest
    readonly answer: MessagesTokenCount
  }
}

// Written from schemas/published/openapi.json by `npm run published`; a change here is lost.

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

export type RequestId = string

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
  readonly details?: {
    readonly error_code: "thread_unsupported_request"
    readonly unsupported: ReadonlyArray<string>
  }
}

export type BalanceWarning = {
  readonly warning: "low_balance"
  readonly threshold: string
}

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

export type RouterDecisionSummary = {
  readonly id: "svc/auto"
  readonly task: string
  readonly classified_by: "regex" | "llm" | "llm-cached"
  readonly override: "long_context" | "multilingual" | null
  readonly reasoning: string
  readonly candidates: ReadonlyArray<string>
  readonly considered: ReadonlyArray<Readonly<Record<string, unknown>>>
}

export type ProviderAttempt = {
  readonly provider: string
  readonly outcome: "served" | "failed_over" | "failed"
  readonly attempt_index: number
}

export type MessagesUsage = {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
  readonly output_tokens: number
  readonly output_tokens_details: {
    readonly thinking_tokens: number
  }
}

export type MessagesStopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal"

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

export type ResponsesSearchItem = {
  readonly id: string
  readonly status: "completed" | "incomplete"
  readonly call_id: string
  readonly type: "tool_search_call"
  readonly execution: "client"
  readonly arguments: Readonly<Record<string, unknown>>
}

export type ResponsesCustomCallItem = {
  readonly id: string
  readonly status: "completed" | "incomplete"
  readonly call_id: string
  readonly type: "custom_tool_call"
  readonly name: string
  readonly namespace?: string
  readonly input: string
}

export type ResponsesCallItem = {
  readonly id: string
  readonly status: "completed" | "incomplete"
  readonly call_id: string
  readonly type: "function_call"
  readonly name: string
  readonly namespace?: string
  readonly arguments: string
}

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

export type ResponsesReasoningItem = {
  readonly id: string
  readonly type: "reasoning"
  readonly status: "completed" | "incomplete"
  readonly summary: ReadonlyArray<{
    readonly type: "summary_text"
    readonly text: string
  }>
  readonly encrypted_content?: string
}

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
}

export type ChatReasoningDetail = {
  readonly type: "reasoning.text" | "reasoning.encrypted"
  readonly text?: string
  readonly signature?: string
  readonly data?: string
  readonly format: "unknown"
  readonly index: number
}

export type FieldDetail = {
  readonly field: string
  readonly message: string
}

export type MessagesTokenCount = {
  readonly input_tokens: number
}

export type MessagesCountRequest = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
  readonly max_tokens?: number | null
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
  readonly output_format?: MessagesOutputFormat | null
  readonly metadata?: {
    readonly user_id?: string | null
  } | null
  readonly service_tier?: "auto" | "standard_only" | null
  readonly cache_control?: MessagesCacheControl | null
  readonly context_management?: MessagesContextManagement | null
  readonly user?: string | null
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  readonly provider?: Readonly<Record<string, unknown>> | null
  readonly router?: RouterOptions | null
  readonly budget_cents?: number | null
}

export type RouterOptions = {
  readonly allowed_models?: ReadonlyArray<string>
  readonly excluded_models?: ReadonlyArray<string>
  readonly cost_tier?: "low" | "medium" | "high" | "xhigh" | "max"
  readonly pin_model?: boolean
}

export type RoutingPolicy = {
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

export type MessagesContextManagement = {
  readonly edits?: ReadonlyArray<MessagesClearToolUses | MessagesClearThinking | MessagesCompact> | null
}

export type MessagesCompact = {
  readonly type: string
  readonly trigger?: {
    readonly type: "input_tokens"
    readonly value: number
  } | null
  readonly pause_after_compaction?: boolean | null
  readonly instructions?: string | null
}

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

export type MessagesClearToolUses = {
  readonly type: string
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
  readonly keep?: {
    readonly type: "tool_uses"
    readonly value: number
  } | null
  readonly clear_at_least?: {
    readonly type: "input_tokens"
    readonly value: number
  } | null
  readonly exclude_tools?: ReadonlyArray<string> | null
  readonly clear_tool_inputs?: boolean | ReadonlyArray<string> | null
}

export type MessagesCacheControl = {
  readonly type: "ephemeral"
  readonly ttl?: "5m" | "1h" | null
  readonly scope?: string | null
}

export type MessagesOutputFormat = {
  readonly type: "json_schema"
  readonly schema: Readonly<Record<string, unknown>>
}

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

export type MessagesTool = MessagesCustomTool | MessagesTypedTool

export type MessagesTypedTool = {
  readonly type: string
  readonly name: string
  readonly max_characters?: number | null
  readonly display_width_px?: number | null
  readonly display_height_px?: number | null
  readonly display_number?: number | null
  readonly enable_zoom?: boolean | null
  readonly strict?: boolean | null
  readonly defer_loading?: boolean | null
  readonly cache_control?: MessagesCacheControl | null
}

export type MessagesCustomTool = {
  readonly type?: "custom" | null
  readonly name: string
  readonly description?: string | null
  readonly input_schema: Readonly<Record<string, unknown>>
  readonly strict?: boolean | null
  readonly eager_input_streaming?: boolean | null
  readonly defer_loading?: boolean | null
  readonly cache_control?: MessagesCacheControl | null
}

export type MessagesTextBlock = {
  readonly type: "text"
  readonly text: string
  readonly citations?: ReadonlyArray<unknown> | null
  readonly cache_control?: MessagesCacheControl | null
}

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

export type MessagesRedactedBlock = {
  readonly type: "redacted_thinking"
  readonly data: string
}

export type MessagesThinkingBlock = {
  readonly type: "thinking"
  readonly thinking: string
  readonly signature?: string | null
}

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

export type MessagesToolResultBlock = {
  readonly type: "tool_result"
  readonly tool_use_id: string
  readonly content?: string | ReadonlyArray<MessagesTextBlock | MessagesImageBlock | MessagesDocumentBlock> | null
  readonly is_error?: boolean | null
  readonly cache_control?: MessagesCacheControl | null
}

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

export type MessagesAnswer = {
  readonly id: string
  readonly type: "message"
  readonly role: "assistant"
  readonly model: string
  readonly content: ReadonlyArray<MessagesBlock>
  readonly stop_reason: MessagesStopReason
  readonly stop_sequence: string | null
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

export type MessagesRequest = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
  readonly max_tokens: number
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
  readonly output_format?: MessagesOutputFormat | null
  readonly metadata?: {
    readonly user_id?: string | null
  } | null
  readonly service_tier?: "auto" | "standard_only" | null
  readonly cache_control?: MessagesCacheControl | null
  readonly context_management?: MessagesContextManagement | null
  readonly user?: string | null
  readonly session_id?: string | null
  readonly routing?: RoutingPolicy | null
  readonly provider?: Readonly<Record<string, unknown>> | null
  readonly router?: RouterOptions | null
  readonly budget_cents?: number | null
}

export type BatchItem = {
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

export type ErrorObject = {
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param: string | null
}

export type SessionExport = {
  readonly object: "session.export"
  readonly session: Session
  readonly messages: ReadonlyArray<SessionMessage>
  readonly exported_at: number
}

export type SessionMessage = {
  readonly role: string
  readonly content: unknown
  readonly created_at: number
  readonly model?: string
  readonly usage?: ChatUsage
  readonly cost_usd?: number
}

export type Session = {
  readonly id: ResourceId
  readonly object: "session"
  readonly created_at: number
  readonly updated_at: number
  readonly session_id: string | null
  readonly model: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly message_count: number
}

export type ResourceId = string

export type SessionRequest = {
  readonly session_id?: string | null
  readonly metadata?: Readonly<Record<string, unknown>> | null
  readonly model?: string | null
}

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

export type VideoRequest = {
  readonly model: string
  readonly prompt: string
  readonly duration: number
  readonly aspect_ratio: "16:9" | "9:16"
  readonly image_url?: string | null
  readonly generate_audio?: boolean | null
  readonly reference_images?: ReadonlyArray<string> | null
  readonly reference_video?: string | null
}

export type ImageList = {
  readonly created: number
  readonly data: ReadonlyArray<Image>
  readonly model: string
  readonly provider: string
  readonly cost_usd: number
  readonly request_id: string
  readonly balance_warning?: BalanceWarning
}

export type Image = {
  readonly url?: string
  readonly b64_json?: string
  readonly revised_prompt?: string
}

export type ImageRequest = {
  readonly model: string
  readonly prompt: string
  readonly n?: number | null
  readonly image?: string | null
  readonly size?: string | null
  readonly quality?: "auto" | "low" | "medium" | "high" | "standard" | "hd" | null
  readonly response_format?: "url" | "b64_json" | null
  readonly output_format?: "png" | "jpeg" | "webp" | null
  readonly background?: "transparent" | "opaque" | "auto" | null
  readonly style?: "vivid" | "natural" | null
  readonly user?: string | null
}

export type LegacyChatCompletion = {
  readonly id: string
  readonly object: "chat.completion"
  readonly created: number
  readonly model: string
  readonly resolved_model: string
  readonly provider: string
  readonly choices: ReadonlyArray<ChatChoice>
  readonly usage: ChatUsage
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
  readonly cached: boolean
}

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

export type ChatToolCall = {
  readonly id: string
  readonly type: "function"
  readonly function: {
    readonly name: string
    readonly arguments: string
  }
}

export type LegacyChatRequest = {
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

export type LegacyChatMessage =
  | {
      readonly role: "system"
      readonly content: string | readonly [ChatTextPart, ...Array<ChatTextPart>]
    }
  | {
      readonly role: "developer"
      readonly content: string | readonly [ChatTextPart, ...Array<ChatTextPart>]
    }
  | {
      readonly role: "user"
      readonly content:
        | string
        | readonly [ChatTextPart | ChatImagePart | ChatFilePart, ...Array<ChatTextPart | ChatImagePart | ChatFilePart>]
    }
  | {
      readonly role: "assistant"
      readonly content: string | readonly [ChatTextPart, ...Array<ChatTextPart>]
      readonly reasoning?: string | null
      readonly reasoning_content?: string | null
      readonly reasoning_details?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
    }

export type ChatTextPart = {
  readonly type: "text"
  readonly text: string
  readonly cache_control?: ChatCacheControl | null
}

export type ChatCacheControl = {
  readonly type: "ephemeral"
  readonly ttl?: "5m" | "1h" | null
}

export type ChatFilePart = {
  readonly type: "file"
  readonly file: {
    readonly file_data: string
    readonly filename?: string | null
  }
  readonly cache_control?: ChatCacheControl | null
}

export type ChatImagePart = {
  readonly type: "image_url"
  readonly image_url: {
    readonly url: string
    readonly detail?: "auto" | "low" | "high" | "original" | null
  }
  readonly cache_control?: ChatCacheControl | null
}

export type TopUpReport = {
  readonly data: TopUp
}

export type TopUp = {
  readonly id: ResourceId
  readonly object: "top_up"
  readonly status: "open" | "paid" | "expired" | "failed"
  readonly amount_usd: number
  readonly checkout_url: string | null
  readonly created_at: number
  readonly paid_at: number | null
}

export type EventReceived = {
  readonly received: true
}

export type TopUpList = {
  readonly object: "list"
  readonly data: ReadonlyArray<TopUp>
  readonly next_cursor: ResourceId | null
}

export type NewTopUp = {
  readonly amount_usd: number
}

export type ManagementKeyRevoked = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "management_key"
    readonly status: "revoked"
  }
}

export type ManagementKeyWithSecret = {
  readonly key: string
  readonly data: ManagementKey
}

export type ManagementKey = {
  readonly id: ResourceId
  readonly object: "management_key"
  readonly name: string
  readonly prefix: string
  readonly last4: string
  readonly scopes: ReadonlyArray<string>
  readonly status: "active" | "revoked"
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

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
  readonly expires_at?: number | null
}

export type ManagementKeyList = {
  readonly object: "list"
  readonly data: ReadonlyArray<ManagementKey>
  readonly next_cursor: ResourceId | null
}

export type PhoneResult = {
  readonly data: {
    readonly object: "phone"
    readonly verified: boolean
    readonly last2: string
    readonly starter_credit_usd: number
  }
}

export type PhoneCode = {
  readonly phone: string
  readonly code: string
}

export type PhoneRequest = {
  readonly phone: string
}

export type SessionsEnded = {
  readonly object: "session"
  readonly ended: number
}

export type ConsoleSession = {
  readonly object: "session"
  readonly account: {
    readonly id: ResourceId
    readonly object: "account"
    readonly email: string
  }
  readonly csrf_token: string
  readonly phone_verified: boolean
  readonly phone_last2: string | null
  readonly starter_credit_usd: number
}

export type SignInCode = {
  readonly email: string
  readonly sign_in_id: string
  readonly code: string
}

export type SignInSent = {
  readonly object: "sign_in"
  readonly status: "code_sent"
  readonly sign_in_id: string
  readonly expires_in: number
}

export type SignInRequest = {
  readonly email: string
}

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

export type UsageBreakdownReport = {
  readonly object: "usage"
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

export type UsageBreakdownBucket = {
  readonly object: "bucket"
  readonly start_time: number
  readonly end_time: number
  readonly project_id?: string | null
  readonly key_id?: string
  readonly model?: string
  readonly provider?: string | null
  readonly requests: number
  readonly prompt_tokens: number
  readonly cached_tokens: number
  readonly cache_creation_tokens: number
  readonly completion_tokens: number
  readonly reasoning_tokens: number
  readonly cost_usd: number
}

export type AuditLogList = {
  readonly object: "list"
  readonly data: ReadonlyArray<AuditLog>
  readonly next_cursor: ResourceId | null
}

export type AuditLog = {
  readonly id: ResourceId
  readonly object: "audit_log"
  readonly type: string
  readonly effective_at: number
  readonly actor: {
    readonly type: "key" | "owner" | "operator" | "service"
    readonly id: string
  }
  readonly resource: {
    readonly type: string
    readonly id: string
  }
  readonly request_id: RequestId | null
  readonly status: "completed" | "pending"
  readonly outcome: "succeeded" | "failed" | null
  readonly code: string | null
  readonly changes: Readonly<Record<string, unknown>>
}

export type WebhookRemoved = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "webhook_endpoint"
    readonly deleted: true
  }
}

export type WebhookDeliveryResult = {
  readonly data: WebhookDelivery
}

export type WebhookDelivery = {
  readonly id: ResourceId
  readonly object: "webhook_delivery"
  readonly event_id: string
  readonly event_type: string
  readonly status: "pending" | "delivered" | "failed"
  readonly attempt_count: number
  readonly attempts: ReadonlyArray<WebhookAttempt>
  readonly next_attempt_at: number | null
  readonly created_at: number
  readonly ended_at: number | null
}

export type WebhookAttempt = {
  readonly started_at: number
  readonly duration_ms: number
  readonly status_code: number | null
  readonly error: string | null
  readonly response: string | null
}

export type WebhookDeliveryList = {
  readonly object: "list"
  readonly data: ReadonlyArray<WebhookDelivery>
  readonly next_cursor: ResourceId | null
}

export type WebhookResultWithSecret = {
  readonly data: WebhookEndpointWithSecret
}

export type WebhookEndpointWithSecret = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  readonly url: string
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
  readonly status: "enabled" | "disabled"
  readonly created_at: number
  readonly secret: string
}

export type WebhookTest = {
  readonly data: {
    readonly delivered: boolean
    readonly status_code: number | null
    readonly duration_ms: number
    readonly error: string | null
  }
}

export type WebhookResult = {
  readonly data: WebhookEndpoint
}

export type WebhookEndpoint = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  readonly url: string
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
  readonly status: "enabled" | "disabled"
  readonly created_at: number
}

export type WebhookChange = {
  readonly status?: "enabled" | "disabled"
  readonly url?: string
  readonly events?: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
}

export type NewWebhook = {
  readonly url: string
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
}

export type WebhookList = {
  readonly object: "list"
  readonly data: ReadonlyArray<WebhookEndpoint>
  readonly next_cursor: ResourceId | null
}

export type PresetResult = {
  readonly data: Preset
}

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
  readonly instructions?: string | null
}

export type ChatReasoning = {
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null
  readonly max_tokens?: number | null
  readonly enabled?: boolean | null
}

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

export type PresetSlug = string

export type PresetVersionList = {
  readonly object: "list"
  readonly data: ReadonlyArray<PresetVersion>
  readonly next_cursor: number | null
}

export type PresetVersion = {
  readonly object: "preset.version"
  readonly version: number
  readonly config: PresetConfig
  readonly created_at: number
}

export type PresetDeleted = {
  readonly data: {
    readonly slug: PresetSlug
    readonly object: "preset"
    readonly deleted: true
  }
}

export type PresetChange = {
  readonly name?: string
  readonly description?: string | null
  readonly config?: PresetConfig
}

export type NewPreset = {
  readonly slug: PresetSlug
  readonly name: string
  readonly description?: string | null
  readonly config: PresetConfig
}

export type PresetList = {
  readonly object: "list"
  readonly data: ReadonlyArray<PresetSummary>
  readonly next_cursor: ResourceId | null
}

export type PresetSummary = {
  readonly id: ResourceId
  readonly object: "preset"
  readonly slug: PresetSlug
  readonly name: string
  readonly description: string | null
  readonly active_version: number
  readonly created_at: number
  readonly updated_at: number
}

export type ProjectResult = {
  readonly data: Project
}

export type Project = {
  readonly id: ResourceId
  readonly object: "project"
  readonly name: string
  readonly slug: PresetSlug
  readonly status: "active" | "archived"
  readonly budget_cents: number | null
  readonly budget_period: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly spent_cents: number | null
  readonly routing: RoutingPolicy | null
  readonly data_policy: "default" | "no_training" | "zero_retention"
  readonly created_at: number
  readonly updated_at: number
  readonly archived_at: number | null
}

export type ProjectChange = {
  readonly name?: string
  readonly slug?: PresetSlug
  readonly budget_cents?: number | null
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly routing?: KeptRoutingPolicy | null
  readonly data_policy?: "default" | "no_training" | "zero_retention"
}

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

export type NewProject = {
  readonly name: string
  readonly slug?: PresetSlug
  readonly budget_cents?: number | null
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly routing?: KeptRoutingPolicy | null
  readonly data_policy?: "default" | "no_training" | "zero_retention"
}

export type ProjectList = {
  readonly object: "list"
  readonly data: ReadonlyArray<Project>
  readonly next_cursor: ResourceId | null
}

export type KeyRevoked = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "key"
    readonly status: "revoked"
  }
}

export type ManagedKeyWithSecret = {
  readonly key: string
  readonly data: ManagedKey
}

export type ManagedKey = {
  readonly id: ResourceId
  readonly object: "key"
  readonly name: string
  readonly prefix: string
  readonly last4: string
  readonly project_id: ResourceId | null
  readonly status: "active" | "revoked"
  readonly budget_cents: number | null
  readonly budget_period: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly spent_cents: number
  readonly routing: RoutingPolicy | null
  readonly created_at: number
  readonly last_used_at: number | null
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

export type KeyRotation = {
  readonly grace_seconds?: number
}

export type ManagedKeyResult = {
  readonly data: ManagedKey
}

export type ManagedKeyChange = {
  readonly name?: string
  readonly project_id?: ResourceId | null
  readonly budget_cents?: number | null
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly expires_at?: number | null
  readonly routing?: KeptRoutingPolicy | null
}

export type NewManagedKey = {
  readonly name: string
  readonly project_id?: ResourceId | null
  readonly budget_cents?: number | null
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly expires_at?: number | null
  readonly routing?: KeptRoutingPolicy | null
}

export type ManagedKeyList = {
  readonly object: "list"
  readonly data: ReadonlyArray<ManagedKey>
  readonly next_cursor: ResourceId | null
}

export type ModelDetail = {
  readonly object: "model"
  readonly id: string
  readonly name: string
  readonly created: number
  readonly owned_by: string
  readonly modality: "text" | "image" | "image_edit" | "video" | "audio" | "embedding" | "rerank" | "search"
  readonly status: "preview" | "ga" | "deprecated" | "retired"
  readonly servable: boolean
  readonly capabilities: ReadonlyArray<string>
  readonly pricing: ModelPricing
  readonly providers: ReadonlyArray<ModelProvider>
  readonly supportedParameters: ReadonlyArray<string>
  readonly brand: string
  readonly description: string
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly virtual: boolean
  readonly pricingNote: string
  readonly overlay: ModelOverlay
  readonly history: ReadonlyArray<ModelEvent>
}

export type ModelEvent = {
  readonly event: string
  readonly date: string
  readonly provider?: string
  readonly detail?: string
  readonly meteredPromptPerToken?: number
  readonly meteredCompletionPerToken?: number
  readonly perUnitUsd?: number
}

export type ModelOverlay = {
  readonly isOverlay: boolean
  readonly dispatch: "provider" | "router"
  readonly overrideStatus: "none" | "price" | "status" | "price_and_status"
}

export type ModelProvider = {
  readonly provider: string
  readonly providerDisplayName: string
  readonly upstreamModelId: string
  readonly role: "primary" | "fallback"
  readonly available: boolean
  readonly unsupportedCapabilities: ReadonlyArray<string>
  readonly trainsOnData: boolean
  readonly zeroRetentionAvailable: boolean
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly performance: ProviderPerformance
}

export type ProviderPerformance = {
  readonly samples: number
  readonly successRate: number | null
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly medianTtftMs: number | null
  readonly thin: boolean
}

export type ModelPricing = {
  readonly unit: "token" | "request" | "image" | "second" | "character"
  readonly typicalRequestUsd: number | null
  readonly meteredPromptPerToken: number | null
  readonly meteredCachedPromptPerToken: number | null
  readonly meteredCacheWritePromptPerToken: number | null
  readonly meteredCompletionPerToken: number | null
  readonly perRequestUsd: number | null
  readonly perUnitUsd: number | null
  readonly listPerUnitUsd: number | null
  readonly promotion: Promotion | null
}

export type Promotion = {
  readonly label: string
  readonly discountPercent: number
  readonly startsAt: string
  readonly endsAt: string
}

export type ModelList = {
  readonly object: "list"
  readonly data: ReadonlyArray<ModelDetail>
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
}

export type WebhookDeleted = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  readonly deleted: true
}

export type KeyReport = {
  readonly object: "key"
  readonly id: ResourceId
  readonly kind: "inference" | "management"
  readonly name: string
  readonly prefix: string
  readonly last4: string
  readonly project_id: string | null
  readonly created_at: number
  readonly last_used_at: number | null
  readonly expires_at: number | null
  readonly budget: KeyBudget | null
  readonly project_budget: KeyBudget | null
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

export type KeyRateLimit = {
  readonly requests: number
  readonly window_seconds: number
}

export type KeyBudget = {
  readonly period: "daily" | "weekly" | "monthly" | "lifetime"
  readonly budget_cents: number
  readonly spent_cents: number
  readonly remaining_cents: number
}

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

export type UsageBucket = {
  readonly object: "bucket"
  readonly start_time: number
  readonly end_time: number
  readonly model: string
  readonly provider: string | null
  readonly requests: number
  readonly prompt_tokens: number
  readonly cached_tokens: number
  readonly cache_creation_tokens: number
  readonly completion_tokens: number
  readonly reasoning_tokens: number
  readonly cost_usd: number
}

export type RequestReceipt = {
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
}

export type ReceiptPrice = ReceiptTokenPrice | ReceiptUnitPrice

export type ReceiptUnitPrice = {
  readonly unit: "request" | "image" | "second" | "character"
  readonly per_unit: number
  readonly promotion?: {
    readonly label: string
    readonly discount_percent: number
  }
}

export type ReceiptTokenPrice = {
  readonly unit: "token"
  readonly input: number
  readonly cached_input: number
  readonly cache_write: number
  readonly cache_write_1h?: number
  readonly output: number
  readonly per_request: number
  readonly promotion?: {
    readonly label: string
    readonly discount_percent: number
  }
}

export type ReceiptUsage = ReceiptTokens | ReceiptUnits

export type ReceiptUnits = {
  readonly units: number
  readonly unit: "request" | "image" | "second" | "character"
}

export type ReceiptTokens = {
  readonly input_tokens: number
  readonly cached_tokens: number
  readonly cache_creation_tokens: number
  readonly cache_creation_1h_tokens?: number
  readonly output_tokens: number
  readonly reasoning_tokens: number
}

export type RequestList = {
  readonly object: "list"
  readonly data: ReadonlyArray<RequestReceipt>
  readonly next_cursor: RequestId | null
  readonly searched_to: number | null
}

export type FileDeleted = {
  readonly id: string
  readonly object: "file"
  readonly deleted: true
}

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

export type FileList = {
  readonly object: "list"
  readonly data: ReadonlyArray<FileObject>
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

export type NewFile = {
  readonly purpose: "batch"
  readonly file: Blob
  readonly "expires_after[anchor]"?: "created_at"
  readonly "expires_after[seconds]"?: string
}

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

export type BatchFault = {
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly line: number | null
}

export type BatchPage = {
  readonly object: "list"
  readonly data: ReadonlyArray<BatchObject>
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

export type NewBatch = {
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
  readonly output_expires_after?: {
    readonly anchor: "created_at"
    readonly seconds: number
  } | null
}

export type BatchList = {
  readonly object: "list"
  readonly data: ReadonlyArray<BatchItem>
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
}

export type BatchRequest = {
  readonly requests: ReadonlyArray<BatchEntry>
}

export type BatchEntry = {
  readonly custom_id?: string
  readonly url?: "/chat/completions" | "/messages" | "/responses" | "/embeddings"
  readonly body?: Readonly<Record<string, unknown>>
  readonly params?: Readonly<Record<string, unknown>>
}

export type VideoJob = {
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
}

export type SearchResponse = {
  readonly id: string
  readonly results: ReadonlyArray<SearchResult>
  readonly server_time: string
  readonly model: string
  readonly provider: string
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
}

export type SearchResult = {
  readonly title: string
  readonly url: string
  readonly snippet: string
  readonly date?: string
  readonly last_updated?: string
  readonly query_index?: number
}

export type SearchRequest = {
  readonly query: string | ReadonlyArray<string>
  readonly model?: string | null
  readonly max_results?: number | null
  readonly max_tokens?: number | null
  readonly max_tokens_per_page?: number | null
  readonly country?: string | null
  readonly search_domain_filter?: ReadonlyArray<string> | null
  readonly search_language_filter?: ReadonlyArray<string> | null
  readonly search_recency_filter?: "hour" | "day" | "week" | "month" | "year" | null
  readonly search_after_date_filter?: string | null
  readonly search_before_date_filter?: string | null
  readonly last_updated_after_filter?: string | null
  readonly last_updated_before_filter?: string | null
  readonly search_mode?: "web" | "academic" | "sec" | null
  readonly search_context_size?: "low" | "medium" | "high" | null
}

export type SpeechRequest = {
  readonly model: string
  readonly input: string
  readonly voice: "alloy" | "ash" | "coral" | "echo" | "fable" | "onyx" | "nova" | "sage" | "shimmer"
  readonly response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm" | null
  readonly speed?: number | null
}

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

export type RerankRequest = {
  readonly model: string
  readonly query: string
  readonly documents: ReadonlyArray<string>
  readonly top_n?: number | null
  readonly return_documents?: boolean | null
  readonly truncation?: boolean | null
}

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

export type Embedding = {
  readonly object: "embedding"
  readonly index: number
  readonly embedding: ReadonlyArray<number> | string
}

export type EmbeddingsRequest = {
  readonly model: string
  readonly input: string | ReadonlyArray<string> | ReadonlyArray<number> | ReadonlyArray<ReadonlyArray<number>>
  readonly dimensions?: number | null
  readonly encoding_format?: "float" | "base64" | null
  readonly input_type?: "query" | "document" | null
  readonly truncation?: boolean | null
  readonly user?: string | null
}

export type ResponsesTokens = {
  readonly object: "response.input_tokens"
  readonly input_tokens: number
}

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

export type ResponsesReasoning = {
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  readonly summary?: "auto" | "concise" | "detailed" | null
  readonly max_tokens?: number | null
  readonly enabled?: boolean | null
  readonly context?: "auto" | "current_turn" | "all_turns" | null
}

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

export type ResponsesTool =
  | ResponsesFunctionTool
  | ResponsesCustomTool
  | ResponsesNamespaceTool
  | ResponsesToolSearchTool
  | ResponsesHostedTool

export type ResponsesToolSearchTool = {
  readonly type: "tool_search"
  readonly execution?: "client" | "server" | null
  readonly description?: string | null
  readonly parameters?: Readonly<Record<string, unknown>> | null
}

export type ResponsesNamespaceTool = {
  readonly type: "namespace"
  readonly name: string
  readonly description?: string | null
  readonly tools: ReadonlyArray<ResponsesFunctionTool | ResponsesCustomTool>
}

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

export type ResponsesFunctionTool = {
  readonly type: "function"
  readonly name: string
  readonly description?: string | null
  readonly parameters?: Readonly<Record<string, unknown>> | null
  readonly strict?: boolean | null
  readonly defer_loading?: boolean | null
}

export type ResponsesSearchOutput = {
  readonly type: "tool_search_output"
  readonly call_id?: string | null
  readonly tools: ReadonlyArray<ResponsesTool>
}

export type ResponsesSaidSearch = {
  readonly type: "tool_search_call"
  readonly call_id?: string | null
  readonly arguments: unknown
}

export type ResponsesAdditionalTools = {
  readonly type: "additional_tools"
  readonly tools: ReadonlyArray<ResponsesTool>
}

export type ResponsesCustomOutput = {
  readonly type: "custom_tool_call_output"
  readonly call_id: string
  readonly output:
    | string
    | readonly [
        ResponsesInputText | ResponsesInputImage | ResponsesInputFile,
        ...Array<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
      ]
}

export type ResponsesInputFile = {
  readonly type: "input_file"
  readonly file_data: string
  readonly filename?: string | null
}

export type ResponsesInputImage = {
  readonly type: "input_image"
  readonly image_url: string
  readonly detail?: "auto" | "low" | "high" | "original" | null
}

export type ResponsesInputText = {
  readonly type: "input_text"
  readonly text: string
}

export type ResponsesSaidCustomCall = {
  readonly type: "custom_tool_call"
  readonly call_id: string
  readonly name: string
  readonly namespace?: string | null
  readonly input: string
}

export type ResponsesCallOutput = {
  readonly type: "function_call_output"
  readonly call_id: string
  readonly output:
    | string
    | readonly [
        ResponsesInputText | ResponsesInputImage | ResponsesInputFile,
        ...Array<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
      ]
}

export type ResponsesSaidCall = {
  readonly type: "function_call"
  readonly call_id: string
  readonly name: string
  readonly namespace?: string | null
  readonly arguments: string
}

export type ResponsesSaidReasoning = {
  readonly type: "reasoning"
  readonly encrypted_content?: string | null
  readonly summary?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
  readonly content?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
}

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

export type ResponsesInputMessage = {
  readonly type?: "message"
  readonly role: "user" | "system" | "developer"
  readonly content:
    | string
    | readonly [
        ResponsesInputText | ResponsesInputImage | ResponsesInputFile,
        ...Array<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
      ]
}

export type ResponsesRequest = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
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

export type CostEstimate = {
  readonly object: "cost_estimate"
  readonly model: string
  readonly resolved_models: ReadonlyArray<string>
  readonly estimated_cost_usd: number
  readonly hold_usd: number
  readonly max_cost_usd: number
  readonly unit: "token" | "request" | "image" | "second" | "character"
  readonly breakdown: ReadonlyArray<EstimateLine | UnitEstimateLine>
  readonly balance_usd: number
  readonly affordable: boolean
}

export type UnitEstimateLine = {
  readonly model: string
  readonly provider: string
  readonly units: number
  readonly price_per_unit: number
  readonly estimated_cost_usd: number
  readonly max_cost_usd: number
}

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

export type WorkEstimateRequest = {
  readonly model: string
  readonly input?: string | ReadonlyArray<string>
  readonly prompt?: string
  readonly input_tokens?: number
  readonly documents?: ReadonlyArray<string>
  readonly characters?: number
  readonly n?: number
  readonly duration?: number
}

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
  readonly input_tokens?: number
}

export type ChatMessage =
  | {
      readonly role: "system"
      readonly content: string | readonly [ChatTextPart, ...Array<ChatTextPart>]
      readonly name?: string | null
    }
  | {
      readonly role: "developer"
      readonly content: string | readonly [ChatTextPart, ...Array<ChatTextPart>]
      readonly name?: string | null
    }
  | {
      readonly role: "user"
      readonly content:
        | string
        | readonly [ChatTextPart | ChatImagePart | ChatFilePart, ...Array<ChatTextPart | ChatImagePart | ChatFilePart>]
      readonly name?: string | null
    }
  | {
      readonly role: "assistant"
      readonly content?:
        | string
        | readonly [ChatTextPart | ChatRefusalPart, ...Array<ChatTextPart | ChatRefusalPart>]
        | null
      readonly name?: string | null
      readonly refusal?: string | null
      readonly reasoning?: string | null
      readonly reasoning_content?: string | null
      readonly reasoning_details?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
      readonly tool_calls?: ReadonlyArray<ChatToolCall> | null
    }
  | {
      readonly role: "tool"
      readonly content:
        | string
        | readonly [ChatTextPart | ChatImagePart | ChatFilePart, ...Array<ChatTextPart | ChatImagePart | ChatFilePart>]
      readonly tool_call_id: string
    }

export type ChatRefusalPart = {
  readonly type: "refusal"
  readonly refusal: string
}

export type ChatCompletion = {
  readonly id: string
  readonly object: "chat.completion"
  readonly created: number
  readonly model: string
  readonly resolved_model: string
  readonly provider: string
  readonly choices: ReadonlyArray<ChatChoice>
  readonly usage: ChatUsage
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
}

export type PresetChatRequest = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
  readonly messages: ReadonlyArray<ChatMessage>
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
  readonly n?: 1 | null
  readonly store?: false | null
  readonly service_tier?: "auto" | "default" | null
  readonly route?: "fallback" | null
  readonly top_a?: 0 | null
  readonly provider?: Readonly<Record<string, unknown>> | null
}

export type ChatCompletionRequest = {
  readonly model?: string | null
  readonly models?: ReadonlyArray<string> | null
  readonly messages: ReadonlyArray<ChatMessage>
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
  /** Create a chat completion by a preset */
  readonly "presets.chat.completions": {
    readonly path: {
      readonly slug: string
    }
    readonly body: PresetChatRequest
    readonly answer: ChatCompletion
    readonly event: ChatCompletionChunk
  }
  /** Estimate the cost of a call */
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
  /** Retrieve a video job */
  readonly "videos.get": {
    readonly path: {
      readonly id: string
    }
    readonly answer: VideoJob
  }
  /** Go to the clip of a completed video */
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
  /** Begin no more requests of a batch */
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
  /** List files of batches, newest first unless told */
  readonly "files.list": {
    readonly query: {
      readonly limit?: number
      readonly after?: string
      readonly purpose?: "batch" | "batch_output"
      readonly order?: "asc" | "desc"
    }
    readonly answer: FileList
  }
  /** Retrieve what is known of a file */
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
  /** Register a webhook; its secret is shown this once */
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
  /** Change a webhook, or enable one that was disabled */
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
  /** List what a webhook was told, newest first */
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
  /** Replace the secret of a webhook; both sign for 24 hours */
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
  /** Make a key; its secret is shown this once */
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
  /** Revoke a key, at once */
  readonly "management.keys.revoke": {
    readonly path: {
      readonly key_id: ResourceId
    }
    readonly answer: KeyRevoked
  }
  /** Replace a key by one with another secret; it stops at once or after a grace */
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
  /** Archive a project for good, and revoke its keys at once */
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
  /** Make a preset, in its first version */
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
  /** Change a preset; another config is its next version, and active */
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
  /** Make a version of a preset the active one */
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
  /** Register a webhook; its secret is shown this once */
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
  /** Change a webhook, or enable one that was disabled */
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
  /** Replace the secret of a webhook; both sign for 24 hours */
  readonly "management.webhooks.rotate_secret": {
    readonly path: {
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookResultWithSecret
  }
  /** List what a webhook was told, newest first */
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
  /** List what was done to the account, newest first */
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
  /** The balance of the account */
  readonly "management.balance": {
    readonly answer: BalanceReport
  }
  /** Be sent a code to sign in, or up, with */
  readonly "console.sign_in.create": {
    readonly body: SignInRequest
    readonly answer: SignInSent
  }
  /** Sign in with a code, by the cookie that is set; or up, with a new account */
  readonly "console.sign_in.verify": {
    readonly body: SignInCode
    readonly answer: ConsoleSession
  }
  /** Who is signed in */
  readonly "console.session.get": {
    readonly answer: ConsoleSession
  }
  /** Sign out */
  readonly "console.session.delete": {
    readonly answer: SessionsEnded
  }
  /** Sign out everywhere */
  readonly "console.sessions.delete": {
    readonly answer: SessionsEnded
  }
  /** Be sent a code as a text message */
  readonly "console.phone.create": {
    readonly body: PhoneRequest
    readonly answer: PhoneResult
  }
  /** Verify the telephone, for a starter credit of $0.50 */
  readonly "console.phone.verify": {
    readonly body: PhoneCode
    readonly answer: PhoneResult
  }
  /** List management keys, newest first */
  readonly "console.management_keys.list": {
    readonly query: {
      readonly limit?: number
      readonly cursor?: ResourceId
    }
    readonly answer: ManagementKeyList
  }
  /** Make a management key; its secret is shown this once */
  readonly "console.management_keys.create": {
    readonly body: NewManagementKey
    readonly answer: ManagementKeyWithSecret
  }
  /** Revoke a management key, at once */
  readonly "console.management_keys.revoke": {
    readonly path: {
      readonly key_id: ResourceId
    }
    readonly answer: ManagementKeyRevoked
  }
  /** Open a checkout to pay money in at */
  readonly "console.top_ups.create": {
    readonly body: NewTopUp
    readonly answer: TopUpReport
  }
  /** List what was paid in, newest first */
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
  /** Pay a top-up of the sandbox */
  readonly "console.top_ups.simulate": {
    readonly path: {
      readonly top_up_id: ResourceId
    }
    readonly answer: TopUpReport
  }
  /** Take an event of Stripe's, at most 256 KiB, signed */
  readonly "payments.stripe": {
    readonly headers: {
      readonly "stripe-signature"?: string
    }
    readonly answer: EventReceived
  }
  /** Pay a checkout of the sandbox */
  readonly "payments.simulated": {
    readonly path: {
      readonly session_id: string
    }
    readonly answer: TopUpReport
  }
  /** Create a chat completion, or get the cached one */
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
  /** Open a session, or get the one of this `session_id` */
  readonly "sessions.create": {
    readonly body: SessionRequest
    readonly answer: Session
  }
  /** Get a session with its messages */
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

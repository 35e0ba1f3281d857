// Written from schemas/published/openapi.json by `npm run published`; a change here is lost.

/** One chunk of a streamed answer. The last one before `[DONE]` contains usage and cost: with `include_usage` it has no choices, otherwise one with an empty delta. An error after the start of the stream is a chunk with `error` and `finish_reason: "error"`. */
export type ChatCompletionChunk = {
  /** `chatcmpl-` and the end of the request's id. */
  readonly id: string
  readonly object: "chat.completion.chunk"
  /** Unix seconds. */
  readonly created: number
  /** The model as the request names it. */
  readonly model: string
  /** The next part of the answer. */
  readonly choices: ReadonlyArray<{
    /** Always 0. */
    readonly index: number
    /** What is added to the message. */
    readonly delta: {
      readonly role?: "assistant"
      /** The next piece of the text. */
      readonly content?: string
      /** The text of the reasoning, if the model shows it. */
      readonly reasoning?: string
      /** The same text under DeepSeek's name. */
      readonly reasoning_content?: string
      /** The reasoning in pieces, which the client sends back with its message. */
      readonly reasoning_details?: ReadonlyArray<ChatReasoningDetail>
      /** The next piece of a refusal. */
      readonly refusal?: string
      /** The next pieces of tool calls. */
      readonly tool_calls?: ReadonlyArray<{
        /** The place of the call in the message. */
        readonly index: number
        /** The id of the call, in its first piece. */
        readonly id?: string
        readonly type?: "function"
        /** The called function. */
        readonly function: {
          /** The name, in the first piece. */
          readonly name?: string
          /** The next piece of the arguments. */
          readonly arguments?: string
        }
      }>
    }
    /** Why the answer ended; null before. `error`: the answer broke off. */
    readonly finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "error" | null
    /** Log-probabilities in OpenAI's format; null without any. */
    readonly logprobs?: {
      /** An entry for each token. */
      readonly content: ReadonlyArray<unknown> | null
      /** Always null. */
      readonly refusal: null
    } | null
  }>
  readonly usage?: ChatUsage
  /** The charge in USD, in the chunk with the usage or with the error. */
  readonly cost_usd?: number
  /** The id of the request, in the chunk with the usage or with the error. */
  readonly request_id?: RequestId
  /** The provider that served, in the chunk with the usage. */
  readonly provider?: string
  /** The model that served, in the chunk with the usage. */
  readonly resolved_model?: string
  readonly routing?: RoutingSummary
  readonly balance_warning?: BalanceWarning
  readonly error?: ErrorObject
}

/** One event of a streamed response, numbered from 0. The last one is `response.completed` or `response.incomplete`, which contains the complete answer. A failing stream ends with `response.failed` and then `error`, because some clients read only one of the two. There is no `[DONE]`. */
export type ResponsesStreamEvent =
  | {
      readonly type: "response.created"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The answer at its start, without output. */
      readonly response: ResponseBegun
    }
  | {
      readonly type: "response.in_progress"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The answer at its start, without output. */
      readonly response: ResponseBegun
    }
  | {
      readonly type: "response.output_item.added"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The place of the item in `output`. */
      readonly output_index: number
      readonly item: ResponsesStreamItem
    }
  | {
      readonly type: "response.output_item.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The place of the item in `output`. */
      readonly output_index: number
      readonly item: ResponsesStreamItem
    }
  | {
      readonly type: "response.content_part.added"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `content`. */
      readonly content_index: number
      /** The part: empty when it is added, whole when it is done. */
      readonly part: ResponsesStreamPart
    }
  | {
      readonly type: "response.content_part.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `content`. */
      readonly content_index: number
      /** The part: empty when it is added, whole when it is done. */
      readonly part: ResponsesStreamPart
    }
  | {
      readonly type: "response.output_text.delta"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `content`. */
      readonly content_index: number
      /** The next piece. */
      readonly delta: string
      /** Log-probabilities, if the request asks for them; empty otherwise. */
      readonly logprobs: ReadonlyArray<unknown>
    }
  | {
      readonly type: "response.output_text.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `content`. */
      readonly content_index: number
      /** The whole text. */
      readonly text: string
      /** Log-probabilities, if the request asks for them; empty otherwise. */
      readonly logprobs: ReadonlyArray<unknown>
    }
  | {
      readonly type: "response.refusal.delta"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `content`. */
      readonly content_index: number
      /** The next piece. */
      readonly delta: string
    }
  | {
      readonly type: "response.refusal.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `content`. */
      readonly content_index: number
      /** The whole refusal. */
      readonly refusal: string
    }
  | {
      readonly type: "response.reasoning_summary_part.added"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `summary`. */
      readonly summary_index: number
      /** A part of a summary: empty when it is added, whole when it is done. */
      readonly part: {
        readonly type: "summary_text"
        /** The text. */
        readonly text: string
      }
    }
  | {
      readonly type: "response.reasoning_summary_part.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `summary`. */
      readonly summary_index: number
      /** A part of a summary: empty when it is added, whole when it is done. */
      readonly part: {
        readonly type: "summary_text"
        /** The text. */
        readonly text: string
      }
    }
  | {
      readonly type: "response.reasoning_summary_text.delta"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `summary`. */
      readonly summary_index: number
      /** The next piece. */
      readonly delta: string
    }
  | {
      readonly type: "response.reasoning_summary_text.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The place of the part in the item's `summary`. */
      readonly summary_index: number
      /** The whole text. */
      readonly text: string
    }
  | {
      readonly type: "response.function_call_arguments.delta"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The next piece. */
      readonly delta: string
    }
  | {
      readonly type: "response.function_call_arguments.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The name of the tool. */
      readonly name: string
      /** The whole arguments as JSON text. */
      readonly arguments: string
    }
  | {
      readonly type: "response.custom_tool_call_input.delta"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The next piece. */
      readonly delta: string
    }
  | {
      readonly type: "response.custom_tool_call_input.done"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The id of the item. */
      readonly item_id: string
      /** The place of the item in `output`. */
      readonly output_index: number
      /** The whole input. */
      readonly input: string
    }
  | {
      readonly type: "response.completed"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The complete answer. */
      readonly response: Response
      readonly balance_warning?: BalanceWarning
    }
  | {
      readonly type: "response.incomplete"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The complete answer. */
      readonly response: Response
      readonly balance_warning?: BalanceWarning
    }
  | {
      readonly type: "response.failed"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The answer as it was at the start, with the error. */
      readonly response: {
        /** `resp_` and the end of the request's id. */
        readonly id: string
        readonly object: "response"
        /** Unix seconds. */
        readonly created_at: number
        /** Why the request failed. */
        readonly error: {
          /** The code of the error. */
          readonly code: string
          /** A sentence for people. */
          readonly message: string
        }
        /** As in the request. */
        readonly instructions: string | null
        /** As in the request. */
        readonly max_output_tokens: number | null
        /** The model as the request names it. */
        readonly model: string
        /** As in the request. */
        readonly parallel_tool_calls: boolean
        /** Always null: the gateway stores no responses. */
        readonly previous_response_id: null
        readonly store: false
        readonly request_id: RequestId
        /** As in the request. */
        readonly metadata: Readonly<Record<string, string>>
        readonly status: "failed"
        /** Null: the answer at the end of the stream has it. */
        readonly incomplete_details: null
        /** Empty: the items follow. */
        readonly output: ReadonlyArray<unknown>
        readonly output_text: ""
        /** Null: the answer at the end of the stream has it. */
        readonly usage: null
        /** The charge in USD for the output before the error. Null when the charge is unknown. */
        readonly cost_usd: number | null
        /** Null: the answer at the end of the stream has it. */
        readonly provider: null
        /** Null: the answer at the end of the stream has it. */
        readonly routing: null
      }
    }
  | {
      readonly type: "error"
      /** The place of the event in the stream, from 0. */
      readonly sequence_number: number
      /** The code of the error. */
      readonly code: string
      /** A sentence for people. */
      readonly message: string
      /** The path of the field concerned; null without one. */
      readonly param: string | null
    }

/** One event of a streamed answer. Its `type` is also the event's name. The input tokens in `message_start` are an estimate. `message_delta` contains the charged counts and their cost. Nothing follows an `error`. */
export type MessagesStreamEvent =
  | {
      readonly type: "message_start"
      /** The message at its start. */
      readonly message: {
        /** `msg_` and the end of the request's id. */
        readonly id: string
        readonly type: "message"
        readonly role: "assistant"
        /** The model as the request names it. */
        readonly model: string
        /** Empty: the blocks follow. */
        readonly content: ReadonlyArray<MessagesBlock>
        /** Null: `message_delta` has it. */
        readonly stop_reason: null
        /** Null: `message_delta` has it. */
        readonly stop_sequence: null
        readonly usage: MessagesUsage
      }
    }
  | {
      readonly type: "content_block_start"
      /** The place of the block in the answer. */
      readonly index: number
      readonly content_block: MessagesBlock
    }
  | {
      readonly type: "content_block_delta"
      /** The place of the block in the answer. */
      readonly index: number
      /** What is added to the block. */
      readonly delta:
        | {
            readonly type: "text_delta"
            /** The next piece of the text. */
            readonly text: string
          }
        | {
            readonly type: "thinking_delta"
            /** The next piece of the thinking. */
            readonly thinking: string
          }
        | {
            readonly type: "signature_delta"
            /** The whole signature. */
            readonly signature: string
          }
        | {
            readonly type: "input_json_delta"
            /** The next piece of the input as JSON text. */
            readonly partial_json: string
          }
    }
  | {
      readonly type: "content_block_stop"
      /** The place of the block in the answer. */
      readonly index: number
    }
  | {
      readonly type: "message_delta"
      /** How the answer ended. */
      readonly delta: {
        readonly stop_reason: MessagesStopReason
        /** The stop sequence that the model wrote, if the provider names it. */
        readonly stop_sequence: string | null
      }
      readonly usage: MessagesUsage
      /** The parts that were removed from the prompt; present when the request contains `context_management`. */
      readonly context_management?: {
        /** The edits, in Anthropic's format. */
        readonly applied_edits: ReadonlyArray<Readonly<Record<string, unknown>>>
      }
      /** The charge in USD, as on the receipt of `request_id`. */
      readonly cost_usd: number
      readonly request_id: RequestId
      /** The provider that served. */
      readonly provider: string
      /** The model that served. */
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
      /** The charge in USD for the output before the error. Absent when the charge is unknown. */
      readonly cost_usd?: number
    }

/** `req_` and a 26-character ULID. Ids sort by time. */
export type RequestId = string

/** An error with Anthropic's `type`. The other members are the standard ones. */
export type MessagesErrorObject = {
  /** A sentence for people. It may change. */
  readonly message: string
  /** The kind of error in Anthropic's words. */
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
  /** The exact error, such as `validation_error`. */
  readonly code: string
  /** The path of the field concerned; null without one. */
  readonly param: string | null
  /** Present when the request asked for `thread`, which is not supported: Anthropic's clients then send the whole conversation themselves. */
  readonly details?: {
    readonly error_code: "thread_unsupported_request"
    /** The unsupported features. */
    readonly unsupported: ReadonlyArray<string>
  }
}

/** A warning beside an answer while the balance is below $5.00. */
export type BalanceWarning = {
  readonly warning: "low_balance"
  /** The threshold in USD. */
  readonly threshold: string
}

/** How a request was routed. */
export type RoutingSummary = {
  /** The order among the providers and models that can serve a request: by `cost`, `latency` or `quality`, or `balanced` between them, which is the default. */
  readonly strategy: "balanced" | "cost" | "latency" | "quality"
  /** The requested model or chain. */
  readonly requested_models: ReadonlyArray<string>
  /** The model that served. */
  readonly resolved_model: string
  /** The provider that served; null when none did. */
  readonly provider: string | null
  /** The calls to providers, in order. */
  readonly provider_attempts?: ReadonlyArray<ProviderAttempt>
  /** Whether another provider or model could be tried when the first failed. */
  readonly fallbacks_allowed: boolean
  /** `no_training`: no provider that trains on data. `zero_retention`: no provider that keeps data, and no content in the gateway's own storage. */
  readonly data_policy: "default" | "no_training" | "zero_retention"
  readonly caching?: "auto"
  /** Where the routing came from: the request or its preset, the key or its project, or the defaults. */
  readonly source?: "request" | "project" | "default"
  readonly router?: RouterDecisionSummary
}

/** How `svc/auto` chose the model. */
export type RouterDecisionSummary = {
  readonly id: "svc/auto"
  /** The task that the gateway found in the request, such as `code`. */
  readonly task: string
  /** Whether rules or a model found the task. `llm-cached`: a model did for the same text before. */
  readonly classified_by: "regex" | "llm" | "llm-cached"
  /** The property of the prompt that counted more than its task: its length, or a language other than English; null without one. */
  readonly override: "long_context" | "multilingual" | null
  /** The decision in a sentence. */
  readonly reasoning: string
  /** The chosen model and its fallbacks, in order. */
  readonly candidates: ReadonlyArray<string>
  /** Models that were chosen or passed over, each with the reason. */
  readonly considered: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** One call to one provider. */
export type ProviderAttempt = {
  /** The id of the provider. */
  readonly provider: string
  /** `failed_over`: it failed, and the next attempt followed. `failed`: it failed, and the request with it. */
  readonly outcome: "served" | "failed_over" | "failed"
  /** The place of the attempt, from 0. */
  readonly attempt_index: number
}

/** Tokens in disjoint buckets: `input_tokens` excludes prompt cache reads and writes. */
export type MessagesUsage = {
  /** The tokens of the prompt outside the prompt cache. */
  readonly input_tokens: number
  /** Tokens written to the prompt cache. */
  readonly cache_creation_input_tokens: number
  /** Tokens read from the prompt cache. */
  readonly cache_read_input_tokens: number
  /** The tokens of `cache_creation_input_tokens` by lifetime. */
  readonly cache_creation: {
    /** Kept for five minutes. */
    readonly ephemeral_5m_input_tokens: number
    /** Kept for an hour. */
    readonly ephemeral_1h_input_tokens: number
  }
  /** The tokens of the output, thinking included. */
  readonly output_tokens: number
  /** Parts of `output_tokens`. */
  readonly output_tokens_details: {
    /** Tokens of thinking, shown or hidden. */
    readonly thinking_tokens: number
  }
}

/** Why the model stopped: it was done, reached the limit of the output, wrote a stop sequence, called tools, or refused; `refusal` also means a filtered answer. */
export type MessagesStopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal"

/** A content block of an answer. Thinking has a signature of this service, which the client sends back with the conversation so that the model can continue from it. Thinking that its provider does not show is `redacted_thinking`. */
export type MessagesBlock =
  | {
      readonly type: "text"
      /** The text. */
      readonly text: string
    }
  | {
      readonly type: "thinking"
      /** The text, empty with `display: "omitted"`. */
      readonly thinking: string
      /** Contains the thinking and the provider's data, encrypted. */
      readonly signature: string
    }
  | {
      readonly type: "redacted_thinking"
      /** Contains the thinking and the provider's data, encrypted. */
      readonly data: string
    }
  | {
      readonly type: "tool_use"
      /** The id of the call, which its result repeats. */
      readonly id: string
      /** The name of the tool. */
      readonly name: string
      /** The input of the tool. Output that is not a JSON object is in its member `arguments` as text. */
      readonly input: Readonly<Record<string, unknown>>
      /** The model makes every call. Anthropic's clients require the member. */
      readonly caller: {
        readonly type: "direct"
      }
    }

/** A complete answer. It has exactly these members, so a low balance is reported in the `X-Balance-Warning` header. */
export type Response = {
  /** `resp_` and the end of the request's id. */
  readonly id: string
  readonly object: "response"
  /** Unix seconds. */
  readonly created_at: number
  /** Always null: a failed request gets an error response. */
  readonly error: null
  /** As in the request. */
  readonly instructions: string | null
  /** As in the request. */
  readonly max_output_tokens: number | null
  /** The model as the request names it. */
  readonly model: string
  /** As in the request. */
  readonly parallel_tool_calls: boolean
  /** Always null: the gateway stores no responses. */
  readonly previous_response_id: null
  readonly store: false
  readonly request_id: RequestId
  /** As in the request. */
  readonly metadata: Readonly<Record<string, string>>
  /** `incomplete`: the answer was cut short. */
  readonly status: "completed" | "incomplete"
  /** Why the answer is incomplete; null for a complete one. */
  readonly incomplete_details: {
    /** The limit of the output was reached, or the answer was filtered. */
    readonly reason: "max_output_tokens" | "content_filter"
  } | null
  /** The items of the answer, in order. */
  readonly output: ReadonlyArray<
    ResponsesReasoningItem | ResponsesMessageItem | ResponsesCallItem | ResponsesCustomCallItem | ResponsesSearchItem
  >
  /** The texts of all messages in `output`, joined. */
  readonly output_text: string
  readonly usage: ResponsesUsage
  /** The charge in USD, as on the receipt of `request_id`. */
  readonly cost_usd: number
  /** The provider that served. */
  readonly provider: string | null
  readonly routing: RoutingSummary
}

/** Token counts. */
export type ResponsesUsage = {
  /** The tokens of the prompt, prompt cache reads and writes included. */
  readonly input_tokens: number
  /** Parts of `input_tokens`. */
  readonly input_tokens_details: {
    /** Tokens read from the prompt cache. */
    readonly cached_tokens: number
    /** Tokens written to the prompt cache. */
    readonly cache_creation_tokens: number
  }
  /** The tokens of the output, reasoning included. */
  readonly output_tokens: number
  /** Parts of `output_tokens`. */
  readonly output_tokens_details: {
    /** Tokens of reasoning, shown or hidden. */
    readonly reasoning_tokens: number
  }
  /** The sum of both. */
  readonly total_tokens: number
}

/** A search for tools that the client should run; only when the request declares the search. */
export type ResponsesSearchItem = {
  /** The id of the item. */
  readonly id: string
  /** `incomplete`: the answer was cut short in this item. */
  readonly status: "completed" | "incomplete"
  /** The id of the call, which its result repeats. */
  readonly call_id: string
  readonly type: "tool_search_call"
  readonly execution: "client"
  /** What the model searches for. */
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A call of a custom tool; only when the request declares one. */
export type ResponsesCustomCallItem = {
  /** The id of the item. */
  readonly id: string
  /** `incomplete`: the answer was cut short in this item. */
  readonly status: "completed" | "incomplete"
  /** The id of the call, which its result repeats. */
  readonly call_id: string
  readonly type: "custom_tool_call"
  /** The name of the tool. */
  readonly name: string
  /** Only for a tool that the request declares in a namespace. */
  readonly namespace?: string
  /** The text that the model wrote. */
  readonly input: string
}

/** A tool call of the model. Send its result back with the same `call_id`. */
export type ResponsesCallItem = {
  /** The id of the item. */
  readonly id: string
  /** `incomplete`: the answer was cut short in this item. */
  readonly status: "completed" | "incomplete"
  /** The id of the call, which its result repeats. */
  readonly call_id: string
  readonly type: "function_call"
  /** The name of the tool. */
  readonly name: string
  /** Only for a tool that the request declares in a namespace. */
  readonly namespace?: string
  /** JSON text, as the model wrote it. It may be invalid or break the tool's schema. */
  readonly arguments: string
}

/** The model's text. A refusal is text like any other. */
export type ResponsesMessageItem = {
  /** The id of the item, which starts with `msg_`. */
  readonly id: string
  readonly type: "message"
  /** `incomplete`: the answer was cut short in this item. */
  readonly status: "completed" | "incomplete"
  readonly role: "assistant"
  /** The text in parts. */
  readonly content: ReadonlyArray<{
    readonly type: "output_text"
    /** The text. */
    readonly text: string
    /** Always empty. */
    readonly annotations: ReadonlyArray<unknown>
  }>
}

/** The model's reasoning, if the provider shows it. */
export type ResponsesReasoningItem = {
  /** The id of the item, which starts with `rs_`. */
  readonly id: string
  readonly type: "reasoning"
  /** `incomplete`: the answer was cut short in this item. */
  readonly status: "completed" | "incomplete"
  /** The text of the reasoning, if the provider shows it. */
  readonly summary: ReadonlyArray<{
    readonly type: "summary_text"
    /** The text. */
    readonly text: string
  }>
  /** Present only when `include` contains `reasoning.encrypted_content`. Send it back so that the model continues from it. */
  readonly encrypted_content?: string
}

/** A part of a message. In a stream, a refusal has a part type of its own; in the complete answer it is text. */
export type ResponsesStreamPart =
  | {
      readonly type: "output_text"
      /** The text. */
      readonly text: string
      /** Always empty. */
      readonly annotations: ReadonlyArray<unknown>
    }
  | {
      readonly type: "refusal"
      /** The text of the refusal. */
      readonly refusal: string
    }

/** An item while it is streamed: `in_progress` and empty when it is added. */
export type ResponsesStreamItem =
  | {
      /** The id of the item, which starts with `rs_`. */
      readonly id: string
      readonly type: "reasoning"
      /** `in_progress` until the item is done. */
      readonly status: "in_progress" | "completed" | "incomplete"
      /** The text of the reasoning, if the provider shows it. */
      readonly summary: ReadonlyArray<{
        readonly type: "summary_text"
        /** The text. */
        readonly text: string
      }>
      /** Present only when `include` contains `reasoning.encrypted_content`. Send it back so that the model continues from it. */
      readonly encrypted_content?: string
    }
  | {
      /** The id of the item, which starts with `rs_`. */
      readonly id: string
      readonly type: "message"
      /** `in_progress` until the item is done. */
      readonly status: "in_progress" | "completed" | "incomplete"
      readonly role: "assistant"
      /** The parts of the message. */
      readonly content: ReadonlyArray<ResponsesStreamPart>
    }
  | {
      /** The id of the item, which starts with `rs_`. */
      readonly id: string
      /** `in_progress` until the item is done. */
      readonly status: "in_progress" | "completed" | "incomplete"
      /** The id of the call, which its result repeats. */
      readonly call_id: string
      readonly type: "function_call"
      /** The name of the tool. */
      readonly name: string
      /** Only for a tool that the request declares in a namespace. */
      readonly namespace?: string
      /** JSON text, as the model wrote it. It may be invalid or break the tool's schema. */
      readonly arguments: string
    }
  | {
      /** The id of the item, which starts with `rs_`. */
      readonly id: string
      /** `in_progress` until the item is done. */
      readonly status: "in_progress" | "completed" | "incomplete"
      /** The id of the call, which its result repeats. */
      readonly call_id: string
      readonly type: "custom_tool_call"
      /** The name of the tool. */
      readonly name: string
      /** Only for a tool that the request declares in a namespace. */
      readonly namespace?: string
      /** The text that the model wrote. */
      readonly input: string
    }
  | {
      /** The id of the item, which starts with `rs_`. */
      readonly id: string
      /** `in_progress` until the item is done. */
      readonly status: "in_progress" | "completed" | "incomplete"
      /** The id of the call, which its result repeats. */
      readonly call_id: string
      readonly type: "tool_search_call"
      readonly execution: "client"
      /** JSON text, as the model wrote it. It may be invalid or break the tool's schema. */
      readonly arguments: Readonly<Record<string, unknown>>
    }

/** The answer at the start of a stream. Its status is `in_progress`, and members that are known only at the end, such as `usage`, are null. */
export type ResponseBegun = {
  /** `resp_` and the end of the request's id. */
  readonly id: string
  readonly object: "response"
  /** Unix seconds. */
  readonly created_at: number
  /** Always null: a failed request gets an error response. */
  readonly error: null
  /** As in the request. */
  readonly instructions: string | null
  /** As in the request. */
  readonly max_output_tokens: number | null
  /** The model as the request names it. */
  readonly model: string
  /** As in the request. */
  readonly parallel_tool_calls: boolean
  /** Always null: the gateway stores no responses. */
  readonly previous_response_id: null
  readonly store: false
  readonly request_id: RequestId
  /** As in the request. */
  readonly metadata: Readonly<Record<string, string>>
  readonly status: "in_progress"
  /** Null: the answer at the end of the stream has it. */
  readonly incomplete_details: null
  /** Empty: the items follow. */
  readonly output: ReadonlyArray<unknown>
  readonly output_text: ""
  /** Null: the answer at the end of the stream has it. */
  readonly usage: null
  /** Null: the answer at the end of the stream has it. */
  readonly cost_usd: null
  /** Null: the answer at the end of the stream has it. */
  readonly provider: null
  /** Null: the answer at the end of the stream has it. */
  readonly routing: null
}

/** An error: a sentence for people, `type` and `code` for programs, and `param` for the field concerned. */
export type ErrorObject = {
  /** A sentence for people. It may change. */
  readonly message: string
  /** The kind of error, such as `invalid_request_error`. */
  readonly type: string
  /** The exact error, such as `validation_error`. */
  readonly code: string
  /** The path of the field concerned; null without one. */
  readonly param: string | null
}

/** Token counts of a chat. */
export type ChatUsage = {
  /** The tokens of the prompt, prompt cache reads and writes included. */
  readonly prompt_tokens: number
  /** The tokens of the output, reasoning included. */
  readonly completion_tokens: number
  /** The sum of both. */
  readonly total_tokens: number
  /** Parts of `prompt_tokens`. */
  readonly prompt_tokens_details: {
    /** Tokens read from the prompt cache. */
    readonly cached_tokens: number
    /** Tokens written to the prompt cache. */
    readonly cache_creation_tokens: number
  }
  /** Parts of `completion_tokens`. */
  readonly completion_tokens_details: {
    /** Tokens of reasoning, shown or hidden. */
    readonly reasoning_tokens: number
  }
  /** The same as `cost_usd`, where OpenRouter's clients read it. */
  readonly cost?: number
}

/** A piece of an answer's reasoning in OpenRouter's format. Send the pieces back unchanged with their message, and the model continues from its reasoning. Only this service can read a signature, and only for the account for which it was made. */
export type ChatReasoningDetail = {
  /** Whether the piece has its text. */
  readonly type: "reasoning.text" | "reasoning.encrypted"
  /** In a stream, the text comes earlier, as `reasoning`. */
  readonly text?: string
  /** Contains the reasoning and the provider's data, encrypted. */
  readonly signature?: string
  /** The same of a piece without its text. */
  readonly data?: string
  readonly format: "unknown"
  /** The place of the piece in the answer. */
  readonly index: number
}

/** An invalid field of a request. */
export type FieldDetail = {
  /** The path of the field, such as `messages[2].content`. */
  readonly field: string
  /** The rule that the field breaks, and the value that the request has instead. */
  readonly message: string
}

/** The tokens of a prompt, counted by one tokenizer for all models. A provider's own count may differ slightly. */
export type MessagesTokenCount = {
  /** The tokens of the prompt. */
  readonly input_tokens: number
}

/** A messages request for a token count. `max_tokens` may be omitted. */
export type MessagesCountRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
  readonly models?: ReadonlyArray<string> | null
  /** The maximum number of output tokens, thinking included. */
  readonly max_tokens?: number | null
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<MessagesMessage>
  /** Instructions before all messages: a text, or at most 512 text blocks. */
  readonly system?: string | ReadonlyArray<MessagesTextBlock> | null
  /** Whether the answer is a stream of events. Default: false. */
  readonly stream?: boolean | null
  /** From 0 to 1. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** Up to four texts at which the model stops. The answer does not contain them. */
  readonly stop_sequences?: ReadonlyArray<string> | null
  /** The tools that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<MessagesTool> | null
  readonly tool_choice?: MessagesToolChoice | null
  readonly thinking?: MessagesThinking | null
  /** The effort and the format of the answer. */
  readonly output_config?: {
    /** How much a reasoning model thinks. Default: the model's own. `max` means `xhigh`. */
    readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | null
    readonly format?: MessagesOutputFormat | null
  } | null
  /** The same as `output_config.format`, which takes precedence. */
  readonly output_format?: MessagesOutputFormat | null
  /** Facts about the request. */
  readonly metadata?: {
    /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
    readonly user_id?: string | null
  } | null
  /** No effect: every request is served at the standard tier. */
  readonly service_tier?: "auto" | "standard_only" | null
  /** No effect: every request is served at the standard speed. */
  readonly speed?: "standard" | null
  /** Sets prompt cache breakpoints automatically, as `routing.caching: "auto"` does. */
  readonly cache_control?: MessagesCacheControl | null
  /** Anthropic performs the edits itself. For other providers, the gateway removes the content. */
  readonly context_management?: MessagesContextManagement | null
  /** The same as `metadata.user_id`, which it overrides. At most 256 characters. */
  readonly user?: string | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
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
  /** The order among the providers and models that can serve a request: by `cost`, `latency` or `quality`, or `balanced` between them, which is the default. */
  readonly strategy?: "balanced" | "cost" | "latency" | "quality"
  /** The providers that may serve the request, each list with at most 32. */
  readonly providers?: {
    /** Use only these providers, in any order. */
    readonly only?: ReadonlyArray<string>
    /** Prefer these providers, in this order. */
    readonly order?: ReadonlyArray<string>
    /** Never use these providers. */
    readonly ignore?: ReadonlyArray<string>
  }
  /** Whether another provider or model may be tried when the first fails. Default: true. */
  readonly allow_fallbacks?: boolean
  /** Providers that do not meet the policy are left out, never silently used. */
  readonly data_policy?: "default" | "no_training" | "zero_retention"
  /** `auto`: the gateway sets prompt cache breakpoints for providers that need them. */
  readonly caching?: "auto"
  /** Whether providers are left out that do not support every parameter of the request. Default: false. */
  readonly require_parameters?: boolean
  /** Upper limits of the price in USD. */
  readonly max_price?: {
    /** Per million prompt tokens. */
    readonly prompt?: number
    /** Per million output tokens. */
    readonly completion?: number
    /** Per request. */
    readonly request?: number
    /** Per image. No effect on chat. */
    readonly image?: number
  }
  /** Time limits of one attempt in milliseconds. They can shorten the service's limits, not extend them. */
  readonly timeouts?: {
    /** Until the provider accepts the connection. */
    readonly connect_ms?: number
    /** Until the first content arrives. */
    readonly first_token_ms?: number
    /** Until the answer is complete. */
    readonly total_ms?: number
  }
}

/** The parts to remove from the prompt before the model reads it. */
export type MessagesContextManagement = {
  /** The edits in their order, at most 16. */
  readonly edits?: ReadonlyArray<MessagesClearToolUses | MessagesClearThinking | MessagesCompact> | null
}

/** Asks the provider to summarize a long conversation. The gateway does not pass this on, so `applied_edits` never contains it. */
export type MessagesCompact = {
  /** `compact` with the date of its version. */
  readonly type: string
  /** No effect. */
  readonly trigger?: {
    readonly type: "input_tokens"
    /** A number of tokens of the prompt. */
    readonly value: number
  } | null
  /** No effect. */
  readonly pause_after_compaction?: boolean | null
  /** No effect. */
  readonly instructions?: string | null
}

/** Removes the thinking of earlier turns from the prompt. */
export type MessagesClearThinking = {
  /** `clear_thinking` with the date of its version. */
  readonly type: string
  /** How many of the latest turns keep their thinking. Default: one. */
  readonly keep?:
    | "all"
    | {
        readonly type: "all"
      }
    | {
        readonly type: "thinking_turns"
        /** A number of turns. */
        readonly value: number
      }
    | null
}

/** Removes old tool results from the prompt once it is long enough. */
export type MessagesClearToolUses = {
  /** `clear_tool_uses` with the date of its version. */
  readonly type: string
  /** The size of the prompt from which on results are removed. Default: 100,000 tokens. */
  readonly trigger?:
    | {
        readonly type: "input_tokens"
        /** A number of tokens of the prompt. */
        readonly value: number
      }
    | {
        readonly type: "tool_uses"
        /** A number of tool calls. */
        readonly value: number
      }
    | null
  /** How many of the latest results stay. Default: three. */
  readonly keep?: {
    readonly type: "tool_uses"
    /** A number of tool calls. */
    readonly value: number
  } | null
  /** The minimum number of tokens to remove. */
  readonly clear_at_least?: {
    readonly type: "input_tokens"
    /** A number of tokens of the prompt. */
    readonly value: number
  } | null
  /** The names of tools whose results stay, at most 512. */
  readonly exclude_tools?: ReadonlyArray<string> | null
  /** Whether the input of the calls is removed as well, for all tools or for the named ones. Default: false. */
  readonly clear_tool_inputs?: boolean | ReadonlyArray<string> | null
}

/** Caches the prompt up to and including this block at the provider, for five minutes or an hour. Writing it for an hour costs more if the provider's price list says so. */
export type MessagesCacheControl = {
  readonly type: "ephemeral"
  /** Default: `5m`. */
  readonly ttl?: "5m" | "1h" | null
  /** How widely Anthropic shares the cached prompt. Passed on when `anthropic-beta` asks for it. 1 to 64 characters. */
  readonly scope?: string | null
}

/** A JSON Schema that the answer conforms to. */
export type MessagesOutputFormat = {
  readonly type: "json_schema"
  /** The JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** Whether the model thinks before it answers. `adaptive`: as much as the question needs. Default: the model's own. */
export type MessagesThinking =
  | {
      readonly type: "enabled"
      /** The maximum number of thinking tokens, at least 1,024. */
      readonly budget_tokens: number
      /** `omitted`: the answer contains the signatures of its thinking without its text. Default: `summarized`. */
      readonly display?: "summarized" | "omitted" | null
    }
  | {
      readonly type: "disabled"
    }
  | {
      readonly type: "adaptive"
      /** `omitted`: the answer contains the signatures of its thinking without its text. Default: `summarized`. */
      readonly display?: "summarized" | "omitted" | null
    }

/** Whether the model calls tools, and which. `auto`, the default: the model decides. `none`: it calls none. `any`: it calls at least one. `tool`: it calls the named one. */
export type MessagesToolChoice =
  | {
      readonly type: "auto"
      /** Whether an answer calls one tool at most. Default: false. */
      readonly disable_parallel_tool_use?: boolean | null
    }
  | {
      readonly type: "any"
      /** Whether an answer calls one tool at most. Default: false. */
      readonly disable_parallel_tool_use?: boolean | null
    }
  | {
      readonly type: "tool"
      /** The name of a declared tool. */
      readonly name: string
      /** Whether an answer calls one tool at most. Default: false. */
      readonly disable_parallel_tool_use?: boolean | null
    }
  | {
      readonly type: "none"
    }

/** A tool that the client runs. */
export type MessagesTool = MessagesCustomTool | MessagesTypedTool

/** A tool that Anthropic's API defines by its type and the client runs. Anthropic receives it unchanged. Other providers receive a function with the tool's published input. */
export type MessagesTypedTool = {
  /** `bash`, `text_editor`, `memory` or `computer` with the date of its version, such as `bash_20250124`. */
  readonly type: string
  /** 1 to 256 letters, digits, underscores and dashes. */
  readonly name: string
  /** For a text editor: the maximum number of characters that `view` shows. */
  readonly max_characters?: number | null
  /** For a computer: the width of its screen in pixels. */
  readonly display_width_px?: number | null
  /** For a computer: the height of its screen in pixels. */
  readonly display_height_px?: number | null
  /** For a computer: the number of its X11 display. */
  readonly display_number?: number | null
  /** For a computer: whether the model may zoom into the screen. Default: false. */
  readonly enable_zoom?: boolean | null
  /** Whether the input must conform to the tool's published schema, where the provider can ensure that. */
  readonly strict?: boolean | null
  /** No effect: all tools are loaded. */
  readonly defer_loading?: boolean | null
  /** Must contain `direct`: only the model calls tools, and no code that a server runs. */
  readonly allowed_callers?: ReadonlyArray<string> | null
  readonly cache_control?: MessagesCacheControl | null
}

/** A tool that the client defines. */
export type MessagesCustomTool = {
  /** `custom`, or absent. */
  readonly type?: "custom" | null
  /** 1 to 256 letters, digits, underscores and dashes. */
  readonly name: string
  /** What the tool does, from which the model decides when to call it. */
  readonly description?: string | null
  /** The JSON Schema of the input, an object. */
  readonly input_schema: Readonly<Record<string, unknown>>
  /** Up to 64 examples of the input. The model reads them with the description. */
  readonly input_examples?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
  /** Whether the input must conform to `input_schema`, where the provider can ensure that. */
  readonly strict?: boolean | null
  /** No effect: input is always streamed as it arrives. */
  readonly eager_input_streaming?: boolean | null
  /** No effect: all tools are loaded. */
  readonly defer_loading?: boolean | null
  /** Must contain `direct`: only the model calls tools, and no code that a server runs. */
  readonly allowed_callers?: ReadonlyArray<string> | null
  readonly cache_control?: MessagesCacheControl | null
}

/** Text. Citations are not supported. */
export type MessagesTextBlock = {
  readonly type: "text"
  /** The text. */
  readonly text: string
  /** Must be absent or empty. */
  readonly citations?: ReadonlyArray<unknown> | null
  readonly cache_control?: MessagesCacheControl | null
}

/** One turn. System messages may also appear among the turns. */
export type MessagesMessage =
  | {
      readonly role: "user"
      /** A text that is not empty, or 1 to 512 blocks. */
      readonly content:
        | string
        | ReadonlyArray<
            | MessagesTextBlock
            | MessagesImageBlock
            | MessagesDocumentBlock
            | MessagesSearchResultBlock
            | MessagesToolResultBlock
          >
    }
  | {
      readonly role: "assistant"
      /** A text, or at most 512 blocks. */
      readonly content:
        | string
        | ReadonlyArray<MessagesTextBlock | MessagesToolUseBlock | MessagesThinkingBlock | MessagesRedactedBlock>
    }
  | {
      readonly role: "system"
      /** A text, or 1 to 512 text blocks. */
      readonly content: string | ReadonlyArray<MessagesTextBlock>
    }

/** Thinking of an earlier answer without its text. */
export type MessagesRedactedBlock = {
  readonly type: "redacted_thinking"
  /** The data of the block in the answer, unchanged. */
  readonly data: string
}

/** Thinking of an earlier answer, with its signature. Send it back unchanged, and a model of the same provider continues from it. A signature that this service did not make for the same account is rejected. Thinking without a signature is plain text, which most providers do not accept. */
export type MessagesThinkingBlock = {
  readonly type: "thinking"
  /** The text, which may be empty beside a signature. */
  readonly thinking: string
  /** The signature of the block in the answer, unchanged. */
  readonly signature?: string | null
}

/** A tool call of the assistant. */
export type MessagesToolUseBlock = {
  readonly type: "tool_use"
  /** The `tool_use_id` of the block with the result, 1 to 256 characters. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The input of the tool. */
  readonly input: Readonly<Record<string, unknown>>
  /** Must be absent or `direct`: the model made the call. */
  readonly caller?: {
    readonly type: "direct"
  } | null
  readonly cache_control?: MessagesCacheControl | null
}

/** The result of a tool call. */
export type MessagesToolResultBlock = {
  readonly type: "tool_result"
  /** The `id` of the call, 1 to 256 characters. */
  readonly tool_use_id: string
  /** A text, or at most 512 blocks. Default: empty. */
  readonly content?:
    | string
    | ReadonlyArray<
        | MessagesTextBlock
        | MessagesImageBlock
        | MessagesDocumentBlock
        | MessagesSearchResultBlock
        | MessagesToolReferenceBlock
      >
    | null
  /** Whether the tool failed. Default: false. */
  readonly is_error?: boolean | null
  readonly cache_control?: MessagesCacheControl | null
}

/** A tool that a client's search for tools found. The model reads its name; all tools are loaded. */
export type MessagesToolReferenceBlock = {
  readonly type: "tool_reference"
  /** The name of the tool. */
  readonly tool_name: string
  readonly cache_control?: MessagesCacheControl | null
}

/** A result of the client's own search, which every model reads as text. */
export type MessagesSearchResultBlock = {
  readonly type: "search_result"
  /** Where the result comes from. */
  readonly source: string
  /** The title of the result. */
  readonly title: string
  /** The result: at most 512 text blocks. */
  readonly content: ReadonlyArray<MessagesTextBlock>
  /** Citations are not supported. */
  readonly citations?: {
    /** Must be absent or false. */
    readonly enabled?: boolean | null
  } | null
  readonly cache_control?: MessagesCacheControl | null
}

/** A document: a text, which every model reads; or a PDF file, for models with vision of Anthropic, Google and OpenAI. The request must contain the document itself. */
export type MessagesDocumentBlock = {
  readonly type: "document"
  /** The content: a text, text blocks, or a file in base64. */
  readonly source:
    | {
        readonly type: "text"
        /** The type of the text. */
        readonly media_type: "text/plain"
        /** The text. */
        readonly data: string
      }
    | {
        readonly type: "base64"
        /** `application/pdf`, or `text/plain` for UTF-8. */
        readonly media_type: string
        /** The file in base64, a PDF file of at most 20 MiB. The PDF files of a request may have 100 pages in all. */
        readonly data: string
      }
    | {
        readonly type: "content"
        /** A text, or at most 512 text blocks. */
        readonly content: string | ReadonlyArray<MessagesTextBlock>
      }
  /** The title. The model reads it before the text. */
  readonly title?: string | null
  /** What the document is, which the model reads after the title. */
  readonly context?: string | null
  /** Citations are not supported. */
  readonly citations?: {
    /** Must be absent or false. */
    readonly enabled?: boolean | null
  } | null
  readonly cache_control?: MessagesCacheControl | null
}

/** An image, inline or at an https URL. */
export type MessagesImageBlock = {
  readonly type: "image"
  /** Where the image is. */
  readonly source:
    | {
        readonly type: "base64"
        /** The type of the image. */
        readonly media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"
        /** The image in base64. */
        readonly data: string
      }
    | {
        readonly type: "url"
        /** An https URL. */
        readonly url: string
      }
  readonly cache_control?: MessagesCacheControl | null
}

/** A complete answer. */
export type MessagesAnswer = {
  /** `msg_` and the end of the request's id. */
  readonly id: string
  readonly type: "message"
  readonly role: "assistant"
  /** The model as the request names it. */
  readonly model: string
  /** The blocks of the answer, in order. */
  readonly content: ReadonlyArray<MessagesBlock>
  readonly stop_reason: MessagesStopReason
  /** The stop sequence that the model wrote, if the provider names it. */
  readonly stop_sequence: string | null
  readonly usage: MessagesUsage
  /** The parts that were removed from the prompt; present when the request contains `context_management`. */
  readonly context_management?: {
    /** The edits, in Anthropic's format. */
    readonly applied_edits: ReadonlyArray<Readonly<Record<string, unknown>>>
  }
  /** The charge in USD, as on the receipt of `request_id`. */
  readonly cost_usd: number
  readonly request_id: RequestId
  /** The provider that served. */
  readonly provider: string
  /** The model that served. */
  readonly resolved_model: string
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
}

/** Anthropic's Messages request, for any model, with additional fields of this service. A null counts as absent. Unknown and unsupported fields are rejected with `unsupported_parameter`; none is ignored. */
export type MessagesRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
  readonly models?: ReadonlyArray<string> | null
  /** The maximum number of output tokens, thinking included. */
  readonly max_tokens: number
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<MessagesMessage>
  /** Instructions before all messages: a text, or at most 512 text blocks. */
  readonly system?: string | ReadonlyArray<MessagesTextBlock> | null
  /** Whether the answer is a stream of events. Default: false. */
  readonly stream?: boolean | null
  /** From 0 to 1. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** Up to four texts at which the model stops. The answer does not contain them. */
  readonly stop_sequences?: ReadonlyArray<string> | null
  /** The tools that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<MessagesTool> | null
  readonly tool_choice?: MessagesToolChoice | null
  readonly thinking?: MessagesThinking | null
  /** The effort and the format of the answer. */
  readonly output_config?: {
    /** How much a reasoning model thinks. Default: the model's own. `max` means `xhigh`. */
    readonly effort?: "low" | "medium" | "high" | "xhigh" | "max" | null
    readonly format?: MessagesOutputFormat | null
  } | null
  /** The same as `output_config.format`, which takes precedence. */
  readonly output_format?: MessagesOutputFormat | null
  /** Facts about the request. */
  readonly metadata?: {
    /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
    readonly user_id?: string | null
  } | null
  /** No effect: every request is served at the standard tier. */
  readonly service_tier?: "auto" | "standard_only" | null
  /** No effect: every request is served at the standard speed. */
  readonly speed?: "standard" | null
  /** Sets prompt cache breakpoints automatically, as `routing.caching: "auto"` does. */
  readonly cache_control?: MessagesCacheControl | null
  /** Anthropic performs the edits itself. For other providers, the gateway removes the content. */
  readonly context_management?: MessagesContextManagement | null
  /** The same as `metadata.user_id`, which it overrides. At most 256 characters. */
  readonly user?: string | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
}

/** A served request of a batch, with the answer that its operation returns. `error` replaces `response` only when an earlier attempt with the same idempotency key served and charged the request, and its answer was not stored. */
export type BatchItem = {
  /** Its index in `requests`. */
  readonly index: number
  /** The client's name for the request; null without one. */
  readonly custom_id: string | null
  /** The answer; null beside an error. */
  readonly response: {
    /** The HTTP status of the answer. */
    readonly status_code: number
    readonly request_id: RequestId
    /** The body of the answer, as its operation returns it. */
    readonly body: Readonly<Record<string, unknown>>
  } | null
  /** Why there is no answer; null beside a response. */
  readonly error: {
    /** For programs. */
    readonly code: string
    /** For people. */
    readonly message: string
  } | null
}

/** A session with all its messages, in order. Times are Unix seconds. */
export type SessionExport = {
  readonly object: "session.export"
  readonly session: Session
  /** The messages, in order. */
  readonly messages: ReadonlyArray<SessionMessage>
  /** When this export was made. */
  readonly exported_at: number
}

/** A message of a session, as it was sent, except that data URLs are replaced by their type and size: `data:image/png (48213 bytes)`. An answer also contains its model, its usage and its cost. */
export type SessionMessage = {
  /** The role of the message, such as `user`. */
  readonly role: string
  /** A text, or its parts. */
  readonly content: unknown
  /** Unix seconds. */
  readonly created_at: number
  /** The model that served, of an answer. */
  readonly model?: string
  readonly usage?: ChatUsage
  /** The charge in USD, of an answer. */
  readonly cost_usd?: number
}

/** A recorded conversation of the legacy chat. Times are Unix seconds. */
export type Session = {
  readonly id: ResourceId
  readonly object: "session"
  /** When the session was opened. */
  readonly created_at: number
  /** When a message was last added. */
  readonly updated_at: number
  /** The client's name of the session; null without one. */
  readonly session_id: string | null
  /** The intended model; null without one. */
  readonly model: string | null
  /** Data of the client's own, which the service does not read: at most 16 KiB as JSON. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** The number of messages. */
  readonly message_count: number
}

/** 24 lowercase hexadecimal characters that sort by time. */
export type ResourceId = string

/** Opens a session. If the account has already used this `session_id`, the response is that session, unchanged. */
export type SessionRequest = {
  /** The client's name of the session, 1 to 256 characters. */
  readonly session_id?: string | null
  /** Data of the client's own, which the service does not read: at most 16 KiB as JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | null
  /** The intended model of the session. Every request names its own. */
  readonly model?: string | null
}

/** The video job on the legacy routes, where its id has a second name. */
export type LegacyVideoJob = {
  readonly id: ResourceId
  readonly object: "video"
  /** The id of the model. */
  readonly model: string
  /** `completed` and `failed` are final. */
  readonly status: "queued" | "processing" | "completed" | "failed"
  /** Unix seconds. */
  readonly created_at: number
  /** When the job ended, in Unix seconds; null before. */
  readonly completed_at: number | null
  /** As in the request. */
  readonly prompt: string
  /** The length in whole seconds. */
  readonly duration: number
  /** Width to height. */
  readonly aspect_ratio: "16:9" | "9:16"
  /** A whole percentage, if the provider reports it; 100 once the video is completed. */
  readonly progress?: number
  /** The URL of the video, once it is completed. Any client that has the URL may read it. */
  readonly video_url?: string
  /** Why the job failed; null when it did not. */
  readonly error: {
    /** For programs. */
    readonly code: string
    /** For people. */
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
  readonly job_id: ResourceId
}

/** A request for a video. Unknown fields are rejected; a null counts as absent. The catalogue lists the durations, aspect ratios and references that each model supports. URLs must be public https URLs; the service downloads them when the job starts. */
export type VideoRequest = {
  /** The id of a video model. */
  readonly model: string
  /** What the video should show. 1 to 5,000 characters. */
  readonly prompt: string
  /** The length in whole seconds, 4 to 15. Each second is charged. */
  readonly duration: number
  /** Width to height. */
  readonly aspect_ratio: "16:9" | "9:16"
  /** An image that is the first frame. */
  readonly image_url?: string | null
  /** Whether it has sound. Default: false. */
  readonly generate_audio?: boolean | null
  /** Up to four images of what the video should show. */
  readonly reference_images?: ReadonlyArray<string> | null
  /** A video that it should resemble. */
  readonly reference_video?: string | null
}

/** The images: at least one, and at most as many as requested. */
export type ImageList = {
  /** Unix seconds. */
  readonly created: number
  /** The images. */
  readonly data: ReadonlyArray<Image>
  /** The model that served. */
  readonly model: string
  /** The provider that served. */
  readonly provider: string
  /** The charge in USD, as on the receipt of `request_id`. */
  readonly cost_usd: number
  /** The id of the request. */
  readonly request_id: string
  readonly balance_warning?: BalanceWarning
}

/** One image. */
export type Image = {
  /** The URL of the image, for 30 days. */
  readonly url?: string
  /** The image in base64. */
  readonly b64_json?: string
  /** The prompt as the model rewrote it, if it reports that. */
  readonly revised_prompt?: string
}

/** A request to make images or to edit one. Unknown fields are rejected; a null counts as absent. A parameter that the model does not support is rejected by name. */
export type ImageRequest = {
  /** The id of an image model. */
  readonly model: string
  /** What the image should show, or how it should change. 1 to 32,000 characters. */
  readonly prompt: string
  /** The number of images, 1 to 10. Each delivered image is charged. Default: 1. */
  readonly n?: number | null
  /** The image to edit: the https URL of a PNG, JPEG, GIF or WebP image of at most 20 MiB, or a base64 data URL. For models that edit images. */
  readonly image?: string | null
  /** Width and height in pixels, such as `1536x1024`, each from 64 to 3840 and at most 3840×2160 pixels in total. Default: `auto`, which leaves it to the model. */
  readonly size?: string | null
  /** The quality, for models that offer a choice. Default: `auto`, which leaves it to the model. */
  readonly quality?: "auto" | "low" | "medium" | "high" | "standard" | "hd" | null
  /** Default: `url`, a URL at which the image stays for 30 days. */
  readonly response_format?: "url" | "b64_json" | null
  /** The file format of the image, for models that offer a choice. */
  readonly output_format?: "png" | "jpeg" | "webp" | null
  /** The background, for models that offer a choice. */
  readonly background?: "transparent" | "opaque" | "auto" | null
  /** The style, for models that offer a choice. */
  readonly style?: "vivid" | "natural" | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
}

/** A complete answer of the legacy chat. */
export type LegacyChatCompletion = {
  /** `chatcmpl-` and the end of the request's id. */
  readonly id: string
  readonly object: "chat.completion"
  /** Unix seconds. */
  readonly created: number
  /** The model as the request names it. */
  readonly model: string
  /** The model that served. */
  readonly resolved_model: string
  /** The provider that served. */
  readonly provider: string
  /** The answer: exactly one choice. */
  readonly choices: ReadonlyArray<ChatChoice>
  readonly usage: ChatUsage
  /** Always null. OpenRouter's clients require the member. */
  readonly system_fingerprint: null
  /** The charge in USD, as on the receipt of `request_id`. */
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
  /** Whether the answer comes from the cache, because the account and the project sent the same request before. Such an answer is free: its usage has no tokens, its routing no provider attempts, and its request id no receipt. */
  readonly cached: boolean
}

/** One choice of an answer. There is always exactly one. */
export type ChatChoice = {
  /** Always 0. */
  readonly index: number
  /** The model's message. */
  readonly message: {
    readonly role: "assistant"
    /** The text; empty when there is none. */
    readonly content: string
    /** The text of the reasoning, if the model shows it. */
    readonly reasoning?: string
    /** The same text under DeepSeek's name. */
    readonly reasoning_content?: string
    /** The reasoning in pieces, which the client sends back with its message. */
    readonly reasoning_details?: ReadonlyArray<ChatReasoningDetail>
    /** The text of a refusal; null without one. */
    readonly refusal?: string | null
    /** The calls that the model makes; absent without any. */
    readonly tool_calls?: ReadonlyArray<ChatToolCall>
  }
  /** Why the answer ended: the model was done or wrote a stop sequence, the limit of the output was reached, the model called tools, or the answer was filtered. */
  readonly finish_reason: "stop" | "length" | "tool_calls" | "content_filter"
  /** Log-probabilities in OpenAI's format; null without any. */
  readonly logprobs?: {
    /** An entry for each token. */
    readonly content: ReadonlyArray<unknown> | null
    /** Always null. */
    readonly refusal: null
  } | null
}

/** A tool call of the assistant. */
export type ChatToolCall = {
  /** The `tool_call_id` of the message with the result. */
  readonly id: string
  readonly type: "function"
  /** The function that the model calls. */
  readonly function: {
    /** The name of a declared function. */
    readonly name: string
    /** JSON text, as the model wrote it. It may be invalid or break the function's schema. */
    readonly arguments: string
  }
}

/** The legacy chat request. Unknown fields are rejected. Each field means the same as in a chat completion, and a null counts as absent. It supports neither streaming nor tools. */
export type LegacyChatRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or a preset as `@slug`. */
  readonly model: string
  /** 1 to 100 messages. */
  readonly messages: ReadonlyArray<LegacyChatMessage>
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  /** The maximum number of output tokens. Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_tokens?: number | null
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  readonly frequency_penalty?: number | null
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  readonly presence_penalty?: number | null
  /** Requests with the same seed tend to get the same answer, where the provider supports that. */
  readonly seed?: number | null
  /** A text, or up to four, at which the model stops. The answer does not contain it. */
  readonly stop?: string | ReadonlyArray<string> | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
  /** The session to which the answered request is added: its `session_id` or its id. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
}

/** A message of the legacy chat: a role and its content. Only messages of users may contain images and files. */
export type LegacyChatMessage =
  | {
      readonly role: "system"
      /** Text as a string or in parts. */
      readonly content: string | ReadonlyArray<ChatTextPart>
    }
  | {
      readonly role: "developer"
      /** Text as a string or in parts. */
      readonly content: string | ReadonlyArray<ChatTextPart>
    }
  | {
      readonly role: "user"
      /** Text as a string, or text, images and files as parts. */
      readonly content: string | ReadonlyArray<ChatTextPart | ChatImagePart | ChatFilePart>
    }
  | {
      readonly role: "assistant"
      /** Text as a string or in parts. */
      readonly content: string | ReadonlyArray<ChatTextPart>
      /** The text of the answer's reasoning. */
      readonly reasoning?: string | null
      /** The same text under DeepSeek's name. */
      readonly reasoning_content?: string | null
      /** The details of the earlier answer, unchanged. They override the two texts. Details that this service did not sign are ignored. */
      readonly reasoning_details?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
    }

/** Text of a message. */
export type ChatTextPart = {
  readonly type: "text"
  /** The text. */
  readonly text: string
  readonly cache_control?: ChatCacheControl | null
}

/** Marks the end of a part of the prompt to keep in the provider's prompt cache, as on OpenRouter. It has no effect for providers that cache automatically. Only the last four of a request count. */
export type ChatCacheControl = {
  readonly type: "ephemeral"
  /** How long the provider keeps it: five minutes, which is the default, or an hour, where the provider offers that. */
  readonly ttl?: "5m" | "1h" | null
}

/** A PDF file, for models with vision of Anthropic, Google and OpenAI; or a file of text, which every model reads after a line with the file's name. */
export type ChatFilePart = {
  readonly type: "file"
  /** The file, inline. */
  readonly file: {
    /** A data URL with base64, at most 20 MiB: of type `application/pdf`, or of type `text/…` or `application/json` in UTF-8. The PDF files of a request may have 100 pages in all. */
    readonly file_data: string
    /** The name under which the model sees the file. */
    readonly filename?: string | null
  }
  readonly cache_control?: ChatCacheControl | null
}

/** An image of a message. */
export type ChatImagePart = {
  readonly type: "image_url"
  /** Where the image is, and in which detail the model sees it. */
  readonly image_url: {
    /** An https URL, or a data URL with base64. */
    readonly url: string
    /** Default: `auto`. `original` means `high`, because the full-size image has no cost limit. */
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
  /** `paid`, `expired` and `failed` are final. */
  readonly status: "open" | "paid" | "expired" | "failed"
  /** The amount. */
  readonly amount_usd: number
  /** Where the owner pays. Null once the top-up has ended, and while the payment processor has not been reached. */
  readonly checkout_url: string | null
  /** Unix seconds. */
  readonly created_at: number
  /** When the money was credited, in Unix seconds; null before. */
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
  /** The operator key that began the session. */
  readonly key: {
    readonly id: ResourceId
    /** The name of the key. */
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
  /** The entries of the page. */
  readonly data: ReadonlyArray<AuditLog>
  /** The `cursor` of the next page; null on the last page. */
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
    /** The kind of actor. */
    readonly type: "key" | "owner" | "operator" | "service"
    /** The id of the actor. */
    readonly id: string
  }
  /** What the action changed. */
  readonly resource: {
    /** The kind of resource. */
    readonly type: string
    /** The id of the resource. */
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
  /** The new values, or facts about the action. */
  readonly changes: Readonly<Record<string, unknown>>
}

/** One page of operators' changes, newest first. `next_cursor` is null on the last page. */
export type OperatorChangeList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<OperatorChange>
  /** The `cursor` of the next page; null on the last page. */
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
    /** The id of the operator key, or `command-line`. */
    readonly id: string
    /** The name of the operator key; null for the admin command. */
    readonly name: string | null
  }
  /** What the action changed. */
  readonly resource: {
    /** The kind of resource. */
    readonly type: string
    /** The id of the resource. */
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
  /** The new values, or facts about the action. */
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
    /** The id of the provider, or `all`. */
    readonly provider: string
    /** The bound in USD per UTC day; null without one. */
    readonly limit_usd: number | null
  }
}

/** A new bound on what a provider may cost. */
export type ProviderSpendLimit = {
  /** In USD per UTC day, at most 1,000,000,000; null removes the bound. */
  readonly limit_usd: number | null
}

/** All bounds, by provider. Figures are at most a few seconds old. */
export type ProviderSpendList = {
  readonly object: "list"
  /** The entries. */
  readonly data: ReadonlyArray<ProviderSpend>
  /** The ids of the providers that the gateway can send requests to, with a bound or without one. */
  readonly providers: ReadonlyArray<string>
}

/** A bound on what a provider may cost in a UTC day, and what the current day has cost. `all` stands for all providers together. */
export type ProviderSpend = {
  readonly object: "provider_spend"
  /** The id of the provider, or `all`. */
  readonly provider: string
  /** The bound in USD per UTC day. */
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
  /** The name of the plan. */
  readonly name: string
  /** In hundredths of a percent of the catalogue's prices. */
  readonly markup_basis_points: number
  /** Fixed prices. They win over every markup. */
  readonly prices: ReadonlyArray<PlanPrice>
  /** The limits of each account of the plan. Null leaves the usual limit. */
  readonly limits: {
    /** Chat requests a minute per key. */
    readonly requests_per_minute: number | null
    /** Unfinished videos. */
    readonly running_videos: number | null
    /** Unfinished batches of files. */
    readonly running_batches: number | null
    /** The most that an account spends in a UTC day, over all its keys. */
    readonly daily_spend_usd: number | null
  }
  /** The number of accounts that belong to it. */
  readonly accounts: number
  /** Unix seconds. */
  readonly created_at: number
}

/** A fixed price of one model. */
export type PlanPrice = PlanTokenPrice | PlanUnitPrice

/** A fixed price of a model that is priced per image, second, character or request. */
export type PlanUnitPrice = {
  /** The id of the model. */
  readonly model: string
  /** USD per unit. */
  readonly per_unit_usd: number
}

/** A fixed price of a model that is priced per token. A cached or cache-write rate that is absent is the input rate. */
export type PlanTokenPrice = {
  /** The id of the model. */
  readonly model: string
  /** USD per million tokens. A rate of up to six decimals is exact. */
  readonly input_usd_per_million: number
  /** USD per million tokens. A rate of up to six decimals is exact. */
  readonly output_usd_per_million: number
  /** USD per million tokens. A rate of up to six decimals is exact. */
  readonly cached_input_usd_per_million?: number
  /** USD per million tokens. A rate of up to six decimals is exact. */
  readonly cache_write_usd_per_million?: number
  /** USD per request, beside the tokens. Default: 0. */
  readonly per_request_usd?: number
}

/** A change of a plan. Absent fields stay as they are. */
export type PlanChange = {
  /** Unique without regard to case. */
  readonly name?: string
  /** In hundredths of a percent of the catalogue's prices. */
  readonly markup_basis_points?: number
  /** Fixed prices, at most one per model. They replace the whole list. */
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
  /** The plans. */
  readonly data: ReadonlyArray<Plan>
}

/** An operator's decision about a top-up. */
export type TopUpDecision = {
  readonly data: {
    readonly object: "top_up_decision"
    readonly top_up_id: ResourceId
    readonly account_id: ResourceId
    /** What the operator decided. */
    readonly action: "settled" | "dismissed"
    /** The amount that the decision moved to the account: below zero when it took money back, zero for a dismissal. */
    readonly amount_usd: number
    /** The status of the top-up after it. */
    readonly status: "open" | "paid" | "expired" | "failed"
    /** The account's balance. */
    readonly balance_usd: number
    /** The reason of the decision. */
    readonly reason: string
    /** The `Idempotency-Key`. The gateway keeps it, so that a repeat never moves money twice, however late. */
    readonly reference: string
    /** Whether an earlier request with this key had decided this, and nothing happened now. */
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
  /** The entries of the page. */
  readonly data: ReadonlyArray<OperatorTopUp>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** A top-up. Times are Unix seconds. */
export type OperatorTopUp = {
  readonly id: ResourceId
  readonly object: "top_up"
  readonly account_id: ResourceId
  /** The address of the account's owner. */
  readonly email: string
  /** The amount to pay. */
  readonly amount_usd: number
  /** The amount credited to the account; null before that. */
  readonly credited_usd: number | null
  /** The amount that the processor gave back to the payer, as it reports. */
  readonly refunded_usd: number
  /** The amount that operators have taken back from the account since it was credited. */
  readonly taken_back_usd: number
  /** The payment processor. */
  readonly processor: "stripe" | "simulated"
  /** `paid`, `expired` and `failed` are final. */
  readonly status: "open" | "paid" | "expired" | "failed"
  /** Why it needs an operator; null when it does not. */
  readonly attention: string | null
  /** When the top-up was created. */
  readonly created_at: number
  /** When the money was credited; null before. */
  readonly paid_at: number | null
}

/** One page of a report, in order of day, account, model and provider. `next_cursor` is null on the last page. */
export type OperatorReport = {
  readonly object: "list"
  /** The first day. */
  readonly from: string
  /** The last day. */
  readonly to: string
  /** The groups of the page. */
  readonly data: ReadonlyArray<ReportRow>
  /** All groups together, across all pages. */
  readonly totals: {
    /** Requests that have ended. */
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
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** The revenue and the cost of a group of requests. A property is null unless the report is grouped by it. */
export type ReportRow = {
  /** The UTC day, such as `2026-01-31`. */
  readonly day: string | null
  /** The id of the account. */
  readonly account_id: string | null
  /** The address of the account's owner. */
  readonly email: string | null
  /** The model that served, or the requested model if none did. */
  readonly model: string | null
  /** Also null for requests that no provider served. */
  readonly provider: string | null
  /** Requests that have ended. */
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
    /** The refund. */
    readonly amount_usd: number
    /** All refunds of the request together. */
    readonly refunded_usd: number
    /** The cost of the request after all its refunds. */
    readonly cost_usd: number
    /** The account's balance. */
    readonly balance_usd: number
    /** The `Idempotency-Key`. The ledger keeps it, so that a repeat never refunds twice, however late. */
    readonly reference: string
    /** Whether an earlier request with this key had given this back, and nothing moved now. */
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
    /** Unix seconds. */
    readonly created_at: number
    /** The name of the operation in the contract, such as `chat.completions`. */
    readonly operation: string
    /** How the request ended. `open`: the work has not ended. */
    readonly status: "open" | "succeeded" | "failed" | "cancelled"
    /** The model as the request named it. */
    readonly model: string
    /** The model that served; null when none did. */
    readonly resolved_model: string | null
    /** The provider that served; null when none did. */
    readonly provider: string | null
    /** The slug of the preset; absent without one. */
    readonly preset?: string
    /** Whether the answer was a stream. */
    readonly streamed: boolean
    readonly usage: ReceiptUsage | null
    /** Whether the provider reported the usage, or the gateway counted it in what was delivered. */
    readonly usage_basis: "reported" | "counted" | "none"
    /** The final charge: `settled_usd` minus `refunded_usd`. */
    readonly cost_usd: number
    /** The hold: the most that the request could cost. */
    readonly held_usd: number
    /** The charge before refunds. */
    readonly settled_usd: number
    /** The price of usage beyond the hold, which the operator bears. */
    readonly absorbed_usd: number
    /** The money that was given back. */
    readonly refunded_usd: number
    /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
    readonly paid_with: "real" | "simulated"
    readonly price: ReceiptPrice | null
    readonly routing: RoutingSummary | null
    /** How long the request took, in milliseconds; null for what is not known. */
    readonly timings: {
      /** From the arrival to the hold. */
      readonly queue_ms: number | null
      /** The time that the hold took. */
      readonly hold_ms: number | null
      /** From the arrival to the first content of a stream. */
      readonly first_token_ms: number | null
      /** From the arrival to the end. */
      readonly total_ms: number | null
      /** The time that the settlement took. */
      readonly settle_ms: number | null
      /** The part of `total_ms` that no provider took. */
      readonly overhead_ms: number | null
      /** Empty while the request is open, when no provider was called, and on receipts of before attempts were timed. */
      readonly attempts: ReadonlyArray<AttemptTiming>
    }
    /** Why the answer ended, in the words of chat completions; null without an answer. */
    readonly finish_reason: string | null
    /** Why the request failed; null when it did not. */
    readonly error: {
      /** The code of the error response. */
      readonly code: string
      /** Its message. */
      readonly message: string
    } | null
    /** The request's `Idempotency-Key`; null without one. */
    readonly idempotency_key: string | null
    /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
    readonly replayed_from?: RequestId
    /** Whether the answer came from the cache of the legacy chat. */
    readonly cached: boolean
    /** The key that made the request. */
    readonly key_id: string
    /** The project of that key; null without one. */
    readonly project_id: string | null
    /** The id of the request's trace, if the operator collects traces. */
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
      /** The account's own markup, its plan's markup, or a fixed price of its plan. */
      readonly by: "account" | "plan" | "plan_price"
      /** The name of the account's plan. */
      readonly plan?: string
      /** In basis points. */
      readonly markup?: number
    } | null
    /** The address of the account's owner. */
    readonly email: string
    /** The movements, in order. */
    readonly transfers: ReadonlyArray<OperatorMovement>
  }
}

/** A movement of money for a request. */
export type OperatorMovement = {
  /** Unix seconds. */
  readonly at: number
  /** The kind of movement in the ledger. */
  readonly kind: string
  /** Above zero when money came to the account. */
  readonly amount_usd: number
  /** The operator's reference; null without one. */
  readonly reference: string | null
}

/** An attempt that served no answer although its provider had begun to work. */
export type OperatorAttemptCost = {
  /** As in `routing.provider_attempts`. */
  readonly attempt_index: number
  /** The id of the provider. */
  readonly provider: string
  /** The id of the model. */
  readonly model: string
  /** The provider's charge to the operator. */
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
  /** The unit of the number. */
  readonly unit: "request" | "image" | "second" | "character"
  /** USD for one unit. */
  readonly per_unit: number
  /** The promotion that lowered the rates. */
  readonly promotion?: {
    /** The name of the promotion. */
    readonly label: string
    /** Above 0 and below 100. */
    readonly discount_percent: number
  }
  /** The name of the price plan that the account belonged to. */
  readonly plan?: string
}

/** Rates in USD per token when the request was admitted. */
export type ReceiptTokenPrice = {
  readonly unit: "token"
  /** For tokens of the prompt outside the prompt cache. */
  readonly input: number
  /** For tokens read from the prompt cache. */
  readonly cached_input: number
  /** For tokens written to the prompt cache. */
  readonly cache_write: number
  /** The rate for `cache_creation_1h_tokens`; there only where the request asked for an hour and the price list has such a rate. */
  readonly cache_write_1h?: number
  /** For tokens of the output. */
  readonly output: number
  /** USD per request, beside the tokens. */
  readonly per_request: number
  /** The promotion that lowered the rates. */
  readonly promotion?: {
    /** The name of the promotion. */
    readonly label: string
    /** Above 0 and below 100. */
    readonly discount_percent: number
  }
  /** The name of the price plan that the account belonged to. */
  readonly plan?: string
}

/** Tokens, or units of another kind, depending on the model's price. */
export type ReceiptUsage = ReceiptTokens | ReceiptUnits

/** The usage of work that is not measured in tokens, such as spoken characters or searches. */
export type ReceiptUnits = {
  /** The number of units. */
  readonly units: number
  /** The unit of the number. */
  readonly unit: "request" | "image" | "second" | "character"
}

/** Tokens in disjoint buckets: no token is in two of the first three. */
export type ReceiptTokens = {
  /** The tokens of the prompt outside the prompt cache. */
  readonly input_tokens: number
  /** Tokens read from the prompt cache. */
  readonly cached_tokens: number
  /** Tokens written to the prompt cache. */
  readonly cache_creation_tokens: number
  /** The part of `cache_creation_tokens` that the provider keeps for an hour; absent where there is none. */
  readonly cache_creation_1h_tokens?: number
  /** The tokens of the output, reasoning included. */
  readonly output_tokens: number
  /** The part of `output_tokens` that was reasoning. */
  readonly reasoning_tokens: number
}

/** One page of the receipts of all accounts, newest first. A page examines at most 10,000 requests, so it may be short or empty. */
export type OperatorAnyReceiptList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<OperatorAnyReceipt>
  /** The `cursor` of the next page; null on the last page. */
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
  /** The name of the operation in the contract, such as `chat.completions`. */
  readonly operation: string
  /** How the request ended. `open`: the work has not ended. */
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  /** The model as the request named it. */
  readonly model: string
  /** The model that served; null when none did. */
  readonly resolved_model: string | null
  /** The provider that served; null when none did. */
  readonly provider: string | null
  /** The slug of the preset; absent without one. */
  readonly preset?: string
  /** Whether the answer was a stream. */
  readonly streamed: boolean
  readonly usage: ReceiptUsage | null
  /** Whether the provider reported the usage, or the gateway counted it in what was delivered. */
  readonly usage_basis: "reported" | "counted" | "none"
  /** The final charge: `settled_usd` minus `refunded_usd`. */
  readonly cost_usd: number
  /** The hold: the most that the request could cost. */
  readonly held_usd: number
  /** The charge before refunds. */
  readonly settled_usd: number
  /** The price of usage beyond the hold, which the operator bears. */
  readonly absorbed_usd: number
  /** The money that was given back. */
  readonly refunded_usd: number
  /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
  readonly paid_with: "real" | "simulated"
  readonly price: ReceiptPrice | null
  readonly routing: RoutingSummary | null
  /** How long the request took, in milliseconds; null for what is not known. */
  readonly timings: {
    /** From the arrival to the hold. */
    readonly queue_ms: number | null
    /** The time that the hold took. */
    readonly hold_ms: number | null
    /** From the arrival to the first content of a stream. */
    readonly first_token_ms: number | null
    /** From the arrival to the end. */
    readonly total_ms: number | null
    /** The time that the settlement took. */
    readonly settle_ms: number | null
    /** The part of `total_ms` that no provider took. */
    readonly overhead_ms: number | null
    /** Empty while the request is open, when no provider was called, and on receipts of before attempts were timed. */
    readonly attempts: ReadonlyArray<AttemptTiming>
  }
  /** Why the answer ended, in the words of chat completions; null without an answer. */
  readonly finish_reason: string | null
  /** Why the request failed; null when it did not. */
  readonly error: {
    /** The code of the error response. */
    readonly code: string
    /** Its message. */
    readonly message: string
  } | null
  /** The request's `Idempotency-Key`; null without one. */
  readonly idempotency_key: string | null
  /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
  readonly replayed_from?: RequestId
  /** Whether the answer came from the cache of the legacy chat. */
  readonly cached: boolean
  /** The key that made the request. */
  readonly key_id: string
  /** The project of that key; null without one. */
  readonly project_id: string | null
  /** The id of the request's trace, if the operator collects traces. */
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
    /** The account's own markup, its plan's markup, or a fixed price of its plan. */
    readonly by: "account" | "plan" | "plan_price"
    /** The name of the account's plan. */
    readonly plan?: string
    /** In basis points. */
    readonly markup?: number
  } | null
  /** The address of the account's owner. */
  readonly email: string
}

/** One page of an account's receipts, newest first, as `RequestList` describes it. */
export type OperatorReceiptList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<OperatorReceipt>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: RequestId | null
  /** When the oldest request that this page searched arrived, in Unix seconds; null when the page searched all of them. */
  readonly searched_to: number | null
}

/** A receipt with the provider's cost. */
export type OperatorReceipt = {
  readonly id: RequestId
  readonly object: "request"
  /** Unix seconds. */
  readonly created_at: number
  /** The name of the operation in the contract, such as `chat.completions`. */
  readonly operation: string
  /** How the request ended. `open`: the work has not ended. */
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  /** The model as the request named it. */
  readonly model: string
  /** The model that served; null when none did. */
  readonly resolved_model: string | null
  /** The provider that served; null when none did. */
  readonly provider: string | null
  /** The slug of the preset; absent without one. */
  readonly preset?: string
  /** Whether the answer was a stream. */
  readonly streamed: boolean
  readonly usage: ReceiptUsage | null
  /** Whether the provider reported the usage, or the gateway counted it in what was delivered. */
  readonly usage_basis: "reported" | "counted" | "none"
  /** The final charge: `settled_usd` minus `refunded_usd`. */
  readonly cost_usd: number
  /** The hold: the most that the request could cost. */
  readonly held_usd: number
  /** The charge before refunds. */
  readonly settled_usd: number
  /** The price of usage beyond the hold, which the operator bears. */
  readonly absorbed_usd: number
  /** The money that was given back. */
  readonly refunded_usd: number
  /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
  readonly paid_with: "real" | "simulated"
  readonly price: ReceiptPrice | null
  readonly routing: RoutingSummary | null
  /** How long the request took, in milliseconds; null for what is not known. */
  readonly timings: {
    /** From the arrival to the hold. */
    readonly queue_ms: number | null
    /** The time that the hold took. */
    readonly hold_ms: number | null
    /** From the arrival to the first content of a stream. */
    readonly first_token_ms: number | null
    /** From the arrival to the end. */
    readonly total_ms: number | null
    /** The time that the settlement took. */
    readonly settle_ms: number | null
    /** The part of `total_ms` that no provider took. */
    readonly overhead_ms: number | null
    /** Empty while the request is open, when no provider was called, and on receipts of before attempts were timed. */
    readonly attempts: ReadonlyArray<AttemptTiming>
  }
  /** Why the answer ended, in the words of chat completions; null without an answer. */
  readonly finish_reason: string | null
  /** Why the request failed; null when it did not. */
  readonly error: {
    /** The code of the error response. */
    readonly code: string
    /** Its message. */
    readonly message: string
  } | null
  /** The request's `Idempotency-Key`; null without one. */
  readonly idempotency_key: string | null
  /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
  readonly replayed_from?: RequestId
  /** Whether the answer came from the cache of the legacy chat. */
  readonly cached: boolean
  /** The key that made the request. */
  readonly key_id: string
  /** The project of that key; null without one. */
  readonly project_id: string | null
  /** The id of the request's trace, if the operator collects traces. */
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
    /** The account's own markup, its plan's markup, or a fixed price of its plan. */
    readonly by: "account" | "plan" | "plan_price"
    /** The name of the account's plan. */
    readonly plan?: string
    /** In basis points. */
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
  /** The entries of the page. */
  readonly data: ReadonlyArray<OperatorKey>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** A key of an account, without its secret. Times are Unix seconds. */
export type OperatorKey = {
  readonly id: ResourceId
  readonly object: "key"
  /** What the key is for. */
  readonly kind: "inference" | "management"
  /** The name of the key. */
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  /** The last four characters of the secret. */
  readonly last4: string
  /** What a management key may do; empty for inference keys. */
  readonly scopes: ReadonlyArray<string>
  readonly project_id: ResourceId | null
  /** Only `active` keys work. */
  readonly status: "active" | "revoked" | "expired"
  /** When the key was created. */
  readonly created_at: number
  /** When the key expires; null if it does not. */
  readonly expires_at: number | null
  /** When the key was revoked; null while it is not. */
  readonly revoked_at: number | null
}

/** The rate limits of an account after a change. */
export type AccountLimitsResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    /** The factor for the usual limits. */
    readonly limit_scale: number
  }
}

/** New rate limits of an account. */
export type AccountLimits = {
  /** The factor for the usual limits: 0.001 to 1,000,000. */
  readonly limit_scale: number
}

/** The markup of an account after a change. */
export type AccountMarkupResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    /** In hundredths of a percent of the catalogue's prices. */
    readonly markup_basis_points: number
  }
}

/** A new markup on the catalogue's prices. */
export type AccountMarkup = {
  /** In hundredths of a percent: -9,999 to 100,000. A negative markup is a discount. */
  readonly markup_basis_points: number
}

/** The state of an account after a change. */
export type AccountStateResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    readonly state: AccountState
    /** The reason of the change. */
    readonly reason: string
  }
}

/** The state of an account. `suspended` ends with a resume; `closed` is final. */
export type AccountState = "active" | "suspended" | "closed"

/** The reason of a change of state. The account's owner sees the reason of a suspension, and the audit log keeps every reason. */
export type AccountStateChange = {
  /** 1 to 500 characters. */
  readonly reason: string
}

/** An account with what an operator asks about it first. */
export type OperatorAccountResult = {
  readonly data: {
    readonly id: ResourceId
    readonly object: "account"
    /** The address of the owner. */
    readonly email: string
    readonly state: AccountState
    /** The operator's reason for the state; null while the account is active. */
    readonly state_reason: string | null
    /** The balance in real money; simulated money is not included. */
    readonly balance_usd: number
    /** The part of `balance_usd` that running requests hold. */
    readonly held_usd: number
    /** Simulated money of a sandbox, which cannot pay a real provider. */
    readonly play_balance_usd: number
    /** The part of `play_balance_usd` that running requests hold. */
    readonly play_held_usd: number
    /** The factor for the account's rate limits. */
    readonly limit_scale: number
    /** The account's markup on the catalogue's prices, in hundredths of a percent. A negative markup is a discount. */
    readonly markup_basis_points: number
    /** The account's price plan; null without one. */
    readonly plan: {
      readonly id: ResourceId
      /** The name of the plan. */
      readonly name: string
    } | null
    /** Unix seconds. */
    readonly created_at: number
    /** Charges less refunds of today and the 29 days before it, in UTC. */
    readonly spent_30d_usd: number
    /** The number of requests that have not ended. */
    readonly open_requests: number
    /** The numbers of its keys. */
    readonly keys: {
      /** Keys that work. */
      readonly active: number
      /** Keys that are revoked or expired. */
      readonly inactive: number
    }
    /** The budgets, in their current periods. */
    readonly budgets: ReadonlyArray<OperatorBudget>
  }
}

/** A budget in its current period: of a key or a project, or the daily one of the account by its plan. */
export type OperatorBudget = {
  /** What the budget limits. */
  readonly scope: "account" | "key" | "project"
  /** The id of the key, the project or the account. */
  readonly owner_id: ResourceId
  /** The name of the key or the project; empty for the account's own budget. */
  readonly name: string
  /** The UTC day, the week from Monday, the month, or all time. */
  readonly period: "daily" | "weekly" | "monthly" | "lifetime"
  /** The limit per period. */
  readonly limit_usd: number
  /** What was spent in the period. */
  readonly spent_usd: number
  /** What running requests hold. */
  readonly held_usd: number
}

/** One page of accounts, newest first. `next_cursor` is null on the last page. */
export type OperatorAccountList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<OperatorAccount>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** An account with its money and its state. */
export type OperatorAccount = {
  readonly id: ResourceId
  readonly object: "account"
  /** The address of the owner. */
  readonly email: string
  readonly state: AccountState
  /** The operator's reason for the state; null while the account is active. */
  readonly state_reason: string | null
  /** The balance in real money; simulated money is not included. */
  readonly balance_usd: number
  /** The part of `balance_usd` that running requests hold. */
  readonly held_usd: number
  /** Simulated money of a sandbox, which cannot pay a real provider. */
  readonly play_balance_usd: number
  /** The part of `play_balance_usd` that running requests hold. */
  readonly play_held_usd: number
  /** The factor for the account's rate limits. */
  readonly limit_scale: number
  /** The account's markup on the catalogue's prices, in hundredths of a percent. A negative markup is a discount. */
  readonly markup_basis_points: number
  /** The account's price plan; null without one. */
  readonly plan: {
    readonly id: ResourceId
    /** The name of the plan. */
    readonly name: string
  } | null
  /** Unix seconds. */
  readonly created_at: number
}

/** One page of top-ups, newest first. `next_cursor` is null on the last page. */
export type TopUpList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<TopUp>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** A top-up to create. */
export type NewTopUp = {
  /** The amount to pay: 5 to 10,000 USD in whole cents. */
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
  /** The secret. */
  readonly key: string
  readonly data: ManagementKey
}

/** A management key, without its secret. Times are Unix seconds. */
export type ManagementKey = {
  readonly id: ResourceId
  readonly object: "management_key"
  /** The name of the key. */
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  /** The last four characters of the secret. */
  readonly last4: string
  /** What the key may do. */
  readonly scopes: ReadonlyArray<string>
  /** An expired key is also `revoked`. Neither becomes active again. */
  readonly status: "active" | "revoked"
  /** When the key was created. */
  readonly created_at: number
  /** When the key expires; null if it does not. */
  readonly expires_at: number | null
  /** When the key was revoked; null while it is not. */
  readonly revoked_at: number | null
}

/** A management key to create. */
export type NewManagementKey = {
  /** A name of 1 to 100 characters. */
  readonly name: string
  /** What the key may do. */
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
  /** The entries of the page. */
  readonly data: ReadonlyArray<ManagementKey>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** The company behind the account, as its statements name it. */
export type BillingDetailsReport = {
  readonly data: {
    readonly object: "billing_details"
    /** The name of the company; null without one. */
    readonly company_name: string | null
    /** The postal address, a line each. */
    readonly address_lines: ReadonlyArray<string>
    /** A VAT number or another tax id, as the owner wrote it. The gateway does not check that it exists. */
    readonly tax_id: string | null
  }
}

/** Details to change. Absent fields stay as they are; null removes one. */
export type BillingDetailsChange = {
  /** One line of 1 to 200 characters. */
  readonly company_name?: string | null
  /** The postal address: at most 6 lines of 1 to 100 characters. */
  readonly address_lines?: ReadonlyArray<string>
  /** A VAT number or another tax id: 4 to 32 characters, which are letters and digits in groups. */
  readonly tax_id?: string | null
}

/** The notifications that the owner gets by email. All are on until the owner declines them. A change of the address is always sent. */
export type NotificationChoices = {
  readonly data: {
    readonly object: "notifications"
    /** The balance fell below $5.00. */
    readonly low_balance: boolean
    /** A key or a project has spent 80% or 100% of its budget. */
    readonly budget_alert: boolean
    /** The gateway disabled a webhook endpoint because it kept failing, or answered 410. */
    readonly webhook_disabled: boolean
    /** A sign-in from a browser or an address that the account was not used from for 90 days. */
    readonly sign_in: boolean
    /** A key was created, rotated or revoked. */
    readonly key_change: boolean
  }
}

/** Choices to change. Absent ones stay as they are. */
export type NotificationChange = {
  /** The balance fell below $5.00. */
  readonly low_balance?: boolean
  /** A key or a project has spent 80% or 100% of its budget. */
  readonly budget_alert?: boolean
  /** The gateway disabled a webhook endpoint because it kept failing, or answered 410. */
  readonly webhook_disabled?: boolean
  /** A sign-in from a browser or an address that the account was not used from for 90 days. */
  readonly sign_in?: boolean
  /** A key was created, rotated or revoked. */
  readonly key_change?: boolean
}

/** The address of the account was changed. The former address gets a notification. */
export type EmailChanged = {
  readonly data: {
    readonly object: "email"
    /** The new address. */
    readonly email: string
    readonly status: "changed"
    /** How many other sessions ended. The session that asked stays. */
    readonly sessions_ended: number
  }
}

/** The code that was sent to the new address. */
export type EmailCode = {
  /** An email address as HTML's `type=email` accepts it, limited to ASCII: no two addresses look the same, and only letter case is folded. Dots stand only between other characters (RFC 5321, 4.1.2, Dot-string), because mail servers accept no others. */
  readonly email: string
  /** Six digits, as they were sent. */
  readonly code: string
}

/** A code was sent to the new address. The account keeps its present address until the code is verified. */
export type EmailSent = {
  readonly data: {
    readonly object: "email"
    /** The new address. */
    readonly email: string
    readonly status: "code_sent"
    /** How long the code is valid, in seconds. */
    readonly expires_in: number
    /** The code itself, only from a sandbox without a mail server. */
    readonly sandbox_code?: string
  }
}

/** The new address of an account, which receives a code. */
export type EmailRequest = {
  /** An email address as HTML's `type=email` accepts it, limited to ASCII: no two addresses look the same, and only letter case is folded. Dots stand only between other characters (RFC 5321, 4.1.2, Dot-string), because mail servers accept no others. */
  readonly email: string
}

/** The phone number of an account. The service stores its last two digits. */
export type PhoneResult = {
  readonly data: {
    readonly object: "phone"
    /** Whether the number is verified. */
    readonly verified: boolean
    /** The last two digits of the number. */
    readonly last2: string
    /** The starter credit for the number: $0.50, once per account and once per number. */
    readonly starter_credit_usd: number
    /** The code that was sent, only from a sandbox without Twilio. The credit for such a code is simulated money. */
    readonly sandbox_code?: string
  }
}

/** The code that was sent to a phone number. */
export type PhoneCode = {
  /** In E.164 form, such as `+4915123456789`. */
  readonly phone: string
  /** Six digits, as they were sent. */
  readonly code: string
}

/** The phone number that should receive a code. */
export type PhoneRequest = {
  /** In E.164 form, such as `+4915123456789`. */
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
  /** The entries of the page. */
  readonly data: ReadonlyArray<OwnerSession>
  /** The `cursor` of the next page; null on the last page. */
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
  /** The client's address at sign-in; null when it is unknown. */
  readonly address: string | null
  /** When the owner signed in. */
  readonly created_at: number
  /** The last use, to within a minute. */
  readonly seen_at: number
  /** When the session ends unless it is used before. */
  readonly ends_at: number
}

/** The signed-in owner. */
export type ConsoleSession = {
  readonly object: "session"
  /** The owner's account. */
  readonly account: {
    readonly id: ResourceId
    readonly object: "account"
    /** The address of the owner. */
    readonly email: string
  }
  /** Must be sent as `X-CSRF-Token` with every method other than GET. */
  readonly csrf_token: string
  /** Whether the owner has verified a phone number. */
  readonly phone_verified: boolean
  /** The last two digits of the phone number; null before it is verified. */
  readonly phone_last2: string | null
  /** The starter credit that the account received for its phone number. */
  readonly starter_credit_usd: number
}

/** The code that was sent to an address, and the `sign_in_id` from the response to the request for it. */
export type SignInCode = {
  /** An email address as HTML's `type=email` accepts it, limited to ASCII: no two addresses look the same, and only letter case is folded. Dots stand only between other characters (RFC 5321, 4.1.2, Dot-string), because mail servers accept no others. */
  readonly email: string
  /** The id of a request for a code, which only the client that made it knows. */
  readonly sign_in_id: string
  /** Six digits, as they were sent. */
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
  /** An email address as HTML's `type=email` accepts it, limited to ASCII: no two addresses look the same, and only letter case is folded. Dots stand only between other characters (RFC 5321, 4.1.2, Dot-string), because mail servers accept no others. */
  readonly email: string
}

/** One page of transactions, newest first. `next_cursor` is null on the last page. */
export type TransactionList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<Transaction>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: TransactionId | null
}

/** `txn_` and 16 hexadecimal characters, which do not sort by time. */
export type TransactionId = string

/** A movement of the account's money other than a charge. Charges have receipts: `GET /requests`. */
export type Transaction = {
  readonly id: TransactionId
  readonly object: "transaction"
  /** `top_up`: the owner's payment. `starter_credit`: the gift for a verified phone number. `credit` and `adjustment`: the operator's movements. `refund`: money that a request had charged. */
  readonly type: "top_up" | "starter_credit" | "credit" | "adjustment" | "refund"
  /** Negative when money left the account. */
  readonly amount_usd: number
  /** `simulated`: simulated money of a sandbox. */
  readonly paid_with: "real" | "simulated"
  /** Unix seconds. */
  readonly created_at: number
  /** The request of a `refund`; null for others. */
  readonly request_id: RequestId | null
  /** The top-up of a `top_up`; null for others. */
  readonly top_up_id: ResourceId | null
  /** The operator's reference of a `credit` or an `adjustment`. */
  readonly reference: string | null
}

/** The account's money. */
export type BalanceReport = {
  readonly data: {
    /** The balance. */
    readonly balance_usd: number
    /** The part of the balance that running requests hold. */
    readonly held_usd: number
    /** The part of the balance that running requests do not hold. */
    readonly available_usd: number
    readonly currency: "USD"
    /** The part of the balance that is simulated money of a sandbox, which cannot pay a real provider. */
    readonly simulated_usd: number
    /** Whether the balance is below $5.00. */
    readonly low_balance: boolean
    /** The credit that the account received when its owner's phone number was verified; 0 before. */
    readonly starter_credit_usd: number
  }
}

/** The account's usage over time, up to the moment: the largest groups first, then the rest. Times are Unix seconds. */
export type UsageSeriesReport = {
  readonly object: "usage_series"
  /** The start of the range. */
  readonly start_time: number
  /** The end of the range. */
  readonly end_time: number
  /** The width of a bucket. */
  readonly interval: "minute" | "hour" | "day" | "week"
  /** The property that divides the usage into series; null without one. */
  readonly group_by: "model" | "provider" | "key" | "project" | "operation" | "status" | null
  /** The starts of the buckets, without gaps. */
  readonly buckets: ReadonlyArray<number>
  /** The figures of all buckets together. */
  readonly totals: {
    /** Requests that have ended. */
    readonly requests: number
    /** Requests that failed. */
    readonly failed_requests: number
    /** The tokens of prompts, prompt cache reads and writes included. */
    readonly prompt_tokens: number
    /** The tokens of outputs, reasoning included. */
    readonly completion_tokens: number
    /** The charges minus later refunds. */
    readonly cost_usd: number
    /** The average time from arrival to end; null without requests of known latency. */
    readonly latency_ms: number | null
  }
  /** The number of groups with usage in the range. */
  readonly groups: number
  /** The series: the largest groups first, then the rest. */
  readonly data: ReadonlyArray<UsageSeries>
}

/** One group, or all groups beyond the largest ones. */
export type UsageSeries = {
  readonly object: "series"
  /** The value of the dimension; null for requests without one, for the rest, and without `group_by`. */
  readonly group: string | null
  /** Whether this is the rest: all groups without a series of their own. */
  readonly is_rest: boolean
  /** The figures of all buckets together. */
  readonly totals: {
    /** Requests that have ended. */
    readonly requests: number
    /** Requests that failed. */
    readonly failed_requests: number
    /** The tokens of prompts, prompt cache reads and writes included. */
    readonly prompt_tokens: number
    /** The tokens of outputs, reasoning included. */
    readonly completion_tokens: number
    /** The charges minus later refunds. */
    readonly cost_usd: number
    /** The average time from arrival to end; null without requests of known latency. */
    readonly latency_ms: number | null
  }
  /** The figures of `totals` by bucket: each list has one entry per bucket. */
  readonly values: {
    /** Requests that have ended. */
    readonly requests: ReadonlyArray<number>
    /** Requests that failed. */
    readonly failed_requests: ReadonlyArray<number>
    /** The tokens of prompts. */
    readonly prompt_tokens: ReadonlyArray<number>
    /** The tokens of outputs. */
    readonly completion_tokens: ReadonlyArray<number>
    /** The charges minus later refunds. */
    readonly cost_usd: ReadonlyArray<number>
    /** The average times from arrival to end. */
    readonly latency_ms: ReadonlyArray<number | null>
  }
}

/** The account's usage, up to the moment: buckets from the oldest on, without empty ones. `next_cursor` is null on the last page. */
export type UsageBreakdownReport = {
  readonly object: "usage"
  /** Null when the query had times. */
  readonly period: "1d" | "7d" | "30d" | null
  /** The start of the range, in Unix seconds. */
  readonly start_time: number
  /** The end of the range, in Unix seconds. */
  readonly end_time: number
  /** The width of a bucket: an hour or a UTC day. */
  readonly bucket_width: "1h" | "1d"
  /** The dimensions of the groups. */
  readonly group_by: ReadonlyArray<"project" | "key" | "model" | "provider">
  /** The sums over all pages. */
  readonly totals: {
    /** Requests that have ended, in any way. Each counts in the bucket in which it was made. */
    readonly requests: number
    /** The tokens of prompts, prompt cache reads and writes included. */
    readonly prompt_tokens: number
    /** Tokens read from prompt caches. */
    readonly cached_tokens: number
    /** Tokens written to prompt caches. */
    readonly cache_creation_tokens: number
    /** The tokens of outputs, reasoning included. */
    readonly completion_tokens: number
    /** The part of `completion_tokens` that was reasoning. */
    readonly reasoning_tokens: number
    /** The charges minus later refunds. */
    readonly cost_usd: number
  }
  /** The buckets. */
  readonly data: ReadonlyArray<UsageBreakdownBucket>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null
  /** The account's balance. */
  readonly balance_usd: number
}

/** The usage in one time bucket of one group. It contains only the requested dimensions. Times are Unix seconds. */
export type UsageBreakdownBucket = {
  readonly object: "bucket"
  /** The start of the bucket. */
  readonly start_time: number
  /** The end of the bucket, which it excludes. */
  readonly end_time: number
  /** Null for keys without a project. */
  readonly project_id?: string | null
  /** The key that made the requests. */
  readonly key_id?: string
  /** The model that served, or the requested model if none did. */
  readonly model?: string
  /** Null when no provider served. */
  readonly provider?: string | null
  /** Requests that have ended, in any way. Each counts in the bucket in which it was made. */
  readonly requests: number
  /** The tokens of prompts, prompt cache reads and writes included. */
  readonly prompt_tokens: number
  /** Tokens read from prompt caches. */
  readonly cached_tokens: number
  /** Tokens written to prompt caches. */
  readonly cache_creation_tokens: number
  /** The tokens of outputs, reasoning included. */
  readonly completion_tokens: number
  /** The part of `completion_tokens` that was reasoning. */
  readonly reasoning_tokens: number
  /** The charges minus later refunds. */
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

/** The delivery of an event to one endpoint. */
export type WebhookDelivery = {
  readonly id: ResourceId
  readonly object: "webhook_delivery"
  /** The id of the event, and the `webhook-id` of every attempt. */
  readonly event_id: string
  /** The type of the event. */
  readonly event_type: string
  /** `failed`: no further automatic attempt follows. A delivery that has arrived stays `delivered`, whatever the result of sending it again. */
  readonly status: "pending" | "delivered" | "failed"
  /** The number of attempts so far. */
  readonly attempt_count: number
  /** The last attempts. */
  readonly attempts: ReadonlyArray<WebhookAttempt>
  /** Unix seconds; null once the delivery has ended, and during an attempt. */
  readonly next_attempt_at: number | null
  /** Unix seconds. */
  readonly created_at: number
  /** When the delivery ended, in Unix seconds; null before. */
  readonly ended_at: number | null
}

/** One delivery attempt. */
export type WebhookAttempt = {
  /** Unix seconds. */
  readonly started_at: number
  /** How long the attempt took. */
  readonly duration_ms: number
  /** The status of the endpoint's response; null without a response. */
  readonly status_code: number | null
  /** Why there was no response; null when there was one. */
  readonly error: string | null
  /** The start of the response's body; null without a response. */
  readonly response: string | null
}

/** One page of deliveries, newest first. `next_cursor` is null on the last page. */
export type WebhookDeliveryList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<WebhookDelivery>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** An endpoint with its signing secret, which is shown only once. */
export type WebhookResultWithSecret = {
  readonly data: WebhookEndpointWithSecret
}

/** An endpoint with its signing secret, which is shown only once. */
export type WebhookEndpointWithSecret = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  /** Where the events go. */
  readonly url: string
  /** The types of events that the endpoint receives. */
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
  /** `disabled`: the endpoint answered 410, failed for five days, or was disabled by the account. It receives nothing. */
  readonly status: "enabled" | "disabled"
  /** Unix seconds. */
  readonly created_at: number
  /** The signing secret: `whsec_` and 32 bytes in base64. */
  readonly secret: string
}

/** The result of a test event. */
export type WebhookTest = {
  readonly data: {
    /** Whether the endpoint answered with success. */
    readonly delivered: boolean
    /** The status of its response; null without a response. */
    readonly status_code: number | null
    /** How long the attempt took. */
    readonly duration_ms: number
    /** Why there was no response; null when there was one. */
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
  /** Where the events go. */
  readonly url: string
  /** The types of events that the endpoint receives. */
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
  /** `disabled`: the endpoint answered 410, failed for five days, or was disabled by the account. It receives nothing. */
  readonly status: "enabled" | "disabled"
  /** Unix seconds. */
  readonly created_at: number
}

/** The changes to an endpoint, at least one. An endpoint that is enabled again receives its pending events. */
export type WebhookChange = {
  /** `enabled`: the endpoint receives events. `disabled`: it receives none. */
  readonly status?: "enabled" | "disabled"
  /** A public https URL of 1 to 2,048 characters. */
  readonly url?: string
  /** The types of events that the endpoint receives. */
  readonly events?: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
}

/** An endpoint to register. */
export type NewWebhook = {
  /** A public https URL of 1 to 2,048 characters. */
  readonly url: string
  /** The types of events that the endpoint receives. */
  readonly events: ReadonlyArray<"video.completed" | "video.failed" | "budget.threshold">
}

/** One page of endpoints, newest first. `next_cursor` is null on the last page. */
export type WebhookList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<WebhookEndpoint>
  /** The `cursor` of the next page; null on the last page. */
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
  /** The name for people. */
  readonly name: string
  /** A text for people; null without one. */
  readonly description: string | null
  /** The version that requests use. */
  readonly active_version: number
  /** Unix seconds. */
  readonly created_at: number
  /** When the preset last changed, in Unix seconds. */
  readonly updated_at: number
  readonly config: PresetConfig
}

/** The part of a chat request that a preset supplies: its models, parameters, routing, and instructions before the caller's messages. The messages, the end user and the format of the stream belong to the request. Unknown fields are rejected. */
export type PresetConfig = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
  readonly models?: ReadonlyArray<string> | null
  /** The maximum number of output tokens, at most 131,072. */
  readonly max_tokens?: number | null
  /** OpenAI's newer name of `max_tokens`, which it overrides. At most 131,072. */
  readonly max_completion_tokens?: number | null
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  readonly frequency_penalty?: number | null
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  readonly presence_penalty?: number | null
  /** From 0 to 1. The model leaves out tokens below this share of the most likely token's probability. Default: the model's own. */
  readonly min_p?: number | null
  /** From 0 to 2. Above 1, tokens that have occurred become less likely. Default: the model's own. */
  readonly repetition_penalty?: number | null
  /** Requests with the same seed tend to get the same answer, where the provider supports that. */
  readonly seed?: number | null
  /** A text, or up to four, at which the model stops. The answer does not contain it. */
  readonly stop?: string | ReadonlyArray<string> | null
  /** The functions that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  /** Whether an answer may call several tools. Default: the model's own. */
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  /** Whether the answer has the log-probabilities of its tokens, where the model supports that. Default: false. */
  readonly logprobs?: boolean | null
  /** The number of alternatives to each token among the log-probabilities. Default: 0. */
  readonly top_logprobs?: number | null
  /** How detailed the answer is. Default: the model's own. */
  readonly verbosity?: "low" | "medium" | "high" | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  /** A system message before all others, 1 to 32,768 characters. */
  readonly instructions?: string | null
}

/** How much a reasoning model thinks. Unknown fields are rejected. */
export type ChatReasoning = {
  /** Default: the model's own. A model without the word uses the nearest one that it has. */
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null
  /** The maximum number of reasoning tokens, for models with such a limit. */
  readonly max_tokens?: number | null
  /** Whether the model reasons, for models that can do both. Default: the model's own. */
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
      /** The schema and its name. */
      readonly json_schema: {
        /** 1 to 64 characters. */
        readonly name: string
        /** What the answer is, for the model. */
        readonly description?: string | null
        /** The JSON Schema. */
        readonly schema?: Readonly<Record<string, unknown>> | null
        /** Whether the answer must conform to the schema, where the provider can ensure that. */
        readonly strict?: boolean | null
      }
    }

/** Whether the model calls tools, and which. `auto`, the default: the model decides. `none`: it calls none. `required`: it calls at least one. A function: it calls that one. */
export type ChatToolChoice =
  | "auto"
  | "none"
  | "required"
  | {
      readonly type: "function"
      /** The function to call. */
      readonly function: {
        /** The name of a declared function. */
        readonly name: string
      }
    }
  | {
      readonly type: "allowed_tools"
      /** The model may call only these tools. */
      readonly allowed_tools: {
        /** Whether the model decides, or must call one of them. */
        readonly mode: "auto" | "required"
        /** The functions, 1 to 512. */
        readonly tools: ReadonlyArray<{
          readonly type: "function"
          /** The function to call. */
          readonly function: {
            /** The name of a declared function. */
            readonly name: string
          }
        }>
      }
    }

/** A function that the model may call. */
export type ChatTool = {
  readonly type: "function"
  /** The function. */
  readonly function: {
    /** 1 to 256 letters, digits, underscores and dashes. */
    readonly name: string
    /** What the function does, from which the model decides when to call it. */
    readonly description?: string | null
    /** The JSON Schema of the arguments. Default: no arguments. */
    readonly parameters?: Readonly<Record<string, unknown>> | null
    /** Whether the arguments must conform to `parameters`, where the provider can ensure that. */
    readonly strict?: boolean | null
  }
  readonly cache_control?: ChatCacheControl | null
}

/** The name of a preset in paths and, after an `@`, in `model`: 1 to 63 lowercase letters, digits and dashes. */
export type PresetSlug = string

/** One page of versions, newest first. `next_cursor` is null on the last page. */
export type PresetVersionList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<PresetVersion>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: number | null
}

/** One version of a preset, which never changes. */
export type PresetVersion = {
  readonly object: "preset.version"
  /** The number of the version, from 1. */
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
  /** A name of 1 to 128 characters. */
  readonly name?: string
  /** A text of 1 to 1,024 characters for people. */
  readonly description?: string | null
  readonly config?: PresetConfig
}

/** A preset to create. */
export type NewPreset = {
  readonly slug: PresetSlug
  /** A name of 1 to 128 characters. */
  readonly name: string
  /** A text of 1 to 1,024 characters for people. */
  readonly description?: string | null
  readonly config: PresetConfig
}

/** One page of presets, newest first. `next_cursor` is null on the last page. */
export type PresetList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<PresetSummary>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** A preset, without the configuration of its active version. */
export type PresetSummary = {
  readonly id: ResourceId
  readonly object: "preset"
  readonly slug: PresetSlug
  /** The name for people. */
  readonly name: string
  /** A text for people; null without one. */
  readonly description: string | null
  /** The version that requests use. */
  readonly active_version: number
  /** Unix seconds. */
  readonly created_at: number
  /** When the preset last changed, in Unix seconds. */
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
  /** The name for people. */
  readonly name: string
  readonly slug: PresetSlug
  /** An archived project is final: it accepts no keys and no changes. */
  readonly status: "active" | "archived"
  /** The spending limit per period in whole USD cents, for all keys together; null for unlimited. */
  readonly budget_cents: number | null
  /** The UTC day, the week from Monday, the month, or all time. */
  readonly budget_period: "daily" | "weekly" | "monthly" | "lifetime" | null
  /** The spending in USD cents, which may have fractions, in the budget's current period; null without a budget. */
  readonly spent_cents: number | null
  readonly routing: RoutingPolicy | null
  /** `no_training`: no provider that trains on data. `zero_retention`: no provider that keeps data, and no content in the gateway's own storage. */
  readonly data_policy: "default" | "no_training" | "zero_retention"
  /** When the project was created. */
  readonly created_at: number
  /** When the project last changed. */
  readonly updated_at: number
  /** When the project was archived; null while it is active. */
  readonly archived_at: number | null
}

/** The changes to a project, at least one. A null removes a value. */
export type ProjectChange = {
  /** A name of 1 to 100 characters. */
  readonly name?: string
  /** Unique in the account. */
  readonly slug?: PresetSlug
  /** The limit per period in whole USD cents, at most a hundred million dollars. */
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
  /** The order among the providers and models that can serve a request: by `cost`, `latency` or `quality`, or `balanced` between them, which is the default. */
  readonly strategy?: "balanced" | "cost" | "latency" | "quality"
  /** The providers that may serve the request, each list with at most 32. */
  readonly providers?: {
    /** Use only these providers, in any order. */
    readonly only?: ReadonlyArray<string>
    /** Prefer these providers, in this order. */
    readonly order?: ReadonlyArray<string>
    /** Never use these providers. */
    readonly ignore?: ReadonlyArray<string>
  }
  /** Whether another provider or model may be tried when the first fails. Default: true. */
  readonly allow_fallbacks?: boolean
  /** Providers that do not meet the policy are left out, never silently used. */
  readonly data_policy?: "default" | "no_training" | "zero_retention"
  /** `auto`: the gateway sets prompt cache breakpoints for providers that need them. */
  readonly caching?: "auto"
  /** Whether providers are left out that do not support every parameter of the request. Default: false. */
  readonly require_parameters?: boolean
  /** Upper limits of the price in USD. */
  readonly max_price?: {
    /** Per million prompt tokens. */
    readonly prompt?: number
    /** Per million output tokens. */
    readonly completion?: number
    /** Per request. */
    readonly request?: number
    /** Per image. No effect on chat. */
    readonly image?: number
  }
  /** Time limits of one attempt in milliseconds. They can shorten the service's limits, not extend them. */
  readonly timeouts?: {
    /** Until the provider accepts the connection. */
    readonly connect_ms?: number
    /** Until the first content arrives. */
    readonly first_token_ms?: number
    /** Until the answer is complete. */
    readonly total_ms?: number
  }
}

/** A project to create. */
export type NewProject = {
  /** A name of 1 to 100 characters. */
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
  /** The entries of the page. */
  readonly data: ReadonlyArray<Project>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** A key with its secret, which is shown only once. */
export type ManagedKeyWithSecret = {
  /** The secret. */
  readonly key: string
  readonly data: ManagedKey
}

/** An inference key, without its secret. Times are Unix seconds. */
export type ManagedKey = {
  readonly id: ResourceId
  readonly object: "key"
  /** The name of the key. */
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  /** The last four characters of the secret. */
  readonly last4: string
  readonly project_id: ResourceId | null
  /** An expired key is also `revoked`. Neither becomes active again. */
  readonly status: "active" | "revoked"
  /** The spending limit per period in whole USD cents; null for unlimited. */
  readonly budget_cents: number | null
  /** The UTC day, the week from Monday, the month, or all time. */
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
  /** When the key was created. */
  readonly created_at: number
  /** When its newest paid request was made; null before. */
  readonly last_used_at: number | null
  /** When the key expires; null if it does not. */
  readonly expires_at: number | null
  /** When the key was revoked; null while it is not. */
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
  /** A name of 1 to 100 characters. */
  readonly name?: string
  /** Requires the scope `routing:write`, because the project's routing and data policy apply to the key. */
  readonly project_id?: ResourceId | null
  /** The limit per period in whole USD cents, at most a hundred million dollars. */
  readonly budget_cents?: number | null
  /** Null only with `budget_cents: null`. */
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  /** Unix seconds, in the future. */
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
  /** A name of 1 to 100 characters. */
  readonly name: string
  /** The project that the key belongs to. Its budget and its data policy apply to the key. */
  readonly project_id?: ResourceId | null
  /** The spending limit per period. Default: unlimited. */
  readonly budget_cents?: number | null
  /** The UTC day, the week from Monday, the month, or the key's lifetime, which is the default. Null only without a budget. */
  readonly budget_period?: "daily" | "weekly" | "monthly" | "lifetime" | null
  /** Unix seconds, in the future. */
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
  /** The entries of the page. */
  readonly data: ReadonlyArray<ManagedKey>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: ResourceId | null
}

/** A model of the catalogue, with its prices and its providers. */
export type ModelDetail = {
  readonly object: "model"
  /** The id that requests name. */
  readonly id: string
  /** The name for people. */
  readonly name: string
  /** The release date, in Unix seconds. */
  readonly created: number
  /** The vendor of the model. */
  readonly owned_by: string
  /** The kind of input and output of a model, which determines its operations. */
  readonly modality: "text" | "image" | "image_edit" | "video" | "audio" | "embedding" | "rerank" | "search"
  /** `deprecated` models still serve, `retired` ones do not. */
  readonly status: "preview" | "ga" | "deprecated" | "retired"
  /** Whether a request for it can be served now. */
  readonly servable: boolean
  /** The abilities of the model, such as `tools` and `vision`. */
  readonly capabilities: ReadonlyArray<string>
  readonly pricing: ModelPricing
  /** In order of preference. */
  readonly providers: ReadonlyArray<ModelProvider>
  /** Optional request parameters that change the answer. */
  readonly supportedParameters: ReadonlyArray<string>
  /** The family of models. */
  readonly brand: string
  /** The model in a sentence. */
  readonly description: string
  /** In tokens; 0 for models that do not count tokens. */
  readonly contextWindow: number
  /** The maximum number of output tokens; 0 for models that do not count tokens. */
  readonly maxOutputTokens: number
  /** Whether the id stands for a choice among other models. */
  readonly virtual: boolean
  /** Facts about the charge that the prices do not show; empty when there are none. */
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
    /** The same as its `contextWindow`. */
    readonly context_length: number
    /** The same as its `maxOutputTokens`; null when there is no limit. */
    readonly max_completion_tokens: number | null
    readonly is_moderated: false
  }
  /** The same as `supportedParameters`. */
  readonly supported_parameters: ReadonlyArray<string>
  /** Where the model is. */
  readonly links: {
    /** The path. */
    readonly details: string
  }
  /** Always null. OpenRouter's clients require the member. */
  readonly per_request_limits: null
  /** Always null. OpenRouter's clients require the member. */
  readonly default_parameters: null
  /** Always null. OpenRouter's clients require the member. */
  readonly supported_voices: null
}

/** The kinds of input and output of a model, in OpenRouter's words. */
export type ModelArchitecture = {
  /** What a prompt may contain. */
  readonly input_modalities: ReadonlyArray<"text" | "image" | "file">
  /** What the model makes. */
  readonly output_modalities: ReadonlyArray<"text" | "image" | "video" | "speech" | "embeddings" | "rerank">
  /** Both lists in one text, such as `text+image->text`. */
  readonly modality: string
  /** Always null. OpenRouter's clients require the member. */
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
  /** A sentence about the change. */
  readonly detail?: string
  /** For token prices, as in `pricing`: the price from then on, without promotions. */
  readonly meteredPromptPerToken?: number
  /** The same for a token of the output. */
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
  /** The id of the provider. */
  readonly provider: string
  /** Its name for people. */
  readonly providerDisplayName: string
  /** The id of the model there. */
  readonly upstreamModelId: string
  /** `primary`: the first available provider; its price is shown. The routing of a request decides which provider it uses first. */
  readonly role: "primary" | "fallback"
  /** Whether the gateway can call it. */
  readonly available: boolean
  /** Capabilities of the model that this provider does not support. */
  readonly unsupportedCapabilities: ReadonlyArray<string>
  /** Whether the provider may train on prompts and answers. */
  readonly trainsOnData: boolean
  /** Whether the provider keeps no prompts and answers. */
  readonly zeroRetentionAvailable: boolean
  /** In tokens; 0 for models that do not count tokens. */
  readonly contextWindow: number
  /** The maximum number of output tokens there; 0 for models that do not count tokens. */
  readonly maxOutputTokens: number
  readonly performance: ProviderPerformance
}

/** A provider's performance for the model in the last 30 minutes, across all nodes. Unknown values are null. */
export type ProviderPerformance = {
  /** The number of requests. */
  readonly samples: number
  /** The share of successful requests, 0 to 1. */
  readonly successRate: number | null
  /** The median time to the end of the answer, of successful requests as all times. */
  readonly p50Ms: number | null
  /** The time within which 95% of them ended. */
  readonly p95Ms: number | null
  /** The median time to the first content of a stream. */
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
  /** For a token of the prompt outside the prompt cache. */
  readonly meteredPromptPerToken: number | null
  /** For a token read from the prompt cache. */
  readonly meteredCachedPromptPerToken: number | null
  /** For a token written to the prompt cache. */
  readonly meteredCacheWritePromptPerToken: number | null
  /** For a token of the output. */
  readonly meteredCompletionPerToken: number | null
  /** Charged once per request, whatever it uses. */
  readonly perRequestUsd: number | null
  /** For an image, a second, a character or a request. */
  readonly perUnitUsd: number | null
  /** `perUnitUsd` without the promotion; for token prices, `meteredPromptPerToken` without it. Null when there is no promotion. */
  readonly listPerUnitUsd: number | null
  /** The promotion that lowers all prices shown here. */
  readonly promotion: Promotion | null
  /** Per token. `0` for models with another unit, `-1` for a model whose price is not known in advance. */
  readonly prompt: string
  /** Per token, as `prompt`. */
  readonly completion: string
  /** Per request. */
  readonly request?: string
  /** Per image that the model makes. */
  readonly image_output?: string
  /** Per token read from the prompt cache. */
  readonly input_cache_read?: string
  /** Per token written to the prompt cache. */
  readonly input_cache_write?: string
}

/** A temporary price cut, from `startsAt` until just before `endsAt`. A request keeps the price at which it was admitted. */
export type Promotion = {
  /** The name of the promotion. */
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
  /** The models. */
  readonly data: ReadonlyArray<ModelDetail>
  /** Whether more models follow; with `before_id`, whether more come before. */
  readonly has_more: boolean
  /** The id of the first model on the page; null when it is empty. */
  readonly first_id: string | null
  /** The id of the last model on the page; null when it is empty. */
  readonly last_id: string | null
  /** The number of models that pass the filters, on all pages. */
  readonly total_count: number
  /** Other pages. */
  readonly links: {
    /** The path and query of the next page; null on the last. */
    readonly next: string | null
  }
}

/** The confirmation that an endpoint was deleted. */
export type WebhookDeleted = {
  readonly id: ResourceId
  readonly object: "webhook_endpoint"
  readonly deleted: true
}

/** A receipt in OpenRouter's form. `GET /requests/{request_id}` has every fact of it. */
export type Generation = {
  readonly data: {
    /** The id in the query. */
    readonly id: string
    readonly request_id: RequestId
    /** ISO 8601. */
    readonly created_at: string
    /** The model that served, or the requested model if none did. */
    readonly model: string
    /** The provider that served; null when none did. */
    readonly provider_name: string | null
    /** The attempts, in order; null without any. */
    readonly provider_responses: ReadonlyArray<GenerationAttempt> | null
    /** The kind of work in OpenRouter's words; null for work that OpenRouter does not have. */
    readonly api_type: "completions" | "embeddings" | "rerank" | "video" | "tts" | "image" | null
    /** Whether the answer was a stream. */
    readonly streamed: boolean
    /** Whether the client ended the request. */
    readonly cancelled: boolean
    /** Why the answer ended; null without an answer. */
    readonly finish_reason: string | null
    /** The same as `finish_reason`. */
    readonly native_finish_reason: string | null
    /** The provider's count; null for work that is not priced by tokens. */
    readonly tokens_prompt: number | null
    /** The provider's count; null for work that is not priced by tokens. */
    readonly tokens_completion: number | null
    /** The provider's count; null for work that is not priced by tokens. */
    readonly native_tokens_prompt: number | null
    /** The provider's count; null for work that is not priced by tokens. */
    readonly native_tokens_completion: number | null
    /** The provider's count; null for work that is not priced by tokens. */
    readonly native_tokens_cached: number | null
    /** The provider's count; null for work that is not priced by tokens. */
    readonly native_tokens_reasoning: number | null
    /** Always null. OpenRouter's clients require the member. */
    readonly native_tokens_completion_images: null
    /** The charge minus refunds, in USD. */
    readonly total_cost: number
    /** The same as `total_cost`. */
    readonly usage: number
    /** Milliseconds until the first content of a stream, or until the whole answer. */
    readonly latency: number | null
    /** Milliseconds from the request to the end of its answer. */
    readonly generation_time: number | null
    /** `svc/auto` for a request whose model the automatic router chose. */
    readonly router: string | null
    /** The slug of the preset. */
    readonly preset_id: string | null
    readonly is_byok: false
    readonly data_region: "global"
    /** Always empty. */
    readonly origin: string
    /** Always null. OpenRouter's clients require the member. */
    readonly cache_discount: null
    /** Always null. OpenRouter's clients require the member. */
    readonly upstream_inference_cost: null
    /** Always null. OpenRouter's clients require the member. */
    readonly upstream_id: null
    /** Always null. OpenRouter's clients require the member. */
    readonly app_id: null
    /** Always null. OpenRouter's clients require the member. */
    readonly external_user: null
    /** Always null. OpenRouter's clients require the member. */
    readonly http_referer: null
    /** Always null. OpenRouter's clients require the member. */
    readonly user_agent: null
    /** Always null. OpenRouter's clients require the member. */
    readonly moderation_latency: null
    /** Always null. OpenRouter's clients require the member. */
    readonly num_fetches: null
    /** Always null. OpenRouter's clients require the member. */
    readonly num_input_audio_prompt: null
    /** Always null. OpenRouter's clients require the member. */
    readonly num_media_completion: null
    /** Always null. OpenRouter's clients require the member. */
    readonly num_media_prompt: null
    /** Always null. OpenRouter's clients require the member. */
    readonly num_search_results: null
    /** Always null. OpenRouter's clients require the member. */
    readonly service_tier: null
    /** Always null. OpenRouter's clients require the member. */
    readonly web_search_engine: null
    /** Always null. OpenRouter's clients require the member. */
    readonly workspace_id: null
  }
}

/** An attempt at a provider. */
export type GenerationAttempt = {
  /** The id of the provider. */
  readonly provider_name: string
  /** 200 for the attempt that served; null for others. */
  readonly status: number | null
}

/** The account's credits as OpenRouter's clients read them: `total_credits` minus `total_usage` is the balance. A charge made up front counts as usage once its work has ended. */
export type CreditsReport = {
  readonly data: {
    /** All money that the account has received, in USD. */
    readonly total_credits: number
    /** All charges of the account minus refunds, in USD. */
    readonly total_usage: number
  }
}

/** The calling key, without its secret. Times are Unix seconds. */
export type KeyReport = {
  readonly object: "key"
  readonly id: ResourceId
  /** Whether the key sends requests (`inference`) or manages the account (`management`). */
  readonly kind: "inference" | "management"
  /** The name of the key. */
  readonly name: string
  /** The start of the secret, as `last4` is its end. */
  readonly prefix: string
  /** The last four characters of the secret. */
  readonly last4: string
  /** The project that the key belongs to; null without one. */
  readonly project_id: string | null
  /** When the key was created. */
  readonly created_at: number
  /** When its newest paid request was made; null before. */
  readonly last_used_at: number | null
  /** When the key expires; null if it does not. */
  readonly expires_at: number | null
  /** The key's own budget. */
  readonly budget: KeyBudget | null
  /** The project's budget, which all of its keys share. */
  readonly project_budget: KeyBudget | null
  /** The account's factor for rate limits. */
  readonly limit_scale: number
  /** The limit of each class of operations, with all factors. */
  readonly rate_limits: {
    readonly default: KeyRateLimit
    readonly chat: KeyRateLimit
    readonly search: KeyRateLimit
    readonly images: KeyRateLimit
    readonly video: KeyRateLimit
  }
  /** The amounts that the key has spent. */
  readonly spend_usd: {
    /** Since the start of the UTC day. */
    readonly today: number
    /** Since Monday in UTC. */
    readonly this_week: number
    /** Since the start of the UTC month. */
    readonly this_month: number
    /** In total. */
    readonly all_time: number
  }
  /** The account's balance. */
  readonly balance_usd: number
}

/** A rate limit of a key. */
export type KeyRateLimit = {
  /** The maximum number of requests in a window. */
  readonly requests: number
  /** The length of the window. */
  readonly window_seconds: number
}

/** A budget in its current period. Amounts are in USD cents and may have fractions. Money held by running requests counts neither as spent nor as remaining. */
export type KeyBudget = {
  /** The UTC day, the week from Monday, the month, or all time. */
  readonly period: "daily" | "weekly" | "monthly" | "lifetime"
  /** The limit. */
  readonly budget_cents: number
  /** The amount spent in the period. */
  readonly spent_cents: number
  /** The rest of the limit. */
  readonly remaining_cents: number
}

/** The account's usage in a period, up to the moment. Buckets are UTC hours for `1d` and UTC days for `7d` and `30d`, sorted by start, model and provider. Buckets without usage are omitted. */
export type UsageReport = {
  readonly object: "usage"
  /** The last 24 hours, 7 days or 30 days, including the current hour or day. */
  readonly period: "1d" | "7d" | "30d"
  /** The start of the range, in Unix seconds. */
  readonly start_time: number
  /** The end of the current bucket, in Unix seconds. */
  readonly end_time: number
  /** The sums over all buckets. */
  readonly totals: {
    /** Requests that have ended, in any way. Each counts in the bucket in which it was made. */
    readonly requests: number
    /** The tokens of prompts, prompt cache reads and writes included. */
    readonly prompt_tokens: number
    /** Tokens read from prompt caches. */
    readonly cached_tokens: number
    /** Tokens written to prompt caches. */
    readonly cache_creation_tokens: number
    /** The tokens of outputs, reasoning included. */
    readonly completion_tokens: number
    /** The part of `completion_tokens` that was reasoning. */
    readonly reasoning_tokens: number
    /** The charges minus later refunds. */
    readonly cost_usd: number
  }
  /** The buckets. */
  readonly data: ReadonlyArray<UsageBucket>
  /** The account's balance. */
  readonly balance_usd: number
}

/** The usage of one model at one provider in one time bucket. Times are Unix seconds. */
export type UsageBucket = {
  readonly object: "bucket"
  /** The start of the bucket. */
  readonly start_time: number
  /** The end of the bucket, which it excludes. */
  readonly end_time: number
  /** The model that served, or the requested model if none did. */
  readonly model: string
  /** Null when no provider served. */
  readonly provider: string | null
  /** Requests that have ended, in any way. Each counts in the bucket in which it was made. */
  readonly requests: number
  /** The tokens of prompts, prompt cache reads and writes included. */
  readonly prompt_tokens: number
  /** Tokens read from prompt caches. */
  readonly cached_tokens: number
  /** Tokens written to prompt caches. */
  readonly cache_creation_tokens: number
  /** The tokens of outputs, reasoning included. */
  readonly completion_tokens: number
  /** The part of `completion_tokens` that was reasoning. */
  readonly reasoning_tokens: number
  /** The charges minus later refunds. */
  readonly cost_usd: number
}

/** The receipt of one paid request. Work charged up front is settled at once, and its receipt stays open until the work has ended; undelivered parts are refunded then. */
export type RequestReceipt = {
  readonly id: RequestId
  readonly object: "request"
  /** Unix seconds. */
  readonly created_at: number
  /** The name of the operation in the contract, such as `chat.completions`. */
  readonly operation: string
  /** How the request ended. `open`: the work has not ended. */
  readonly status: "open" | "succeeded" | "failed" | "cancelled"
  /** The model as the request named it. */
  readonly model: string
  /** The model that served; null when none did. */
  readonly resolved_model: string | null
  /** The provider that served; null when none did. */
  readonly provider: string | null
  /** The slug of the preset; absent without one. */
  readonly preset?: string
  /** Whether the answer was a stream. */
  readonly streamed: boolean
  readonly usage: ReceiptUsage | null
  /** Whether the provider reported the usage, or the gateway counted it in what was delivered. */
  readonly usage_basis: "reported" | "counted" | "none"
  /** The final charge: `settled_usd` minus `refunded_usd`. */
  readonly cost_usd: number
  /** The hold: the most that the request could cost. */
  readonly held_usd: number
  /** The charge before refunds. */
  readonly settled_usd: number
  /** The price of usage beyond the hold, which the operator bears. */
  readonly absorbed_usd: number
  /** The money that was given back. */
  readonly refunded_usd: number
  /** `simulated`: the sandbox's simulated money pays for the request, which never goes to a real provider. */
  readonly paid_with: "real" | "simulated"
  readonly price: ReceiptPrice | null
  readonly routing: RoutingSummary | null
  /** How long the request took, in milliseconds; null for what is not known. */
  readonly timings: {
    /** From the arrival to the hold. */
    readonly queue_ms: number | null
    /** The time that the hold took. */
    readonly hold_ms: number | null
    /** From the arrival to the first content of a stream. */
    readonly first_token_ms: number | null
    /** From the arrival to the end. */
    readonly total_ms: number | null
    /** The time that the settlement took. */
    readonly settle_ms: number | null
    /** The part of `total_ms` that no provider took. */
    readonly overhead_ms: number | null
    /** Empty while the request is open, when no provider was called, and on receipts of before attempts were timed. */
    readonly attempts: ReadonlyArray<AttemptTiming>
  }
  /** Why the answer ended, in the words of chat completions; null without an answer. */
  readonly finish_reason: string | null
  /** Why the request failed; null when it did not. */
  readonly error: {
    /** The code of the error response. */
    readonly code: string
    /** Its message. */
    readonly message: string
  } | null
  /** The request's `Idempotency-Key`; null without one. */
  readonly idempotency_key: string | null
  /** Only where the id asked for is that of a replay: the request that the replay repeated, whose receipt this is. */
  readonly replayed_from?: RequestId
  /** Whether the answer came from the cache of the legacy chat. */
  readonly cached: boolean
  /** The key that made the request. */
  readonly key_id: string
  /** The project of that key; null without one. */
  readonly project_id: string | null
  /** The id of the request's trace, if the operator collects traces. */
  readonly trace_id: string | null
}

/** One page of receipts, newest first. `next_cursor` is null on the last page. With a filter, a page searches a limited number of requests: it may contain fewer receipts than `limit`, or none, and still have a `next_cursor`. */
export type RequestList = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<RequestReceipt>
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: RequestId | null
  /** When the oldest request that this page searched arrived, in Unix seconds; null when the page searched all of them. */
  readonly searched_to: number | null
}

/** The confirmation that a file was deleted. */
export type FileDeleted = {
  /** `file_` and 44 hexadecimal characters that sort by time. */
  readonly id: string
  readonly object: "file"
  readonly deleted: true
}

/** A file of the account in OpenAI's format. */
export type FileObject = {
  /** `file_` and 44 hexadecimal characters that sort by time. */
  readonly id: string
  readonly object: "file"
  /** The size. */
  readonly bytes: number
  /** Unix seconds. */
  readonly created_at: number
  /** The name of the uploaded file. */
  readonly filename: string
  /** The purpose of a file: the input of a batch, or its output. */
  readonly purpose: "batch" | "batch_output"
  readonly status: "processed"
  /** When the file is deleted, in Unix seconds. */
  readonly expires_at: number | null
}

/** One page of files, newest first by default. `last_id` is the `after` of the next page. */
export type FileList = {
  readonly object: "list"
  /** The files. */
  readonly data: ReadonlyArray<FileObject>
  /** The id of the first file; null on an empty page. */
  readonly first_id: string | null
  /** The id of the last file; null on an empty page. */
  readonly last_id: string | null
  /** Whether more files follow. */
  readonly has_more: boolean
}

/** The upload form, of at most 32 MiB. An account can have at most 1,000 input files, of 512 MiB in total. */
export type NewFile = {
  readonly purpose: "batch"
  /** The file: one request per line as JSON, at most 50,000 lines. */
  readonly file: Blob
  /** The moment from which `expires_after[seconds]` counts. */
  readonly "expires_after[anchor]"?: "created_at"
  /** How long the file is kept, in seconds, from an hour to 30 days. Default: 30 days. */
  readonly "expires_after[seconds]"?: string
}

/** A background batch in OpenAI's format. Each line is an ordinary request with a receipt of its own. Failed requests are lines of the error file. Times are Unix seconds, and null until the batch has come so far. */
export type BatchObject = {
  /** 24 lowercase hexadecimal characters that sort by time. */
  readonly id: string
  readonly object: "batch"
  /** The operation of every line. */
  readonly endpoint: string
  /** Faults in the input file, which make the whole batch fail; null without any. */
  readonly errors: {
    readonly object: "list"
    /** The faults. */
    readonly data: ReadonlyArray<BatchFault>
  } | null
  /** The id of the input file. */
  readonly input_file_id: string
  readonly completion_window: "24h"
  /** How far the batch has come. `completed`, `failed`, `expired` and `cancelled` are final. */
  readonly status:
    | "validating"
    | "in_progress"
    | "finalizing"
    | "completed"
    | "failed"
    | "expired"
    | "cancelling"
    | "cancelled"
  /** The id of the file with the answers; null without any. */
  readonly output_file_id: string | null
  /** The id of the file with the failed requests; null without any. */
  readonly error_file_id: string | null
  /** Unix seconds. */
  readonly created_at: number
  /** When the status became `in_progress`. */
  readonly in_progress_at: number | null
  /** When the batch expires if it has not ended before. */
  readonly expires_at: number
  /** When the status became `finalizing`. */
  readonly finalizing_at: number | null
  /** When the status became `completed`. */
  readonly completed_at: number | null
  /** When the status became `failed`. */
  readonly failed_at: number | null
  /** When the status became `expired`. */
  readonly expired_at: number | null
  /** When the status became `cancelling`. */
  readonly cancelling_at: number | null
  /** When the status became `cancelled`. */
  readonly cancelled_at: number | null
  /** How many requests have ended so far. */
  readonly request_counts: {
    /** All requests of the file. */
    readonly total: number
    /** Those that were answered. */
    readonly completed: number
    /** Those that failed. */
    readonly failed: number
  }
  /** Up to 16 pairs of the client's own: keys of at most 64 characters, values of at most 512. */
  readonly metadata: Readonly<Record<string, string>> | null
}

/** A fault in the input of a batch. Lines count from 1. */
export type BatchFault = {
  /** For programs. */
  readonly code: string
  /** For people. */
  readonly message: string
  /** The path of the field concerned; null without one. */
  readonly param: string | null
  /** The line of the file; null for a fault of the whole. */
  readonly line: number | null
}

/** One page of batches, newest first. `last_id` is the `after` of the next page. */
export type BatchPage = {
  readonly object: "list"
  /** The entries of the page. */
  readonly data: ReadonlyArray<BatchObject>
  /** The id of the first batch; null on an empty page. */
  readonly first_id: string | null
  /** The id of the last batch; null on an empty page. */
  readonly last_id: string | null
  /** Whether more batches follow. */
  readonly has_more: boolean
}

/** A batch of requests that are the lines of a file. Unknown fields are rejected. */
export type NewBatch = {
  /** The id of a file with the purpose `batch`. */
  readonly input_file_id: string
  /** The operation of every line. A leading `/v1` makes no difference. */
  readonly endpoint:
    | "/v1/chat/completions"
    | "/chat/completions"
    | "/v1/responses"
    | "/responses"
    | "/v1/embeddings"
    | "/embeddings"
    | "/v1/messages"
    | "/messages"
  /** The batch expires after 24 hours. */
  readonly completion_window: "24h"
  /** Up to 16 pairs of the client's own: keys of at most 64 characters, values of at most 512. */
  readonly metadata?: Readonly<Record<string, string>> | null
  /** How long the output and error files are kept after they are written. Default: 30 days. */
  readonly output_expires_after?: {
    readonly anchor: "created_at"
    /** From an hour to 30 days. */
    readonly seconds: number
  } | null
}

/** The answers to all requests of a batch. Each request has a receipt of its own. */
export type BatchList = {
  readonly object: "list"
  /** The answers, in order. */
  readonly data: ReadonlyArray<BatchItem>
  /** The total charge in USD. */
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
}

/** Up to 100 requests, which are all validated before any of them starts. Unknown fields are rejected. */
export type BatchRequest = {
  /** The requests, 1 to 100. */
  readonly requests: ReadonlyArray<BatchEntry>
}

/** One request of a batch. */
export type BatchEntry = {
  /** The client's name for the request, unique within the batch. 1 to 64 characters. */
  readonly custom_id?: string
  /** The operation. Default: `/chat/completions`. */
  readonly url?: "/chat/completions" | "/messages" | "/responses" | "/embeddings"
  /** The body of the operation, without streaming. */
  readonly body?: Readonly<Record<string, unknown>>
  /** The same as `body`, as in Anthropic's batches. */
  readonly params?: Readonly<Record<string, unknown>>
}

/** A video job and its progress. It ends as `completed` or `failed`, which is final. */
export type VideoJob = {
  readonly id: ResourceId
  readonly object: "video"
  /** The id of the model. */
  readonly model: string
  /** `completed` and `failed` are final. */
  readonly status: "queued" | "processing" | "completed" | "failed"
  /** Unix seconds. */
  readonly created_at: number
  /** When the job ended, in Unix seconds; null before. */
  readonly completed_at: number | null
  /** As in the request. */
  readonly prompt: string
  /** The length in whole seconds. */
  readonly duration: number
  /** Width to height. */
  readonly aspect_ratio: "16:9" | "9:16"
  /** A whole percentage, if the provider reports it; 100 once the video is completed. */
  readonly progress?: number
  /** The URL of the video, once it is completed. Any client that has the URL may read it. */
  readonly video_url?: string
  /** Why the job failed; null when it did not. */
  readonly error: {
    /** For programs. */
    readonly code: string
    /** For people. */
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
  /** The jobs. */
  readonly data: ReadonlyArray<VideoJob>
  /** The id of the first job; null on an empty page. */
  readonly first_id: ResourceId | null
  /** The id of the last job; null on an empty page. */
  readonly last_id: ResourceId | null
  /** Whether more jobs follow. */
  readonly has_more: boolean
}

/** The results, query by query. */
export type SearchResponse = {
  /** The id of the response. */
  readonly id: string
  /** The pages, query by query, best first. */
  readonly results: ReadonlyArray<SearchResult>
  /** The time of the answer, ISO 8601. */
  readonly server_time: string
  /** The search engine that served. */
  readonly model: string
  /** The provider that served. */
  readonly provider: string
  /** The charge in USD: per query, and only on success. */
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly balance_warning?: BalanceWarning
}

/** A page. */
export type SearchResult = {
  /** The title of the page. */
  readonly title: string
  /** The address of the page. */
  readonly url: string
  /** Text of the page that answers the query. */
  readonly snippet: string
  /** When it was published, as `YYYY-MM-DD`. */
  readonly date?: string
  /** When it last changed, as `YYYY-MM-DD`. */
  readonly last_updated?: string
  /** The index of the query that it answers, if there were several. */
  readonly query_index?: number
}

/** A query for a search engine, or up to five that are answered and charged together. Unknown fields are rejected, and a null counts as absent. Days are whole days in UTC, and a range includes both of its days. A page without a known date is in no range. */
export type SearchRequest = {
  /** A query, or up to five. Each has 1 to 2,048 characters. */
  readonly query: string | ReadonlyArray<string>
  /** Default: the first search engine that the key's routing admits. */
  readonly model?: string | null
  /** The maximum number of results per query, 1 to 20. Default: 10. */
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
  /** Only pages published on this day or later, as `MM/DD/YYYY`. */
  readonly search_after_date_filter?: string | null
  /** Only pages published on this day or earlier, as `MM/DD/YYYY`. */
  readonly search_before_date_filter?: string | null
  /** Only pages last changed on this day or later, as `MM/DD/YYYY`. */
  readonly last_updated_after_filter?: string | null
  /** Only pages last changed on this day or earlier, as `MM/DD/YYYY`. */
  readonly last_updated_before_filter?: string | null
  /** The kind of pages to search. Default: `web`. */
  readonly search_mode?: "web" | "academic" | "sec" | null
  /** How much of each page is returned, if the engine offers a choice. Default: `medium`. */
  readonly search_context_size?: "low" | "medium" | "high" | null
}

/** A text to speak. Unknown fields are rejected; a null counts as absent. */
export type SpeechRequest = {
  /** The id of a speech model. */
  readonly model: string
  /** 1 to 4,096 characters (Unicode code points). Each of them is charged. */
  readonly input: string
  /** The available voices. */
  readonly voice: "alloy" | "ash" | "coral" | "echo" | "fable" | "onyx" | "nova" | "sage" | "shimmer"
  /** Default: `mp3`. `opus` is Opus in Ogg, `aac` is AAC in ADTS, `pcm` is raw 16-bit little-endian mono at 24 kHz. */
  readonly response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm" | null
  /** The factor of the usual speed, from 0.25 to 4. Default: 1. */
  readonly speed?: number | null
}

/** The documents, most relevant first. */
export type RerankResult = {
  /** The model that served. */
  readonly model: string
  /** The provider that served. */
  readonly provider: string
  /** The documents, most relevant first. */
  readonly results: ReadonlyArray<{
    /** The place of the document in the request. */
    readonly index: number
    /** Higher is more relevant. */
    readonly relevance_score: number
    /** The document, with `return_documents`. */
    readonly document?: {
      /** The text. */
      readonly text: string
    }
  }>
  /** Token counts. */
  readonly usage: {
    /** The tokens of the query and the documents. */
    readonly total_tokens: number
  }
  /** The charge in USD, as on the receipt of `request_id`. */
  readonly cost_usd: number
  /** The id of the request. */
  readonly request_id: string
  readonly balance_warning?: BalanceWarning
}

/** A rerank request. Unknown fields are rejected; a null counts as absent. */
export type RerankRequest = {
  /** The id of a rerank model. */
  readonly model: string
  /** The text to which the documents should be relevant. */
  readonly query: string
  /** 1 to 1,000 texts. */
  readonly documents: ReadonlyArray<string>
  /** The number of the most relevant documents to return. Default: all. */
  readonly top_n?: number | null
  /** Whether the results contain the texts of the documents. Default: false. */
  readonly return_documents?: boolean | null
  /** Whether a query with a document longer than the model's context window is cut, and not rejected. Default: false. */
  readonly truncation?: boolean | null
}

/** The vectors of all inputs, in order. */
export type EmbeddingsList = {
  readonly object: "list"
  /** The model that served. */
  readonly model: string
  /** One vector per input. */
  readonly data: ReadonlyArray<Embedding>
  /** Token counts. */
  readonly usage: {
    /** The tokens of all inputs. */
    readonly prompt_tokens: number
    /** The same: embeddings have no output tokens. */
    readonly total_tokens: number
  }
  /** The charge in USD, as on the receipt of `request_id`. */
  readonly cost_usd: number
  /** The id of the request. */
  readonly request_id: string
  readonly balance_warning?: BalanceWarning
}

/** The vector of one input. */
export type Embedding = {
  readonly object: "embedding"
  /** The place of the input in the request. */
  readonly index: number
  /** The vector: numbers, or a text for `base64`. */
  readonly embedding: ReadonlyArray<number> | string
}

/** An embeddings request. Unknown fields are rejected; a null counts as absent. */
export type EmbeddingsRequest = {
  /** The id of an embedding model. */
  readonly model: string
  /** A text, up to 2,048 texts, the tokens of one text, or the tokens of up to 2,048 texts. Models that accept only texts reject tokens. */
  readonly input: string | ReadonlyArray<string> | ReadonlyArray<number> | ReadonlyArray<ReadonlyArray<number>>
  /** Default: the model's own number of dimensions. */
  readonly dimensions?: number | null
  /** Default: `float`. `base64` is the base64 of little-endian 32-bit floats. */
  readonly encoding_format?: "float" | "base64" | null
  /** For models that embed queries and documents differently. No effect on others. */
  readonly input_type?: "query" | "document" | null
  /** Whether an input longer than the model's context window is cut, if the model supports that, and not rejected. Default: false. */
  readonly truncation?: boolean | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
}

/** The tokens of a prompt, by the tokenizer that the service uses when a provider reports no usage. */
export type ResponsesTokens = {
  readonly object: "response.input_tokens"
  /** The tokens of the prompt. */
  readonly input_tokens: number
}

/** A Responses request for a token count. The model and the input may be absent. */
export type ResponsesTokensRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
  readonly models?: ReadonlyArray<string> | null
  /** The user's text, or the items of a conversation: at most 1,000, or `MAX_MESSAGES` if the operator set it higher. */
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
  /** A system message before all others. */
  readonly instructions?: string | null
  /** The maximum number of output tokens. Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_output_tokens?: number | null
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  readonly frequency_penalty?: number | null
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  readonly presence_penalty?: number | null
  /** The number of alternatives to each token; only with the log-probabilities of a stream, see `include`. */
  readonly top_logprobs?: number | null
  /** The tools that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<ResponsesTool> | null
  readonly tool_choice?: ResponsesToolChoice | null
  /** Whether an answer may call several tools. Default: the model's own. */
  readonly parallel_tool_calls?: boolean | null
  /** The format and the length of the answer's text. */
  readonly text?: {
    readonly format?: ResponsesTextFormat | null
    /** How detailed the answer is. Default: the model's own. */
    readonly verbosity?: "low" | "medium" | "high" | null
  } | null
  readonly reasoning?: ResponsesReasoning | null
  /** Whether the answer is a stream of events. Default: false. */
  readonly stream?: boolean | null
  /** `reasoning.encrypted_content` adds that member to reasoning items. `message.output_text.logprobs` affects only streams, because a complete answer cannot contain log-probabilities. Other names have no effect. */
  readonly include?: ReadonlyArray<string> | null
  /** A prompt is never truncated: `auto` has no effect. */
  readonly truncation?: "auto" | "disabled" | null
  /** No effect: it limits calls of hosted tools, which do not exist here. */
  readonly max_tool_calls?: number | null
  /** No effect. */
  readonly stream_options?: {
    /** No effect: streams have no padding. */
    readonly include_obfuscation?: boolean | null
  } | null
  /** Up to 16 pairs that the answer repeats: keys of at most 64 characters, values of at most 512. */
  readonly metadata?: Readonly<Record<string, string>> | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
  /** The same under OpenAI's newer name, with at most 128 characters. Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. At most 64 characters. */
  readonly prompt_cache_key?: string | null
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  /** The gateway stores no responses. */
  readonly store?: false | null
  /** Responses in the background are not supported. */
  readonly background?: false | null
  /** The gateway stores no responses: send the whole conversation in `input`. */
  readonly previous_response_id?: null
  /** The gateway stores no conversations: send the whole conversation in `input`. */
  readonly conversation?: null
  /** The gateway stores no prompts. Presets take their place. */
  readonly prompt?: null
  /** No effect: every request is served at the standard tier. */
  readonly service_tier?: "auto" | "default" | null
  /** No effect: fallbacks are the default. `routing.allow_fallbacks` turns them off. */
  readonly route?: "fallback" | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** How much a reasoning model thinks. Unknown fields are rejected. */
export type ResponsesReasoning = {
  /** Default: the model's own. A model without the word uses the nearest one that it has. `max` means `xhigh`. */
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  /** No effect: the answer always contains the reasoning that a provider shows. */
  readonly summary?: "auto" | "concise" | "detailed" | null
  /** The maximum number of reasoning tokens, for models with such a limit. */
  readonly max_tokens?: number | null
  /** Whether the model reasons, for models that can do both. Default: the model's own. */
  readonly enabled?: boolean | null
  /** OpenAI's former name of `summary`. No effect. */
  readonly generate_summary?: "auto" | "concise" | "detailed" | null
  /** No effect: every model reasons in its standard mode. */
  readonly mode?: "standard" | null
  /** No effect: which earlier reasoning OpenAI's servers would read again. */
  readonly context?: "auto" | "current_turn" | "all_turns" | null
}

/** The format of the answer's text: text, any JSON object, or JSON that conforms to a schema. */
export type ResponsesTextFormat =
  | {
      readonly type: "text"
    }
  | {
      readonly type: "json_object"
    }
  | {
      readonly type: "json_schema"
      /** 1 to 64 characters. */
      readonly name: string
      /** What the answer is, for the model. */
      readonly description?: string | null
      /** The JSON Schema. */
      readonly schema?: Readonly<Record<string, unknown>> | null
      /** Whether the answer must conform to the schema, where the provider can ensure that. */
      readonly strict?: boolean | null
    }

/** Whether the model calls tools, and which. `auto`, the default: the model decides. `none`: it calls none. `required`: it calls at least one. A tool: it calls that one. */
export type ResponsesToolChoice =
  | "auto"
  | "none"
  | "required"
  | {
      readonly type: "function"
      /** The name of a declared tool. */
      readonly name: string
      /** The namespace of the tool, if it is in one. */
      readonly namespace?: string | null
    }
  | {
      readonly type: "custom"
      /** The name of a declared tool. */
      readonly name: string
      /** The namespace of the tool, if it is in one. */
      readonly namespace?: string | null
    }
  | {
      readonly type: "tool_search"
    }
  | {
      readonly type: "allowed_tools"
      /** Whether the model decides, or must call one of them. */
      readonly mode: "auto" | "required"
      /** The model sees only these tools, 1 to 512. */
      readonly tools: ReadonlyArray<
        | {
            readonly type: "function"
            /** The name of a declared tool. */
            readonly name: string
            /** The namespace of the tool, if it is in one. */
            readonly namespace?: string | null
          }
        | {
            readonly type: "custom"
            /** The name of a declared tool. */
            readonly name: string
            /** The namespace of the tool, if it is in one. */
            readonly namespace?: string | null
          }
        | {
            readonly type: "tool_search"
          }
        | {
            readonly type: "namespace"
            /** The name of a declared namespace: all its tools. */
            readonly name: string
          }
        | ResponsesHostedTool
      >
    }

/** A tool that only OpenAI's servers run. It is left out and listed in `X-Svc-Ignored-Parameters` as `tools[3]`. */
export type ResponsesHostedTool = {
  /** The type, which a version may follow, such as `web_search_2025_08_26`. */
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
    | "programmatic_tool_calling"
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
  /** What the search finds. */
  readonly description?: string | null
  /** The JSON Schema of the arguments. Default: a `query` and a `limit`. */
  readonly parameters?: Readonly<Record<string, unknown>> | null
}

/** Tools under a common name. The model sees each as `namespace__name`; its call contains the two separately. */
export type ResponsesNamespaceTool = {
  readonly type: "namespace"
  /** 1 to 256 letters, digits, underscores and dashes. */
  readonly name: string
  /** What the tools are for. The model reads it with the first of them. */
  readonly description?: string | null
  /** At most 512. */
  readonly tools: ReadonlyArray<ResponsesFunctionTool | ResponsesCustomTool>
}

/** A tool with one text as its input. The model sees a function with one string `input`, and its call is returned as a `custom_tool_call`. A grammar is part of the function's description; the gateway does not enforce it. */
export type ResponsesCustomTool = {
  readonly type: "custom"
  /** 1 to 256 letters, digits, underscores and dashes. */
  readonly name: string
  /** What the tool does, from which the model decides when to call it. */
  readonly description?: string | null
  /** The format of the input. Default: any text. */
  readonly format?:
    | {
        readonly type: "text"
      }
    | {
        readonly type: "grammar"
        /** The language of `definition`. */
        readonly syntax: "lark" | "regex"
        /** The grammar. */
        readonly definition: string
      }
    | null
  /** No effect: all tools are loaded. */
  readonly defer_loading?: boolean | null
}

/** A function that the model may call. */
export type ResponsesFunctionTool = {
  readonly type: "function"
  /** 1 to 256 letters, digits, underscores and dashes. */
  readonly name: string
  /** What the tool does, from which the model decides when to call it. */
  readonly description?: string | null
  /** The JSON Schema of the arguments. Default: no arguments. */
  readonly parameters?: Readonly<Record<string, unknown>> | null
  /** Whether the arguments must conform to `parameters`, where the provider can ensure that. */
  readonly strict?: boolean | null
  /** No effect: all tools are loaded. */
  readonly defer_loading?: boolean | null
}

/** The tools that a search found. The model may call them from then on. */
export type ResponsesSearchOutput = {
  readonly type: "tool_search_output"
  /** The `call_id` of the search. */
  readonly call_id?: string | null
  /** At most 512. One with the name of an earlier tool replaces it. */
  readonly tools: ReadonlyArray<ResponsesTool>
}

/** A search for tools of an earlier answer. */
export type ResponsesSaidSearch = {
  readonly type: "tool_search_call"
  /** The `call_id` of the item with the tools. A search without one was run by a server, and the gateway leaves it out. */
  readonly call_id?: string | null
  /** What the model searched for. */
  readonly arguments: unknown
}

/** Tools in addition to those of `tools`. */
export type ResponsesAdditionalTools = {
  readonly type: "additional_tools"
  /** At most 512. One with the name of an earlier tool replaces it. */
  readonly tools: ReadonlyArray<ResponsesTool>
}

/** The result of a custom tool call. */
export type ResponsesCustomOutput = {
  readonly type: "custom_tool_call_output"
  /** The id of the call. An agent's own report that answers no call has none, and names its tool instead. */
  readonly call_id?: string | null
  /** The name of the tool. Required without `call_id`, and has no effect otherwise. */
  readonly name?: string | null
  /** The namespace of that tool. */
  readonly namespace?: string | null
  /** A text, or 1 to 512 parts. */
  readonly output: string | ReadonlyArray<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
}

/** A PDF file, for models with vision of Anthropic, Google and OpenAI; or a file of text, which every model reads after a line with the file's name. Ids and URLs of files are not supported. */
export type ResponsesInputFile = {
  readonly type: "input_file"
  /** A data URL with base64, at most 20 MiB: of type `application/pdf`, or of type `text/…` or `application/json` in UTF-8. The PDF files of a request may have 100 pages in all. */
  readonly file_data: string
  /** The name under which the model sees the file, at most 256 characters. */
  readonly filename?: string | null
}

/** An image of a prompt. File ids are not supported. */
export type ResponsesInputImage = {
  readonly type: "input_image"
  /** An https URL, or a data URL with base64. */
  readonly image_url: string
  /** Default: `auto`. `original` means `high`, because the full-size image has no cost limit. */
  readonly detail?: "auto" | "low" | "high" | "original" | null
}

/** Text of a prompt. */
export type ResponsesInputText = {
  readonly type: "input_text"
  /** The text. */
  readonly text: string
}

/** A custom tool call of an earlier answer. */
export type ResponsesSaidCustomCall = {
  readonly type: "custom_tool_call"
  /** The `call_id` of the item with the result. */
  readonly call_id: string
  /** The name of the tool. */
  readonly name: string
  /** The namespace of the tool, if it is in one. */
  readonly namespace?: string | null
  /** The text that the model wrote. */
  readonly input: string
}

/** The result of a tool call. */
export type ResponsesCallOutput = {
  readonly type: "function_call_output"
  /** The id of the call. An agent's own report that answers no call has none, and names its tool instead. */
  readonly call_id?: string | null
  /** The name of the tool. Required without `call_id`, and has no effect otherwise. */
  readonly name?: string | null
  /** The namespace of that tool. */
  readonly namespace?: string | null
  /** A text, or 1 to 512 parts. */
  readonly output: string | ReadonlyArray<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
}

/** A tool call of an earlier answer. */
export type ResponsesSaidCall = {
  readonly type: "function_call"
  /** The `call_id` of the item with the result. */
  readonly call_id: string
  /** The name of the tool. */
  readonly name: string
  /** The namespace of the tool, if it is in one. */
  readonly namespace?: string | null
  /** JSON text, as the model wrote it. */
  readonly arguments: string
}

/** Reasoning of an earlier answer. Send it back with its `encrypted_content`, and a model of the same provider continues from it. An item with content that this service did not encrypt for the same account is ignored. */
export type ResponsesSaidReasoning = {
  readonly type: "reasoning"
  /** The `encrypted_content` of the item in the answer, unchanged. It overrides the two texts. */
  readonly encrypted_content?: string | null
  /** The text of the reasoning, for providers that accept it as text. */
  readonly summary?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
  /** The same in full, as some hosts give it. It overrides `summary`. */
  readonly content?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
}

/** A message of the assistant, from an earlier answer or written by the client. */
export type ResponsesSaidMessage = {
  readonly type?: "message"
  readonly role: "assistant"
  /** A text, or at most 512 parts. */
  readonly content:
    | string
    | ReadonlyArray<
        | {
            readonly type: "output_text"
            /** The text. */
            readonly text: string
          }
        | {
            readonly type: "input_text"
            /** The text. */
            readonly text: string
          }
        | {
            readonly type: "refusal"
            /** The text of a refusal. */
            readonly refusal: string
          }
      >
}

/** A message of the prompt. Only messages of users may contain images and PDF files. */
export type ResponsesInputMessage = {
  readonly type?: "message"
  /** The speaker. `system` and `developer` mean the same. */
  readonly role: "user" | "system" | "developer"
  /** A text, or 1 to 512 parts. */
  readonly content: string | ReadonlyArray<ResponsesInputText | ResponsesInputImage | ResponsesInputFile>
}

/** OpenAI's Responses request, as far as it stores nothing between requests: the client sends the whole conversation each time. A null counts as absent. The gateway ignores unknown fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects fields of that API that would change the answer and are not supported (`store: true`, `previous_response_id`, `background: true`, `conversation`, `prompt`, file ids) with `unsupported_parameter`, and likewise fields that only another format has, such as `max_tokens`. Tools that only OpenAI's servers run are left out and listed in that header. */
export type ResponsesRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
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
  /** The maximum number of output tokens. Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_output_tokens?: number | null
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  readonly frequency_penalty?: number | null
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  readonly presence_penalty?: number | null
  /** The number of alternatives to each token; only with the log-probabilities of a stream, see `include`. */
  readonly top_logprobs?: number | null
  /** The tools that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<ResponsesTool> | null
  readonly tool_choice?: ResponsesToolChoice | null
  /** Whether an answer may call several tools. Default: the model's own. */
  readonly parallel_tool_calls?: boolean | null
  /** The format and the length of the answer's text. */
  readonly text?: {
    readonly format?: ResponsesTextFormat | null
    /** How detailed the answer is. Default: the model's own. */
    readonly verbosity?: "low" | "medium" | "high" | null
  } | null
  readonly reasoning?: ResponsesReasoning | null
  /** Whether the answer is a stream of events. Default: false. */
  readonly stream?: boolean | null
  /** `reasoning.encrypted_content` adds that member to reasoning items. `message.output_text.logprobs` affects only streams, because a complete answer cannot contain log-probabilities. Other names have no effect. */
  readonly include?: ReadonlyArray<string> | null
  /** A prompt is never truncated: `auto` has no effect. */
  readonly truncation?: "auto" | "disabled" | null
  /** No effect: it limits calls of hosted tools, which do not exist here. */
  readonly max_tool_calls?: number | null
  /** No effect. */
  readonly stream_options?: {
    /** No effect: streams have no padding. */
    readonly include_obfuscation?: boolean | null
  } | null
  /** Up to 16 pairs that the answer repeats: keys of at most 64 characters, values of at most 512. */
  readonly metadata?: Readonly<Record<string, string>> | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
  /** The same under OpenAI's newer name, with at most 128 characters. Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. At most 64 characters. */
  readonly prompt_cache_key?: string | null
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  /** The gateway stores no responses. */
  readonly store?: false | null
  /** Responses in the background are not supported. */
  readonly background?: false | null
  /** The gateway stores no responses: send the whole conversation in `input`. */
  readonly previous_response_id?: null
  /** The gateway stores no conversations: send the whole conversation in `input`. */
  readonly conversation?: null
  /** The gateway stores no prompts. Presets take their place. */
  readonly prompt?: null
  /** No effect: every request is served at the standard tier. */
  readonly service_tier?: "auto" | "default" | null
  /** No effect: fallbacks are the default. `routing.allow_fallbacks` turns them off. */
  readonly route?: "fallback" | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** A cost estimate. The gateway computes the hold of a request with the same function. `hold_usd` and `max_cost_usd` are equal when `max_tokens` is given, and for all work other than chat. */
export type CostEstimate = {
  readonly object: "cost_estimate"
  /** The model as the request names it. */
  readonly model: string
  /** The models that could serve, in order. */
  readonly resolved_models: ReadonlyArray<string>
  /** The expected cost. */
  readonly estimated_cost_usd: number
  /** The money that must be available for the request to be admitted. */
  readonly hold_usd: number
  /** The maximum cost. */
  readonly max_cost_usd: number
  /** The unit of the price. */
  readonly unit: "token" | "request" | "image" | "second" | "character"
  /** The estimate for each model at each provider. */
  readonly breakdown: ReadonlyArray<EstimateLine | UnitEstimateLine>
  /** The account's balance. */
  readonly balance_usd: number
  /** Whether the balance and the budgets of key and project have room for the hold. */
  readonly affordable: boolean
}

/** The estimate for one model at one provider with a price per unit. */
export type UnitEstimateLine = {
  /** The id of the model. */
  readonly model: string
  /** The id of the provider. */
  readonly provider: string
  /** The number of units. */
  readonly units: number
  /** In USD. */
  readonly price_per_unit: number
  /** The expected cost. */
  readonly estimated_cost_usd: number
  /** The maximum cost. */
  readonly max_cost_usd: number
}

/** The estimate for one model at one provider. */
export type EstimateLine = {
  /** The id of the model. */
  readonly model: string
  /** The id of the provider. */
  readonly provider: string
  /** The tokens of the prompt. */
  readonly input_tokens: number
  /** The part of them that is expected in the prompt cache. */
  readonly cached_tokens: number
  /** The maximum number of output tokens. */
  readonly max_output_tokens: number
  /** In USD. */
  readonly price_per_input_token: number
  /** In USD. */
  readonly price_per_output_token: number
  /** The expected cost. */
  readonly estimated_cost_usd: number
  /** The maximum cost. */
  readonly max_cost_usd: number
}

/** A cost estimate request for work other than chat. It contains the fields that determine the price: for embeddings the texts or the number of their tokens; for reranking `documents` and the query as `input` or `prompt`, or the number of tokens; for speech the text or its `characters`; for images `n`; for videos `duration`; for searches nothing. Other fields are rejected, except the text of the request. */
export type WorkEstimateRequest = {
  /** The id of the model. */
  readonly model: string
  /** The text to embed or to speak, up to 2,048 texts to embed, or the query of a reranking or a search. */
  readonly input?: string | ReadonlyArray<string>
  /** The prompt of an image or a video, or the query of a reranking. */
  readonly prompt?: string
  /** The number of tokens, in the place of texts. The hold covers a quarter more, as it does for a text of about this size. */
  readonly input_tokens?: number
  /** The documents to rerank, 1 to 1,000. */
  readonly documents?: ReadonlyArray<string>
  /** The number of characters to speak, 1 to 4,096, in the place of the text. */
  readonly characters?: number
  /** The number of images, 1 to 10. Default: 1. */
  readonly n?: number
  /** The length of the video in whole seconds, 4 to 15. */
  readonly duration?: number
}

/** A cost estimate request: a chat request, in which a text or a number of tokens may replace the messages. Unlike a chat request, it rejects unknown fields. */
export type EstimateRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
  readonly models?: ReadonlyArray<string> | null
  /** Whether the answer is a stream of chunks. Default: false. */
  readonly stream?: boolean | null
  /** Options for a stream. */
  readonly stream_options?: {
    /** Whether the last chunk, which has the usage and the cost, has no choices, as OpenAI sends it. Default: false. */
    readonly include_usage?: boolean | null
  } | null
  /** The maximum number of output tokens. Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_tokens?: number | null
  /** OpenAI's newer name of `max_tokens`, which it overrides. */
  readonly max_completion_tokens?: number | null
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  readonly frequency_penalty?: number | null
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  readonly presence_penalty?: number | null
  /** From 0 to 1. The model leaves out tokens below this share of the most likely token's probability. Default: the model's own. */
  readonly min_p?: number | null
  /** From 0 to 2. Above 1, tokens that have occurred become less likely. Default: the model's own. */
  readonly repetition_penalty?: number | null
  /** Requests with the same seed tend to get the same answer, where the provider supports that. */
  readonly seed?: number | null
  /** A text, or up to four, at which the model stops. The answer does not contain it. */
  readonly stop?: string | ReadonlyArray<string> | null
  /** The functions that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  /** Whether an answer may call several tools. Default: the model's own. */
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  /** Whether the answer has the log-probabilities of its tokens, where the model supports that. Default: false. */
  readonly logprobs?: boolean | null
  /** The number of alternatives to each token among the log-probabilities. Default: 0. */
  readonly top_logprobs?: number | null
  /** How detailed the answer is. Default: the model's own. */
  readonly verbosity?: "low" | "medium" | "high" | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
  /** The same under OpenAI's newer name, with at most 128 characters. Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. At most 64 characters. */
  readonly prompt_cache_key?: string | null
  /** Texts of the client's own. They have no effect. */
  readonly metadata?: Readonly<Record<string, string>> | null
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  /** The messages of the chat. */
  readonly messages?: ReadonlyArray<ChatMessage>
  /** A text in the place of the messages. */
  readonly input?: string
  /** The same as `input`. */
  readonly prompt?: string
  /** A number of tokens in the place of the messages. The hold covers a quarter more, as it does for a text of about this size. */
  readonly input_tokens?: number
  /** An answer has one choice. */
  readonly n?: 1 | null
  /** The gateway stores no completions. */
  readonly store?: false | null
  /** No effect: every request is served at the standard tier. */
  readonly service_tier?: "auto" | "default" | null
  /** No effect: fallbacks are the default. `routing.allow_fallbacks` turns them off. */
  readonly route?: "fallback" | null
  /** Sampling by `top_a` is not supported. */
  readonly top_a?: 0 | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** A message of the conversation. Only messages of users and tools may contain images and files. */
export type ChatMessage =
  | {
      readonly role: "system"
      /** Text as a string or in parts. */
      readonly content: string | ReadonlyArray<ChatTextPart>
      /** The name of the speaker. Only OpenAI's models see it. */
      readonly name?: string | null
    }
  | {
      readonly role: "developer"
      /** Text as a string or in parts. */
      readonly content: string | ReadonlyArray<ChatTextPart>
      /** The name of the speaker. Only OpenAI's models see it. */
      readonly name?: string | null
    }
  | {
      readonly role: "user"
      /** Text as a string, or text, images and files as parts. */
      readonly content: string | ReadonlyArray<ChatTextPart | ChatImagePart | ChatFilePart>
      /** The name of the speaker. Only OpenAI's models see it. */
      readonly name?: string | null
    }
  | {
      readonly role: "assistant"
      /** Text as a string, or text and refusals as parts. */
      readonly content?: string | ReadonlyArray<ChatTextPart | ChatRefusalPart> | null
      /** The name of the speaker. Only OpenAI's models see it. */
      readonly name?: string | null
      /** The refusal of an earlier answer. */
      readonly refusal?: string | null
      /** The text of the answer's reasoning. */
      readonly reasoning?: string | null
      /** The same text under DeepSeek's name. */
      readonly reasoning_content?: string | null
      /** The details of the earlier answer, unchanged. They override the two texts. Details that this service did not sign are ignored. */
      readonly reasoning_details?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
      /** The calls that the model made, at most 128. A message of role `tool` has the result of each. */
      readonly tool_calls?: ReadonlyArray<ChatToolCall> | null
    }
  | {
      readonly role: "tool"
      /** Text as a string, or text, images and files as parts. */
      readonly content: string | ReadonlyArray<ChatTextPart | ChatImagePart | ChatFilePart>
      /** The `id` of the call whose result this message is. */
      readonly tool_call_id: string
    }

/** A refusal of the assistant in an earlier answer. */
export type ChatRefusalPart = {
  readonly type: "refusal"
  /** The text of the refusal. */
  readonly refusal: string
}

/** A complete answer. */
export type ChatCompletion = {
  /** `chatcmpl-` and the end of the request's id. */
  readonly id: string
  readonly object: "chat.completion"
  /** Unix seconds. */
  readonly created: number
  /** The model as the request names it. */
  readonly model: string
  /** The model that served. */
  readonly resolved_model: string
  /** The provider that served. */
  readonly provider: string
  /** The answer: exactly one choice. */
  readonly choices: ReadonlyArray<ChatChoice>
  readonly usage: ChatUsage
  /** Always null. OpenRouter's clients require the member. */
  readonly system_fingerprint: null
  /** The charge in USD, as on the receipt of `request_id`. */
  readonly cost_usd: number
  readonly request_id: RequestId
  readonly routing: RoutingSummary
  readonly balance_warning?: BalanceWarning
}

/** A chat request with a preset. Its own fields override the preset's: `model` or `models` replace the preset's models, and each member of `routing` replaces that of the preset's. */
export type PresetChatRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
  readonly models?: ReadonlyArray<string> | null
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<ChatMessage>
  /** Whether the answer is a stream of chunks. Default: false. */
  readonly stream?: boolean | null
  /** Options for a stream. */
  readonly stream_options?: {
    /** Whether the last chunk, which has the usage and the cost, has no choices, as OpenAI sends it. Default: false. */
    readonly include_usage?: boolean | null
  } | null
  /** The maximum number of output tokens, at most 131,072. */
  readonly max_tokens?: number | null
  /** OpenAI's newer name of `max_tokens`, which it overrides. At most 131,072. */
  readonly max_completion_tokens?: number | null
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  readonly frequency_penalty?: number | null
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  readonly presence_penalty?: number | null
  /** From 0 to 1. The model leaves out tokens below this share of the most likely token's probability. Default: the model's own. */
  readonly min_p?: number | null
  /** From 0 to 2. Above 1, tokens that have occurred become less likely. Default: the model's own. */
  readonly repetition_penalty?: number | null
  /** Requests with the same seed tend to get the same answer, where the provider supports that. */
  readonly seed?: number | null
  /** A text, or up to four, at which the model stops. The answer does not contain it. */
  readonly stop?: string | ReadonlyArray<string> | null
  /** The functions that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  /** Whether an answer may call several tools. Default: the model's own. */
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  /** Whether the answer has the log-probabilities of its tokens, where the model supports that. Default: false. */
  readonly logprobs?: boolean | null
  /** The number of alternatives to each token among the log-probabilities. Default: 0. */
  readonly top_logprobs?: number | null
  /** How detailed the answer is. Default: the model's own. */
  readonly verbosity?: "low" | "medium" | "high" | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
  /** The same under OpenAI's newer name, with at most 128 characters. Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. At most 64 characters. */
  readonly prompt_cache_key?: string | null
  /** Texts of the client's own. They have no effect. */
  readonly metadata?: Readonly<Record<string, string>> | null
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  /** An answer has one choice. */
  readonly n?: 1 | null
  /** The gateway stores no completions. */
  readonly store?: false | null
  /** No effect: every request is served at the standard tier. */
  readonly service_tier?: "auto" | "default" | null
  /** No effect: fallbacks are the default. `routing.allow_fallbacks` turns them off. */
  readonly route?: "fallback" | null
  /** Sampling by `top_a` is not supported. */
  readonly top_a?: 0 | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** OpenAI's chat completion request with OpenRouter's additions. A null counts as absent, as it does there. The gateway ignores unknown fields and lists them in the `X-Svc-Ignored-Parameters` response header. It rejects fields of those APIs that would change the answer and are not supported, with `unsupported_parameter`, and likewise fields that only another format has, such as `max_output_tokens`. */
export type ChatCompletionRequest = {
  /** A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is given. */
  readonly model?: string | null
  /** The fallback chain as a list of 1 to 15 ids. */
  readonly models?: ReadonlyArray<string> | null
  /** At most 100, unless the operator allows more with `MAX_MESSAGES`. */
  readonly messages: ReadonlyArray<ChatMessage>
  /** Whether the answer is a stream of chunks. Default: false. */
  readonly stream?: boolean | null
  /** Options for a stream. */
  readonly stream_options?: {
    /** Whether the last chunk, which has the usage and the cost, has no choices, as OpenAI sends it. Default: false. */
    readonly include_usage?: boolean | null
  } | null
  /** The maximum number of output tokens. Without a limit, the service chooses a ceiling and holds money for it as far as the balance allows. */
  readonly max_tokens?: number | null
  /** OpenAI's newer name of `max_tokens`, which it overrides. */
  readonly max_completion_tokens?: number | null
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  readonly temperature?: number | null
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  readonly top_p?: number | null
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  readonly top_k?: number | null
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  readonly frequency_penalty?: number | null
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  readonly presence_penalty?: number | null
  /** From 0 to 1. The model leaves out tokens below this share of the most likely token's probability. Default: the model's own. */
  readonly min_p?: number | null
  /** From 0 to 2. Above 1, tokens that have occurred become less likely. Default: the model's own. */
  readonly repetition_penalty?: number | null
  /** Requests with the same seed tend to get the same answer, where the provider supports that. */
  readonly seed?: number | null
  /** A text, or up to four, at which the model stops. The answer does not contain it. */
  readonly stop?: string | ReadonlyArray<string> | null
  /** The functions that the model may call, at most 512. */
  readonly tools?: ReadonlyArray<ChatTool> | null
  readonly tool_choice?: ChatToolChoice | null
  /** Whether an answer may call several tools. Default: the model's own. */
  readonly parallel_tool_calls?: boolean | null
  readonly response_format?: ChatResponseFormat | null
  readonly reasoning?: ChatReasoning | null
  /** The same as `reasoning.effort`, which takes precedence. `max` means `xhigh`. */
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null
  /** Whether the answer has the log-probabilities of its tokens, where the model supports that. Default: false. */
  readonly logprobs?: boolean | null
  /** The number of alternatives to each token among the log-probabilities. Default: 0. */
  readonly top_logprobs?: number | null
  /** How detailed the answer is. Default: the model's own. */
  readonly verbosity?: "low" | "medium" | "high" | null
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  readonly user?: string | null
  /** The same under OpenAI's newer name, with at most 128 characters. Used when `user` is absent. */
  readonly safety_identifier?: string | null
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. At most 64 characters. */
  readonly prompt_cache_key?: string | null
  /** Texts of the client's own. They have no effect. */
  readonly metadata?: Readonly<Record<string, string>> | null
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  readonly session_id?: string | null
  /** The routing of this request. Default: that of the key, or else of its project. */
  readonly routing?: RoutingPolicy | null
  /** Options for `svc/auto`. */
  readonly router?: RouterOptions | null
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  readonly budget_cents?: number | null
  /** An answer has one choice. */
  readonly n?: 1 | null
  /** The gateway stores no completions. */
  readonly store?: false | null
  /** No effect: every request is served at the standard tier. */
  readonly service_tier?: "auto" | "default" | null
  /** No effect: fallbacks are the default. `routing.allow_fallbacks` turns them off. */
  readonly route?: "fallback" | null
  /** Sampling by `top_a` is not supported. */
  readonly top_a?: 0 | null
  /** OpenRouter's form of `routing`. */
  readonly provider?: Readonly<Record<string, unknown>> | null
}

/** The request and the response of each operation, by its id. */
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
      /** The slug of a preset. */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `last_id` of the previous page. */
      readonly after?: ResourceId
      /** `asc` sorts by time, oldest first. Default: `desc`. */
      readonly order?: "asc" | "desc"
    }
    readonly answer: VideoPage
  }
  /** Retrieve a video job */
  readonly "videos.get": {
    readonly path: {
      /** The id of a video job. */
      readonly id: string
    }
    readonly answer: VideoJob
  }
  /** Redirect to the file of a completed video */
  readonly "videos.content": {
    readonly path: {
      /** The id of a video job. */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `last_id` of the previous page. */
      readonly after?: ResourceId
    }
    readonly answer: BatchPage
  }
  /** Retrieve a batch */
  readonly "batches.get": {
    readonly path: {
      /** The id of a batch. */
      readonly batch_id: string
    }
    readonly answer: BatchObject
  }
  /** Cancel a batch; running requests finish */
  readonly "batches.cancel": {
    readonly path: {
      /** The id of a batch. */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `last_id` of the previous page. */
      readonly after?: string
      /** The purpose of a file: the input of a batch, or its output. */
      readonly purpose?: "batch" | "batch_output"
      /** `asc` sorts by time, oldest first. Default: `desc`. */
      readonly order?: "asc" | "desc"
    }
    readonly answer: FileList
  }
  /** Retrieve a file's metadata */
  readonly "files.get": {
    readonly path: {
      /** The id of a file. */
      readonly file_id: string
    }
    readonly answer: FileObject
  }
  /** Delete a file */
  readonly "files.delete": {
    readonly path: {
      /** The id of a file. */
      readonly file_id: string
    }
    readonly answer: FileDeleted
  }
  /** Retrieve the content of a file */
  readonly "files.content": {
    readonly path: {
      /** The id of a file. */
      readonly file_id: string
    }
    readonly answer: Blob
  }
  /** List receipts, newest first */
  readonly "requests.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: RequestId
      /** The model that was requested, or that served. */
      readonly model?: string
      /** How the request ended. `open`: the work has not ended. */
      readonly status?: "open" | "succeeded" | "failed" | "cancelled"
      /** The key that made the request. */
      readonly key_id?: ResourceId
      /** The project of that key. */
      readonly project_id?: ResourceId
      /** The provider that served. */
      readonly provider?: string
      /** The `operation` of the receipts, such as `chat.completions`. */
      readonly operation?: string
      /** The least `cost_usd`. */
      readonly min_cost_usd?: number
      /** The most `cost_usd`. */
      readonly max_cost_usd?: number
      /** The least `timings.total_ms`. Receipts without it do not match. */
      readonly min_latency_ms?: number
      /** The most `timings.total_ms`. Receipts without it do not match. */
      readonly max_latency_ms?: number
      /** The earliest arrival, in Unix seconds. */
      readonly start_time?: number
      /** The end of the arrivals, which it excludes, in Unix seconds. */
      readonly end_time?: number
    }
    readonly answer: RequestList
  }
  /** Retrieve a receipt */
  readonly "requests.get": {
    readonly path: {
      /** The id of a request, which every response has in `X-Request-ID`. */
      readonly request_id: RequestId
    }
    readonly answer: RequestReceipt
  }
  /** Usage of a period, in buckets */
  readonly usage: {
    readonly query: {
      /** The last 24 hours, 7 days or 30 days, including the current hour or day. Default: `30d`. Any other value is rejected with `invalid_period`. */
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
      /** The id of a chat completion, a message, a response or a request. Each of them ends with the same 26 characters. */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: WebhookList
  }
  /** Retrieve a webhook */
  readonly "webhooks.get": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookEndpoint
  }
  /** Change a webhook, or enable it again */
  readonly "webhooks.update": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly body: WebhookChange
    readonly answer: WebhookEndpoint
  }
  /** Delete a webhook */
  readonly "webhooks.delete": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookDeleted
  }
  /** List the deliveries of a webhook, newest first */
  readonly "webhooks.deliveries": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: WebhookDeliveryList
  }
  /** Try a delivery once more */
  readonly "webhooks.redeliver": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
      /** The id of a delivery. */
      readonly delivery_id: ResourceId
    }
    readonly answer: WebhookDelivery
  }
  /** Replace the secret of a webhook; both secrets sign for 24 hours */
  readonly "webhooks.rotate_secret": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookEndpointWithSecret
  }
  /** Send a webhook a test event */
  readonly "webhooks.test": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookTest
  }
  /** List models */
  readonly "models.list": {
    readonly query: {
      /** The kind of input and output of a model, which determines its operations. */
      readonly modality?: "text" | "image" | "image_edit" | "video" | "audio" | "embedding" | "rerank" | "search"
      /** A provider id: only models that this provider serves here. */
      readonly provider?: string
      /** Only models with an available provider that retains no data. With `provider`, it must be that provider. */
      readonly zdr?: "true" | "false"
      /** A comma-separated list: only models that support all of these parameters. */
      readonly supported_parameters?: string
      /** The maximum price of a prompt token, in USD per million. Models with another unit are left out. */
      readonly max_price?: number
      /** Words to find in the id, name, brand or description. */
      readonly q?: string
      /** `price` and `-price` sort by the typical request, with unpriced models last; `created` by age, oldest first; `context` by context window, largest first. Default: the catalogue's order. */
      readonly sort?: "price" | "-price" | "created" | "-created" | "name" | "context"
      /** The maximum number of models on a page, as Anthropic's clients send it. Default: all. */
      readonly limit?: number
      /** Models after this one: the `last_id` of the previous page. */
      readonly after_id?: string
      /** Models right before this one: the `first_id` of the next page. Overrides `after_id`. */
      readonly before_id?: string
      /** The number of models to skip, as OpenRouter's clients page. Has no effect beside `after_id` and `before_id`. */
      readonly offset?: number
    }
    readonly answer: ModelList
  }
  /** Retrieve a model */
  readonly "models.get": {
    readonly path: {
      /** The id of a model. */
      readonly id: string
    }
    readonly answer: ModelDetail
  }
  /** List keys, newest first */
  readonly "management.keys.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
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
      /** The id of a key. */
      readonly key_id: ResourceId
    }
    readonly answer: ManagedKeyResult
  }
  /** Change a key */
  readonly "management.keys.update": {
    readonly path: {
      /** The id of a key. */
      readonly key_id: ResourceId
    }
    readonly body: ManagedKeyChange
    readonly answer: ManagedKeyResult
  }
  /** Revoke a key immediately */
  readonly "management.keys.revoke": {
    readonly path: {
      /** The id of a key. */
      readonly key_id: ResourceId
    }
    readonly answer: KeyRevoked
  }
  /** Replace a key with a new secret; the old key stops at once or after a grace period */
  readonly "management.keys.rotate": {
    readonly path: {
      /** The id of a key. */
      readonly key_id: ResourceId
    }
    readonly body: KeyRotation
    readonly answer: ManagedKeyWithSecret
  }
  /** List projects, newest first */
  readonly "management.projects.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
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
      /** The id of a project. */
      readonly project_id: ResourceId
    }
    readonly answer: ProjectResult
  }
  /** Change a project */
  readonly "management.projects.update": {
    readonly path: {
      /** The id of a project. */
      readonly project_id: ResourceId
    }
    readonly body: ProjectChange
    readonly answer: ProjectResult
  }
  /** Archive a project for good, and revoke its keys immediately */
  readonly "management.projects.archive": {
    readonly path: {
      /** The id of a project. */
      readonly project_id: ResourceId
    }
    readonly answer: ProjectResult
  }
  /** List presets, newest first */
  readonly "management.presets.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
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
      /** The slug of a preset. */
      readonly slug: PresetSlug
    }
    readonly answer: PresetResult
  }
  /** Change a preset; a new config becomes its active version */
  readonly "management.presets.update": {
    readonly path: {
      /** The slug of a preset. */
      readonly slug: PresetSlug
    }
    readonly body: PresetChange
    readonly answer: PresetResult
  }
  /** Delete a preset with all its versions */
  readonly "management.presets.delete": {
    readonly path: {
      /** The slug of a preset. */
      readonly slug: PresetSlug
    }
    readonly answer: PresetDeleted
  }
  /** List the versions of a preset, newest first */
  readonly "management.presets.versions": {
    readonly path: {
      /** The slug of a preset. */
      readonly slug: PresetSlug
    }
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: number
    }
    readonly answer: PresetVersionList
  }
  /** Activate a version of a preset */
  readonly "management.presets.activate": {
    readonly path: {
      /** The slug of a preset. */
      readonly slug: PresetSlug
      /** The number of a version. A preset can have at most 1,000. */
      readonly version: number
    }
    readonly answer: PresetResult
  }
  /** List webhooks, newest first */
  readonly "management.webhooks.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
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
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookResult
  }
  /** Change a webhook, or enable it again */
  readonly "management.webhooks.update": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly body: WebhookChange
    readonly answer: WebhookResult
  }
  /** Remove a webhook */
  readonly "management.webhooks.delete": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookRemoved
  }
  /** Send a webhook a test event */
  readonly "management.webhooks.test": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookTest
  }
  /** Replace the secret of a webhook; both secrets sign for 24 hours */
  readonly "management.webhooks.rotate_secret": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly answer: WebhookResultWithSecret
  }
  /** List the deliveries of a webhook, newest first */
  readonly "management.webhooks.deliveries": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
    }
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: WebhookDeliveryList
  }
  /** Try a delivery once more */
  readonly "management.webhooks.redeliver": {
    readonly path: {
      /** The id of a webhook. */
      readonly webhook_id: ResourceId
      /** The id of a delivery. */
      readonly delivery_id: ResourceId
    }
    readonly answer: WebhookDeliveryResult
  }
  /** List actions on the account, newest first */
  readonly "management.audit.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
      /** Actions after this time, in Unix seconds. */
      readonly "effective_at[gt]"?: number
      /** Actions at this time or later, in Unix seconds. */
      readonly "effective_at[gte]"?: number
      /** Actions before this time, in Unix seconds. */
      readonly "effective_at[lt]"?: number
      /** Actions at this time or earlier, in Unix seconds. */
      readonly "effective_at[lte]"?: number
      /** The type of the action, such as `key.revoked`. May be given several times. */
      readonly "event_types[]"?: ReadonlyArray<string>
      /** The id of the actor. May be given several times. */
      readonly "actor_ids[]"?: ReadonlyArray<string>
      /** The id of the resource. May be given several times. */
      readonly "resource_ids[]"?: ReadonlyArray<string>
    }
    readonly answer: AuditLogList
  }
  /** Usage by project, key, model and provider, in buckets */
  readonly "management.usage": {
    readonly query: {
      /** The range up to now, including the current hour or day. Default: `30d`. */
      readonly period?: "1d" | "7d" | "30d"
      /** The start of the range, in Unix seconds. Excludes `period`. */
      readonly start_time?: number
      /** The end of the range, which it excludes, in Unix seconds. Default: now. */
      readonly end_time?: number
      /** Default: a UTC day, or an hour for the period `1d`. */
      readonly bucket_width?: "1h" | "1d"
      /** May be given several times. Default: model and provider. */
      readonly group_by?: ReadonlyArray<"project" | "key" | "model" | "provider">
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: string
    }
    readonly answer: UsageBreakdownReport
  }
  /** Usage over time, divided into its largest groups */
  readonly "management.usage.series": {
    readonly query: {
      /** The range up to now. Default: `7d`. */
      readonly period?: "1h" | "1d" | "7d" | "30d"
      /** The start of the range, in Unix seconds. Excludes `period`. */
      readonly start_time?: number
      /** The end of the range, which it excludes, in Unix seconds. Default: now. */
      readonly end_time?: number
      /** The width of a bucket, in UTC; weeks begin on Mondays. Default: minutes up to 6 hours, hours up to 3 days, days up to a year. */
      readonly interval?: "minute" | "hour" | "day" | "week"
      /** The property that divides the usage into series. Default: none, which gives one series. */
      readonly group_by?: "model" | "provider" | "key" | "project" | "operation" | "status"
      /** The figure by which groups are ranked. Default: `cost_usd`. */
      readonly rank_by?:
        | "cost_usd"
        | "requests"
        | "prompt_tokens"
        | "completion_tokens"
        | "failed_requests"
        | "latency_ms"
      /** The number of groups with a series of their own, from 1 to 20. Default: 8. The rest share one series. */
      readonly top?: number
      /** The model that served, or the requested model if none did. */
      readonly model?: string
      /** The provider that served. */
      readonly provider?: string
      /** The key that made the requests. */
      readonly key_id?: ResourceId
      /** The project of that key. */
      readonly project_id?: ResourceId
      /** The `operation` of the receipts, such as `chat.completions`. */
      readonly operation?: string
      /** The status of the receipts. */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
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
      /** The id of a session. */
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
  /** Retrieve which notifications the owner gets by email */
  readonly "console.notifications.get": {
    readonly answer: NotificationChoices
  }
  /** Choose which notifications come by email */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
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
      /** The id of a management key. */
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
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: TopUpList
  }
  /** Retrieve a top-up */
  readonly "console.top_ups.get": {
    readonly path: {
      /** The id of a top-up. */
      readonly top_up_id: ResourceId
    }
    readonly answer: TopUpReport
  }
  /** Pay a sandbox top-up with simulated money */
  readonly "console.top_ups.simulate": {
    readonly path: {
      /** The id of a top-up. */
      readonly top_up_id: ResourceId
    }
    readonly answer: TopUpReport
  }
  /** List or search accounts, newest first */
  readonly "operator.accounts.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
      /** A part of the email address, without regard to case, or the start of the id. */
      readonly search?: string
      /** The state of the account. */
      readonly state?: AccountState
    }
    readonly answer: OperatorAccountList
  }
  /** Retrieve an account with its money, spending, keys and budgets */
  readonly "operator.accounts.get": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly answer: OperatorAccountResult
  }
  /** Stop an account at once on every node; running requests finish */
  readonly "operator.accounts.suspend": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly body: AccountStateChange
    readonly answer: AccountStateResult
  }
  /** Let a suspended account work again */
  readonly "operator.accounts.resume": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly body: AccountStateChange
    readonly answer: AccountStateResult
  }
  /** Close an account for good and revoke its keys; its books stay */
  readonly "operator.accounts.close": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly body: AccountStateChange
    readonly answer: AccountStateResult
  }
  /** Set what an account pays beyond the catalogue's prices; running requests keep their price */
  readonly "operator.accounts.markup": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly body: AccountMarkup
    readonly answer: AccountMarkupResult
  }
  /** Multiply the rate limits of an account, within 30 seconds */
  readonly "operator.accounts.limits": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly body: AccountLimits
    readonly answer: AccountLimitsResult
  }
  /** List the keys of an account, newest first */
  readonly "operator.keys.list": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorKeyList
  }
  /** Revoke a key of an account immediately */
  readonly "operator.keys.revoke": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
      /** The id of a key. */
      readonly key_id: ResourceId
    }
    readonly answer: KeyRevoked
  }
  /** List the receipts of an account with the provider's cost */
  readonly "operator.requests.list": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: RequestId
      /** The model that was requested, or that served. */
      readonly model?: string
      /** How the request ended. `open`: the work has not ended. */
      readonly status?: "open" | "succeeded" | "failed" | "cancelled"
      /** The key that made the request. */
      readonly key_id?: ResourceId
      /** The project of that key. */
      readonly project_id?: ResourceId
      /** The provider that served. */
      readonly provider?: string
      /** The `operation` of the receipts, such as `chat.completions`. */
      readonly operation?: string
      /** The least `cost_usd`. */
      readonly min_cost_usd?: number
      /** The most `cost_usd`. */
      readonly max_cost_usd?: number
      /** The least `timings.total_ms`. Receipts without it do not match. */
      readonly min_latency_ms?: number
      /** The most `timings.total_ms`. Receipts without it do not match. */
      readonly max_latency_ms?: number
      /** The earliest arrival, in Unix seconds. */
      readonly start_time?: number
      /** The end of the arrivals, which it excludes, in Unix seconds. */
      readonly end_time?: number
    }
    readonly answer: OperatorReceiptList
  }
  /** List the receipts of all accounts with the provider's cost */
  readonly "operator.requests.all": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: RequestId
      /** How the request ended. `open`: the work has not ended. */
      readonly status?: "open" | "succeeded" | "failed" | "cancelled"
      /** The model that was requested, or that served. */
      readonly model?: string
      /** The provider that served. */
      readonly provider?: string
      /** The `operation` of the receipts, such as `chat.completions`. */
      readonly operation?: string
    }
    readonly answer: OperatorAnyReceiptList
  }
  /** Retrieve a receipt of any account with its movements */
  readonly "operator.requests.get": {
    readonly path: {
      /** The id of a request. */
      readonly request_id: RequestId
    }
    readonly answer: OperatorReceiptResult
  }
  /** Refund a request whole or in part; requires an `Idempotency-Key` */
  readonly "operator.requests.refund": {
    readonly path: {
      /** The id of a request. */
      readonly request_id: RequestId
    }
    readonly body: OperatorRefundRequest
    readonly answer: OperatorRefund
  }
  /** Report revenue, provider cost and margin by day, account, model or provider */
  readonly "operator.report": {
    readonly query: {
      /** May be given several times. Default: `day`. */
      readonly "by[]"?: ReadonlyArray<ReportGroup>
      /** The first day. Default: 29 days before the last. */
      readonly from?: string
      /** The last day. Default: today. */
      readonly to?: string
      /** Only requests of this account. */
      readonly account_id?: ResourceId
      /** `simulated` reports requests that the sandbox's simulated money paid for. Default: `real`. */
      readonly paid_with?: "real" | "simulated"
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: string
    }
    readonly answer: OperatorReport
  }
  /** List top-ups that need an operator, newest first */
  readonly "operator.top_ups.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorTopUpList
  }
  /** List the top-ups of an account, newest first */
  readonly "operator.top_ups.of_account": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorTopUpList
  }
  /** Credit a top-up that needs an operator, or take it back; requires an `Idempotency-Key` */
  readonly "operator.top_ups.settle": {
    readonly path: {
      /** The id of a top-up. */
      readonly top_up_id: ResourceId
    }
    readonly body: TopUpSettlement
    readonly answer: TopUpDecision
  }
  /** Dismiss a top-up that needs an operator, which moves no money; requires an `Idempotency-Key` */
  readonly "operator.top_ups.dismiss": {
    readonly path: {
      /** The id of a top-up. */
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
      /** The id of a price plan. */
      readonly plan_id: ResourceId
    }
    readonly answer: PlanResult
  }
  /** Change a price plan; running requests keep their price */
  readonly "operator.plans.set": {
    readonly path: {
      /** The id of a price plan. */
      readonly plan_id: ResourceId
    }
    readonly body: PlanChange
    readonly answer: PlanResult
  }
  /** Remove a price plan that no account belongs to */
  readonly "operator.plans.remove": {
    readonly path: {
      /** The id of a price plan. */
      readonly plan_id: ResourceId
    }
    readonly answer: PlanRemoved
  }
  /** Move an account to a price plan, or end its plan */
  readonly "operator.accounts.plan": {
    readonly path: {
      /** The id of an account. */
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
      /** The id of a provider, or `all`. */
      readonly provider: string
    }
    readonly body: ProviderSpendLimit
    readonly answer: ProviderSpendLimitResult
  }
  /** List what operators changed, newest first */
  readonly "operator.audit.list": {
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
    }
    readonly answer: OperatorChangeList
  }
  /** List the audit log of an account, newest first */
  readonly "operator.audit.of_account": {
    readonly path: {
      /** The id of an account. */
      readonly account_id: ResourceId
    }
    readonly query: {
      /** The number of entries on a page: 1 to 100; default 50. */
      readonly limit?: number
      /** The `next_cursor` of the previous page. */
      readonly cursor?: ResourceId
      /** Actions after this time, in Unix seconds. */
      readonly "effective_at[gt]"?: number
      /** Actions at this time or later, in Unix seconds. */
      readonly "effective_at[gte]"?: number
      /** Actions before this time, in Unix seconds. */
      readonly "effective_at[lt]"?: number
      /** Actions at this time or earlier, in Unix seconds. */
      readonly "effective_at[lte]"?: number
      /** The type of the action, such as `key.revoked`. May be given several times. */
      readonly "event_types[]"?: ReadonlyArray<string>
      /** The id of the actor. May be given several times. */
      readonly "actor_ids[]"?: ReadonlyArray<string>
      /** The id of the resource. May be given several times. */
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
      /** Stripe's signature of the event. */
      readonly "stripe-signature"?: string
    }
    readonly answer: EventReceived
  }
  /** Pay a sandbox checkout */
  readonly "payments.simulated": {
    readonly path: {
      /** The id of a checkout of the sandbox. */
      readonly session_id: string
    }
    readonly answer: TopUpReport
  }
  /** Create a chat completion, or return the cached one */
  readonly chat: {
    readonly headers: {
      /** `false`: the request neither reads nor writes the cache. Default: `true`. */
      readonly "x-svc-cache"?: string
      /** How long an answer to this request is cached, in seconds, 1 to 3,600. Default: 300. */
      readonly "x-svc-cache-ttl"?: string
      /** `no-store`: the request neither reads nor writes the cache. */
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
      /** The id of a video job. */
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
      /** The session's own `id`. */
      readonly id: string
    }
    readonly answer: SessionExport
  }
  /** Create a message */
  readonly messages: {
    readonly headers: {
      /** Sent by Anthropic's clients; no effect. */
      readonly "anthropic-version"?: string
      /** Passed on to Anthropic; no effect elsewhere. */
      readonly "anthropic-beta"?: string
    }
    readonly body: MessagesRequest
    readonly answer: MessagesAnswer
    readonly event: MessagesStreamEvent
  }
  /** Count the tokens of a message */
  readonly "messages.count_tokens": {
    readonly headers: {
      /** Sent by Anthropic's clients; no effect. */
      readonly "anthropic-version"?: string
      /** Passed on to Anthropic; no effect elsewhere. */
      readonly "anthropic-beta"?: string
    }
    readonly body: MessagesCountRequest
    readonly answer: MessagesTokenCount
  }
}

/** The answers to Anthropic's Messages request. */
import { Schema } from "effect"
import { Count, JsonObject, Usd } from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { MessagesErrorObject } from "../MessagesErrors.ts"
import { BalanceWarning, RoutingSummary } from "../Routing.ts"

/** Tokens in disjoint buckets: `input_tokens` excludes prompt cache reads and writes. */
export const MessagesUsage = Schema.Struct({
  /** The tokens of the prompt outside the prompt cache. */
  input_tokens: Count,
  /** Tokens written to the prompt cache. */
  cache_creation_input_tokens: Count,
  /** Tokens read from the prompt cache. */
  cache_read_input_tokens: Count,
  /** The tokens of `cache_creation_input_tokens` by lifetime. */
  cache_creation: Schema.Struct({
    /** Kept for five minutes. */
    ephemeral_5m_input_tokens: Count,
    /** Kept for an hour. */
    ephemeral_1h_input_tokens: Count
  }),
  /** The tokens of the output, thinking included. */
  output_tokens: Count,
  /** Parts of `output_tokens`. */
  output_tokens_details: Schema.Struct({
    /** Tokens of thinking, shown or hidden. */
    thinking_tokens: Count
  })
}).annotate({ identifier: "MessagesUsage" })
export type MessagesUsage = typeof MessagesUsage.Type

/**
 * A content block of an answer. Thinking has a signature of this service, which the client sends back with the conversation so that the
 * model can continue from it. Thinking that its provider does not show is `redacted_thinking`.
 */
export const MessagesBlock = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("text"),
    /** The text. */
    text: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("thinking"),
    /** The text, empty with `display: "omitted"`. */
    thinking: Schema.String,
    /** Contains the thinking and the provider's data, encrypted. */
    signature: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("redacted_thinking"),
    /** Contains the thinking and the provider's data, encrypted. */
    data: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("tool_use"),
    /** The id of the call, which its result repeats. */
    id: Schema.String,
    /** The name of the tool. */
    name: Schema.String,
    /** The input of the tool. Output that is not a JSON object is in its member `arguments` as text. */
    input: JsonObject,
    /** The model makes every call. Anthropic's clients require the member. */
    caller: Schema.Struct({ type: Schema.Literal("direct") })
  })
]).annotate({ identifier: "MessagesBlock" })
export type MessagesBlock = typeof MessagesBlock.Type

/**
 * Why the model stopped: it was done, reached the limit of the output, wrote a stop sequence, called tools, or refused; `refusal` also
 * means a filtered answer.
 */
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
  context_management: Schema.optionalKey(
    Schema.Struct({
      /** The edits, in Anthropic's format. */
      applied_edits: Schema.Array(JsonObject)
    })
  ),
  /** The charge in USD, as on the receipt of `request_id`. */
  cost_usd: Usd,
  request_id: RequestId,
  /** The provider that served. */
  provider: Schema.String,
  /** The model that served. */
  resolved_model: ModelString,
  routing: RoutingSummary,
  balance_warning: Schema.optionalKey(BalanceWarning)
}

const head = {
  /** `msg_` and the end of the request's id. */
  id: Schema.String,
  type: Schema.Literal("message"),
  role: Schema.Literal("assistant"),
  /** The model as the request names it. */
  model: ModelString
}

/** A complete answer. */
export const MessagesAnswer = Schema.Struct({
  ...head,
  /** The blocks of the answer, in order. */
  content: Schema.Array(MessagesBlock),
  stop_reason: MessagesStopReason,
  /** The stop sequence that the model wrote, if the provider names it. */
  stop_sequence: Schema.NullOr(Schema.String),
  usage: MessagesUsage,
  ...extras
}).annotate({ identifier: "MessagesAnswer" })
export type MessagesAnswer = typeof MessagesAnswer.Type

const index = {
  /** The place of the block in the answer. */
  index: Count
}

/**
 * One event of a streamed answer. Its `type` is also the event's name. The input tokens in `message_start` are an estimate.
 * `message_delta` contains the charged counts and their cost. Nothing follows an `error`.
 */
export const MessagesStreamEvent = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("message_start"),
    /** The message at its start. */
    message: Schema.Struct({
      ...head,
      /** Empty: the blocks follow. */
      content: Schema.Array(MessagesBlock),
      /** Null: `message_delta` has it. */
      stop_reason: Schema.Null,
      /** Null: `message_delta` has it. */
      stop_sequence: Schema.Null,
      usage: MessagesUsage
    })
  }),
  Schema.Struct({ type: Schema.Literal("content_block_start"), ...index, content_block: MessagesBlock }),
  Schema.Struct({
    type: Schema.Literal("content_block_delta"),
    ...index,
    /** What is added to the block. */
    delta: Schema.Union([
      Schema.Struct({
        type: Schema.Literal("text_delta"),
        /** The next piece of the text. */
        text: Schema.String
      }),
      Schema.Struct({
        type: Schema.Literal("thinking_delta"),
        /** The next piece of the thinking. */
        thinking: Schema.String
      }),
      Schema.Struct({
        type: Schema.Literal("signature_delta"),
        /** The whole signature. */
        signature: Schema.String
      }),
      Schema.Struct({
        type: Schema.Literal("input_json_delta"),
        /** The next piece of the input as JSON text. */
        partial_json: Schema.String
      })
    ])
  }),
  Schema.Struct({ type: Schema.Literal("content_block_stop"), ...index }),
  Schema.Struct({
    type: Schema.Literal("message_delta"),
    /** How the answer ended. */
    delta: Schema.Struct({
      stop_reason: MessagesStopReason,
      /** The stop sequence that the model wrote, if the provider names it. */
      stop_sequence: Schema.NullOr(Schema.String)
    }),
    usage: MessagesUsage,
    ...extras
  }),
  Schema.Struct({ type: Schema.Literal("message_stop") }),
  Schema.Struct({ type: Schema.Literal("ping") }),
  Schema.Struct({
    type: Schema.Literal("error"),
    error: MessagesErrorObject,
    request_id: RequestId,
    /** The charge in USD for the output before the error. Absent when the charge is unknown. */
    cost_usd: Schema.optionalKey(Usd)
  })
]).annotate({ identifier: "MessagesStreamEvent" })
export type MessagesStreamEvent = typeof MessagesStreamEvent.Type

/** The tokens of a prompt, counted by one tokenizer for all models. A provider's own count may differ slightly. */
export const MessagesTokenCount = Schema.Struct({
  /** The tokens of the prompt. */
  input_tokens: Count
}).annotate({ identifier: "MessagesTokenCount" })

/** The answers to OpenAI's Responses request. */
import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"
import { ModelString, RequestId } from "../Ids.ts"
import { RoutingSummary } from "../Routing.ts"
import { ResponsesCallItem, ResponsesCustomCallItem, ResponsesSearchItem } from "./ResponsesTools.ts"

/** `incomplete`: the answer was cut short in this item. */
const ItemStatus = Schema.Literals(["completed", "incomplete"])

/** The model's reasoning, if the provider shows it. */
export const ResponsesReasoningItem = Schema.Struct({
  /** The id of the item, which starts with `rs_`. */
  id: Schema.String,
  type: Schema.Literal("reasoning"),
  status: ItemStatus,
  /** The text of the reasoning, if the provider shows it. */
  summary: Schema.Array(
    Schema.Struct({
      type: Schema.Literal("summary_text"),
      /** The text. */
      text: Schema.String
    })
  ),
  /** Present only when `include` contains `reasoning.encrypted_content`. Send it back so that the model continues from it. */
  encrypted_content: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ResponsesReasoningItem" })

/** The model's text. A refusal is text like any other. */
export const ResponsesMessageItem = Schema.Struct({
  /** The id of the item, which starts with `msg_`. */
  id: Schema.String,
  type: Schema.Literal("message"),
  status: ItemStatus,
  role: Schema.Literal("assistant"),
  /** The text in parts. */
  content: Schema.Array(
    Schema.Struct({
      type: Schema.Literal("output_text"),
      /** The text. */
      text: Schema.String,
      /** Always empty. */
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

/** Token counts. */
export const ResponsesUsage = Schema.Struct({
  /** The tokens of the prompt, prompt cache reads and writes included. */
  input_tokens: Count,
  /** Parts of `input_tokens`. */
  input_tokens_details: Schema.Struct({
    /** Tokens read from the prompt cache. */
    cached_tokens: Count,
    /** Tokens written to the prompt cache. */
    cache_creation_tokens: Count
  }),
  /** The tokens of the output, reasoning included. */
  output_tokens: Count,
  /** Parts of `output_tokens`. */
  output_tokens_details: Schema.Struct({
    /** Tokens of reasoning, shown or hidden. */
    reasoning_tokens: Count
  }),
  /** The sum of both. */
  total_tokens: Count
}).annotate({ identifier: "ResponsesUsage" })

/** The members that an answer has from its start. */
const requestFields = {
  /** `resp_` and the end of the request's id. */
  id: Schema.String,
  object: Schema.Literal("response"),
  /** Unix seconds. */
  created_at: Schema.Int,
  /** Always null: a failed request gets an error response. */
  error: Schema.Null,
  /** As in the request. */
  instructions: Schema.NullOr(Schema.String),
  /** As in the request. */
  max_output_tokens: Schema.NullOr(Schema.Int),
  /** The model as the request names it. */
  model: ModelString,
  /** As in the request. */
  parallel_tool_calls: Schema.Boolean,
  /** Always null: the gateway stores no responses. */
  previous_response_id: Schema.Null,
  store: Schema.Literal(false),
  request_id: RequestId,
  /** As in the request. */
  metadata: Schema.Record(Schema.String, Schema.String)
}

/** A complete answer. It has exactly these members, so a low balance is reported in the `X-Balance-Warning` header. */
export const ResponseObject = Schema.Struct({
  ...requestFields,
  /** `incomplete`: the answer was cut short. */
  status: ItemStatus,
  /** Why the answer is incomplete; null for a complete one. */
  incomplete_details: Schema.NullOr(
    Schema.Struct({
      /** The limit of the output was reached, or the answer was filtered. */
      reason: Schema.Literals(["max_output_tokens", "content_filter"])
    })
  ),
  /** The items of the answer, in order. */
  output: Schema.Array(ResponsesOutputItem),
  /** The texts of all messages in `output`, joined. */
  output_text: Schema.String,
  usage: ResponsesUsage,
  /** The charge in USD, as on the receipt of `request_id`. */
  cost_usd: Usd,
  /** The provider that served. */
  provider: Schema.NullOr(Schema.String),
  routing: RoutingSummary
}).annotate({ identifier: "Response" })
export type ResponseObject = typeof ResponseObject.Type

/** Null: the answer at the end of the stream has it. */
const Later = Schema.Null

/**
 * The answer at the start of a stream. Its status is `in_progress`, and members that are known only at the end, such as `usage`, are
 * null.
 */
export const ResponseBegun = Schema.Struct({
  ...requestFields,
  status: Schema.Literal("in_progress"),
  incomplete_details: Later,
  /** Empty: the items follow. */
  output: Schema.Tuple([]),
  output_text: Schema.Literal(""),
  usage: Later,
  cost_usd: Later,
  provider: Later,
  routing: Later
}).annotate({ identifier: "ResponseBegun" })
export type ResponseBegun = typeof ResponseBegun.Type

/** The tokens of a prompt, by the tokenizer that the service uses when a provider reports no usage. */
export const ResponsesTokens = Schema.Struct({
  object: Schema.Literal("response.input_tokens"),
  /** The tokens of the prompt. */
  input_tokens: Count
}).annotate({ identifier: "ResponsesTokens" })
export type ResponsesTokens = typeof ResponsesTokens.Type

/** The events of a streamed response. */
import { Schema } from "effect"
import { Count } from "../Bounds.ts"
import { BalanceWarning } from "../Routing.ts"
import { ResponseBegun, ResponseObject, ResponsesMessageItem, ResponsesReasoningItem } from "./Responses.ts"
import { ResponsesCallItem, ResponsesCustomCallItem, ResponsesSearchItem } from "./ResponsesTools.ts"

const event = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), sequence_number: Count, ...fields })

const ofItem = { item_id: Schema.String, output_index: Count }
const ofPart = { ...ofItem, content_index: Count }
const ofSummary = { ...ofItem, summary_index: Count }

const Status = Schema.Literals(["in_progress", "completed", "incomplete"])

/** A part of a message. In a stream, a refusal has a part type of its own; in the complete answer it is text. */
export const ResponsesStreamPart = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("output_text"),
    text: Schema.String,
    annotations: Schema.Array(Schema.Unknown)
  }),
  Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String })
]).annotate({ identifier: "ResponsesStreamPart" })
export type ResponsesStreamPart = typeof ResponsesStreamPart.Type

/** An item while it is streamed: `in_progress` and empty when it is added. */
export const ResponsesStreamItem = Schema.Union([
  Schema.Struct({ ...ResponsesReasoningItem.fields, status: Status }),
  Schema.Struct({ ...ResponsesMessageItem.fields, status: Status, content: Schema.Array(ResponsesStreamPart) }),
  Schema.Struct({ ...ResponsesCallItem.fields, status: Status }),
  Schema.Struct({ ...ResponsesCustomCallItem.fields, status: Status }),
  Schema.Struct({ ...ResponsesSearchItem.fields, status: Status })
]).annotate({ identifier: "ResponsesStreamItem" })
export type ResponsesStreamItem = typeof ResponsesStreamItem.Type

const ended = { response: ResponseObject, balance_warning: Schema.optionalKey(BalanceWarning) }
const SummaryPart = Schema.Struct({ type: Schema.Literal("summary_text"), text: Schema.String })
const Logprobs = Schema.Array(Schema.Unknown)

/**
 * One event of a streamed response, numbered from 0. The last one is `response.completed` or `response.incomplete`, which contains the
 * complete answer. A failing stream ends with `response.failed` and then `error`, because some clients read only one of the two. There
 * is no `[DONE]`.
 */
export const ResponsesStreamEvent = Schema.Union([
  event("response.created", { response: ResponseBegun }),
  event("response.in_progress", { response: ResponseBegun }),
  event("response.output_item.added", { output_index: Count, item: ResponsesStreamItem }),
  event("response.output_item.done", { output_index: Count, item: ResponsesStreamItem }),
  event("response.content_part.added", { ...ofPart, part: ResponsesStreamPart }),
  event("response.content_part.done", { ...ofPart, part: ResponsesStreamPart }),
  event("response.output_text.delta", { ...ofPart, delta: Schema.String, logprobs: Logprobs }),
  event("response.output_text.done", { ...ofPart, text: Schema.String, logprobs: Logprobs }),
  event("response.refusal.delta", { ...ofPart, delta: Schema.String }),
  event("response.refusal.done", { ...ofPart, refusal: Schema.String }),
  event("response.reasoning_summary_part.added", { ...ofSummary, part: SummaryPart }),
  event("response.reasoning_summary_part.done", { ...ofSummary, part: SummaryPart }),
  event("response.reasoning_summary_text.delta", { ...ofSummary, delta: Schema.String }),
  event("response.reasoning_summary_text.done", { ...ofSummary, text: Schema.String }),
  event("response.function_call_arguments.delta", { ...ofItem, delta: Schema.String }),
  event("response.function_call_arguments.done", { ...ofItem, name: Schema.String, arguments: Schema.String }),
  event("response.custom_tool_call_input.delta", { ...ofItem, delta: Schema.String }),
  event("response.custom_tool_call_input.done", { ...ofItem, input: Schema.String }),
  event("response.completed", ended),
  event("response.incomplete", ended),
  event("response.failed", {
    response: Schema.Struct({
      ...ResponseBegun.fields,
      status: Schema.Literal("failed"),
      error: Schema.Struct({ code: Schema.String, message: Schema.String })
    })
  }),
  event("error", { code: Schema.String, message: Schema.String, param: Schema.NullOr(Schema.String) })
]).annotate({ identifier: "ResponsesStreamEvent" })
export type ResponsesStreamEvent = typeof ResponsesStreamEvent.Type

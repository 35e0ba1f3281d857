/** The events of a streamed response. */
import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"
import { BalanceWarning } from "../Routing.ts"
import { ResponseBegun, ResponseObject, ResponsesMessageItem, ResponsesReasoningItem } from "./ResponsesAnswer.ts"
import { ResponsesCallItem, ResponsesCustomCallItem, ResponsesSearchItem } from "./ResponsesTools.ts"

const numbered = {
  /** The place of the event in the stream, from 0. */
  sequence_number: Count
}

const event = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...numbered, ...fields })

const inOutput = {
  /** The place of the item in `output`. */
  output_index: Count
}
const ofItem = {
  /** The id of the item. */
  item_id: Schema.String,
  ...inOutput
}
const ofPart = {
  ...ofItem,
  /** The place of the part in the item's `content`. */
  content_index: Count
}
const ofSummary = {
  ...ofItem,
  /** The place of the part in the item's `summary`. */
  summary_index: Count
}

/** `in_progress` until the item is done. */
const Status = Schema.Literals(["in_progress", "completed", "incomplete"])

/** A part of a message. In a stream, a refusal has a part type of its own; in the complete answer it is text. */
export const ResponsesStreamPart = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("output_text"),
    /** The text. */
    text: Schema.String,
    /** Always empty. */
    annotations: Schema.Array(Schema.Unknown)
  }),
  Schema.Struct({
    type: Schema.Literal("refusal"),
    /** The text of the refusal. */
    refusal: Schema.String
  })
]).annotate({ identifier: "ResponsesStreamPart" })
export type ResponsesStreamPart = typeof ResponsesStreamPart.Type

const streamed = {
  /** The parts of the message. */
  content: Schema.Array(ResponsesStreamPart)
}

/** An item while it is streamed: `in_progress` and empty when it is added. */
export const ResponsesStreamItem = Schema.Union([
  Schema.Struct({ ...ResponsesReasoningItem.fields, status: Status }),
  Schema.Struct({ ...ResponsesMessageItem.fields, status: Status, ...streamed }),
  Schema.Struct({ ...ResponsesCallItem.fields, status: Status }),
  Schema.Struct({ ...ResponsesCustomCallItem.fields, status: Status }),
  Schema.Struct({ ...ResponsesSearchItem.fields, status: Status })
]).annotate({ identifier: "ResponsesStreamItem" })
export type ResponsesStreamItem = typeof ResponsesStreamItem.Type

const startFields = {
  /** The answer at its start, without output. */
  response: ResponseBegun
}
const ended = {
  /** The complete answer. */
  response: ResponseObject,
  balance_warning: Schema.optionalKey(BalanceWarning)
}
const ofMessage = {
  ...ofPart,
  /** The part: empty when it is added, whole when it is done. */
  part: ResponsesStreamPart
}
/** A part of a summary: empty when it is added, whole when it is done. */
const SummaryPart = Schema.Struct({
  type: Schema.Literal("summary_text"),
  /** The text. */
  text: Schema.String
})
const delta = {
  /** The next piece. */
  delta: Schema.String
}
const wholeText = {
  /** The whole text. */
  text: Schema.String
}
/** Log-probabilities, if the request asks for them; empty otherwise. */
const Logprobs = Schema.Array(Schema.Unknown)

/**
 * One event of a streamed response, numbered from 0. The last one is `response.completed` or `response.incomplete`, which contains the
 * complete answer. A failing stream ends with `response.failed` and then `error`, because some clients read only one of the two. There
 * is no `[DONE]`.
 */
export const ResponsesStreamEvent = Schema.Union([
  event("response.created", startFields),
  event("response.in_progress", startFields),
  event("response.output_item.added", { ...inOutput, item: ResponsesStreamItem }),
  event("response.output_item.done", { ...inOutput, item: ResponsesStreamItem }),
  event("response.content_part.added", ofMessage),
  event("response.content_part.done", ofMessage),
  event("response.output_text.delta", { ...ofPart, ...delta, logprobs: Logprobs }),
  event("response.output_text.done", { ...ofPart, ...wholeText, logprobs: Logprobs }),
  event("response.refusal.delta", { ...ofPart, ...delta }),
  event("response.refusal.done", {
    ...ofPart,
    /** The whole refusal. */
    refusal: Schema.String
  }),
  event("response.reasoning_summary_part.added", { ...ofSummary, part: SummaryPart }),
  event("response.reasoning_summary_part.done", { ...ofSummary, part: SummaryPart }),
  event("response.reasoning_summary_text.delta", { ...ofSummary, ...delta }),
  event("response.reasoning_summary_text.done", { ...ofSummary, ...wholeText }),
  event("response.function_call_arguments.delta", { ...ofItem, ...delta }),
  event("response.function_call_arguments.done", {
    ...ofItem,
    /** The name of the tool. */
    name: Schema.String,
    /** The whole arguments as JSON text. */
    arguments: Schema.String
  }),
  event("response.custom_tool_call_input.delta", { ...ofItem, ...delta }),
  event("response.custom_tool_call_input.done", {
    ...ofItem,
    /** The whole input. */
    input: Schema.String
  }),
  event("response.completed", ended),
  event("response.incomplete", ended),
  event("response.failed", {
    /** The answer as it was at the start, with the error. */
    response: Schema.Struct({
      ...ResponseBegun.fields,
      status: Schema.Literal("failed"),
      /** The charge in USD for the output before the error. Null when the charge is unknown. */
      cost_usd: Schema.NullOr(Usd),
      /** Why the request failed. */
      error: Schema.Struct({
        /** The code of the error. */
        code: Schema.String,
        /** A sentence for people. */
        message: Schema.String
      })
    })
  }),
  event("error", {
    /** The code of the error. */
    code: Schema.String,
    /** A sentence for people. */
    message: Schema.String,
    /** The path of the field concerned; null without one. */
    param: Schema.NullOr(Schema.String)
  })
]).annotate({ identifier: "ResponsesStreamEvent" })
export type ResponsesStreamEvent = typeof ResponsesStreamEvent.Type

import { Schema } from "effect"
import { Count } from "../Bounds.ts"
import { RequestId } from "../Ids.ts"

/**
 * A served request of a batch, with the answer that its operation returns. `error` replaces `response` only when an earlier attempt
 * with the same idempotency key served and charged the request, and its answer was not stored.
 */
export const BatchItem = Schema.Struct({
  /** Its index in `requests`. */
  index: Count,
  /** The client's name for the request; null without one. */
  custom_id: Schema.NullOr(Schema.String),
  /** The answer; null beside an error. */
  response: Schema.NullOr(
    Schema.Struct({
      /** The HTTP status of the answer. */
      status_code: Schema.Int,
      request_id: RequestId,
      /** The body of the answer, as its operation returns it. */
      body: Schema.Record(Schema.String, Schema.Unknown)
    })
  ),
  /** Why there is no answer; null beside a response. */
  error: Schema.NullOr(
    Schema.Struct({
      /** For programs. */
      code: Schema.String,
      /** For people. */
      message: Schema.String
    })
  )
}).annotate({ identifier: "BatchItem" })
export type BatchItem = typeof BatchItem.Type

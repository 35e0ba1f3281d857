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
  custom_id: Schema.NullOr(Schema.String),
  response: Schema.NullOr(
    Schema.Struct({
      status_code: Schema.Int,
      request_id: RequestId,
      body: Schema.Record(Schema.String, Schema.Unknown)
    })
  ),
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }))
}).annotate({ identifier: "BatchItem" })
export type BatchItem = typeof BatchItem.Type

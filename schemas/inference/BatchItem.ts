import { Schema } from "effect"
import { Count } from "../Bounds.ts"
import { RequestId } from "../Ids.ts"

/**
 * A request of a batch that was served: its answer as its operation gives it alone. `error` stands in place of `response` only where
 * the request was served and charged by an earlier try under the same idempotency key, and its answer was not kept.
 */
export const BatchItem = Schema.Struct({
  /** Its place in `requests`. */
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

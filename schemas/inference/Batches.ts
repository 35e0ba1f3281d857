import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountAccess, InferenceAccess } from "../Access.ts"
import { Count, integer, storable, textOf } from "../Bounds.ts"
import { ConflictError, IdempotencyError, InsufficientCreditsError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { Limit } from "../Page.ts"
import { idempotency } from "./ChatGroup.ts"

/** The operations that a background batch can consist of. A leading `/v1` makes no difference. */
const batchEndpoints = [
  "/v1/chat/completions",
  "/chat/completions",
  "/v1/responses",
  "/responses",
  "/v1/embeddings",
  "/embeddings",
  "/v1/messages",
  "/messages"
] as const

const text = (maximum: number) => textOf(0, maximum).check(storable)

/** Up to 16 pairs of the client's own. */
const Metadata = Schema.Record(text(64), text(512)).check(
  Schema.isMaxProperties(16, { message: "must have at most 16 pairs" })
)

/** A batch of requests that are the lines of a file. Unknown fields are rejected. */
export const NewBatch = Schema.Struct({
  /** The id of a file with the purpose `batch`. */
  input_file_id: Schema.String,
  endpoint: Schema.Literals(batchEndpoints),
  completion_window: Schema.Literal("24h"),
  metadata: Schema.optionalKey(Schema.NullOr(Metadata)),
  /** How long the output and error files are kept after they are written. Default: 30 days. */
  output_expires_after: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        anchor: Schema.Literal("created_at"),
        seconds: integer(3_600, 2_592_000)
      })
    )
  )
}).annotate({ identifier: "NewBatch" })

/** A fault in the input of a batch. Lines count from 1. */
export const BatchFault = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  line: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "BatchFault" })

const Time = Schema.NullOr(Schema.Int)

/**
 * A background batch in OpenAI's format. Each line is an ordinary request with a receipt of its own. Failed requests are lines of the
 * error file. `request_counts` grow as lines end. Times are Unix seconds.
 */
export const BatchObject = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("batch"),
  endpoint: Schema.String,
  errors: Schema.NullOr(Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(BatchFault) })),
  input_file_id: Schema.String,
  completion_window: Schema.Literal("24h"),
  status: Schema.Literals([
    "validating",
    "in_progress",
    "finalizing",
    "completed",
    "failed",
    "expired",
    "cancelling",
    "cancelled"
  ]),
  output_file_id: Schema.NullOr(Schema.String),
  error_file_id: Schema.NullOr(Schema.String),
  created_at: Schema.Int,
  in_progress_at: Time,
  expires_at: Schema.Int,
  finalizing_at: Time,
  completed_at: Time,
  failed_at: Time,
  expired_at: Time,
  cancelling_at: Time,
  cancelled_at: Time,
  request_counts: Schema.Struct({ total: Count, completed: Count, failed: Count }),
  metadata: Schema.NullOr(Metadata)
}).annotate({ identifier: "BatchObject" })
export type BatchObject = typeof BatchObject.Type

/** One page of batches, newest first. `last_id` is the `after` of the next page. */
export const BatchPage = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(BatchObject),
  first_id: Schema.NullOr(Schema.String),
  last_id: Schema.NullOr(Schema.String),
  has_more: Schema.Boolean
}).annotate({ identifier: "BatchPage" })

/** The batches to list. */
export const BatchQuery = {
  limit: Schema.optionalKey(Limit),
  after: Schema.optionalKey(ResourceId)
}

const params = { batch_id: Schema.String }
const free = { limit: "default", charge: "free" } as const

/** Batches that run in the background. */
export class BatchesGroup extends HttpApiGroup.make("batches").add(
  HttpApiEndpoint.post("createBatch", "/batches", {
    headers: idempotency,
    payload: NewBatch,
    success: BatchObject,
    error: [ConflictError, IdempotencyError, InsufficientCreditsError]
  })
    .annotateMerge(operation("batches.create", "Run the requests of a file in the background", free))
    .middleware(InferenceAccess),
  HttpApiEndpoint.get("listBatches", "/batches", { query: BatchQuery, success: BatchPage })
    .annotateMerge(operation("batches.list", "List batches, newest first", free))
    .middleware(AccountAccess),
  HttpApiEndpoint.get("getBatch", "/batches/:batch_id", {
    params,
    success: BatchObject,
    error: NotFoundError
  })
    .annotateMerge(operation("batches.get", "Retrieve a batch", free))
    .middleware(AccountAccess),
  HttpApiEndpoint.post("cancelBatch", "/batches/:batch_id/cancel", {
    params,
    success: BatchObject,
    error: NotFoundError
  })
    .annotateMerge(operation("batches.cancel", "Cancel a batch; running requests finish", free))
    .middleware(AccountAccess)
) {}

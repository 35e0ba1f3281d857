import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count, integer, storable, textOf } from "../Bounds.ts"
import { ConflictError, IdempotencyError, InsufficientCreditsError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { Limit } from "../Page.ts"
import { idempotency } from "./ChatGroup.ts"

/** The operations that a batch in the background can be made of; `/v1` before them makes no difference. */
export const batchEndpoints = [
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

/** Up to 16 pairs of the caller's own. */
const Metadata = Schema.Record(text(64), text(512)).check(Schema.isMaxProperties(16, { message: "at most 16 pairs" }))

/** A batch whose requests are the lines of a file. Nothing but these fields is allowed. */
export const NewBatch = Schema.Struct({
  /** A file with the purpose `batch`. */
  input_file_id: Schema.String,
  endpoint: Schema.Literals(batchEndpoints),
  completion_window: Schema.Literal("24h"),
  metadata: Schema.optionalKey(Schema.NullOr(Metadata)),
  /** How long its output and errors are kept from when they are made; 30 days unless told. */
  output_expires_after: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        anchor: Schema.Literal("created_at"),
        seconds: integer(3_600, 2_592_000)
      })
    )
  )
}).annotate({ identifier: "NewBatch" })

/** What is wrong with the input of a batch; lines count from 1. */
export const BatchFault = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  line: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "BatchFault" })

const Time = Schema.NullOr(Schema.Int)

/**
 * A batch in the background, as OpenAI shows one. Each line is an ordinary request with a receipt of its own; those that fail are
 * lines of the error file. `request_counts` grow as lines end. Times are Unix seconds.
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

/** A page of batches, newest first; `last_id` is the `after` of the next one. */
export const BatchPage = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(BatchObject),
  first_id: Schema.NullOr(Schema.String),
  last_id: Schema.NullOr(Schema.String),
  has_more: Schema.Boolean
}).annotate({ identifier: "BatchPage" })

/** Which batches are listed. */
export const BatchQuery = {
  limit: Schema.optionalKey(Limit),
  after: Schema.optionalKey(ResourceId)
}

const params = { batch_id: Schema.String }
const free = { limit: "default", charge: "free" } as const

/** Batches that run in the background. */
export class BatchesGroup extends HttpApiGroup.make("batches")
  .add(
    HttpApiEndpoint.post("createBatch", "/batches", {
      headers: idempotency,
      payload: NewBatch,
      success: BatchObject,
      error: [ConflictError, IdempotencyError, InsufficientCreditsError]
    }).annotateMerge(operation("batches.create", "Run the requests of a file in the background", free)),
    HttpApiEndpoint.get("listBatches", "/batches", { query: BatchQuery, success: BatchPage }).annotateMerge(
      operation("batches.list", "List batches, newest first", free)
    ),
    HttpApiEndpoint.get("getBatch", "/batches/:batch_id", {
      params,
      success: BatchObject,
      error: NotFoundError
    }).annotateMerge(operation("batches.get", "Retrieve a batch", free)),
    HttpApiEndpoint.post("cancelBatch", "/batches/:batch_id/cancel", {
      params,
      success: BatchObject,
      error: NotFoundError
    }).annotateMerge(operation("batches.cancel", "Begin no more requests of a batch", free))
  )
  .middleware(InferenceAccess) {}

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountAccess, InferenceAccess } from "../Access.ts"
import { Count, integer, isStorable, Metadata, STORABLE } from "../Bounds.ts"
import { ConflictError, IdempotencyError, InsufficientCreditsError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { Limit } from "../Page.ts"
import { idempotency } from "./ChatGroup.ts"

/** The operations that a background batch can consist of. */
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

/** Up to 16 pairs of the client's own: keys of at most 64 characters, values of at most 512. */
const BatchMetadata = Metadata.check(Schema.makeFilter<object>(isStorable, { message: STORABLE }))

/** A batch of requests that are the lines of a file. Unknown fields are rejected. */
export const NewBatch = Schema.Struct({
  /** The id of a file with the purpose `batch`. */
  input_file_id: Schema.String,
  /** The operation of every line. A leading `/v1` makes no difference. */
  endpoint: Schema.Literals(batchEndpoints),
  /** The batch expires after 24 hours. */
  completion_window: Schema.Literal("24h"),
  metadata: Schema.optionalKey(Schema.NullOr(BatchMetadata)),
  /** How long the output and error files are kept after they are written. Default: 30 days. */
  output_expires_after: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        anchor: Schema.Literal("created_at"),
        /** From an hour to 30 days. */
        seconds: integer(3_600, 2_592_000)
      })
    )
  )
}).annotate({ identifier: "NewBatch" })

/** A fault in the input of a batch. Lines count from 1. */
export const BatchFault = Schema.Struct({
  /** For programs. */
  code: Schema.String,
  /** For people. */
  message: Schema.String,
  /** The path of the field concerned; null without one. */
  param: Schema.NullOr(Schema.String),
  /** The line of the file; null for a fault of the whole. */
  line: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "BatchFault" })

const Time = Schema.NullOr(Schema.Int)

/**
 * A background batch in OpenAI's format. Each line is an ordinary request with a receipt of its own. Failed requests are lines of the
 * error file. Times are Unix seconds, and null until the batch has come so far.
 */
export const BatchObject = Schema.Struct({
  /** 24 lowercase hexadecimal characters that sort by time. */
  id: Schema.String,
  object: Schema.Literal("batch"),
  /** The operation of every line. */
  endpoint: Schema.String,
  /** Faults in the input file, which make the whole batch fail; null without any. */
  errors: Schema.NullOr(
    Schema.Struct({
      object: Schema.Literal("list"),
      /** The faults. */
      data: Schema.Array(BatchFault)
    })
  ),
  /** The id of the input file. */
  input_file_id: Schema.String,
  completion_window: Schema.Literal("24h"),
  /** How far the batch has come. `completed`, `failed`, `expired` and `cancelled` are final. */
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
  /** The id of the file with the answers; null without any. */
  output_file_id: Schema.NullOr(Schema.String),
  /** The id of the file with the failed requests; null without any. */
  error_file_id: Schema.NullOr(Schema.String),
  /** Unix seconds. */
  created_at: Schema.Int,
  /** When the status became `in_progress`. */
  in_progress_at: Time,
  /** When the batch expires if it has not ended before. */
  expires_at: Schema.Int,
  /** When the status became `finalizing`. */
  finalizing_at: Time,
  /** When the status became `completed`. */
  completed_at: Time,
  /** When the status became `failed`. */
  failed_at: Time,
  /** When the status became `expired`. */
  expired_at: Time,
  /** When the status became `cancelling`. */
  cancelling_at: Time,
  /** When the status became `cancelled`. */
  cancelled_at: Time,
  /** How many requests have ended so far. */
  request_counts: Schema.Struct({
    /** All requests of the file. */
    total: Count,
    /** Those that were answered. */
    completed: Count,
    /** Those that failed. */
    failed: Count
  }),
  metadata: Schema.NullOr(BatchMetadata)
}).annotate({ identifier: "BatchObject" })
export type BatchObject = typeof BatchObject.Type

/** One page of batches, newest first. `last_id` is the `after` of the next page. */
export const BatchPage = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(BatchObject),
  /** The id of the first batch; null on an empty page. */
  first_id: Schema.NullOr(Schema.String),
  /** The id of the last batch; null on an empty page. */
  last_id: Schema.NullOr(Schema.String),
  /** Whether more batches follow. */
  has_more: Schema.Boolean
}).annotate({ identifier: "BatchPage" })

/** The batches to list. */
export const BatchQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `last_id` of the previous page. */
  after: Schema.optionalKey(ResourceId)
}

// Any text is allowed: an invalid id is simply an unknown batch, which is a 404.
const params = {
  /** The id of a batch. */
  batch_id: Schema.String
}
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

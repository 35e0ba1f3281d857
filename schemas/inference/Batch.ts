import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { sized, storable, textOf, Usd } from "../Bounds.ts"
import { RequestId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { BalanceWarning } from "../Routing.ts"
import { BatchItem } from "./BatchItem.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The operations that a batch can consist of, by path. */
export const batchUrls = ["/chat/completions", "/messages", "/responses", "/embeddings"] as const

/** The maximum number of requests in a batch. */
export const MAX_BATCH = 100

const body = Schema.Record(Schema.String, Schema.Unknown)

/** One request of a batch. */
export const BatchEntry = Schema.Struct({
  /** The client's name for the request, unique within the batch. 1 to 64 characters. */
  custom_id: Schema.optionalKey(textOf(1, 64).check(storable)),
  /** The operation. Default: `/chat/completions`. */
  url: Schema.optionalKey(Schema.Literals(batchUrls)),
  /** The body of the operation, without streaming. */
  body: Schema.optionalKey(body),
  /** The same as `body`, as in Anthropic's batches. */
  params: Schema.optionalKey(body)
}).annotate({ identifier: "BatchEntry" })
export type BatchEntry = typeof BatchEntry.Type

/** Up to 100 requests, which are all validated before any of them starts. Unknown fields are rejected. */
export const BatchRequest = Schema.Struct({
  /** The requests, 1 to 100. */
  requests: Schema.Array(BatchEntry).check(...sized(1, MAX_BATCH, "items"))
}).annotate({ identifier: "BatchRequest" })

/** The answers to all requests of a batch. Each request has a receipt of its own. */
export const BatchList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The answers, in order. */
  data: Schema.Array(BatchItem),
  /** The total charge in USD. */
  cost_usd: Usd,
  request_id: RequestId,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "BatchList" })
export type BatchList = typeof BatchList.Type

/** Many requests in one call. */
export class BatchGroup extends HttpApiGroup.make("batch")
  .add(
    HttpApiEndpoint.post("batch", "/batch", {
      headers: idempotency,
      payload: BatchRequest,
      success: BatchList,
      error: paidErrors
    }).annotateMerge(operation("batch", "Run many requests in one", { limit: "default", charge: "tokens" }))
  )
  .middleware(InferenceAccess) {}

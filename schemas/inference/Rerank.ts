import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count, sized, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { BalanceWarning } from "../Routing.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The maximum number of documents in one request. */
const MAX_DOCUMENTS = 1_000

const Text = Schema.String.check(Schema.isMinLength(1, { message: "must be a non-empty string" }))

/**
 * A rerank request. Unknown fields are rejected; a null counts as absent. If the query with a document is longer than the model's
 * context window, the request is rejected unless `truncation` is true.
 */
export const RerankRequest = Schema.Struct({
  model: ModelString,
  query: Text,
  documents: Schema.Array(Text).check(...sized(1, MAX_DOCUMENTS, "items")),
  /** Default: all. */
  top_n: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isGreaterThan(0, { message: "must be an integer above 0" })))
  ),
  /** Default: false. */
  return_documents: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  /** Default: false. */
  truncation: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
}).annotate({ identifier: "RerankRequest" })
export type RerankRequest = typeof RerankRequest.Type

/** The documents, most relevant first. `index` is a document's position in the request. */
export const RerankResult = Schema.Struct({
  model: ModelString,
  provider: Schema.String,
  results: Schema.Array(
    Schema.Struct({
      index: Count,
      relevance_score: Schema.Finite,
      document: Schema.optionalKey(Schema.Struct({ text: Schema.String }))
    })
  ),
  usage: Schema.Struct({ total_tokens: Count }),
  cost_usd: Usd,
  request_id: Schema.String,
  balance_warning: Schema.optionalKey(BalanceWarning)
}).annotate({ identifier: "RerankResult" })
export type RerankResult = typeof RerankResult.Type

/** Documents sorted by their relevance to a query. */
export class RerankGroup extends HttpApiGroup.make("rerank")
  .add(
    HttpApiEndpoint.post("rerank", "/rerank", {
      headers: idempotency,
      payload: RerankRequest,
      success: RerankResult,
      error: paidErrors
    }).annotateMerge(operation("rerank", "Order documents by relevance", { limit: "default", charge: "tokens" }))
  )
  .middleware(InferenceAccess) {}

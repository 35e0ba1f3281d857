import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count, sized, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { BalanceWarning } from "../Routing.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The most documents of one request. */
export const MAX_DOCUMENTS = 1_000

const Text = Schema.String.check(Schema.isMinLength(1, { message: "a non-empty string" }))

/**
 * A rerank request. Nothing but these fields is allowed; a null counts as absent. A query with a document that is longer than the
 * model's window is refused unless `truncation` has it cut.
 */
export const RerankRequest = Schema.Struct({
  model: ModelString,
  query: Text,
  documents: Schema.Array(Text).check(...sized(1, MAX_DOCUMENTS, "items")),
  /** All unless told. */
  top_n: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isGreaterThan(0, { message: "an integer above 0" })))
  ),
  /** False unless told. */
  return_documents: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  /** False unless told. */
  truncation: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
}).annotate({ identifier: "RerankRequest" })
export type RerankRequest = typeof RerankRequest.Type

/** The documents that answer the query, best first; `index` is a document's place in the request. */
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

/** Documents in the order of what they have to do with a query. */
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

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { Count, NonEmptyText, sized, Usd } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { BalanceWarning } from "../Routing.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The maximum number of documents in one request. */
const MAX_DOCUMENTS = 1_000

/** A rerank request. Unknown fields are rejected; a null counts as absent. */
export const RerankRequest = Schema.Struct({
  /** The id of a rerank model. */
  model: ModelString,
  /** The text to which the documents should be relevant. */
  query: NonEmptyText,
  /** 1 to 1,000 texts. */
  documents: Schema.Array(NonEmptyText).check(...sized(1, MAX_DOCUMENTS, "items")),
  /** The number of the most relevant documents to return. Default: all. */
  top_n: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isGreaterThan(0, { message: "must be an integer above 0" })))
  ),
  /** Whether the results contain the texts of the documents. Default: false. */
  return_documents: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  /** Whether a query with a document longer than the model's context window is cut, and not rejected. Default: false. */
  truncation: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
}).annotate({ identifier: "RerankRequest" })
export type RerankRequest = typeof RerankRequest.Type

/** The documents, most relevant first. */
export const RerankResult = Schema.Struct({
  /** The model that served. */
  model: ModelString,
  /** The provider that served. */
  provider: Schema.String,
  /** The documents, most relevant first. */
  results: Schema.Array(
    Schema.Struct({
      /** The place of the document in the request. */
      index: Count,
      /** Higher is more relevant. */
      relevance_score: Schema.Finite,
      /** The document, with `return_documents`. */
      document: Schema.optionalKey(
        Schema.Struct({
          /** The text. */
          text: Schema.String
        })
      )
    })
  ),
  /** Token counts. */
  usage: Schema.Struct({
    /** The tokens of the query and the documents. */
    total_tokens: Count
  }),
  /** The charge in USD, as on the receipt of `request_id`. */
  cost_usd: Usd,
  /** The id of the request. */
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

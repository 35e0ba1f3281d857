import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorAccess } from "../Access.ts"
import { RequestListQuery } from "../account/Requests.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { RequestId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { ofAccount } from "./AccountsGroup.ts"
import { reads } from "./Limits.ts"
import {
  OperatorAnyReceiptList,
  OperatorReceiptList,
  OperatorReceiptResult,
  OperatorRefund,
  OperatorRefundRequest,
  OperatorRequestQuery
} from "./Requests.ts"

const params = {
  /** The id of a request. */
  request_id: RequestId
}

/** Requests of any account. */
export class OperatorRequestsGroup extends HttpApiGroup.make("operatorRequests")
  .add(
    HttpApiEndpoint.get("listAccountRequests", "/operator/accounts/:account_id/requests", {
      params: ofAccount,
      query: RequestListQuery,
      success: OperatorReceiptList,
      error: NotFoundError
    }).annotateMerge(
      operation("operator.requests.list", "List the receipts of an account with the provider's cost", reads)
    ),
    HttpApiEndpoint.get("listAnyRequests", "/operator/requests", {
      query: OperatorRequestQuery,
      success: OperatorAnyReceiptList
    }).annotateMerge(
      operation("operator.requests.all", "List the receipts of all accounts with the provider's cost", reads)
    ),
    HttpApiEndpoint.get("getAnyRequest", "/operator/requests/:request_id", {
      params,
      success: OperatorReceiptResult,
      error: NotFoundError
    }).annotateMerge(operation("operator.requests.get", "Retrieve a receipt of any account with its movements", reads)),
    HttpApiEndpoint.post("refundRequest", "/operator/requests/:request_id/refund", {
      params,
      headers: {
        /** Required. The ledger keeps it, so that a repeat never refunds twice, however late. 1 to 255 characters. */
        "idempotency-key": Schema.optional(Schema.String)
      },
      payload: OperatorRefundRequest,
      success: OperatorRefund,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(
      operation("operator.requests.refund", "Refund a request whole or in part; requires an `Idempotency-Key`", {
        limit: "operator_writes",
        charge: "free"
      })
    )
  )
  .middleware(OperatorAccess) {}

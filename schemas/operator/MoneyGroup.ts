import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { ResourcePage } from "../Page.ts"
import { ofAccount } from "./AccountsGroup.ts"
import { reads, writes } from "./Limits.ts"
import {
  OperatorReport,
  OperatorTopUpList,
  ReportQuery,
  TopUpDecision,
  TopUpDismissal,
  TopUpSettlement
} from "./Money.ts"

const decision = {
  params: {
    /** The id of a top-up. */
    top_up_id: ResourceId
  },
  headers: {
    /** Required. The gateway keeps it, so that a repeat never moves money twice, however late. 1 to 255 characters. */
    "idempotency-key": Schema.optional(Schema.String)
  },
  success: TopUpDecision,
  error: [NotFoundError, ConflictError, IdempotencyError]
} as const

/** Revenue, cost and payments of all accounts. */
export class OperatorMoneyGroup extends HttpApiGroup.make("operatorMoney")
  .add(
    HttpApiEndpoint.get("getReport", "/operator/report", { query: ReportQuery, success: OperatorReport }).annotateMerge(
      operation("operator.report", "Report revenue, provider cost and margin by day, account, model or provider", reads)
    ),
    HttpApiEndpoint.get("listTopUpsToSee", "/operator/top-ups", {
      query: ResourcePage,
      success: OperatorTopUpList
    }).annotateMerge(operation("operator.top_ups.list", "List top-ups that need an operator, newest first", reads)),
    HttpApiEndpoint.get("listAccountTopUps", "/operator/accounts/:account_id/top-ups", {
      params: ofAccount,
      query: ResourcePage,
      success: OperatorTopUpList,
      error: NotFoundError
    }).annotateMerge(operation("operator.top_ups.of_account", "List the top-ups of an account, newest first", reads)),
    HttpApiEndpoint.post("settleTopUp", "/operator/top-ups/:top_up_id/settle", {
      ...decision,
      payload: TopUpSettlement
    }).annotateMerge(
      operation(
        "operator.top_ups.settle",
        "Credit a top-up that needs an operator, or take it back; requires an `Idempotency-Key`",
        writes
      )
    ),
    HttpApiEndpoint.post("dismissTopUp", "/operator/top-ups/:top_up_id/dismiss", {
      ...decision,
      payload: TopUpDismissal
    }).annotateMerge(
      operation(
        "operator.top_ups.dismiss",
        "Dismiss a top-up that needs an operator, which moves no money; requires an `Idempotency-Key`",
        writes
      )
    )
  )
  .middleware(OperatorAccess) {}

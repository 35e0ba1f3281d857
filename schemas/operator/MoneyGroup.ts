import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { OperatorReport, OperatorTopUpList, OperatorTopUpPage, ReportQuery } from "./Money.ts"

const reads = { limit: "operator_reads", charge: "free" } as const

/** Revenue, cost and payments of all accounts. */
export class OperatorMoneyGroup extends HttpApiGroup.make("operatorMoney")
  .add(
    HttpApiEndpoint.get("getReport", "/operator/report", { query: ReportQuery, success: OperatorReport }).annotateMerge(
      operation("operator.report", "Report revenue, provider cost and margin by day, account, model or provider", reads)
    ),
    HttpApiEndpoint.get("listTopUpsToSee", "/operator/top-ups", {
      query: OperatorTopUpPage,
      success: OperatorTopUpList
    }).annotateMerge(operation("operator.top_ups.list", "List top-ups that need an operator, newest first", reads))
  )
  .middleware(OperatorAccess) {}

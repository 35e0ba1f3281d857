import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { BalanceReport, TransactionList, TransactionPage } from "./Account.ts"

const reads = { limit: "management_reads", charge: "free", scope: "usage:read" } as const

/** The money of the account. */
export class ManagementAccountGroup extends HttpApiGroup.make("managementAccount")
  .add(
    HttpApiEndpoint.get("getBalance", "/management/balance", { success: BalanceReport }).annotateMerge(
      operation("management.balance", "The balance of the account", reads)
    ),
    HttpApiEndpoint.get("listTransactions", "/management/transactions", {
      query: TransactionPage,
      success: TransactionList
    }).annotateMerge(
      operation("management.transactions", "List top-ups, credits, adjustments and refunds, newest first", reads)
    )
  )
  .middleware(ManagementAccess) {}

import type { Principal } from "../../schemas/Access.ts"
import { periodStart } from "../domain/Budget.ts"
import type { HoldOperation } from "../ledger/Operation.ts"

/** For whom a hold is, and which budgets' periods it counts towards at this moment. */
export const holderOf = ({
  accountId,
  budgets,
  keyId,
  projectId
}: Principal): Pick<HoldOperation, "accountId" | "budgets" | "keyId" | "projectId"> => {
  const nowMs = Date.now()
  return {
    accountId,
    keyId,
    projectId,
    budgets: budgets.map(({ id, period }) => ({ budgetId: id, periodStart: periodStart(period, nowMs) }))
  }
}

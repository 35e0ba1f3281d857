import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorAccess } from "../Access.ts"
import { ConflictError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { ofAccount } from "./AccountsGroup.ts"
import { reads, writes } from "./Limits.ts"
import { AccountPlan, AccountPlanResult, PlanChange, PlanCreate, PlanList, PlanRemoved, PlanResult } from "./Plans.ts"

const params = {
  /** The id of a price plan. */
  plan_id: ResourceId
}

/** Price plans, and the accounts that belong to them. */
export class OperatorPlansGroup extends HttpApiGroup.make("operatorPlans")
  .add(
    HttpApiEndpoint.get("listPlans", "/operator/plans", { success: PlanList }).annotateMerge(
      operation("operator.plans.list", "List all price plans, by name", reads)
    ),
    HttpApiEndpoint.post("createPlan", "/operator/plans", {
      payload: PlanCreate,
      success: PlanResult,
      error: ConflictError
    }).annotateMerge(
      operation("operator.plans.create", "Create a price plan with a markup, fixed prices and limits", writes)
    ),
    HttpApiEndpoint.get("getPlan", "/operator/plans/:plan_id", {
      params,
      success: PlanResult,
      error: NotFoundError
    }).annotateMerge(operation("operator.plans.get", "Retrieve a price plan", reads)),
    HttpApiEndpoint.patch("setPlan", "/operator/plans/:plan_id", {
      params,
      payload: PlanChange,
      success: PlanResult,
      error: [NotFoundError, ConflictError]
    }).annotateMerge(operation("operator.plans.set", "Change a price plan; running requests keep their price", writes)),
    HttpApiEndpoint.delete("removePlan", "/operator/plans/:plan_id", {
      params,
      success: PlanRemoved,
      error: [NotFoundError, ConflictError]
    }).annotateMerge(operation("operator.plans.remove", "Remove a price plan that no account belongs to", writes)),
    HttpApiEndpoint.patch("setAccountPlan", "/operator/accounts/:account_id/plan", {
      params: ofAccount,
      payload: AccountPlan,
      success: AccountPlanResult,
      error: NotFoundError
    }).annotateMerge(operation("operator.accounts.plan", "Move an account to a price plan, or end its plan", writes))
  )
  .middleware(OperatorAccess) {}

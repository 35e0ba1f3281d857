import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorAccess } from "../Access.ts"
import { sized, storable } from "../Bounds.ts"
import { NotFoundError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import { ProviderSpendLimit, ProviderSpendLimitResult, ProviderSpendList } from "./Spend.ts"

/** Bounds on what providers cost in a UTC day. */
export class OperatorSpendGroup extends HttpApiGroup.make("operatorSpend")
  .add(
    HttpApiEndpoint.get("listSpend", "/operator/spend", { success: ProviderSpendList }).annotateMerge(
      operation("operator.spend.list", "List the bounds on what providers cost, with the cost of the day", {
        limit: "operator_reads",
        charge: "free"
      })
    ),
    HttpApiEndpoint.patch("setSpendLimit", "/operator/spend/:provider", {
      params: {
        /** The id of a provider, or `all`. */
        provider: Schema.String.check(...sized(1, 64, "characters"), storable)
      },
      payload: ProviderSpendLimit,
      success: ProviderSpendLimitResult,
      error: NotFoundError
    }).annotateMerge(
      operation("operator.spend.set", "Bound what a provider, or `all` together, may cost in a UTC day", {
        limit: "operator_writes",
        charge: "free"
      })
    )
  )
  .middleware(OperatorAccess) {}

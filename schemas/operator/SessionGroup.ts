import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorSessionAccess, OperatorSignInAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { OperatorSession, OperatorSessionEnded } from "./Session.ts"

/** Signing in to the operator's section of the console. */
export class OperatorSignInGroup extends HttpApiGroup.make("operatorSignIn")
  .add(
    HttpApiEndpoint.post("beginOperatorSession", "/operator/session", { success: OperatorSession }).annotateMerge(
      operation("operator.session.create", "Sign in with an operator key, which sets a cookie for a few hours", {
        limit: "operator_writes",
        charge: "free"
      })
    )
  )
  .middleware(OperatorSignInAccess) {}

/** The session of an operator. */
export class OperatorSessionGroup extends HttpApiGroup.make("operatorSession")
  .add(
    HttpApiEndpoint.get("getOperatorSession", "/operator/session", { success: OperatorSession }).annotateMerge(
      operation("operator.session.get", "Retrieve the operator's session", { limit: "operator_reads", charge: "free" })
    ),
    HttpApiEndpoint.delete("endOperatorSession", "/operator/session", {
      success: OperatorSessionEnded
    }).annotateMerge(
      operation("operator.session.delete", "Sign the operator out", { limit: "operator_writes", charge: "free" })
    )
  )
  .middleware(OperatorSessionAccess) {}

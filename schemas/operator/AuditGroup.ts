import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorAccess } from "../Access.ts"
import { NotFoundError } from "../Errors.ts"
import { ResourcePage } from "../Page.ts"
import { AuditLogList, AuditQuery } from "../management/Audit.ts"
import { operation } from "../Operation.ts"
import { ofAccount } from "./AccountsGroup.ts"
import { OperatorChangeList } from "./Audit.ts"
import { reads } from "./Limits.ts"

/** Changes of accounts by anyone, and all other changes by operators. */
export class OperatorAuditGroup extends HttpApiGroup.make("operatorAudit")
  .add(
    HttpApiEndpoint.get("listOperatorChanges", "/operator/audit", {
      query: ResourcePage,
      success: OperatorChangeList
    }).annotateMerge(operation("operator.audit.list", "List what operators changed, newest first", reads)),
    HttpApiEndpoint.get("listAccountAudit", "/operator/accounts/:account_id/audit", {
      params: ofAccount,
      query: AuditQuery,
      success: AuditLogList,
      error: NotFoundError
    }).annotateMerge(operation("operator.audit.of_account", "List the audit log of an account, newest first", reads))
  )
  .middleware(OperatorAccess) {}

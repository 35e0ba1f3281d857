import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { AuditLogList, AuditQuery } from "./Audit.ts"

const reads = { limit: "management_reads", charge: "free", scope: "audit:read" } as const

/** The audit log of the account. */
export class ManagementAuditGroup extends HttpApiGroup.make("managementAudit")
  .add(
    HttpApiEndpoint.get("listAudit", "/management/audit", { query: AuditQuery, success: AuditLogList }).annotateMerge(
      operation("management.audit.list", "List actions on the account, newest first", reads)
    )
  )
  .middleware(ManagementAccess) {}

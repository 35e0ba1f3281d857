import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnerAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { ResourcePage } from "../Page.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import { ManagementKeyList, ManagementKeyRevoked, ManagementKeyWithSecret, NewManagementKey } from "./ManagementKeys.ts"

const reads = { limit: "console_reads", charge: "free" } as const
const writes = { limit: "console_writes", charge: "free" } as const

/** The management keys of an account. Only its owner can create them. */
export class ConsoleManagementKeysGroup extends HttpApiGroup.make("consoleManagementKeys")
  .add(
    HttpApiEndpoint.get("listManagementKeys", "/console/management-keys", {
      query: ResourcePage,
      success: ManagementKeyList
    }).annotateMerge(operation("console.management_keys.list", "List management keys, newest first", reads)),
    HttpApiEndpoint.post("createManagementKey", "/console/management-keys", {
      headers: idempotency,
      payload: NewManagementKey,
      success: ManagementKeyWithSecret,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(
      operation("console.management_keys.create", "Create a management key; the response shows its secret once", writes)
    ),
    HttpApiEndpoint.delete("revokeManagementKey", "/console/management-keys/:key_id", {
      params: {
        /** The id of a management key. */
        key_id: ResourceId
      },
      success: ManagementKeyRevoked,
      error: NotFoundError
    }).annotateMerge(operation("console.management_keys.revoke", "Revoke a management key immediately", writes))
  )
  .middleware(OwnerAccess) {}

import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { KeyRevoked } from "./Keys.ts"

const writes = { limit: "management_writes", charge: "free", scope: "keys:write" } as const

/** The inference keys of the account. */
export class ManagementKeysGroup extends HttpApiGroup.make("managementKeys")
  .add(
    HttpApiEndpoint.delete("revokeKey", "/management/keys/:key_id", {
      params: { key_id: ResourceId },
      success: KeyRevoked,
      error: NotFoundError
    }).annotateMerge(operation("management.keys.revoke", "Revoke a key, at once", writes))
  )
  .middleware(ManagementAccess) {}

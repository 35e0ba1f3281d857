import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { ResourcePage } from "../Page.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import {
  KeyRevoked,
  KeyRotation,
  ManagedKeyChange,
  ManagedKeyList,
  ManagedKeyResult,
  ManagedKeyWithSecret,
  NewManagedKey
} from "./Keys.ts"

const params = {
  /** The id of a key. */
  key_id: ResourceId
}

const reads = { limit: "management_reads", charge: "free", scope: "keys:read" } as const
const writes = { limit: "management_writes", charge: "free", scope: "keys:write" } as const

/** The inference keys of the account. */
export class ManagementKeysGroup extends HttpApiGroup.make("managementKeys")
  .add(
    HttpApiEndpoint.get("listKeys", "/management/keys", { query: ResourcePage, success: ManagedKeyList }).annotateMerge(
      operation("management.keys.list", "List keys, newest first", reads)
    ),
    HttpApiEndpoint.post("createKey", "/management/keys", {
      headers: idempotency,
      payload: NewManagedKey,
      success: ManagedKeyWithSecret,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(operation("management.keys.create", "Create a key; the response shows its secret once", writes)),
    HttpApiEndpoint.get("getKey", "/management/keys/:key_id", {
      params,
      success: ManagedKeyResult,
      error: NotFoundError
    }).annotateMerge(operation("management.keys.get", "Retrieve a key", reads)),
    HttpApiEndpoint.patch("updateKey", "/management/keys/:key_id", {
      params,
      payload: ManagedKeyChange,
      success: ManagedKeyResult,
      error: [NotFoundError, ConflictError]
    }).annotateMerge(operation("management.keys.update", "Change a key", writes)),
    HttpApiEndpoint.post("rotateKey", "/management/keys/:key_id/rotate", {
      params,
      headers: idempotency,
      payload: KeyRotation,
      success: ManagedKeyWithSecret,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(
      operation(
        "management.keys.rotate",
        "Replace a key with a new secret; the old key stops at once or after a grace period",
        writes
      )
    ),
    HttpApiEndpoint.delete("revokeKey", "/management/keys/:key_id", {
      params,
      success: KeyRevoked,
      error: NotFoundError
    }).annotateMerge(operation("management.keys.revoke", "Revoke a key immediately", writes))
  )
  .middleware(ManagementAccess) {}

import { Schema } from "effect"
import { END_OF_TIME, integer, sized, storable, textOf } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/** A permission of a management key. The description is the one place that lists which scope includes another. */
export const ManagementScope = Schema.Literals([
  "keys:read",
  "keys:write",
  "projects:read",
  "projects:write",
  "webhooks:read",
  "webhooks:write",
  "presets:read",
  "routing:write",
  "usage:read",
  "audit:read"
]).annotate({
  description:
    "`keys:write` includes `keys:read`, `projects:write` includes `projects:read`, and `webhooks:write` includes `webhooks:read`. No other scope includes another."
})

/** A management key to create. */
export const NewManagementKey = Schema.Struct({
  /** A name of 1 to 100 characters. */
  name: textOf(1, 100).check(storable),
  /** What the key may do. */
  scopes: Schema.Array(ManagementScope).check(...sized(1, 32, "items")),
  /** Unix seconds, in the future. */
  expires_at: Schema.optionalKey(Schema.NullOr(integer(0, END_OF_TIME)))
}).annotate({ identifier: "NewManagementKey" })

/** A management key, without its secret. Times are Unix seconds. */
export const ManagementKey = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("management_key"),
  /** The name of the key. */
  name: Schema.String,
  /** The start of the secret, as `last4` is its end. */
  prefix: Schema.String,
  /** The last four characters of the secret. */
  last4: Schema.String,
  /** What the key may do. */
  scopes: Schema.Array(Schema.String),
  /** An expired key is also `revoked`. Neither becomes active again. */
  status: Schema.Literals(["active", "revoked"]),
  /** When the key was created. */
  created_at: Schema.Int,
  /** When the key expires; null if it does not. */
  expires_at: Schema.NullOr(Schema.Int),
  /** When the key was revoked; null while it is not. */
  revoked_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "ManagementKey" })
export type ManagementKey = typeof ManagementKey.Type

/** A management key with its secret, which is shown only once. */
export const ManagementKeyWithSecret = Schema.Struct({
  /** The secret. */
  key: Schema.String,
  data: ManagementKey
}).annotate({ identifier: "ManagementKeyWithSecret" })
export type ManagementKeyWithSecret = typeof ManagementKeyWithSecret.Type

/** One page of management keys, newest first. `next_cursor` is null on the last page. */
export const ManagementKeyList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(ManagementKey),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "ManagementKeyList" })

/** The confirmation that a management key was revoked. */
export const ManagementKeyRevoked = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("management_key"), status: Schema.Literal("revoked") })
}).annotate({ identifier: "ManagementKeyRevoked" })

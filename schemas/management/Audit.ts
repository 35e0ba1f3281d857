import { Schema } from "effect"
import { integer, sized, storable, textOf } from "../Bounds.ts"
import { RequestId, ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** The end of the year 9999, beyond which times have no usual form. */
const END_OF_TIME = 253_402_300_799

const Seconds = Schema.optionalKey(integer(0, END_OF_TIME))

/** Given once or several times. */
const Words = Schema.optionalKey(Schema.Array(textOf(1, 128).check(storable)).check(...sized(1, 32, "items")))

/**
 * What the log is narrowed to: times are Unix seconds, and of several values of one kind any will do. Types, actors and resources
 * may make 32 combinations.
 */
export const AuditQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the page before. */
  cursor: Schema.optionalKey(ResourceId),
  "effective_at[gt]": Seconds,
  "effective_at[gte]": Seconds,
  "effective_at[lt]": Seconds,
  "effective_at[lte]": Seconds,
  "event_types[]": Words,
  "actor_ids[]": Words,
  "resource_ids[]": Words
}

/** What was done to the account, by whom, and how it ended. It is never changed, and never has a secret in it. */
export const AuditLog = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("audit_log"),
  /** The deed in the past tense, such as `key.revoked`. */
  type: Schema.String,
  /** Unix seconds. */
  effective_at: Schema.Int,
  /** The holder of a key, the owner, an operator, or the service itself. */
  actor: Schema.Struct({ type: Schema.Literals(["key", "owner", "operator", "service"]), id: Schema.String }),
  resource: Schema.Struct({ type: Schema.String, id: Schema.String }),
  /** The `X-Request-ID` of the request that asked for it; null where none did. */
  request_id: Schema.NullOr(RequestId),
  /** `pending` while nobody has said how it ended. */
  status: Schema.Literals(["completed", "pending"]),
  /** Null while it is pending. */
  outcome: Schema.NullOr(Schema.Literals(["succeeded", "failed"])),
  /** The code of the error it failed with. */
  code: Schema.NullOr(Schema.String),
  changes: Schema.Record(Schema.String, Schema.Json)
}).annotate({ identifier: "AuditLog" })
export type AuditLog = typeof AuditLog.Type

/** Newest first; `next_cursor` is null on the last page. */
export const AuditLogList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(AuditLog),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "AuditLogList" })

import { Schema } from "effect"
import { END_OF_TIME, integer, sized, storable, textOf } from "../Bounds.ts"
import { RequestId, ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

const Seconds = Schema.optionalKey(integer(0, END_OF_TIME))

const Words = Schema.optionalKey(Schema.Array(textOf(1, 128).check(storable)).check(...sized(1, 32, "items")))

/**
 * Filters of the log. Times are Unix seconds. Several values of one filter mean any of them. Types, actors and resources may form at
 * most 32 combinations.
 */
export const AuditQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId),
  /** Actions after this time, in Unix seconds. */
  "effective_at[gt]": Seconds,
  /** Actions at this time or later, in Unix seconds. */
  "effective_at[gte]": Seconds,
  /** Actions before this time, in Unix seconds. */
  "effective_at[lt]": Seconds,
  /** Actions at this time or earlier, in Unix seconds. */
  "effective_at[lte]": Seconds,
  /** The type of the action, such as `key.revoked`. May be given several times. */
  "event_types[]": Words,
  /** The id of the actor. May be given several times. */
  "actor_ids[]": Words,
  /** The id of the resource. May be given several times. */
  "resource_ids[]": Words
}

/** An action on the account, its actor and its outcome. It never changes and never contains a secret. */
export const AuditLog = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("audit_log"),
  /** The action in the past tense, such as `key.revoked`. */
  type: Schema.String,
  /** Unix seconds. */
  effective_at: Schema.Int,
  /** A key, the owner, an operator, or the service itself. */
  actor: Schema.Struct({
    /** The kind of actor. */
    type: Schema.Literals(["key", "owner", "operator", "service"]),
    /** The id of the actor. */
    id: Schema.String
  }),
  /** What the action changed. */
  resource: Schema.Struct({
    /** The kind of resource. */
    type: Schema.String,
    /** The id of the resource. */
    id: Schema.String
  }),
  /** The `X-Request-ID` of the request that caused it; null when none did. */
  request_id: Schema.NullOr(RequestId),
  /** `pending`: the outcome is not known yet. */
  status: Schema.Literals(["completed", "pending"]),
  /** Null while it is pending. */
  outcome: Schema.NullOr(Schema.Literals(["succeeded", "failed"])),
  /** The code of the error it failed with. */
  code: Schema.NullOr(Schema.String),
  /** The new values, or facts about the action. */
  changes: Schema.Record(Schema.String, Schema.Json)
}).annotate({ identifier: "AuditLog" })
export type AuditLog = typeof AuditLog.Type

/** One page of the audit log, newest first. `next_cursor` is null on the last page. */
export const AuditLogList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(AuditLog),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "AuditLogList" })

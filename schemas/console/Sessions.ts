import { Schema } from "effect"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** A session that has not ended. Times are Unix seconds. */
export const OwnerSession = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("session"),
  /** Whether the request was sent with this session. */
  current: Schema.Boolean,
  /** The browser and the system that signed in, such as `Firefox on Linux`; null when they are unknown. */
  browser: Schema.NullOr(Schema.String),
  /** The client's address at sign-in; null when it is unknown. */
  address: Schema.NullOr(Schema.String),
  /** When the owner signed in. */
  created_at: Schema.Int,
  /** The last use, to within a minute. */
  seen_at: Schema.Int,
  /** When the session ends unless it is used before. */
  ends_at: Schema.Int
}).annotate({ identifier: "OwnerSession" })
export type OwnerSession = typeof OwnerSession.Type

/** One page of sessions, newest first. `next_cursor` is null on the last page. */
export const OwnerSessionList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(OwnerSession),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OwnerSessionList" })

/** The page of a list of sessions. */
export const OwnerSessionPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId)
}

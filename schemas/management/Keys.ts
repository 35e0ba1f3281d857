import { Schema } from "effect"
import { END_OF_TIME, integer, sized, storable, textOf } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { McpToolName } from "../Mcp.ts"
import { KeptRoutingPolicy, RoutingPolicy } from "../Routing.ts"
import { BudgetCents, BudgetPeriod } from "./Budgets.ts"

const wanted = {
  /** A name of 1 to 100 characters. */
  name: textOf(1, 100).check(storable),
  /** The project that the key belongs to. Its budget and its data policy apply to the key. */
  project_id: ResourceId,
  /** Unix seconds, in the future. */
  expires_at: integer(0, END_OF_TIME),
  routing: KeptRoutingPolicy,
  allowed_tools: Schema.Array(McpToolName).check(...sized(0, McpToolName.literals.length, "items"))
}

/** An inference key to create. */
export const NewManagedKey = Schema.Struct({
  name: wanted.name,
  project_id: Schema.optionalKey(Schema.NullOr(wanted.project_id)),
  /** The spending limit per period. Default: unlimited. */
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** The UTC day, the week from Monday, the month, or the key's lifetime, which is the default. Null only without a budget. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  expires_at: Schema.optionalKey(Schema.NullOr(wanted.expires_at)),
  /** For requests that set no routing. Requires the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(wanted.routing)),
  /** The tools of the MCP server that the key may call. Default: all. */
  allowed_tools: Schema.optionalKey(Schema.NullOr(wanted.allowed_tools))
}).annotate({ identifier: "NewManagedKey" })

/** The changes to a key, at least one. A null removes a value. */
export const ManagedKeyChange = Schema.Struct({
  name: Schema.optionalKey(wanted.name),
  /** Requires the scope `routing:write`, because the project's routing and data policy apply to the key. */
  project_id: Schema.optionalKey(Schema.NullOr(wanted.project_id)),
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** Null only with `budget_cents: null`. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  expires_at: Schema.optionalKey(Schema.NullOr(wanted.expires_at)),
  /** Requires the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(wanted.routing)),
  /** Null allows all tools. */
  allowed_tools: Schema.optionalKey(Schema.NullOr(wanted.allowed_tools))
})
  .check(Schema.isMinProperties(1, { message: "must contain at least one field" }))
  .annotate({ identifier: "ManagedKeyChange" })

/** Options for rotating a key. */
export const KeyRotation = Schema.Struct({
  /** How long the old key works beside the new one, in seconds, at most a day. Default: 0. */
  grace_seconds: Schema.optionalKey(integer(0, 86_400))
}).annotate({ identifier: "KeyRotation" })

/** An inference key, without its secret. Times are Unix seconds. */
export const ManagedKey = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("key"),
  /** The name of the key. */
  name: Schema.String,
  /** The start of the secret, as `last4` is its end. */
  prefix: Schema.String,
  /** The last four characters of the secret. */
  last4: Schema.String,
  project_id: Schema.NullOr(ResourceId),
  /** An expired key is also `revoked`. Neither becomes active again. */
  status: Schema.Literals(["active", "revoked"]),
  /** The spending limit per period in whole USD cents; null for unlimited. */
  budget_cents: Schema.NullOr(Schema.Int),
  budget_period: Schema.NullOr(BudgetPeriod),
  /** The spending in USD cents, which may have fractions: in the budget's current period or, without a budget, in total. */
  spent_cents: Schema.Finite,
  routing: Schema.NullOr(RoutingPolicy),
  /** The tools of the MCP server that the key may call; null for all of them. */
  allowed_tools: Schema.NullOr(Schema.Array(McpToolName)),
  /** When the key was created. */
  created_at: Schema.Int,
  /** When its newest paid request was made; null before. */
  last_used_at: Schema.NullOr(Schema.Int),
  /** When the key expires; null if it does not. */
  expires_at: Schema.NullOr(Schema.Int),
  /** When the key was revoked; null while it is not. */
  revoked_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "ManagedKey" })
export type ManagedKey = typeof ManagedKey.Type

/** One key. */
export const ManagedKeyResult = Schema.Struct({ data: ManagedKey }).annotate({ identifier: "ManagedKeyResult" })

/** A key with its secret, which is shown only once. */
export const ManagedKeyWithSecret = Schema.Struct({
  /** The secret. */
  key: Schema.String,
  data: ManagedKey
}).annotate({ identifier: "ManagedKeyWithSecret" })
export type ManagedKeyWithSecret = typeof ManagedKeyWithSecret.Type

/** One page of keys, newest first. `next_cursor` is null on the last page. */
export const ManagedKeyList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(ManagedKey),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "ManagedKeyList" })

/** The confirmation that a key was revoked. */
export const KeyRevoked = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("key"), status: Schema.Literal("revoked") })
}).annotate({ identifier: "KeyRevoked" })

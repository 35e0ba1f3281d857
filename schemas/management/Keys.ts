import { Schema } from "effect"
import { integer, storable, textOf } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"
import { KeptRoutingPolicy, RoutingPolicy } from "../Routing.ts"
import { BudgetCents, BudgetPeriod } from "./Budgets.ts"

/** The end of the year 9999, beyond which times have no usual form. */
const END_OF_TIME = 253_402_300_799

const wanted = {
  name: textOf(1, 100).check(storable),
  project_id: ResourceId,
  /** Unix seconds, in the future. */
  expires_at: integer(0, END_OF_TIME),
  routing: KeptRoutingPolicy
}

/** An inference key to be made. */
export const NewManagedKey = Schema.Struct({
  name: wanted.name,
  project_id: Schema.optionalKey(Schema.NullOr(wanted.project_id)),
  /** What may be spent with it in each period; unlimited unless told. */
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** The UTC day, week from Monday, month, or all of its life, which it is unless told. Null without a budget only. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  expires_at: Schema.optionalKey(Schema.NullOr(wanted.expires_at)),
  /** For requests that do not say otherwise. Needs the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(wanted.routing))
}).annotate({ identifier: "NewManagedKey" })

/** What is to be otherwise with a key, one member at least. A null takes away. */
export const ManagedKeyChange = Schema.Struct({
  name: Schema.optionalKey(wanted.name),
  /** Needs the scope `routing:write`, for its routing and data policy hold for the key. */
  project_id: Schema.optionalKey(Schema.NullOr(wanted.project_id)),
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** Null beside `budget_cents: null` only. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  expires_at: Schema.optionalKey(Schema.NullOr(wanted.expires_at)),
  /** Needs the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(wanted.routing))
})
  .check(Schema.isMinProperties(1, { message: "at least one member" }))
  .annotate({ identifier: "ManagedKeyChange" })

/** How a key is rotated. */
export const KeyRotation = Schema.Struct({
  /** How long the key goes on beside the one in its place: at most a day, and not at all unless told. */
  grace_seconds: Schema.optionalKey(integer(0, 86_400))
}).annotate({ identifier: "KeyRotation" })

/** An inference key; never its secret. Times are Unix seconds. */
export const ManagedKey = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("key"),
  name: Schema.String,
  /** How the secret begins and ends. */
  prefix: Schema.String,
  last4: Schema.String,
  project_id: Schema.NullOr(ResourceId),
  /** A key that has expired is `revoked` as well: neither works again. */
  status: Schema.Literals(["active", "revoked"]),
  budget_cents: Schema.NullOr(Schema.Int),
  budget_period: Schema.NullOr(BudgetPeriod),
  /** In USD cents, which may have fractions: in the budget's period that runs; without a budget, ever. */
  spent_cents: Schema.Finite,
  routing: Schema.NullOr(RoutingPolicy),
  created_at: Schema.Int,
  /** When its newest paid request was made. */
  last_used_at: Schema.NullOr(Schema.Int),
  expires_at: Schema.NullOr(Schema.Int),
  revoked_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "ManagedKey" })
export type ManagedKey = typeof ManagedKey.Type

/** One key. */
export const ManagedKeyResult = Schema.Struct({ data: ManagedKey }).annotate({ identifier: "ManagedKeyResult" })

/** A key with its secret, which is shown this once. */
export const ManagedKeyWithSecret = Schema.Struct({ key: Schema.String, data: ManagedKey }).annotate({
  identifier: "ManagedKeyWithSecret"
})
export type ManagedKeyWithSecret = typeof ManagedKeyWithSecret.Type

/** Newest first; `next_cursor` is null on the last page. */
export const ManagedKeyList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(ManagedKey),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "ManagedKeyList" })

/** A page of keys. */
export const KeyPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the page before. */
  cursor: Schema.optionalKey(ResourceId)
}

/** What is told of a key that works no more from now on. */
export const KeyRevoked = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("key"), status: Schema.Literal("revoked") })
}).annotate({ identifier: "KeyRevoked" })

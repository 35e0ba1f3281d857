import { Schema } from "effect"
import { between, integer, sized, storable, textOf, Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { BudgetPeriod } from "../management/Budgets.ts"
import { Limit } from "../Page.ts"

/** The state of an account. `suspended` ends with a resume; `closed` is final. */
export const AccountState = Schema.Literals(["active", "suspended", "closed"]).annotate({ identifier: "AccountState" })

const facts = {
  id: ResourceId,
  object: Schema.Literal("account"),
  email: Schema.String,
  state: AccountState,
  /** The operator's reason for the state; null while the account is active. */
  state_reason: Schema.NullOr(Schema.String),
  /** The balance in real money; simulated money is not included. */
  balance_usd: Schema.Finite,
  held_usd: Usd,
  /** Simulated money of a sandbox, which cannot pay a real provider. */
  play_balance_usd: Schema.Finite,
  play_held_usd: Usd,
  /** The factor for the account's rate limits. */
  limit_scale: Schema.Finite,
  /** The account's markup on the catalogue's prices, in hundredths of a percent. A negative markup is a discount. */
  markup_basis_points: Schema.Int,
  /** The account's price plan; null without one. */
  plan: Schema.NullOr(Schema.Struct({ id: ResourceId, name: Schema.String })),
  /** Unix seconds. */
  created_at: Schema.Int
}

/** An account with its money and its state. */
export const OperatorAccount = Schema.Struct(facts).annotate({ identifier: "OperatorAccount" })

/** One page of accounts, newest first. `next_cursor` is null on the last page. */
export const OperatorAccountList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(OperatorAccount),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OperatorAccountList" })

/** The filters combine: an account must match all of them. */
export const OperatorAccountQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId),
  /** A part of the email address, without regard to case, or the start of the id. */
  search: Schema.optionalKey(Schema.String.check(...sized(1, 256, "characters"), storable)),
  state: Schema.optionalKey(AccountState)
}

/** A budget in its current period: of a key or a project, or the daily one of the account by its plan. */
export const OperatorBudget = Schema.Struct({
  scope: Schema.Literals(["account", "key", "project"]),
  /** The id of the key, the project or the account. */
  owner_id: ResourceId,
  name: Schema.String,
  period: BudgetPeriod,
  limit_usd: Usd,
  spent_usd: Usd,
  held_usd: Usd
}).annotate({ identifier: "OperatorBudget" })

/** An account with what an operator asks about it first. */
export const OperatorAccountResult = Schema.Struct({
  data: Schema.Struct({
    ...facts,
    /** Charges less refunds of today and the 29 days before it, in UTC. */
    spent_30d_usd: Schema.Finite,
    open_requests: Schema.Int,
    keys: Schema.Struct({ active: Schema.Int, inactive: Schema.Int }),
    budgets: Schema.Array(OperatorBudget)
  })
}).annotate({ identifier: "OperatorAccountResult" })
export type OperatorAccountResult = typeof OperatorAccountResult.Type

const Reason = textOf(1, 500).check(storable)

/** The reason of a change of state. The account's owner sees the reason of a suspension, and the audit log keeps every reason. */
export const AccountStateChange = Schema.Struct({ reason: Reason }).annotate({ identifier: "AccountStateChange" })

/** The state of an account after a change. */
export const AccountStateResult = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("account"), state: AccountState, reason: Schema.String })
}).annotate({ identifier: "AccountStateResult" })

/** A new markup, in hundredths of a percent of the catalogue's prices: -9,999 to 100,000. */
export const AccountMarkup = Schema.Struct({ markup_basis_points: integer(-9_999, 100_000) }).annotate({
  identifier: "AccountMarkup"
})

/** The markup of an account after a change. */
export const AccountMarkupResult = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("account"), markup_basis_points: Schema.Int })
}).annotate({ identifier: "AccountMarkupResult" })

/** A new factor for the rate limits of an account: 0.001 to 1,000,000. */
export const AccountLimits = Schema.Struct({ limit_scale: between(0.001, 1_000_000) }).annotate({
  identifier: "AccountLimits"
})

/** The rate limits of an account after a change. */
export const AccountLimitsResult = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("account"), limit_scale: Schema.Finite })
}).annotate({ identifier: "AccountLimitsResult" })

/** A key of an account, without its secret. Times are Unix seconds. */
export const OperatorKey = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("key"),
  kind: Schema.Literals(["inference", "management"]),
  name: Schema.String,
  /** The start of the secret, as `last4` is its end. */
  prefix: Schema.String,
  last4: Schema.String,
  scopes: Schema.Array(Schema.String),
  project_id: Schema.NullOr(ResourceId),
  status: Schema.Literals(["active", "revoked", "expired"]),
  created_at: Schema.Int,
  expires_at: Schema.NullOr(Schema.Int),
  revoked_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "OperatorKey" })

/** One page of an account's keys of both kinds, newest first. `next_cursor` is null on the last page. */
export const OperatorKeyList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(OperatorKey),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OperatorKeyList" })

/** The page of a list of an account's keys. */
export const OperatorKeyPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId)
}

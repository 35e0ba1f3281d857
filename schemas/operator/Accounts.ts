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
  /** The address of the owner. */
  email: Schema.String,
  state: AccountState,
  /** The operator's reason for the state; null while the account is active. */
  state_reason: Schema.NullOr(Schema.String),
  /** The balance in real money; simulated money is not included. */
  balance_usd: Schema.Finite,
  /** The part of `balance_usd` that running requests hold. */
  held_usd: Usd,
  /** Simulated money of a sandbox, which cannot pay a real provider. */
  play_balance_usd: Schema.Finite,
  /** The part of `play_balance_usd` that running requests hold. */
  play_held_usd: Usd,
  /** The factor for the account's rate limits. */
  limit_scale: Schema.Finite,
  /** The account's markup on the catalogue's prices, in hundredths of a percent. A negative markup is a discount. */
  markup_basis_points: Schema.Int,
  /** The account's price plan; null without one. */
  plan: Schema.NullOr(
    Schema.Struct({
      id: ResourceId,
      /** The name of the plan. */
      name: Schema.String
    })
  ),
  /** Unix seconds. */
  created_at: Schema.Int
}

/** An account with its money and its state. */
export const OperatorAccount = Schema.Struct(facts).annotate({ identifier: "OperatorAccount" })

/** One page of accounts, newest first. `next_cursor` is null on the last page. */
export const OperatorAccountList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(OperatorAccount),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OperatorAccountList" })

/** The filters combine: an account must match all of them. */
export const OperatorAccountQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId),
  /** A part of the email address, without regard to case, or the start of the id. */
  search: Schema.optionalKey(Schema.String.check(...sized(1, 256, "characters"), storable)),
  /** The state of the account. */
  state: Schema.optionalKey(AccountState)
}

/** A budget in its current period: of a key or a project, or the daily one of the account by its plan. */
export const OperatorBudget = Schema.Struct({
  /** What the budget limits. */
  scope: Schema.Literals(["account", "key", "project"]),
  /** The id of the key, the project or the account. */
  owner_id: ResourceId,
  /** The name of the key or the project; empty for the account's own budget. */
  name: Schema.String,
  period: BudgetPeriod,
  /** The limit per period. */
  limit_usd: Usd,
  /** What was spent in the period. */
  spent_usd: Usd,
  /** What running requests hold. */
  held_usd: Usd
}).annotate({ identifier: "OperatorBudget" })

/** An account with what an operator asks about it first. */
export const OperatorAccountResult = Schema.Struct({
  data: Schema.Struct({
    ...facts,
    /** Charges less refunds of today and the 29 days before it, in UTC. */
    spent_30d_usd: Schema.Finite,
    /** The number of requests that have not ended. */
    open_requests: Schema.Int,
    /** The numbers of its keys. */
    keys: Schema.Struct({
      /** Keys that work. */
      active: Schema.Int,
      /** Keys that are revoked or expired. */
      inactive: Schema.Int
    }),
    /** The budgets, in their current periods. */
    budgets: Schema.Array(OperatorBudget)
  })
}).annotate({ identifier: "OperatorAccountResult" })
export type OperatorAccountResult = typeof OperatorAccountResult.Type

const Reason = textOf(1, 500).check(storable)

/** The reason of a change of state. The account's owner sees the reason of a suspension, and the audit log keeps every reason. */
export const AccountStateChange = Schema.Struct({
  /** 1 to 500 characters. */
  reason: Reason
}).annotate({ identifier: "AccountStateChange" })

/** The state of an account after a change. */
export const AccountStateResult = Schema.Struct({
  data: Schema.Struct({
    id: ResourceId,
    object: Schema.Literal("account"),
    state: AccountState,
    /** The reason of the change. */
    reason: Schema.String
  })
}).annotate({ identifier: "AccountStateResult" })

/** A new markup on the catalogue's prices. */
export const AccountMarkup = Schema.Struct({
  /** In hundredths of a percent: -9,999 to 100,000. A negative markup is a discount. */
  markup_basis_points: integer(-9_999, 100_000)
}).annotate({ identifier: "AccountMarkup" })

/** The markup of an account after a change. */
export const AccountMarkupResult = Schema.Struct({
  data: Schema.Struct({
    id: ResourceId,
    object: Schema.Literal("account"),
    /** In hundredths of a percent of the catalogue's prices. */
    markup_basis_points: Schema.Int
  })
}).annotate({ identifier: "AccountMarkupResult" })

/** New rate limits of an account. */
export const AccountLimits = Schema.Struct({
  /** The factor for the usual limits: 0.001 to 1,000,000. */
  limit_scale: between(0.001, 1_000_000)
}).annotate({ identifier: "AccountLimits" })

/** The rate limits of an account after a change. */
export const AccountLimitsResult = Schema.Struct({
  data: Schema.Struct({
    id: ResourceId,
    object: Schema.Literal("account"),
    /** The factor for the usual limits. */
    limit_scale: Schema.Finite
  })
}).annotate({ identifier: "AccountLimitsResult" })

/** A key of an account, without its secret. Times are Unix seconds. */
export const OperatorKey = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("key"),
  /** What the key is for. */
  kind: Schema.Literals(["inference", "management"]),
  /** The name of the key. */
  name: Schema.String,
  /** The start of the secret, as `last4` is its end. */
  prefix: Schema.String,
  /** The last four characters of the secret. */
  last4: Schema.String,
  /** What a management key may do; empty for inference keys. */
  scopes: Schema.Array(Schema.String),
  project_id: Schema.NullOr(ResourceId),
  /** Only `active` keys work. */
  status: Schema.Literals(["active", "revoked", "expired"]),
  /** When the key was created. */
  created_at: Schema.Int,
  /** When the key expires; null if it does not. */
  expires_at: Schema.NullOr(Schema.Int),
  /** When the key was revoked; null while it is not. */
  revoked_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "OperatorKey" })

/** One page of an account's keys of both kinds, newest first. `next_cursor` is null on the last page. */
export const OperatorKeyList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(OperatorKey),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OperatorKeyList" })

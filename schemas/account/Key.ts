import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/** A rate limit of a key. */
export const KeyRateLimit = Schema.Struct({
  /** The maximum number of requests in a window. */
  requests: Count,
  /** The length of the window. */
  window_seconds: Count
}).annotate({ identifier: "KeyRateLimit" })

/**
 * A budget in its current period. Amounts are in USD cents and may have fractions. Money held by running requests counts neither as
 * spent nor as remaining.
 */
export const KeyBudget = Schema.Struct({
  /** The UTC day, the week from Monday, the month, or all time. */
  period: Schema.Literals(["daily", "weekly", "monthly", "lifetime"]),
  /** The limit. */
  budget_cents: Schema.Finite,
  /** The amount spent in the period. */
  spent_cents: Schema.Finite,
  /** The rest of the limit. */
  remaining_cents: Schema.Finite
}).annotate({ identifier: "KeyBudget" })

/** The calling key, without its secret. Times are Unix seconds. */
export const KeyReport = Schema.Struct({
  object: Schema.Literal("key"),
  id: ResourceId,
  /** Whether the key sends requests (`inference`) or manages the account (`management`). */
  kind: Schema.Literals(["inference", "management"]),
  /** The name of the key. */
  name: Schema.String,
  /** The start of the secret, as `last4` is its end. */
  prefix: Schema.String,
  /** The last four characters of the secret. */
  last4: Schema.String,
  /** The project that the key belongs to; null without one. */
  project_id: Schema.NullOr(Schema.String),
  /** When the key was created. */
  created_at: Schema.Int,
  /** When its newest paid request was made; null before. */
  last_used_at: Schema.NullOr(Schema.Int),
  /** When the key expires; null if it does not. */
  expires_at: Schema.NullOr(Schema.Int),
  /** The key's own budget. */
  budget: Schema.NullOr(KeyBudget),
  /** The project's budget, which all of its keys share. */
  project_budget: Schema.NullOr(KeyBudget),
  /** The account's factor for rate limits. */
  limit_scale: Schema.Finite,
  /** The limit of each class of operations, with all factors. */
  rate_limits: Schema.Struct({
    default: KeyRateLimit,
    chat: KeyRateLimit,
    search: KeyRateLimit,
    images: KeyRateLimit,
    video: KeyRateLimit
  }),
  /** The amounts that the key has spent. */
  spend_usd: Schema.Struct({
    /** Since the start of the UTC day. */
    today: Usd,
    /** Since Monday in UTC. */
    this_week: Usd,
    /** Since the start of the UTC month. */
    this_month: Usd,
    /** In total. */
    all_time: Usd
  }),
  /** The account's balance. */
  balance_usd: Schema.Finite
}).annotate({ identifier: "KeyReport" })
export type KeyReport = typeof KeyReport.Type

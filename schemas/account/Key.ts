import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/** The number of requests that a key may make in a window of this many seconds. */
export const KeyRateLimit = Schema.Struct({ requests: Count, window_seconds: Count }).annotate({
  identifier: "KeyRateLimit"
})

/**
 * A budget in USD cents, which may have fractions, in the current UTC period. Money held by running requests counts neither as spent
 * nor as remaining.
 */
export const KeyBudget = Schema.Struct({
  period: Schema.Literals(["daily", "weekly", "monthly", "lifetime"]),
  budget_cents: Schema.Finite,
  spent_cents: Schema.Finite,
  remaining_cents: Schema.Finite
}).annotate({ identifier: "KeyBudget" })

/**
 * The calling key, without its secret. Times are Unix seconds. Each class of operations has a rate limit, which includes all factors.
 * `spend_usd` is the key's spending since the start of the UTC day, week (Monday) and month, and in total.
 */
export const KeyReport = Schema.Struct({
  object: Schema.Literal("key"),
  id: ResourceId,
  kind: Schema.Literals(["inference", "management"]),
  name: Schema.String,
  /** The start of the secret, as `last4` is its end. */
  prefix: Schema.String,
  last4: Schema.String,
  project_id: Schema.NullOr(Schema.String),
  created_at: Schema.Int,
  /** When its newest paid request was made. */
  last_used_at: Schema.NullOr(Schema.Int),
  expires_at: Schema.NullOr(Schema.Int),
  /** The key's own budget. */
  budget: Schema.NullOr(KeyBudget),
  /** The project's budget, which all of its keys share. */
  project_budget: Schema.NullOr(KeyBudget),
  /** The account's factor for rate limits. */
  limit_scale: Schema.Finite,
  rate_limits: Schema.Struct({
    default: KeyRateLimit,
    chat: KeyRateLimit,
    search: KeyRateLimit,
    images: KeyRateLimit,
    video: KeyRateLimit
  }),
  spend_usd: Schema.Struct({ today: Usd, this_week: Usd, this_month: Usd, all_time: Usd }),
  balance_usd: Schema.Finite
}).annotate({ identifier: "KeyReport" })
export type KeyReport = typeof KeyReport.Type

import { Schema } from "effect"
import { Count, Usd } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/** Requests that a key may make in a window of so many seconds. */
export const KeyRateLimit = Schema.Struct({ requests: Count, window_seconds: Count }).annotate({
  identifier: "KeyRateLimit"
})

/** In USD cents, which may have fractions, in the period that runs by UTC. What running requests hold is neither spent nor remaining. */
export const KeyBudget = Schema.Struct({
  period: Schema.Literals(["daily", "weekly", "monthly", "lifetime"]),
  budget_cents: Schema.Finite,
  spent_cents: Schema.Finite,
  remaining_cents: Schema.Finite
}).annotate({ identifier: "KeyBudget" })

/**
 * The calling key; never its secret. Times are Unix seconds. Rate limits are those of each class of operations, with all scales in
 * them. `spend_usd` is what the key was charged since the UTC day, week (from Monday) and month began, and ever.
 */
export const KeyReport = Schema.Struct({
  object: Schema.Literal("key"),
  id: ResourceId,
  kind: Schema.Literals(["inference", "management"]),
  name: Schema.String,
  /** How the secret begins and ends. */
  prefix: Schema.String,
  last4: Schema.String,
  project_id: Schema.NullOr(Schema.String),
  created_at: Schema.Int,
  /** When its newest paid request was made. */
  last_used_at: Schema.NullOr(Schema.Int),
  expires_at: Schema.NullOr(Schema.Int),
  /** The key's own. */
  budget: Schema.NullOr(KeyBudget),
  /** That of its project, which all of the project's keys share. */
  project_budget: Schema.NullOr(KeyBudget),
  /** What the account multiplies rate limits by. */
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

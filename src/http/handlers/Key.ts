import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller, type Principal } from "../../../schemas/Access.ts"
import type { KeyReport } from "../../../schemas/account/Key.ts"
import type { Budgets, BudgetState } from "../../account/Budgets.ts"
import { failure } from "../../domain/Failure.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { secondsOf } from "../../domain/UnixTime.ts"
import { requestsAt, type WindowName, windowSeconds } from "../../ratelimit/Limits.ts"
import type { KeyUsage, Usage } from "../../usage/Usage.ts"

const budgetReportOf = (budget: BudgetState | undefined): KeyReport["budget"] =>
  budget === undefined
    ? null
    : {
        period: budget.period,
        budget_cents: budget.budgetCents,
        spent_cents: budget.spentCents,
        remaining_cents: budget.remainingCents
      }

/** The report on a key for its holder. `scale` is the service's rate limit multiplier. */
export const keyReportOf = (
  { facts, spend }: KeyUsage,
  caller: Pick<Principal, "budgets" | "limitScale">,
  budgets: ReadonlyMap<string, BudgetState>,
  scale: number
): KeyReport => {
  const budgetOf = (scope: "key" | "project") =>
    budgetReportOf(budgets.get(caller.budgets.find((budget) => budget.scope === scope)?.id ?? ""))
  const limitOf = (window: WindowName) => ({
    requests: requestsAt(window, scale * caller.limitScale),
    window_seconds: windowSeconds
  })
  return {
    object: "key",
    id: facts.id,
    kind: facts.kind,
    name: facts.name,
    prefix: facts.prefix,
    last4: facts.last4,
    project_id: facts.project_id,
    created_at: secondsOf(facts.created_at),
    last_used_at: secondsOf(spend.used_at),
    expires_at: secondsOf(facts.expires_at),
    budget: budgetOf("key"),
    project_budget: budgetOf("project"),
    limit_scale: caller.limitScale,
    rate_limits: {
      default: limitOf("default"),
      chat: limitOf("chat"),
      search: limitOf("search"),
      images: limitOf("images"),
      video: limitOf("video")
    },
    spend_usd: {
      today: usdFromNano(spend.today),
      this_week: usdFromNano(spend.week),
      this_month: usdFromNano(spend.month),
      all_time: usdFromNano(spend.ever)
    },
    balance_usd: usdFromNano(facts.posted)
  }
}

/** `GET /key`. `scale` is the service's rate limit multiplier. */
export const getKey = (usage: Usage["Service"], budgets: Budgets["Service"], scale: number) =>
  Effect.fnUntraced(function* () {
    const caller = yield* Caller
    const used = yield* usage.ofKey(caller)
    // The key's row was read a moment ago, so it has been deleted since.
    if (used === undefined) return yield* failure({ _tag: "InvalidApiKey" })
    const states = yield* budgets.statesOf(caller.budgets.map(({ id }) => id))
    return HttpServerResponse.jsonUnsafe(keyReportOf(used, caller, states, scale))
  })

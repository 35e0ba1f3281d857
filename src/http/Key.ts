import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller, type Principal } from "../../schemas/Access.ts"
import type { KeyReport } from "../../schemas/account/Key.ts"
import type { BudgetPeriodName } from "../domain/Budget.ts"
import { failure } from "../domain/Failure.ts"
import { centsFromNano, maxNano, usdFromNano } from "../domain/Money.ts"
import { requestsAt, type WindowName, windowSeconds } from "../ratelimit/Limits.ts"
import type { KeyUsage, Usage } from "../usage/Usage.ts"
import type { KeyFacts } from "../usage/UsageSql.ts"
import { respond } from "./Failures.ts"

const secondsOf = (time: Date | null): number | null => (time === null ? null : Math.floor(time.getTime() / 1000))

const periodOf = (budgets: Principal["budgets"], scope: "key" | "project") =>
  budgets.find((budget) => budget.scope === scope)?.period

const budgetOf = (facts: KeyFacts, period: string | undefined): KeyReport["budget"] => {
  const { budget_held: held, budget_limit: limit, budget_spent: spent } = facts
  if (limit === null || period === undefined) return null
  return {
    period: period as BudgetPeriodName,
    budget_cents: centsFromNano(limit),
    spent_cents: centsFromNano(spent),
    remaining_cents: centsFromNano(maxNano(0n, limit - spent - held))
  }
}

/** What the holder of a key is told of it. `scale` is the service's own, of its rate limits. */
export const keyReportOf = (
  { facts, spend }: KeyUsage,
  caller: { readonly limitScale: number; readonly budgets: Principal["budgets"] },
  scale: number
): KeyReport => {
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
    created_at: Math.floor(facts.created_at.getTime() / 1000),
    last_used_at: secondsOf(spend.used_at),
    expires_at: secondsOf(facts.expires_at),
    budget: budgetOf(facts, periodOf(caller.budgets, "key")),
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

/** `GET /key`. `scale` is the service's own, of its rate limits. */
export const getKey = (usage: Usage["Service"], scale: number) => () =>
  Effect.gen(function* () {
    const caller = yield* Caller
    const { accountId, budgets, keyId } = caller
    const used = yield* usage.ofKey({ accountId, keyId, period: periodOf(budgets, "key") })
    // Its row was read a moment ago.
    if (used === undefined) return respond(failure({ _tag: "InvalidApiKey" }))
    return HttpServerResponse.jsonUnsafe(keyReportOf(used, caller, scale))
  }).pipe(
    Effect.catchTag("Unavailable", (error) => Effect.succeed(respond(failure({ _tag: "StoreUnavailable" }, error))))
  )

import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import type { UsageReport } from "../../../schemas/account/Usage.ts"
import { Budgets } from "../../account/Budgets.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { Config } from "../../platform/config/Config.ts"
import { type AccountUsage, Usage, type UsagePeriod } from "../../usage/Usage.ts"
import type { UsageRow } from "../../usage/UsageSql.ts"
import { getKey } from "./Key.ts"
import { operations } from "../edge/Operations.ts"

type Sums = Omit<UsageRow, "start" | "model" | "provider">

/** Adds to one object in place, because there are thousands of rows. */
const totalOf = (rows: ReadonlyArray<Sums>): Sums => {
  const total = { requests: 0n, prompt: 0n, cached: 0n, cache_write: 0n, completion: 0n, reasoning: 0n, cost: 0n }
  for (const row of rows) {
    total.requests += row.requests
    total.prompt += row.prompt
    total.cached += row.cached
    total.cache_write += row.cache_write
    total.completion += row.completion
    total.reasoning += row.reasoning
    total.cost += row.cost
  }
  return total
}

/** Sums in the form of the API. */
export const figuresOf = (sums: Sums): UsageReport["totals"] => ({
  requests: Number(sums.requests),
  prompt_tokens: Number(sums.prompt),
  cached_tokens: Number(sums.cached),
  cache_creation_tokens: Number(sums.cache_write),
  completion_tokens: Number(sums.completion),
  reasoning_tokens: Number(sums.reasoning),
  cost_usd: usdFromNano(sums.cost)
})

/** The usage report. Totals are summed before they are rounded to JSON numbers. */
export const usageReportOf = (period: UsagePeriod, used: AccountUsage, balance: Nano): UsageReport => ({
  object: "usage",
  period,
  start_time: used.fromMs / 1000,
  end_time: used.untilMs / 1000,
  totals: figuresOf(totalOf(used.rows)),
  data: used.rows.map((row) => ({
    object: "bucket",
    start_time: row.start.getTime() / 1000,
    end_time: (row.start.getTime() + used.bucketMs) / 1000,
    model: row.model,
    provider: row.provider,
    ...figuresOf(row)
  })),
  balance_usd: usdFromNano(balance)
})

const getUsage = (usage: Usage["Service"], ledger: Ledger["Service"]) =>
  Effect.fnUntraced(function* ({ query: { period = "30d" } }: { readonly query: { readonly period?: UsagePeriod } }) {
    const { accountId } = yield* Caller
    const found = [usage.ofAccount(accountId, period), ledger.balance(accountId)] as const
    const [used, balance] = yield* Effect.all(found, { concurrency: 2 })
    return HttpServerResponse.jsonUnsafe(usageReportOf(period, used, balance?.posted ?? 0n))
  })

/** `GET /usage` and `GET /key`. */
export const usageHandlers = Effect.gen(function* () {
  const [usage, ledger, { rateLimitScale }] = [yield* Usage, yield* Ledger, yield* Config]
  return operations("usage", {
    getUsage: getUsage(usage, ledger),
    getKey: getKey(usage, yield* Budgets, rateLimitScale)
  })
})

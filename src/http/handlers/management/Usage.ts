import { Effect } from "effect"
import { Caller } from "../../../../schemas/Access.ts"
import type { UsageBreakdownReport } from "../../../../schemas/management/Usage.ts"
import type { UsageSeriesReport } from "../../../../schemas/management/UsageSeries.ts"
import { invalid } from "../../../domain/Failure.ts"
import { type Nano, usdFromNano } from "../../../domain/Money.ts"
import { Ledger } from "../../../ledger/Ledger.ts"
import { Breakdown, type UsageBreakdown } from "../../../usage/Breakdown.ts"
import type { Dimension } from "../../../usage/BreakdownSql.ts"
import { type SeriesAnswer, type SeriesSums, UsageSeries } from "../../../usage/Series.ts"
import type { UsagePeriod } from "../../../usage/Usage.ts"
import { figuresOf } from "../Usage.ts"
import { answer, pageOf } from "./Answers.ts"
import { operations } from "../../edge/Operations.ts"

const orNull = (text: string): string | null => (text === "" ? null : text)

/** A page of usage as the API shows it. */
export const usageBreakdownOf = (
  found: UsageBreakdown,
  {
    balance,
    by,
    period
  }: { readonly balance: Nano; readonly by: ReadonlyArray<Dimension>; readonly period: UsagePeriod | null }
): UsageBreakdownReport => ({
  object: "usage",
  period,
  start_time: found.fromMs / 1_000,
  end_time: found.untilMs / 1_000,
  bucket_width: found.width,
  group_by: by,
  totals: figuresOf(found.totals),
  data: found.rows.map((row) => ({
    object: "bucket",
    start_time: row.start.getTime() / 1_000,
    end_time: (row.start.getTime() + found.bucketMs) / 1_000,
    ...(by.includes("project") ? { project_id: orNull(row.project) } : {}),
    ...(by.includes("key") ? { key_id: row.key } : {}),
    ...(by.includes("model") ? { model: row.model } : {}),
    ...(by.includes("provider") ? { provider: orNull(row.provider) } : {}),
    ...figuresOf(row)
  })),
  next_cursor: found.next,
  balance_usd: usdFromNano(balance)
})

const msOf = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1_000)

const sumsOf = (sums: SeriesSums): UsageSeriesReport["totals"] => ({
  requests: Number(sums.requests),
  failed_requests: Number(sums.failed),
  prompt_tokens: Number(sums.prompt),
  completion_tokens: Number(sums.completion),
  cost_usd: usdFromNano(sums.cost),
  latency_ms: sums.timed === 0n ? null : Math.round(Number(sums.latency_us) / Number(sums.timed)) / 1_000
})

/** Series of usage as the API shows them. */
const usageSeriesOf = (found: SeriesAnswer, by: UsageSeriesReport["group_by"]): UsageSeriesReport => ({
  object: "usage_series",
  start_time: found.fromMs / 1_000,
  end_time: found.untilMs / 1_000,
  interval: found.interval,
  group_by: by,
  buckets: found.startsMs.map((ms) => ms / 1_000),
  totals: sumsOf(found.totals),
  groups: found.groups,
  data: found.series.map(({ buckets, group, isRest, totals }) => {
    const shown = buckets.map(sumsOf)
    return {
      object: "series",
      group,
      is_rest: isRest,
      totals: sumsOf(totals),
      values: {
        requests: shown.map(({ requests }) => requests),
        failed_requests: shown.map(({ failed_requests }) => failed_requests),
        prompt_tokens: shown.map(({ prompt_tokens }) => prompt_tokens),
        completion_tokens: shown.map(({ completion_tokens }) => completion_tokens),
        cost_usd: shown.map(({ cost_usd }) => cost_usd),
        latency_ms: shown.map(({ latency_ms }) => latency_ms)
      }
    }
  })
})

const MAX_SERIES = 8

const ranks = {
  cost_usd: "cost",
  requests: "requests",
  prompt_tokens: "prompt",
  completion_tokens: "completion",
  failed_requests: "failed",
  latency_ms: "latency"
} as const

/** `/management/usage` and `/management/usage/series`. */
export const managementUsageHandlers = Effect.gen(function* () {
  const [breakdown, ledger, series] = [yield* Breakdown, yield* Ledger, yield* UsageSeries]
  return operations("managementUsage", {
    getUsage: ({ query }) => {
      const { bucket_width: width, end_time, group_by = ["model", "provider"], period, start_time } = query
      const by = [...new Set(group_by)]
      const [startMs, endMs] = [msOf(start_time), msOf(end_time)]
      const found = Effect.flatMap(Caller, ({ accountId }) => {
        const question = breakdown.page({ ...pageOf(query), accountId, period, startMs, endMs, width, by })
        return Effect.map(Effect.all([question, ledger.balance(accountId)], { concurrency: 2 }), ([page, balance]) => ({
          page,
          balance: balance?.posted ?? 0n
        }))
      })
      const rangePeriod = period ?? (start_time === undefined ? "30d" : null)
      return answer(found, ({ balance, page }) => usageBreakdownOf(page, { balance, by, period: rangePeriod }))
    },
    getUsageSeries: ({ query }) => {
      const { end_time, group_by: by, interval, period, rank_by = "cost_usd", start_time, top = MAX_SERIES } = query
      const { key_id: key, model, operation, project_id: project, provider, status } = query
      const filters = { key, model, operation, project, provider, status }
      const unstorable = Object.entries(filters).find(([, value]) => value?.includes("\0") === true)
      if (unstorable !== undefined) return answer(invalid(unstorable[0], "must not contain NUL characters"), () => ({}))
      const question = { period, startMs: msOf(start_time), endMs: msOf(end_time), interval, by, top, filters }
      const found = Effect.flatMap(Caller, ({ accountId }) =>
        series.read({ ...question, accountId, rank: ranks[rank_by] })
      )
      return answer(found, (report) => usageSeriesOf(report, by ?? null))
    }
  })
})

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "../../../../schemas/Access.ts"
import { Api } from "../../../../schemas/Api.ts"
import type { UsageBreakdownReport } from "../../../../schemas/management/Usage.ts"
import { type Nano, usdFromNano } from "../../../domain/Money.ts"
import { Ledger } from "../../../ledger/Ledger.ts"
import { Breakdown, type UsageBreakdown } from "../../../usage/Breakdown.ts"
import type { Dimension } from "../../../usage/BreakdownSql.ts"
import type { UsagePeriod } from "../../../usage/Usage.ts"
import { figuresOf } from "../Usage.ts"
import { answer, pageOf } from "./Answers.ts"

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

/** `/management/usage`. */
export const layer = HttpApiBuilder.group(
  Api,
  "managementUsage",
  Effect.fnUntraced(function* (handlers) {
    const [breakdown, ledger] = [yield* Breakdown, yield* Ledger]
    return handlers.handle("getUsage", ({ query }) => {
      const { bucket_width: width, end_time, group_by = ["model", "provider"], period, start_time } = query
      const by = [...new Set(group_by)]
      const [startMs, endMs] = [msOf(start_time), msOf(end_time)]
      const found = Effect.flatMap(Caller, ({ accountId }) => {
        const asked = breakdown.page({ ...pageOf(query), accountId, period, startMs, endMs, width, by })
        return Effect.map(Effect.all([asked, ledger.balance(accountId)], { concurrency: 2 }), ([page, balance]) => ({
          page,
          balance: balance?.posted ?? 0n
        }))
      })
      const asked = period ?? (start_time === undefined ? "30d" : null)
      return answer(found, ({ balance, page }) => usageBreakdownOf(page, { balance, by, period: asked }))
    })
  })
)

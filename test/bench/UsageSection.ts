/** The latency of `GET /usage` for an account with millions of receipts, and the time until the rollups have them all. */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { connectionTo, createSeparateDatabase } from "./Database.ts"
import { percentile } from "./Figures.ts"
import { type Failures, progress, type Samples } from "./Measure.ts"
import { consoleReads } from "./ConsoleReads.ts"
import { analyze, expectedUsage, makeSomeRare, unrolledCount, withBulkSettings, writeReceipts } from "./ReceiptsSql.ts"
import { atMost, milliseconds, perSecond, type Row } from "./Report.ts"
import { openAccount, type Testbed } from "./Testbed.ts"

const DATABASE = "bench_usage"
const DAYS_MS = 30 * 86_400_000
/** Receipts in one statement. */
const BATCH = 250_000
/** Receipts of the last seconds, which are not in the rollups: about 25 requests/s. */
const LIVE = 2_000
/** Warm-up requests for each period. */
const WARM = 300
const PERIODS = ["30d", "7d", "1d"] as const

/** Writes receipts of thirty days, without those of the last seconds. */
const generate = Effect.fnUntraced(function* (accountId: string, receipts: number) {
  const sql = yield* SqlClient.SqlClient
  const [startMs, everyMs] = [Date.now() - DAYS_MS, DAYS_MS / receipts]
  for (let from = 0; from < receipts; from += BATCH) {
    const to = Math.min(receipts, from + BATCH)
    yield* withBulkSettings(sql, writeReceipts(sql, accountId, { from, to, startMs, everyMs }))
    yield* progress(`usage: ${to} of ${receipts} receipts`)
  }
  yield* withBulkSettings(sql, makeSomeRare(sql, accountId))
  yield* analyze(sql)
})

const measureRead = (port: number, key: string, period: string) =>
  Effect.promise(async () => {
    const began = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/usage?period=${period}`, {
      headers: { authorization: `Bearer ${key}` }
    })
    const body = (await response.json()) as { readonly totals: { readonly [figure: string]: number } }
    return { ms: performance.now() - began, totals: body.totals }
  })

export const usage = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { receipts, usageRequests } = testbed.options
  const databaseUrl = yield* createSeparateDatabase(testbed.databaseUrl, DATABASE)
  const account = yield* openAccount({ ...testbed, databaseUrl }, "usage")
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* generate(account.id, receipts)
    const began = performance.now()
    const gateway = yield* testbed.freshGateway({ DATABASE_URL: databaseUrl })
    const { port } = gateway.endpoint
    yield* unrolledCount(sql).pipe(
      Effect.repeat({ schedule: Schedule.spaced("1 second"), until: (left) => left < receipts / 100 })
    )
    const seconds = (performance.now() - began) / 1_000
    const live = { from: receipts, to: receipts + LIVE, startMs: Date.now() - receipts, everyMs: 1 }
    yield* withBulkSettings(sql, writeReceipts(sql, account.id, live))
    const { cost, prompt, requests } = yield* expectedUsage(sql, account.id)
    const rows: Array<Row> = [
      { label: "Receipts rolled up after the first start", gateway: perSecond(receipts / seconds) }
    ]
    for (const period of PERIODS) {
      const times: Array<number> = []
      let failed = 0
      for (let sent = -Math.min(WARM, usageRequests); sent < usageRequests; sent++) {
        const { ms, totals } = yield* measureRead(port, account.key, period)
        if (sent >= 0) times.push(ms)
        const right =
          totals["requests"] === Number(requests) &&
          totals["prompt_tokens"] === Number(prompt) &&
          totals["cost_usd"] === Number(cost) / 1e9
        if (period === "30d" && !right) failed++
      }
      const example = "its totals differ from the receipts"
      failures.add(`usage, ${period}`, { completed: times.length - failed, failed, example })
      const p99 = percentile(times, 0.99)
      samples.add(`usage ${period} p50 ms`, percentile(times, 0.5))
      samples.add(`usage ${period} p99 ms`, p99)
      rows.push(
        {
          label: `Usage of ${period}, ${receipts} receipts of one account, p50`,
          gateway: milliseconds(percentile(times, 0.5))
        },
        { label: "– p99", gateway: milliseconds(p99), must: atMost(p99, 50, " ms") }
      )
    }
    const caller = { port, key: account.key, managementKey: account.managementKey }
    return [...rows, ...(yield* consoleReads(caller, Math.ceil(usageRequests / 10), samples, failures))]
  }).pipe(Effect.provide(connectionTo(databaseUrl)))
})

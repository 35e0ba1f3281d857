/** What `GET /usage` takes for an account with millions of receipts, and how soon the rollups have them all. */
import { Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "../../src/platform/database/Sql.ts"
import { percentile } from "./Figures.ts"
import { type Faults, progress, type Samples } from "./Measure.ts"
import { consoleReads } from "./ConsoleReads.ts"
import {
  analyze,
  createDatabase,
  hurriedly,
  makeSomeRare,
  unrolledCount,
  written,
  writeReceipts
} from "./ReceiptsSql.ts"
import { atMost, milliseconds, perSecond, type Row } from "./Report.ts"
import { openAccount, type Stage } from "./Stage.ts"

const DATABASE = "bench_usage"
const DAYS_MS = 30 * 86_400_000
/** In one statement. */
const PART = 250_000
/** Of the last seconds, which are in no rollup yet: some 25 requests/s. */
const LIVE = 2_000
/** Before each period is measured. */
const WARM = 300
const PERIODS = ["30d", "7d", "1d"] as const

const onDatabase = (url: string) =>
  Layer.effect(SqlClient.SqlClient, connect({ url: Redacted.make(url), poolSize: 1, called: "The bench's database" }))

/** Receipts of thirty days to this moment, but for those of the last seconds. */
const generate = Effect.fnUntraced(function* (accountId: string, receipts: number) {
  const sql = yield* SqlClient.SqlClient
  const [startMs, everyMs] = [Date.now() - DAYS_MS, DAYS_MS / receipts]
  for (let from = 0; from < receipts; from += PART) {
    const to = Math.min(receipts, from + PART)
    yield* hurriedly(sql, writeReceipts(sql, accountId, { from, to, startMs, everyMs }))
    yield* progress(`usage: ${to} of ${receipts} receipts`)
  }
  yield* hurriedly(sql, makeSomeRare(sql, accountId))
  yield* analyze(sql)
})

const timed = (port: number, key: string, period: string) =>
  Effect.promise(async () => {
    const began = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/usage?period=${period}`, {
      headers: { authorization: `Bearer ${key}` }
    })
    const body = (await response.json()) as { readonly totals: { readonly [figure: string]: number } }
    return { ms: performance.now() - began, totals: body.totals }
  })

export const usage = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { receipts, usageRequests } = stage.options
  yield* Effect.provide(
    Effect.flatMap(SqlClient.SqlClient, (sql) => createDatabase(sql, DATABASE)),
    onDatabase(stage.databaseUrl)
  )
  const url = new URL(stage.databaseUrl)
  url.pathname = `/${DATABASE}`
  const databaseUrl = url.href
  const customer = yield* openAccount({ ...stage, databaseUrl }, "usage")
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* generate(customer.id, receipts)
    const began = performance.now()
    const gateway = yield* stage.freshGateway({ DATABASE_URL: databaseUrl })
    const { port } = gateway.endpoint
    yield* unrolledCount(sql).pipe(
      Effect.repeat({ schedule: Schedule.spaced("1 second"), until: (left) => left < receipts / 100 })
    )
    const seconds = (performance.now() - began) / 1_000
    const live = { from: receipts, to: receipts + LIVE, startMs: Date.now() - receipts, everyMs: 1 }
    yield* hurriedly(sql, writeReceipts(sql, customer.id, live))
    const { cost, prompt, requests } = yield* written(sql, customer.id)
    const rows: Array<Row> = [
      { label: "Receipts rolled up at the first start", gateway: perSecond(receipts / seconds) }
    ]
    for (const period of PERIODS) {
      const times: Array<number> = []
      let failed = 0
      for (let sent = -Math.min(WARM, usageRequests); sent < usageRequests; sent++) {
        const { ms, totals } = yield* timed(port, customer.key, period)
        if (sent >= 0) times.push(ms)
        const right =
          totals["requests"] === Number(requests) &&
          totals["prompt_tokens"] === Number(prompt) &&
          totals["cost_usd"] === Number(cost) / 1e9
        if (period === "30d" && !right) failed++
      }
      const example = "its totals are not those of the receipts"
      faults.add(`usage, ${period}`, { completed: times.length - failed, failed, example })
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
    const asker = { port, key: customer.key, managementKey: customer.managementKey }
    return [...rows, ...(yield* consoleReads(asker, Math.ceil(usageRequests / 10), samples, faults))]
  }).pipe(Effect.provide(onDatabase(databaseUrl)))
})

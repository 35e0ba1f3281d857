/** An hour of traffic below the gateway's peak rate: memory must stay flat, requests must not fail, and the ledger must be right. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../support/FreePort.ts"
import { BenchError } from "./BenchError.ts"
import { accountSummaryOf, ledgerErrorsOf } from "./LedgerCheck.ts"
import { median, percentile, slope } from "./Figures.ts"
import { type Failures, progress, type Samples } from "./Measure.ts"
import { memoryMiB, node, startServer } from "./Processes.ts"
import { atMost, milliseconds, perSecond, type Row } from "./Report.ts"
import { mix, SLOW, SLOW_CHUNKS, SLOW_EVERY_MS, SoakLoad, type Tally } from "./SoakLoad.ts"
import { fileOf, openAccount, type Testbed } from "./Testbed.ts"
import { MODEL } from "./Traffic.ts"

/** The share of the measured peak rate. */
const SHARE = 0.7
/** Callers in the measurement of the peak. */
const CONCURRENCY = 96
const PEAK_SECONDS = 30
const SAMPLE_MS = 10_000
/** The share of a run that is warm-up: ten minutes of an hour. */
const WARM_UP = 1 / 6
/** The promised bound. */
const MAX_MB_PER_MINUTE = 1
const MIB_IN_MB = 1.048_576

interface Memory {
  readonly minute: number
  readonly rss: number
  readonly heap: number
}

/** The heap in use in MiB, from the gateway's metrics. */
const heapOf = (opsPort: number) =>
  Effect.tryPromise({
    try: async () => {
      const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
      const spaces = [...text.matchAll(/^v8js_memory_heap_used_bytes\{[^}]*\} (\S+)$/gm)]
      return spaces.reduce((sum, [, bytes]) => sum + Number(bytes), 0) / 1_024 ** 2
    },
    catch: (error) => new BenchError({ message: `soak: the gateway's metrics: ${String(error)}` })
  })

const gatewayOf = Effect.fnUntraced(function* (testbed: Testbed) {
  const words = ["paced", SLOW_CHUNKS, 1, SLOW_EVERY_MS].map(String)
  const slow = yield* startServer({ name: "the slow upstream", ...node(fileOf("mockUpstream"), ...words) })
  const file = join(testbed.directory, "soak.json")
  const host = { id: SLOW, base_url: `http://127.0.0.1:${slow.port}/v1`, models: { [MODEL]: MODEL } }
  yield* Effect.sync(() => writeFileSync(file, JSON.stringify([host])))
  const opsPort = yield* freePort
  const target = yield* testbed.freshGateway({ PROVIDERS_FILE: file, OPS_PORT: String(opsPort) })
  const account = yield* openAccount(testbed, "soak")
  return { target, opsPort, load: new SoakLoad({ ...target.endpoint, key: account.key }) }
})

type Gateway = Effect.Success<ReturnType<typeof gatewayOf>>

/** Sends the traffic and samples the memory meanwhile. */
const drive = Effect.fnUntraced(function* ({ load, opsPort, target }: Gateway, rate: number, minutes: number) {
  const taken: Array<Memory> = []
  const began = performance.now()
  const sample = Effect.gen(function* () {
    const rss = memoryMiB(target.pid)?.now ?? Number.NaN
    const heap = yield* heapOf(opsPort)
    taken.push({ minute: (performance.now() - began) / 60_000, rss, heap })
    if (taken.length % 6 === 0)
      yield* progress(`soak: ${(taken.length * SAMPLE_MS) / 60_000} of ${minutes} minutes, ${rss.toFixed(0)} MiB`)
  }).pipe(Effect.ignore)
  const sampling = yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(SAMPLE_MS), sample)))
  const tally = yield* Effect.promise(() => load.open(rate, minutes * 60))
  sampling.interruptUnsafe()
  return { tally, taken }
})

const memoryRows = (taken: ReadonlyArray<Memory>, minutes: number): ReadonlyArray<Row> => {
  const warm = taken.filter(({ minute }) => minute >= minutes * WARM_UP)
  const perMinute = (of: "rss" | "heap") => MIB_IN_MB * slope(warm.map((one) => ({ x: one.minute, y: one[of] })))
  const levels = (of: "rss" | "heap") => {
    const sixth = Math.ceil(warm.length / 5)
    const level = (part: ReadonlyArray<Memory>) => `${median(part.map((one) => one[of])).toFixed(0)} MiB`
    return `${level(warm.slice(0, sixth))} → ${level(warm.slice(-sixth))}`
  }
  const growth = perMinute("rss")
  return [
    {
      label: "Resident memory after the warm-up, by least squares",
      gateway: `${growth.toFixed(3)} MB/min`,
      must: atMost(growth, MAX_MB_PER_MINUTE, " MB/min")
    },
    { label: "– first fifth → last fifth", gateway: levels("rss") },
    { label: "– heap in use", gateway: `${perMinute("heap").toFixed(3)} MB/min` },
    { label: "– first fifth → last fifth", gateway: levels("heap") }
  ]
}

const latencyRows = (tally: Tally): ReadonlyArray<Row> =>
  tally.buckets.flatMap(({ firstToken, whole }, index): ReadonlyArray<Row> => {
    const of = (times: ReadonlyArray<number>) =>
      `${milliseconds(percentile(times, 0.5))}, ${milliseconds(percentile(times, 0.99))}`
    return [
      {
        label: `Chat latency since due, p50 and p99, minutes ${index * 10} to ${index * 10 + 10}`,
        gateway: of(whole)
      },
      { label: "– time to first token of streams", gateway: of(firstToken) }
    ]
  })

/** Checks that each request has a receipt, and that a repeat has none of its own. */
const receiptsRow = Effect.fnUntraced(function* (testbed: Testbed, tallies: ReadonlyArray<Tally>, failures: Failures) {
  const total = (of: (tally: Tally) => number) => tallies.reduce((sum, tally) => sum + of(tally), 0)
  const [most, disconnected] = [total(({ repeats, sent }) => sent - repeats), total((tally) => tally.disconnected)]
  const failed = total((tally) => tally.failed)
  const receipts = Number((yield* accountSummaryOf(testbed, "soak@example.com"))?.requests ?? 0n)
  // A client that disconnects before its hold leaves no receipt, and neither must a failed request.
  if (receipts > most || receipts < most - disconnected - failed) {
    const example = `${most} requests without repeats left ${receipts} receipts`
    failures.add("soak, receipts", { completed: 0, failed: 1, example })
  }
  return { label: `Receipts of ${most} requests without repeats`, gateway: String(receipts) } satisfies Row
})

/** A missed bound fails a soak, unlike those of other sections. */
const failMissedBounds = (rows: ReadonlyArray<Row>, failures: Failures) => {
  for (const { gateway, label, must } of rows)
    if (must?.reached === false) {
      failures.add("soak", { completed: 0, failed: 1, example: `${label}: ${gateway}, must be ${must.text}` })
    }
}

export const soak = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { minutes, startSeconds } = testbed.options
  const gateway = yield* gatewayOf(testbed)
  const { load } = gateway
  yield* progress("soak: peak")
  const warm = yield* Effect.promise(() => load.closed(CONCURRENCY, startSeconds))
  const peakSeconds = Math.min(PEAK_SECONDS, startSeconds)
  const peakTally = yield* Effect.promise(() => load.closed(CONCURRENCY, peakSeconds))
  const peak = peakTally.sent / peakSeconds
  const rate = Math.max(1, Math.floor(SHARE * peak))
  yield* progress(`soak: ${rate} requests/s for ${minutes} minutes`)
  const { taken, tally } = yield* drive(gateway, rate, minutes)
  load.close()
  for (const { heap, rss } of taken) {
    samples.add("soak RSS MiB", rss)
    samples.add("soak heap MiB", heap)
  }
  const tallies = [warm, peakTally, tally]
  const failed = tallies.reduce((sum, one) => sum + one.failed, 0)
  for (const { answered, errors } of tallies)
    for (const [reason, { count, example }] of errors)
      failures.add(`soak, ${reason}`, { completed: answered, failed: count, example })
  const lasted = minutes * 60
  const ledgerErrors = yield* ledgerErrorsOf(testbed)
  const rows: ReadonlyArray<Row> = [
    { label: `Peak: ${mix}; ${CONCURRENCY} callers`, gateway: perSecond(peak) },
    {
      label: `Sent at ${SHARE * 100} % of the peak for ${minutes} minutes, ${tally.sent} requests`,
      gateway: perSecond(tally.sent / lasted)
    },
    { label: "– skipped while 512 were in flight", gateway: String(tally.unsent) },
    { label: "– unexpected errors", gateway: String(failed), must: atMost(failed, 0, "") },
    ...memoryRows(taken, minutes),
    ...latencyRows(tally),
    yield* receiptsRow(testbed, tallies, failures),
    {
      label: "Ledger errors, by `ledger verify` and by receipts",
      gateway: String(ledgerErrors.length),
      must: atMost(ledgerErrors.length, 0, "")
    }
  ]
  failMissedBounds(rows, failures)
  return rows
}, Effect.scoped)

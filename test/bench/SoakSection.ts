/** An hour at most of what a gateway can do: whether its memory stays, nothing fails, and the money is right. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../support/FreePort.ts"
import { BenchError } from "./BenchError.ts"
import { standingOf, wrongsOf } from "./Books.ts"
import { median, percentile, slope } from "./Figures.ts"
import { type Faults, progress, type Samples } from "./Measure.ts"
import { listen, memoryMiB, node } from "./Processes.ts"
import { atMost, milliseconds, perSecond, type Row } from "./Report.ts"
import { mix, SLOW, SLOW_CHUNKS, SLOW_EVERY_MS, SoakLoad, type Tally } from "./SoakLoad.ts"
import { fileOf, openAccount, type Stage } from "./Stage.ts"
import { MODEL } from "./Traffic.ts"

/** Of the peak that was measured first. */
const SHARE = 0.7
/** Callers of the measurement of the peak. */
const CONCURRENCY = 96
const PEAK_SECONDS = 30
const SAMPLE_MS = 10_000
/** The share of a run that counts as its warm-up: ten minutes of an hour. */
const WARM_UP = 1 / 6
/** Promised of an hour. */
const MOST_MB_PER_MINUTE = 1
const MIB_IN_MB = 1.048_576

interface Memory {
  readonly minute: number
  readonly rss: number
  readonly heap: number
}

/** The heap in use, in MiB, as the gateway's metrics say. */
const heapOf = (opsPort: number) =>
  Effect.tryPromise({
    try: async () => {
      const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
      const spaces = [...text.matchAll(/^v8js_memory_heap_used_bytes\{[^}]*\} (\S+)$/gm)]
      return spaces.reduce((sum, [, bytes]) => sum + Number(bytes), 0) / 1_024 ** 2
    },
    catch: (error) => new BenchError({ message: `soak: the gateway's metrics: ${String(error)}` })
  })

const gatewayOf = Effect.fnUntraced(function* (stage: Stage) {
  const words = ["paced", SLOW_CHUNKS, 1, SLOW_EVERY_MS].map(String)
  const slow = yield* listen({ name: "the slow upstream", ...node(fileOf("mockUpstream"), ...words) })
  const file = join(stage.directory, "soak.json")
  const host = { id: SLOW, base_url: `http://127.0.0.1:${slow.port}/v1`, models: { [MODEL]: MODEL } }
  yield* Effect.sync(() => writeFileSync(file, JSON.stringify([host])))
  const opsPort = yield* freePort
  const target = yield* stage.freshGateway({ PROVIDERS_FILE: file, OPS_PORT: String(opsPort) })
  const customer = yield* openAccount(stage, "soak")
  return { target, opsPort, load: new SoakLoad({ ...target.endpoint, key: customer.key }) }
})

type Gateway = Effect.Success<ReturnType<typeof gatewayOf>>

/** Drives the mix, and samples the memory meanwhile. */
const driven = Effect.fnUntraced(function* ({ load, opsPort, target }: Gateway, rate: number, minutes: number) {
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
      must: atMost(growth, MOST_MB_PER_MINUTE, " MB/min")
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
        label: `Chat from when it was due, p50 and p99, minutes ${index * 10} to ${index * 10 + 10}`,
        gateway: of(whole)
      },
      { label: "– a stream's first token", gateway: of(firstToken) }
    ]
  })

/** Whether each request has its receipt, and a repeat has none of its own. */
const receiptsRow = Effect.fnUntraced(function* (stage: Stage, tallies: ReadonlyArray<Tally>, faults: Faults) {
  const total = (of: (tally: Tally) => number) => tallies.reduce((sum, tally) => sum + of(tally), 0)
  const [most, hungUp] = [total(({ repeats, sent }) => sent - repeats), total((tally) => tally.hungUp)]
  const failed = total((tally) => tally.failed)
  const receipts = Number((yield* standingOf(stage, "soak@example.com"))?.requests ?? 0n)
  // A client that hangs up before its money is held leaves no receipt, nor need a request that failed.
  if (receipts > most || receipts < most - hungUp - failed) {
    const example = `${most} requests without repeats left ${receipts} receipts`
    faults.add("soak, receipts", { completed: 0, failed: 1, example })
  }
  return { label: `Receipts of ${most} requests without repeats`, gateway: String(receipts) } satisfies Row
})

/** A soak that breaks a promise fails the run, unlike a figure of the other sections that is short. */
const failWhereShort = (rows: ReadonlyArray<Row>, faults: Faults) => {
  for (const { gateway, label, must } of rows)
    if (must?.reached === false) {
      faults.add("soak", { completed: 0, failed: 1, example: `${label}: ${gateway} and not ${must.text}` })
    }
}

export const soak = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { minutes, startSeconds } = stage.options
  const gateway = yield* gatewayOf(stage)
  const { load } = gateway
  yield* progress("soak: peak")
  const warm = yield* Effect.promise(() => load.closed(CONCURRENCY, startSeconds))
  const peakSeconds = Math.min(PEAK_SECONDS, startSeconds)
  const measured = yield* Effect.promise(() => load.closed(CONCURRENCY, peakSeconds))
  const peak = measured.sent / peakSeconds
  const rate = Math.max(1, Math.floor(SHARE * peak))
  yield* progress(`soak: ${rate} requests/s for ${minutes} minutes`)
  const { taken, tally } = yield* driven(gateway, rate, minutes)
  load.close()
  for (const { heap, rss } of taken) {
    samples.add("soak RSS MiB", rss)
    samples.add("soak heap MiB", heap)
  }
  const tallies = [warm, measured, tally]
  const failed = tallies.reduce((sum, one) => sum + one.failed, 0)
  for (const { answered, errors } of tallies)
    for (const [reason, { count, example }] of errors)
      faults.add(`soak, ${reason}`, { completed: answered, failed: count, example })
  const lasted = minutes * 60
  const books = yield* wrongsOf(stage)
  const rows: ReadonlyArray<Row> = [
    { label: `Peak: ${mix}; ${CONCURRENCY} callers`, gateway: perSecond(peak) },
    {
      label: `Sent at ${SHARE * 100} % of it for ${minutes} minutes, ${tally.sent} requests`,
      gateway: perSecond(tally.sent / lasted)
    },
    { label: "– due while 512 were under way, and not sent", gateway: String(tally.unsent) },
    { label: "– unexpected errors", gateway: String(failed), must: atMost(failed, 0, "") },
    ...memoryRows(taken, minutes),
    ...latencyRows(tally),
    yield* receiptsRow(stage, tallies, faults),
    {
      label: "Faults of the books, by `ledger verify` and by receipts",
      gateway: String(books.length),
      must: atMost(books.length, 0, "")
    }
  ]
  failWhereShort(rows, faults)
  return rows
}, Effect.scoped)

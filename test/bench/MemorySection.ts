/** The memory of a fresh gateway over many requests at full load. */
import { Effect } from "effect"
import { median, slope } from "./Figures.ts"
import { type Failures, fullLoad, progress, type Samples } from "./Measure.ts"
import { memoryMiB } from "./Processes.ts"
import { atMost, mebibytes, type Row } from "./Report.ts"
import type { Target, Testbed } from "./Testbed.ts"

const CONCURRENCY = 64
const SAMPLE_MS = 500
/** The length of one load. The rest of the requests decides the length of the next one. */
const SLICE_SECONDS = 10
/** The growth over the third quarter's memory that garbage collection alone may cause. */
const FLAT_PERCENT = 5

interface Sample {
  readonly atMs: number
  readonly mib: number
}

/** Sends at least this many requests, in slices; returns their number. */
const send = Effect.fnUntraced(function* (testbed: Testbed, target: Target, failures: Failures) {
  let sent = 0
  let seconds = 1
  while (sent < testbed.options.requests) {
    const outcome = yield* fullLoad(testbed, target, CONCURRENCY, seconds)
    failures.add("memory, gateway", outcome)
    if (outcome.completed === 0) break
    sent += outcome.completed
    const needed = ((testbed.options.requests - sent) * outcome.seconds) / outcome.completed
    seconds = Math.max(1, Math.min(SLICE_SECONDS, Math.ceil(needed)))
    yield* progress(`memory: ${sent} of ${testbed.options.requests} requests`)
  }
  return sent
})

export const memory = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const target = yield* testbed.freshGateway({})
  const taken: Array<Sample> = []
  const began = performance.now()
  const sample = Effect.sync(() => {
    const found = memoryMiB(target.pid)
    if (found !== undefined) taken.push({ atMs: performance.now() - began, mib: found.now })
  })
  const sampling = yield* Effect.forkScoped(Effect.forever(Effect.andThen(sample, Effect.sleep(SAMPLE_MS))))
  const sent = yield* send(testbed, target, failures)
  sampling.interruptUnsafe()
  const peak = memoryMiB(target.pid)?.peak ?? Number.NaN
  const lasted = performance.now() - began
  const quarter = (index: number) => taken.filter(({ atMs }) => Math.floor((4 * atMs) / lasted) === index)
  const [third, fourth] = [quarter(2), quarter(3)]
  const [before, after] = [median(third.map((one) => one.mib)), median(fourth.map((one) => one.mib))]
  const perRequest = slope([...third, ...fourth].map(({ atMs, mib: y }) => ({ x: (atMs / lasted) * sent, y })))
  for (const one of taken) samples.add("memory MiB, gateway", one.mib)
  samples.add("memory peak MiB, gateway", peak)
  const growth = (100 * (after - before)) / before
  const rows: ReadonlyArray<Row> = [
    { label: `Peak memory over ${sent} requests`, gateway: mebibytes(peak), must: atMost(peak, 480, " MiB") },
    {
      label: "– growth from the third to the fourth quarter",
      gateway: `${mebibytes(before)} → ${mebibytes(after)}`,
      must: atMost(growth, FLAT_PERCENT, " %")
    },
    { label: "– slope of the second half", gateway: `${(perRequest * 100_000).toFixed(1)} MiB/100000` }
  ]
  return rows
}, Effect.scoped)

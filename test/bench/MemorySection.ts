/** Memory of a gateway that has just started, over many requests at full load. */
import { Effect } from "effect"
import { median, slope } from "./Figures.ts"
import { type Faults, flood, progress, type Samples } from "./Measure.ts"
import { memoryMiB } from "./Processes.ts"
import { atMost, mebibytes, type Row } from "./Report.ts"
import type { Stage, Target } from "./Stage.ts"

const CONCURRENCY = 64
const SAMPLE_MS = 500
/** Of one load; what is missing then decides how long the next is. */
const SLICE_SECONDS = 10
/** Of the third quarter's memory; what a garbage collector's rhythm alone makes. */
const FLAT_PERCENT = 5

interface Sample {
  readonly atMs: number
  readonly mib: number
}

/** Sends at least so many requests, in slices; answers how many. */
const send = Effect.fnUntraced(function* (stage: Stage, target: Target, faults: Faults) {
  let sent = 0
  let seconds = 1
  while (sent < stage.options.requests) {
    const outcome = yield* flood(stage, target, CONCURRENCY, seconds)
    faults.add("memory, gateway", outcome)
    if (outcome.completed === 0) break
    sent += outcome.completed
    const needed = ((stage.options.requests - sent) * outcome.seconds) / outcome.completed
    seconds = Math.max(1, Math.min(SLICE_SECONDS, Math.ceil(needed)))
    yield* progress(`memory: ${sent} of ${stage.options.requests} requests`)
  }
  return sent
})

export const memory = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const target = yield* stage.freshGateway({})
  const taken: Array<Sample> = []
  const began = performance.now()
  const sample = Effect.sync(() => {
    const found = memoryMiB(target.pid)
    if (found !== undefined) taken.push({ atMs: performance.now() - began, mib: found.now })
  })
  const sampling = yield* Effect.forkScoped(Effect.forever(Effect.andThen(sample, Effect.sleep(SAMPLE_MS))))
  const sent = yield* send(stage, target, faults)
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
    { label: "– slope of the last half", gateway: `${(perRequest * 100_000).toFixed(1)} MiB/100000` }
  ]
  return rows
}, Effect.scoped)

/** Memory of a gateway while one very long answer streams through it. */
import { Effect } from "effect"
import { type Dialect, dialects } from "./Dialects.ts"
import { median } from "./Figures.ts"
import { closedLoop } from "./Load.ts"
import { type Faults, progress, type Samples } from "./Measure.ts"
import { listen, memoryMiB, node } from "./Processes.ts"
import { atMost, mebibytes, type Row } from "./Report.ts"
import { fileOf, type Stage, type Target } from "./Stage.ts"

const PIECES = 200_000

/** Takes as many tokens of output, and shows what it thinks. */
const LONG_MODEL = "deepseek-v4-flash"

const SAMPLE_MS = 50

/** Of the first half's memory; what a garbage collector's rhythm alone makes. */
const FLAT_PERCENT = 5

/** How the upstream sends its pieces: so many in one write, every so many milliseconds. */
const paces = { "at full speed": [32, 0], "10000 pieces a second": [40, 4] } as const

type Pace = keyof typeof paces

interface Run {
  readonly name: string
  readonly dialect: Dialect
  readonly pace: Pace
  readonly keyed: boolean
}

const run = (dialect: Dialect, pace: Pace, keyed: boolean): Run => ({
  name: `${dialect}, ${pace}${keyed ? ", with an Idempotency-Key" : ""}`,
  dialect,
  pace,
  keyed
})

const runs: ReadonlyArray<Run> = [
  ...(["chat", "messages", "responses"] as const).flatMap((dialect) => [
    run(dialect, "at full speed", false),
    run(dialect, "at full speed", true)
  ]),
  run("chat", "10000 pieces a second", false)
]

/** One answer from its request to its end; what memory was meanwhile. */
const measure = Effect.fnUntraced(function* ({ pid, endpoint }: Target, { dialect, keyed, name }: Run, faults: Faults) {
  const asked = {
    ...endpoint,
    dialect,
    path: dialects[dialect].path,
    model: LONG_MODEL,
    maxTokens: PIECES,
    chunks: PIECES,
    ...(keyed ? { headers: { "idempotency-key": name.replaceAll(/\W+/g, "-") } } : {})
  }
  const taken: Array<number> = []
  const sample = Effect.sync(() => {
    const now = memoryMiB(pid)?.now
    if (now !== undefined) taken.push(now)
  })
  const sampling = yield* Effect.forkChild(Effect.forever(Effect.andThen(sample, Effect.sleep(SAMPLE_MS))))
  const outcome = yield* Effect.promise(() =>
    closedLoop(asked, { concurrency: 1, seconds: Infinity, requests: 1, streamed: true })
  )
  sampling.interruptUnsafe()
  faults.add(`long stream, ${name}`, outcome)
  return { taken, seconds: outcome.seconds }
})

export const longStream = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const rows: Array<Row> = []
  for (const pace of Object.keys(paces) as ReadonlyArray<Pace>) {
    const words = ["paced", PIECES, ...paces[pace]].map(String)
    const mock = yield* listen({ name: "a mock upstream", ...node(fileOf("mockUpstream"), ...words) })
    const gateway = yield* stage.gatewayTo({ [`paced-${paces[pace][1]}`]: mock.port }, LONG_MODEL)
    // What a process takes when it first streams at all is not the stream's.
    yield* measure(gateway, { ...run("chat", pace, true), name: `warm-up ${pace}` }, faults)
    for (const one of runs.filter((each) => each.pace === pace)) {
      yield* progress(`long stream: ${one.name}`)
      const { seconds, taken } = yield* measure(gateway, one, faults)
      const half = Math.floor(taken.length / 2)
      const [first, second] = [median(taken.slice(0, half)), median(taken.slice(half))]
      for (const mib of taken) samples.add(`long stream MiB, ${one.name}`, mib)
      samples.add(`long stream seconds, ${one.name}`, seconds)
      rows.push(
        {
          label: `Memory over a stream of ${PIECES} pieces, ${one.name}: first to second half`,
          gateway: `${mebibytes(first)} → ${mebibytes(second)}`,
          must: atMost((100 * (second - first)) / first, FLAT_PERCENT, " %")
        },
        {
          label: `– at its most, in ${seconds.toFixed(1)} s`,
          gateway: mebibytes(Math.max(...taken))
        }
      )
    }
  }
  return rows
}, Effect.scoped)

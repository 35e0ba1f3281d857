/** The memory of a gateway while one very long answer streams through it. */
import { Effect } from "effect"
import { type Dialect, dialects } from "./Dialects.ts"
import { median } from "./Figures.ts"
import { closedLoop } from "./Load.ts"
import { type Failures, rotate, type Samples } from "./Measure.ts"
import { memoryMiB, node, startServer } from "./Processes.ts"
import { atMost, mebibytes, type Row } from "./Report.ts"
import { fileOf, type Target, type Testbed } from "./Testbed.ts"

const PIECES = 200_000

/** A model that accepts this many output tokens and streams its reasoning. */
const LONG_MODEL = "deepseek-v4-flash"

const SAMPLE_MS = 50

/** The growth over the first half's memory that garbage collection alone may cause. */
const FLAT_PERCENT = 5

/** The upstream's pace: chunks in one write, and milliseconds between two writes. */
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

/** Streams one answer; returns the memory in its first and second half, and the peak, in MiB. */
const measure = Effect.fnUntraced(function* (
  { pid, endpoint }: Target,
  { dialect, keyed, name }: Run,
  round: number,
  failures: Failures
) {
  const target = {
    ...endpoint,
    dialect,
    path: dialects[dialect].path,
    model: LONG_MODEL,
    maxTokens: PIECES,
    chunks: PIECES,
    ...(keyed ? { headers: { "idempotency-key": `${name.replaceAll(/\W+/g, "-")}-${round}` } } : {})
  }
  const taken: Array<number> = []
  const sample = Effect.sync(() => {
    const now = memoryMiB(pid)?.now
    if (now !== undefined) taken.push(now)
  })
  const sampling = yield* Effect.forkChild(Effect.forever(Effect.andThen(sample, Effect.sleep(SAMPLE_MS))))
  const outcome = yield* Effect.promise(() =>
    closedLoop(target, { concurrency: 1, seconds: Infinity, requests: 1, streamed: true })
  )
  sampling.interruptUnsafe()
  failures.add(`long stream, ${name}`, outcome)
  const half = Math.floor(taken.length / 2)
  return { first: median(taken.slice(0, half)), second: median(taken.slice(half)), most: Math.max(...taken) }
})

const rowsOf = ({ name }: Run, samples: Samples): ReadonlyArray<Row> => {
  const of = (what: string) => samples.median(`long stream ${what}, ${name}`)
  return [
    {
      label: `Memory over a stream of ${PIECES} pieces, ${name}: first to second half`,
      gateway: `${mebibytes(of("first half MiB"))} → ${mebibytes(of("second half MiB"))}`,
      must: atMost(of("growth %"), FLAT_PERCENT, " %")
    },
    { label: "– peak", gateway: mebibytes(of("most MiB")) }
  ]
}

const measurePace = Effect.fnUntraced(function* (pace: Pace, testbed: Testbed, samples: Samples, failures: Failures) {
  const words = ["paced", PIECES, ...paces[pace]].map(String)
  const mock = yield* startServer({ name: "a mock upstream", ...node(fileOf("mockUpstream"), ...words) })
  const gateway = yield* testbed.gatewayTo({ [`paced-${paces[pace][1]}`]: mock.port }, LONG_MODEL)
  // The first stream of a process allocates memory that later ones reuse.
  yield* measure(gateway, run("chat", pace, true), 0, failures)
  const these = runs.filter((one) => one.pace === pace)
  // A stream at a moderate pace takes long, and its figures vary less.
  const rounds = pace === "at full speed" ? testbed.options.rounds : 1
  let round = 0
  yield* rotate(`long streams ${pace}`, rounds, these, (one) =>
    Effect.gen(function* () {
      round += 1
      const { first, most, second } = yield* measure(gateway, one, round, failures)
      samples.add(`long stream first half MiB, ${one.name}`, first)
      samples.add(`long stream second half MiB, ${one.name}`, second)
      samples.add(`long stream growth %, ${one.name}`, (100 * (second - first)) / first)
      samples.add(`long stream most MiB, ${one.name}`, most)
    })
  )
  return these.flatMap((one) => rowsOf(one, samples))
})

export const longStream = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const atOnce = yield* Effect.scoped(measurePace("at full speed", testbed, samples, failures))
  return [...atOnce, ...(yield* Effect.scoped(measurePace("10000 pieces a second", testbed, samples, failures)))]
})

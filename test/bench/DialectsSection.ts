/** The gateway's own cost of a dialect: each dialect and each kind of provider beside chat at an OpenAI host. */
import { Effect } from "effect"
import { type Dialect, dialects as apis } from "./Dialects.ts"
import { closedLoop, type Outcome } from "./Load.ts"
import { type Failures, fullLoad, rotate, type Samples, withCpu } from "./Measure.ts"
import { atLeast, microseconds, perSecond, type Row } from "./Report.ts"
import type { Target, Testbed } from "./Testbed.ts"
import { CHUNKS, MODEL } from "./Traffic.ts"

const CONCURRENCY = 64
const STREAM_CONCURRENCY = 32

/** A translated dialect may take a quarter more time than the native one. */
const MIN_RATIO = 0.8

const providers = { openai: MODEL, anthropic: "claude-haiku-4-5", gemini: "gemini-3.8-flash" } as const

/** The first pair is the native one. */
const pairs: ReadonlyArray<readonly [Dialect, keyof typeof providers]> = [
  ["chat", "openai"],
  ["messages", "openai"],
  ["responses", "openai"],
  ["chat", "anthropic"],
  ["messages", "anthropic"],
  ["chat", "gemini"]
]

interface Side {
  readonly name: string
  readonly target: Target
}

const nameOf = (dialect: Dialect, provider: string) => `${dialect} to ${provider}`
const native = nameOf("chat", "openai")
const foreign = pairs.map(([dialect, provider]) => nameOf(dialect, provider)).filter((name) => name !== native)

/** One gateway serves all sides, so that they share the state of one process. */
const sidesOf = (testbed: Testbed) =>
  Effect.map(
    testbed.freshGateway({
      ANTHROPIC_API_KEY: "sk-ant-bench",
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${testbed.upstream.endpoint.port}`,
      GEMINI_API_KEY: "bench",
      GEMINI_BASE_URL: `http://127.0.0.1:${testbed.upstream.endpoint.port}`
    }),
    (gateway) =>
      pairs.map(([dialect, provider]): Side => {
        const endpoint = { ...gateway.endpoint, dialect, path: apis[dialect].path, model: providers[provider] }
        return { name: nameOf(dialect, provider), target: { ...gateway, endpoint } }
      })
  )

/** Short turns, so that a disturbance of the machine affects all sides alike. */
const TURNS_PER_ROUND = 2

/** Measures each side in turn, and its ratio to the native side of the same turn. */
const measure = (
  label: string,
  sides: ReadonlyArray<Side>,
  {
    failures,
    load,
    samples,
    testbed
  }: {
    readonly testbed: Testbed
    readonly samples: Samples
    readonly failures: Failures
    readonly load: (target: Target, seconds: number) => Effect.Effect<Outcome, Error>
  }
) =>
  Effect.gen(function* () {
    const { rounds, seconds, startSeconds } = testbed.options
    for (const { target } of sides) yield* load(target, Math.ceil(startSeconds / 2))
    let [rateOfNative, cpuOfNative] = [Number.NaN, Number.NaN]
    yield* rotate(label, rounds * TURNS_PER_ROUND, sides, ({ name, target }) =>
      Effect.gen(function* () {
        const { cpu, outcome } = yield* withCpu(target, load(target, Math.ceil(seconds / TURNS_PER_ROUND / 2)))
        failures.add(`${label}, ${name}`, outcome)
        const rate = outcome.completed / outcome.seconds
        const micros = cpu === undefined ? Number.NaN : (1_000_000 * cpu) / rate
        if (name === native) [rateOfNative, cpuOfNative] = [rate, micros]
        samples.add(`${label}/s, ${name}`, rate)
        samples.add(`${label} ratio, ${name}`, rate / rateOfNative)
        samples.add(`${label} cpu µs, ${name}`, micros)
        samples.add(`${label} cpu ratio, ${name}`, micros / cpuOfNative)
      })
    )
  })

const rowsOf = (label: string, title: string, samples: Samples): ReadonlyArray<Row> =>
  foreign.flatMap((name): ReadonlyArray<Row> => {
    const of = (what: string, side: string) => samples.median(`${label}${what}, ${side}`)
    const ratio = of(" ratio", name)
    return [
      {
        label: `${title}, ${name}, beside ${native}`,
        baseline: perSecond(of("/s", native)),
        gateway: perSecond(of("/s", name)),
        ratio,
        must: atLeast(ratio, MIN_RATIO, " ×")
      },
      {
        label: "– processor time of one",
        baseline: microseconds(of(" cpu µs", native)),
        gateway: microseconds(of(" cpu µs", name)),
        ratio: of(" cpu ratio", name)
      }
    ]
  })

export const dialects = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const sides = yield* sidesOf(testbed)
  const common = { testbed, samples, failures }
  yield* measure("dialects", sides, {
    ...common,
    load: (target, seconds) => fullLoad(testbed, target, CONCURRENCY, seconds)
  })
  const load = { concurrency: STREAM_CONCURRENCY, streamed: true }
  yield* measure("dialects, streams", sides, {
    ...common,
    load: (target, seconds) => Effect.promise(() => closedLoop(target.endpoint, { ...load, seconds }))
  })
  return [
    ...rowsOf("dialects", `Requests at concurrency ${CONCURRENCY}`, samples),
    ...rowsOf("dialects, streams", `Streams of ${CHUNKS} chunks at concurrency ${STREAM_CONCURRENCY}`, samples)
  ]
}, Effect.scoped)

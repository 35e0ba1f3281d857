/** The cost of routing: one plan alone, and requests per second beside those with a fixed provider. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Failures, fullLoad, rotate, type Samples, withCpu } from "./Measure.ts"
import type { PlanTimes } from "./planning.ts"
import { node, runToEnd } from "./Processes.ts"
import { atLeast, atMost, microseconds, perSecond, type Row } from "./Report.ts"
import type { Testbed } from "./Testbed.ts"

const CONCURRENCY = 64

/** Further names of the mock upstream, to give the router a choice. */
const HOSTS = ["first-host", "second-host", "third-host"]

const modes = [
  { name: "fixed", routing: { providers: { only: ["openai"] }, allow_fallbacks: false } },
  { name: "routed", routing: { strategy: "balanced" } }
] as const

/** Writes the providers file and returns its path. */
const providersFile = ({ directory, upstream }: Testbed) =>
  Effect.sync(() => {
    const path = join(directory, "providers.json")
    const hosts = HOSTS.map((id) => ({
      id,
      base_url: `http://127.0.0.1:${upstream.endpoint.port}/v1`,
      models: { "gpt-4o-mini": "gpt-4o-mini" }
    }))
    writeFileSync(path, JSON.stringify(hosts))
    return path
  })

/** Runs each round in a new process, so that no round uses code that an earlier one compiled. */
const planning = Effect.fnUntraced(function* ({ machine, options }: Testbed, samples: Samples) {
  yield* rotate("routing, plans", options.rounds, [undefined], () =>
    Effect.gen(function* () {
      const printed = yield* runToEnd({
        name: "planning alone",
        ...node("test/bench/planning.ts"),
        cores: machine.pinning?.measured
      })
      const { p50Us, p99Us } = JSON.parse(printed) as PlanTimes
      samples.add("plan p50 µs", p50Us)
      samples.add("plan p99 µs", p99Us)
    })
  )
})

export const routing = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { rounds, seconds, startSeconds, warmSeconds } = testbed.options
  yield* planning(testbed, samples)
  const gateway = yield* testbed.freshGateway({ PROVIDERS_FILE: yield* providersFile(testbed) })
  const targets = modes.map(({ name, routing }) => ({
    name,
    target: { ...gateway, endpoint: { ...gateway.endpoint, routing } }
  }))
  for (const { target } of targets) yield* fullLoad(testbed, target, CONCURRENCY, startSeconds)
  let fixed = Number.NaN
  yield* rotate("routing, requests", rounds, targets, ({ name, target }) =>
    Effect.gen(function* () {
      yield* fullLoad(testbed, target, CONCURRENCY, warmSeconds)
      const { cpu, outcome } = yield* withCpu(target, fullLoad(testbed, target, CONCURRENCY, seconds))
      failures.add(`routing, ${name}`, outcome)
      const rate = outcome.completed / outcome.seconds
      samples.add(`routing requests/s, ${name}`, rate)
      // The ratio within one round, because a machine's speed changes by a few percent from minute to minute.
      if (name === "fixed") fixed = rate
      else samples.add("routing ratio", rate / fixed)
      samples.add(`routing cpu µs, ${name}`, cpu === undefined ? undefined : (1_000_000 * cpu) / rate)
    })
  )
  const rate = (name: string) => samples.median(`routing requests/s, ${name}`)
  const cpu = (name: string) => samples.median(`routing cpu µs, ${name}`)
  const ratio = samples.median("routing ratio")
  const [p50, p99] = [samples.median("plan p50 µs"), samples.median("plan p99 µs")]
  const rows: ReadonlyArray<Row> = [
    { label: "Planning 15 models at 6 providers each, p50", gateway: microseconds(p50) },
    { label: "– p99", gateway: microseconds(p99), must: atMost(p99, 100, " µs") },
    {
      label: `Requests at concurrency ${CONCURRENCY}, routed among ${HOSTS.length + 1}`,
      baseline: perSecond(rate("fixed")),
      gateway: perSecond(rate("routed")),
      ratio,
      must: atLeast(ratio, 0.95, " ×")
    },
    {
      label: "– processor time of one",
      baseline: microseconds(cpu("fixed")),
      gateway: microseconds(cpu("routed")),
      ratio: cpu("routed") / cpu("fixed")
    }
  ]
  return rows
})

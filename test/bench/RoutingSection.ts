/** What choosing a provider costs: a plan by itself, and requests a second beside those that leave no choice. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Faults, flood, rotate, type Samples, withCpu } from "./Measure.ts"
import type { Planned } from "./planning.ts"
import { node, output } from "./Processes.ts"
import { atLeast, atMost, microseconds, perSecond, type Row } from "./Report.ts"
import type { Stage } from "./Stage.ts"

const CONCURRENCY = 64

/** Other names for the mock upstream, so that the router has somebody to choose from. */
const HOSTS = ["first-host", "second-host", "third-host"]

const modes = [
  { name: "fixed", routing: { providers: { only: ["openai"] }, allow_fallbacks: false } },
  { name: "routed", routing: { strategy: "balanced" } }
] as const

/** Writes the list of hosts; answers where. */
const providersFile = ({ directory, upstream }: Stage) =>
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

/** Each round in a process of its own, so that no round is compiled by an earlier one. */
const planning = Effect.fnUntraced(function* ({ machine, options }: Stage, samples: Samples) {
  yield* rotate("routing, plans", options.rounds, [undefined], () =>
    Effect.gen(function* () {
      const printed = yield* output({
        name: "planning alone",
        ...node("test/bench/planning.ts"),
        cores: machine.pinning?.measured
      })
      const { p50Us, p99Us } = JSON.parse(printed) as Planned
      samples.add("plan p50 µs", p50Us)
      samples.add("plan p99 µs", p99Us)
    })
  )
})

export const routing = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { rounds, seconds, startSeconds, warmSeconds } = stage.options
  yield* planning(stage, samples)
  const gateway = yield* stage.freshGateway({ PROVIDERS_FILE: yield* providersFile(stage) })
  const targets = modes.map(({ name, routing }) => ({
    name,
    target: { ...gateway, endpoint: { ...gateway.endpoint, routing } }
  }))
  for (const { target } of targets) yield* flood(stage, target, CONCURRENCY, startSeconds)
  let fixed = Number.NaN
  yield* rotate("routing, requests", rounds, targets, ({ name, target }) =>
    Effect.gen(function* () {
      yield* flood(stage, target, CONCURRENCY, warmSeconds)
      const { cpu, outcome } = yield* withCpu(target, flood(stage, target, CONCURRENCY, seconds))
      faults.add(`routing, ${name}`, outcome)
      const rate = outcome.completed / outcome.seconds
      samples.add(`routing requests/s, ${name}`, rate)
      // Of neighbours in one round: a few percent are less than what the machine itself differs by from one minute to the next.
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
      label: "– processor time for each",
      baseline: microseconds(cpu("fixed")),
      gateway: microseconds(cpu("routed")),
      ratio: cpu("routed") / cpu("fixed")
    }
  ]
  return rows
})

/** Whole answers: how many a second at full load, and what the gateway adds to one at an easy rate. */
import { Effect } from "effect"
import { percentile } from "./Figures.ts"
import { fixedRate } from "./Load.ts"
import { type Faults, flood, rotate, type Samples, withCpu } from "./Measure.ts"
import { atLeast, atMost, milliseconds, perSecond, type Row, share, spread } from "./Report.ts"
import type { Stage } from "./Stage.ts"

const CONCURRENCY = 64
const PER_SECOND = 100

/** The 99th percentile of fewer requests is the worst four or so, and says what a single collection happened to meet. */
const LATENCY_REQUESTS = 1_000

export const requests = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { rounds, seconds, warmSeconds } = stage.options
  const targets = [stage.proxy, stage.gateway, stage.moneyOff]
  yield* rotate("requests", rounds, targets, (target) =>
    Effect.gen(function* () {
      yield* flood(stage, target, CONCURRENCY, warmSeconds)
      const { cpu, outcome } = yield* withCpu(target, flood(stage, target, CONCURRENCY, seconds))
      faults.add(`requests, ${target.name}`, outcome)
      samples.add(`requests/s, ${target.name}`, outcome.completed / outcome.seconds)
      samples.add(`requests cpu, ${target.name}`, cpu)
    })
  )
  const rate = (name: string) => samples.median(`requests/s, ${name}`)
  const cpu = (name: string) => samples.median(`requests cpu, ${name}`)
  const ratio = rate("gateway") / rate("bare proxy")
  const rows: ReadonlyArray<Row> = [
    {
      label: `Requests at concurrency ${CONCURRENCY}`,
      baseline: perSecond(rate("bare proxy")),
      gateway: perSecond(rate("gateway")),
      ratio,
      must: atLeast(ratio, 0.35, " ×"),
      moneyOff: perSecond(rate("money off"))
    },
    {
      label: "– in parts of the bare proxy's, by round",
      gateway: spread(samples.ratios("requests/s, gateway", "requests/s, bare proxy")),
      moneyOff: spread(samples.ratios("requests/s, money off", "requests/s, bare proxy"))
    },
    {
      label: "– of a core used for them",
      baseline: share(cpu("bare proxy")),
      gateway: share(cpu("gateway")),
      moneyOff: share(cpu("money off"))
    }
  ]
  return rows
})

export const latency = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { rounds, warmSeconds } = stage.options
  const seconds = stage.options.seconds < 4 ? stage.options.seconds : LATENCY_REQUESTS / PER_SECOND
  const load = { perSecond: PER_SECOND, streamed: false }
  const targets = [stage.upstream, stage.proxy, stage.gateway, stage.moneyOff]
  yield* rotate("latency", rounds, targets, (target) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds: warmSeconds }))
      const outcome = yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds }))
      faults.add(`latency, ${target.name}`, outcome)
      samples.add(`p50, ${target.name}`, percentile(outcome.latencies, 0.5))
      samples.add(`p99, ${target.name}`, percentile(outcome.latencies, 0.99))
    })
  )
  return (
    [
      ["p50", 2],
      ["p99", 10]
    ] as const
  ).map(([name, most]): Row => {
    const added = (target: string) => samples.median(`${name}, ${target}`) - samples.median(`${name}, upstream`)
    return {
      label: `Added ${name} at ${PER_SECOND} requests/s`,
      baseline: milliseconds(added("bare proxy")),
      gateway: milliseconds(added("gateway")),
      must: atMost(added("gateway"), most, " ms"),
      moneyOff: milliseconds(added("money off"))
    }
  })
})

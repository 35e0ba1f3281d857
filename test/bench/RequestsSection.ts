/** Complete answers per second at full load, and the time that the gateway adds at a moderate rate. */
import { Effect } from "effect"
import { percentile } from "./Figures.ts"
import { fixedRate } from "./Load.ts"
import { type Failures, fullLoad, rotate, type Samples, withCpu } from "./Measure.ts"
import { atLeast, atMost, milliseconds, perSecond, type Row, share, spread } from "./Report.ts"
import type { Testbed } from "./Testbed.ts"

const CONCURRENCY = 64
const PER_SECOND = 100

/** With fewer requests, p99 is the worst four or so, and a single garbage collection decides it. */
const LATENCY_REQUESTS = 1_000

export const requests = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { rounds, seconds, warmSeconds } = testbed.options
  const targets = [testbed.proxy, testbed.gateway, testbed.moneyOff]
  yield* rotate("requests", rounds, targets, (target) =>
    Effect.gen(function* () {
      yield* fullLoad(testbed, target, CONCURRENCY, warmSeconds)
      const { cpu, outcome } = yield* withCpu(target, fullLoad(testbed, target, CONCURRENCY, seconds))
      failures.add(`requests, ${target.name}`, outcome)
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
      label: "– over the bare proxy's, by round",
      gateway: spread(samples.ratios("requests/s, gateway", "requests/s, bare proxy")),
      moneyOff: spread(samples.ratios("requests/s, money off", "requests/s, bare proxy"))
    },
    {
      label: "– share of a core",
      baseline: share(cpu("bare proxy")),
      gateway: share(cpu("gateway")),
      moneyOff: share(cpu("money off"))
    }
  ]
  return rows
})

export const latency = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { rounds, warmSeconds } = testbed.options
  const seconds = testbed.options.seconds < 4 ? testbed.options.seconds : LATENCY_REQUESTS / PER_SECOND
  const load = { perSecond: PER_SECOND, streamed: false }
  const targets = [testbed.upstream, testbed.proxy, testbed.gateway, testbed.moneyOff]
  yield* rotate("latency", rounds, targets, (target) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds: warmSeconds }))
      const outcome = yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds }))
      failures.add(`latency, ${target.name}`, outcome)
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

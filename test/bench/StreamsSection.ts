/** Complete streams per second at full load, and the added time to first token at a moderate rate. */
import { Effect } from "effect"
import { percentile } from "./Figures.ts"
import { closedLoop, fixedRate } from "./Load.ts"
import { type Failures, rotate, type Samples, withCpu } from "./Measure.ts"
import { atLeast, atMost, milliseconds, perSecond, type Row, share, spread } from "./Report.ts"
import type { Testbed } from "./Testbed.ts"
import { CHUNKS } from "./Traffic.ts"

const CONCURRENCY = 32
const PER_SECOND = 20

const atFullLoad = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { rounds, seconds, warmSeconds } = testbed.options
  const load = { concurrency: CONCURRENCY, streamed: true }
  yield* rotate("streams", rounds, [testbed.proxy, testbed.gateway, testbed.moneyOff], (target) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => closedLoop(target.endpoint, { ...load, seconds: warmSeconds }))
      const { cpu, outcome } = yield* withCpu(
        target,
        Effect.promise(() => closedLoop(target.endpoint, { ...load, seconds }))
      )
      failures.add(`streams, ${target.name}`, outcome)
      samples.add(`streams/s, ${target.name}`, outcome.completed / outcome.seconds)
      samples.add(`streams cpu, ${target.name}`, cpu)
      samples.add(`first token at full load, ${target.name}`, percentile(outcome.firstTokens, 0.5))
    })
  )
})

const atModerateRate = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { rounds, seconds, warmSeconds } = testbed.options
  const load = { perSecond: PER_SECOND, streamed: true }
  const targets = [testbed.upstream, testbed.proxy, testbed.gateway, testbed.moneyOff]
  yield* rotate("time to first token", rounds, targets, (target) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds: warmSeconds }))
      const outcome = yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds }))
      failures.add(`time to first token, ${target.name}`, outcome)
      samples.add(`first token, ${target.name}`, percentile(outcome.firstTokens, 0.5))
    })
  )
})

export const streams = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  yield* atFullLoad(testbed, samples, failures)
  yield* atModerateRate(testbed, samples, failures)
  const of = (name: string) => (target: string) => samples.median(`${name}, ${target}`)
  const [rate, cpu, loaded] = [of("streams/s"), of("streams cpu"), of("first token at full load")]
  const added = (target: string) => of("first token")(target) - of("first token")("upstream")
  const ratio = rate("gateway") / rate("bare proxy")
  const row = (label: string, figure: (target: string) => string, more: Partial<Row> = {}): Row => ({
    label,
    baseline: figure("bare proxy"),
    gateway: figure("gateway"),
    moneyOff: figure("money off"),
    ...more
  })
  return [
    row(`Streams of ${CHUNKS} chunks at concurrency ${CONCURRENCY}`, (target) => perSecond(rate(target)), {
      ratio,
      must: atLeast(ratio, 0.6, " ×")
    }),
    {
      label: "– over the bare proxy's, by round",
      gateway: spread(samples.ratios("streams/s, gateway", "streams/s, bare proxy")),
      moneyOff: spread(samples.ratios("streams/s, money off", "streams/s, bare proxy"))
    },
    row("– share of a core", (target) => share(cpu(target))),
    row("– time to first token, p50", (target) => milliseconds(loaded(target))),
    row(`Added time to first token at ${PER_SECOND} streams/s, p50`, (target) => milliseconds(added(target)), {
      must: atMost(added("gateway"), 2, " ms")
    })
  ]
})

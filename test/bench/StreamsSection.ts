/** Streams: how many whole ones a second at full load, and what the gateway adds to the time to first token at an easy rate. */
import { Effect } from "effect"
import { percentile } from "./Figures.ts"
import { closedLoop, fixedRate } from "./Load.ts"
import { type Faults, rotate, type Samples, withCpu } from "./Measure.ts"
import { atLeast, atMost, milliseconds, perSecond, type Row, share, spread } from "./Report.ts"
import type { Stage } from "./Stage.ts"
import { CHUNKS } from "./Traffic.ts"

const CONCURRENCY = 32
const PER_SECOND = 20

const full = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { rounds, seconds, warmSeconds } = stage.options
  const load = { concurrency: CONCURRENCY, streamed: true }
  yield* rotate("streams", rounds, [stage.proxy, stage.gateway, stage.moneyOff], (target) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => closedLoop(target.endpoint, { ...load, seconds: warmSeconds }))
      const { cpu, outcome } = yield* withCpu(
        target,
        Effect.promise(() => closedLoop(target.endpoint, { ...load, seconds }))
      )
      faults.add(`streams, ${target.name}`, outcome)
      samples.add(`streams/s, ${target.name}`, outcome.completed / outcome.seconds)
      samples.add(`streams cpu, ${target.name}`, cpu)
      samples.add(`first token at full load, ${target.name}`, percentile(outcome.firstTokens, 0.5))
    })
  )
})

const easy = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { rounds, seconds, warmSeconds } = stage.options
  const load = { perSecond: PER_SECOND, streamed: true }
  const targets = [stage.upstream, stage.proxy, stage.gateway, stage.moneyOff]
  yield* rotate("time to first token", rounds, targets, (target) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds: warmSeconds }))
      const outcome = yield* Effect.promise(() => fixedRate(target.endpoint, { ...load, seconds }))
      faults.add(`time to first token, ${target.name}`, outcome)
      samples.add(`first token, ${target.name}`, percentile(outcome.firstTokens, 0.5))
    })
  )
})

export const streams = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  yield* full(stage, samples, faults)
  yield* easy(stage, samples, faults)
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
      label: "– in parts of the bare proxy's, by round",
      gateway: spread(samples.ratios("streams/s, gateway", "streams/s, bare proxy")),
      moneyOff: spread(samples.ratios("streams/s, money off", "streams/s, bare proxy"))
    },
    row("– of a core used for them", (target) => share(cpu(target))),
    row("– time to first token among them, p50", (target) => milliseconds(loaded(target))),
    row(`Added time to first token at ${PER_SECOND} streams/s, p50`, (target) => milliseconds(added(target)), {
      must: atMost(added("gateway"), 2, " ms")
    })
  ]
})

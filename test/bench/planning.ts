/** A process that only plans: the product's router over a catalogue of 15 models at 6 providers each, one plan at a time. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Result } from "effect"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { defaultPolicy, type RoutingPolicy, type Strategy } from "../../src/domain/Plan.ts"
import { type PlanRequest, Router } from "../../src/router/Router.ts"
import { layerOf, syntheticCatalogue } from "../support/SyntheticCatalogue.ts"
import { BenchError } from "./BenchError.ts"
import { percentile } from "./Figures.ts"

/** The output of the process. */
export interface PlanTimes {
  readonly p50Us: number
  readonly p99Us: number
}

const MODELS = Array.from({ length: 15 }, (_, index) => `model-${index}`)
const PROVIDERS = Array.from({ length: 6 }, (_, index) => `provider-${index}`)
const WARM_PLANS = 5_000
const PLANS = 20_000
/** Observations of each model at each provider but the last: enough for a ranking. */
const OBSERVATIONS = 40

const catalogue = syntheticCatalogue(
  Object.fromEntries(
    MODELS.map((model, m) => [
      model,
      PROVIDERS.map((id, p) => ({ id, prompt: 1 + ((m + p) % 4), completion: 3 + ((m * p) % 5) }))
    ])
  )
)

const observe = (live: LiveFigures["Service"]) => {
  for (const [m, model] of MODELS.entries()) {
    for (const [p, provider] of PROVIDERS.slice(0, -1).entries()) {
      for (let n = 0; n < OBSERVATIONS; n++) {
        const firstTokenMs = 100 + 40 * p + 10 * m + n
        live.record({ model, provider, ok: n % 20 > 0, durationMs: 4 * firstTokenMs, firstTokenMs })
      }
    }
  }
}

const strategies: ReadonlyArray<Strategy> = ["balanced", "cost", "latency", "quality"]

/** One strategy after another, with and without restrictions that every model can meet. */
const policies: ReadonlyArray<RoutingPolicy> = strategies.flatMap((strategy) => [
  { ...defaultPolicy, strategy },
  {
    ...defaultPolicy,
    strategy,
    order: ["provider-2"],
    ignore: ["provider-0"],
    dataPolicy: "no_training" as const,
    requireParameters: true,
    maxPrice: { prompt: 100, completion: 100 }
  }
])

const requests: ReadonlyArray<PlanRequest> = policies.map((policy) => ({
  models: MODELS,
  policy,
  needs: { vision: true, tools: true, parameters: ["max_tokens", "temperature", "tools"] },
  stream: true,
  promptBound: 2_000,
  maxTokens: 256,
  fits: (window) => window >= 2_000,
  promptTokens: () => 500,
  explores: true
}))

const main = Effect.gen(function* () {
  const router = yield* Router
  observe(yield* LiveFigures)
  const times: Array<number> = []
  for (let n = 0; n < WARM_PLANS + PLANS; n++) {
    const request = requests[n % requests.length]!
    const began = performance.now()
    const plan = router.plan(request)
    const took = performance.now() - began
    const expected = MODELS.length * (PROVIDERS.length - request.policy.ignore.length)
    if (Result.isFailure(plan) || plan.success.candidates.length !== expected) {
      return yield* new BenchError({ message: "A plan lacks candidates." })
    }
    if (n >= WARM_PLANS) times.push(took * 1_000)
  }
  const printed: PlanTimes = { p50Us: percentile(times, 0.5), p99Us: percentile(times, 0.99) }
  yield* Console.log(JSON.stringify(printed))
})

NodeRuntime.runMain(
  main.pipe(
    Effect.provide(Router.layer.pipe(Layer.provideMerge(Layer.mergeAll(layerOf(catalogue), LiveFigures.layerMemory))))
  )
)

import { Clock, type Duration, Effect, Layer } from "effect"
import { dayOf } from "../domain/Day.ts"
import { repeatForever } from "../platform/RepeatForever.ts"
import { Config } from "../platform/config/Config.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { providerName } from "../platform/telemetry/ProviderMetrics.ts"
import { marginBasisPoints, marginOf, Margins } from "../usage/Margins.ts"
import type { MarginRow } from "../usage/MarginsSql.ts"
import { seldomWhenIdle } from "./Idle.ts"

/** The interval of reads, except on an idle node. A read costs a few milliseconds of database time. */
export const DAILY_MONEY_INTERVAL = "10 seconds"

/** The maximum number of groups in a read: more than a catalogue has providers. */
const MAX_PROVIDERS = 1_000

type Figures = Pick<MarginRow, "absorbed" | "attempt_cost" | "provider_cost" | "requests" | "revenue" | "uncosted">

const none: Figures = { absorbed: 0n, attempt_cost: 0n, provider_cost: 0n, requests: 0n, revenue: 0n, uncosted: 0n }

/** The gauges of a provider's day in UTC. All nodes publish the same values, so a query takes their maximum and never their sum. */
const gauges: ReadonlyArray<readonly [string, string, string, (figures: Figures) => bigint]> = [
  [
    "svc.day.revenue",
    "Charged less refunds today, on all nodes, in billionths of a USD",
    "{nano_usd}",
    ({ revenue }) => revenue
  ],
  [
    "svc.day.provider_cost",
    "Charged by providers today, on all nodes, in billionths of a USD",
    "{nano_usd}",
    ({ provider_cost: cost }) => cost
  ],
  [
    "svc.day.attempt_cost",
    "Cost of attempts that served no answer today, on all nodes, in billionths of a USD",
    "{nano_usd}",
    ({ attempt_cost: cost }) => cost
  ],
  ["svc.day.margin", "Revenue less provider cost today, on all nodes, in billionths of a USD", "{nano_usd}", marginOf],
  [
    "svc.day.absorbed",
    "Used beyond holds today, on all nodes, in billionths of a USD",
    "{nano_usd}",
    ({ absorbed }) => absorbed
  ],
  [
    "svc.day.uncosted.requests",
    "Charged requests of today of which the provider's cost is unknown, on all nodes",
    "{request}",
    ({ uncosted }) => uncosted
  ]
]

const percentOf = (basisPoints: number): string => (basisPoints / 100).toFixed(2)

/**
 * Publishes the revenue and the cost of all requests of the current UTC day, by provider, and logs once a day when the margin falls below
 * `MARGIN_FLOOR`. It changes nothing, so every node may run it. The figures of `providers` exist before their first request.
 */
export const layer = (interval: Duration.Input, providers: ReadonlyArray<string>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const margins = yield* Margins
      const metrics = yield* Metrics
      const { marginFloor } = yield* Config
      const known = new Set<string>()
      let day: ReadonlyMap<string, Figures> = new Map()
      let isLow = false
      let toldOn: string | undefined
      const register = (provider: string) => {
        if (known.has(provider)) return
        known.add(provider)
        const labels = { "gen_ai.provider.name": provider === "" ? "none" : providerName(provider) }
        for (const [name, description, unit, read] of gauges) {
          metrics.gauge(name, description, unit, () => Number(read(day.get(provider) ?? none)), labels)
        }
      }
      register("")
      for (const provider of providers) register(provider)
      metrics.gauge("svc.day.margin.low", "1 while today's margin is below MARGIN_FLOOR", "{state}", () =>
        isLow ? 1 : 0
      )
      const read = Effect.gen(function* () {
        const today = dayOf(yield* Clock.currentTimeMillis)
        const { rows, totals } = yield* margins.report({
          by: ["provider"],
          from: today,
          to: today,
          accountId: undefined,
          play: false,
          limit: MAX_PROVIDERS,
          cursor: undefined
        })
        for (const { provider } of rows) register(provider)
        day = new Map(rows.map((row) => [row.provider, row]))
        const margin = marginBasisPoints(totals)
        isLow = marginFloor !== undefined && margin !== null && margin < marginFloor * 100
        if (!isLow || toldOn === today) return
        toldOn = today
        yield* Effect.logWarning(
          `the margin of ${today} is ${percentOf(margin!)} %, which is below MARGIN_FLOOR (${marginFloor} %)`
        )
      })
      yield* repeatForever(yield* seldomWhenIdle(read), {
        every: interval,
        warning: "the gateway cannot read today's margin"
      })
    })
  )

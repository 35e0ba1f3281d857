import { Clock, Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dayOf, untilTomorrowMs } from "../domain/Day.ts"
import { formatUsd, type Nano } from "../domain/Money.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { wakeupsOf } from "../platform/database/Wakeups.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { costOf, Margins } from "./Margins.ts"
import { dropSpendBefore, exchangeSpend, type SpendLine, spendLines } from "./ProviderSpendSql.ts"

/** How often nodes exchange their sums while a bound exists, and how often a node that cannot listen looks for new bounds. */
const EXCHANGE_MS = 1_000
const IDLE_MS = 5_000

/** How often a node compares the sums with the receipts. */
const COMPARE_MS = 10_000

const THRESHOLDS = [100, 80] as const

/** The name for all providers together. */
export const EVERY_PROVIDER = ""

/** The sums of a provider on this node, in nano-USD. */
interface Sums {
  settled: Nano
  reserved: Nano
}

/** The part of a bound that is left for this node until the next exchange. */
interface Allowance {
  readonly limit: Nano
  /** The cost of the whole day on all nodes at the exchange. */
  readonly total: Nano
  left: Nano
}

/** The reservations of a running request: its maximum cost by provider. */
export interface Reservation {
  /** Reserves the maximum cost of a call to this provider. Returns false, with nothing reserved, when that would exceed a bound. */
  readonly reserve: (provider: string, most: Nano) => boolean
  /** Ends all reservations, and counts what the request cost at each provider. */
  readonly end: (costs?: ReadonlyArray<readonly [provider: string, cost: Nano]>) => void
}

/**
 * Keeps the cost of providers in a UTC day within the bounds that operators set. Each node sums the cost and the maximum cost of its
 * requests, exchanges these sums with the other nodes once a second, and may spend its share of the rest in between. So the nodes
 * together do not exceed a bound, except that the others do not know a newly started node for a second.
 */
export class ProviderSpend extends Context.Service<
  ProviderSpend,
  {
    readonly begin: () => Reservation
    /** Reports whether nothing is left of a bound on the provider. */
    readonly isStopped: (provider: string) => boolean
    /** Returns the seconds until the next UTC day. */
    readonly secondsLeft: () => number
    /** Returns every bound with the cost of the day, from the sums that nodes have published. */
    readonly lines: Effect.Effect<ReadonlyArray<SpendLine>, Unavailable>
    /** Exchanges the sums at once. */
    readonly refresh: Effect.Effect<void, Unavailable>
  }
>()("tollgate/usage/ProviderSpend") {
  static readonly layer = Layer.effect(
    ProviderSpend,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      const spend = new Spend(yield* Metrics, () => dayOf(clock.currentTimeMillisUnsafe()))
      const node = newResourceId()
      const margins = yield* Margins
      const compare = Effect.gen(function* () {
        const day = spend.day()
        const { rows } = yield* margins.report({
          by: ["provider"],
          from: day,
          to: day,
          accountId: undefined,
          play: false,
          limit: 1_000,
          cursor: undefined
        })
        spend.compared(day, new Map(rows.map((row) => [row.provider, costOf(row)])))
        yield* storeErrors(dropSpendBefore(sql, day))
      })
      const refresh = Effect.gen(function* () {
        const day = spend.day()
        const rows = yield* storeErrors(exchangeSpend(sql, node, day, spend.own(day)))
        for (const words of spend.exchanged(day, rows)) yield* Effect.logWarning(words)
      })
      const wakeups = wakeupsOf(sql)
      const changed = yield* Latch.make()
      yield* wakeups.on("spend", () => changed.openUnsafe())
      const rest = Effect.suspend(() =>
        Effect.timeoutOption(changed.await, spend.bounded ? EXCHANGE_MS : wakeups.waitAtMost(IDLE_MS))
      )
      let comparedAt = 0
      const round = Effect.gen(function* () {
        yield* refresh
        const now = clock.currentTimeMillisUnsafe()
        if (!spend.bounded || Math.abs(now - comparedAt) < COMPARE_MS) return
        comparedAt = now
        yield* compare
        yield* refresh
      })
      yield* Effect.ignore(round)
      yield* Effect.andThen(changed.close, round).pipe(
        // Caught inside the loop, because one failed round must not end the exchange.
        Effect.catchCause((cause) => Effect.logWarning("the gateway cannot exchange provider costs", cause)),
        Effect.andThen(rest),
        Effect.forever,
        Effect.forkScoped
      )
      return ProviderSpend.of({
        begin: () => spend.begin(),
        isStopped: (provider) => spend.isStopped(provider),
        secondsLeft: () => Math.ceil(untilTomorrowMs(clock.currentTimeMillisUnsafe()) / 1_000),
        lines: Effect.suspend(() => storeErrors(spendLines(sql, spend.day()))),
        refresh
      })
    })
  )
}

/** The sums of a node, and its allowances. */
export class Spend {
  readonly day: () => string
  readonly #metrics: Pick<Metrics, "gauge">
  #today = ""
  #own = new Map<string, Sums>()
  #base: ReadonlyMap<string, Nano> = new Map()
  #allowances = new Map<string, Allowance>()
  #reported = new Set<string>()
  readonly #shown = new Set<string>()

  constructor(metrics: Pick<Metrics, "gauge">, day: () => string) {
    this.#metrics = metrics
    this.day = day
    this.#show(EVERY_PROVIDER)
  }

  get bounded(): boolean {
    return this.#allowances.size > 0
  }

  isStopped(provider: string): boolean {
    return this.#boundsOf(provider).some(({ left }) => left <= 0n)
  }

  begin(): Reservation {
    const reserved: Array<readonly [string, string, Nano]> = []
    return {
      reserve: (provider, most) => {
        const day = this.#turn()
        const bounds = this.#boundsOf(provider)
        if (bounds.some(({ left }) => left < most || left <= 0n)) return false
        for (const bound of bounds) bound.left -= most
        this.#sumsOf(provider).reserved += most
        reserved.push([day, provider, most])
        return true
      },
      end: (costs = []) => {
        const today = this.#turn()
        // A request that began yesterday belongs to yesterday's report.
        for (const [day, provider, most] of reserved.splice(0)) {
          if (day === today) this.#move(provider, -most, 0n)
        }
        for (const [provider, cost] of costs) if (cost > 0n) this.#move(provider, 0n, cost)
      }
    }
  }

  /** Returns the sums to publish. The sum of all providers shows that this node is running. */
  own(day: string): ReadonlyArray<{ readonly provider: string } & Sums> {
    if (this.#turn() !== day) return []
    return [
      { provider: "-", settled: 0n, reserved: 0n },
      ...[...this.#own].map(([provider, sums]) => ({ provider, ...sums }))
    ]
  }

  compared(day: string, base: ReadonlyMap<string, Nano>): void {
    if (this.#turn() === day) this.#base = base
  }

  /** Applies the result of an exchange. Returns the messages to log. */
  exchanged(
    day: string,
    rows: ReadonlyArray<{
      readonly provider: string
      readonly limit_nano: Nano
      readonly settled: Nano
      readonly reserved: Nano
      readonly nodes: number
    }>
  ): ReadonlyArray<string> {
    if (this.#turn() !== day) return []
    const words: Array<string> = []
    this.#allowances = new Map()
    for (const { limit_nano: limit, nodes, provider, reserved, settled } of rows) {
      const own = this.#ownOf(provider)
      const known = settled + own.settled
      const receipts = this.#baseOf(provider)
      const total = (known > receipts ? known : receipts) + reserved + own.reserved
      this.#allowances.set(provider, { limit, total, left: (limit - total) / BigInt(nodes + 1) })
      this.#show(provider)
      words.push(...this.#crossed(day, provider, limit, total))
    }
    return words
  }

  /** Begins a new day with nothing spent. Returns the day. */
  #turn(): string {
    const day = this.day()
    if (day !== this.#today) {
      this.#today = day
      this.#own = new Map()
      this.#base = new Map()
      for (const [provider, { limit }] of this.#allowances) {
        this.#allowances.set(provider, { limit, total: 0n, left: 0n })
      }
    }
    return day
  }

  #move(provider: string, reserved: Nano, settled: Nano): void {
    const sums = this.#sumsOf(provider)
    sums.reserved += reserved
    sums.settled += settled
    for (const bound of this.#boundsOf(provider)) bound.left -= reserved + settled
  }

  #boundsOf(provider: string): ReadonlyArray<Allowance> {
    if (this.#allowances.size === 0) return []
    return [this.#allowances.get(provider), this.#allowances.get(EVERY_PROVIDER)].filter((one) => one !== undefined)
  }

  #sumsOf(provider: string): Sums {
    let sums = this.#own.get(provider)
    if (sums === undefined) this.#own.set(provider, (sums = { settled: 0n, reserved: 0n }))
    return sums
  }

  #ownOf(provider: string): Sums {
    if (provider !== EVERY_PROVIDER) return this.#own.get(provider) ?? { settled: 0n, reserved: 0n }
    const all = { settled: 0n, reserved: 0n }
    for (const { reserved, settled } of this.#own.values()) {
      all.settled += settled
      all.reserved += reserved
    }
    return all
  }

  #baseOf(provider: string): Nano {
    if (provider !== EVERY_PROVIDER) return this.#base.get(provider) ?? 0n
    return [...this.#base.values()].reduce((sum, cost) => sum + cost, 0n)
  }

  #crossed(day: string, provider: string, limit: Nano, total: Nano): ReadonlyArray<string> {
    const reached = THRESHOLDS.find((percent) => total * 100n >= limit * BigInt(percent))
    const name = `${day} ${provider} ${reached}`
    if (reached === undefined || this.#reported.has(name)) return []
    this.#reported.add(name)
    const what = provider === EVERY_PROVIDER ? "all providers" : provider
    const stop = reached === 100 ? "; no further request goes there today" : ""
    return [`${what} cost ${formatUsd(total)} of ${formatUsd(limit)} on ${day} (${reached} %)${stop}`]
  }

  #show(provider: string): void {
    if (this.#shown.has(provider)) return
    this.#shown.add(provider)
    const labels = { "gen_ai.provider.name": provider === EVERY_PROVIDER ? "all" : provider }
    const of = (read: (one: Allowance) => Nano) => () => {
      const one = this.#allowances.get(provider)
      return one === undefined ? 0 : Number(read(one))
    }
    this.#metrics.gauge(
      "svc.provider.spend",
      "Cost of the provider today, with what running requests may cost, on all nodes, in billionths of a USD",
      "{nano_usd}",
      of(({ total }) => total),
      labels
    )
    this.#metrics.gauge(
      "svc.provider.spend.limit",
      "The bound of the provider's cost per UTC day, in billionths of a USD; 0 without one",
      "{nano_usd}",
      of(({ limit }) => limit),
      labels
    )
  }
}

import { Clock, Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dayOf, untilTomorrowMs } from "../domain/Day.ts"
import { formatUsd, type Nano } from "../domain/Money.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { wakeupsOf } from "../platform/database/Wakeups.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { costOf, Margins } from "./Margins.ts"
import {
  dropSpendBefore,
  giveBackGrants,
  lockSpend,
  type OwnSpend,
  publishSpend,
  type SpendLine,
  spendLines,
  spendOfOthers,
  type SpendRow
} from "./ProviderSpendSql.ts"

/** How often nodes exchange their sums while a bound exists, and how often a node that cannot listen looks for new bounds. */
const EXCHANGE_MS = 1_000
const IDLE_MS = 5_000

/** How many exchanges a starting node waits for the others to give back a part of what they have taken. */
const START_EXCHANGES = 4

/** How long a stopping node tries to give back what it has taken. Otherwise the others get it a minute later. */
const GIVE_BACK = "1 second"

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

/** An exchange that a node has planned and publishes: its sums, and what they grant it. */
interface PlannedExchange {
  readonly day: string
  readonly published: ReadonlyArray<OwnSpend>
  readonly bounds: ReadonlyArray<{
    readonly provider: string
    readonly limit: Nano
    readonly total: Nano
    /** The node's part of the rest, if all nodes had the same. */
    readonly share: Nano
    /** The amount that the node may still spend, as published. */
    readonly granted: Nano
    /** The spent and reserved amounts of the node, as published. */
    readonly used: Nano
  }>
}

/**
 * Keeps the cost of providers in a UTC day within the bounds that operators set. Each node sums the cost and the maximum cost of its
 * requests. Once a second it publishes these sums with what it may still spend, which it takes from what no node has spent or taken. One
 * node at a time does so. So the nodes together never exceed a bound, whatever each of them does between two exchanges.
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
      const published = (day: string) =>
        Effect.gen(function* () {
          yield* lockSpend(sql)
          const planned = spend.plan(day, yield* spendOfOthers(sql, node, day))
          yield* publishSpend(sql, node, day, planned.published)
          return planned
        }).pipe(sql.withTransaction)
      const refresh = Effect.gen(function* () {
        const day = spend.day()
        const bounds = yield* storeErrors(spendOfOthers(sql, node, day))
        // Without a bound there is nothing to share.
        const planned = bounds.length === 0 ? spend.plan(day, []) : yield* storeErrors(published(day))
        for (const words of spend.apply(planned)) yield* Effect.logWarning(words)
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
      yield* Effect.delay(Effect.ignore(round), EXCHANGE_MS).pipe(
        Effect.repeat({ times: START_EXCHANGES - 1, while: () => spend.waits }),
        Effect.when(Effect.sync(() => spend.waits))
      )
      const giveBack = Effect.suspend(() => {
        const day = spend.day()
        const { published } = spend.plan(day, [])
        return Effect.andThen(publishSpend(sql, node, day, published), giveBackGrants(sql, node)).pipe(
          sql.withTransaction
        )
      })
      yield* Effect.addFinalizer(() =>
        spend.bounded ? Effect.ignore(Effect.timeout(giveBack, GIVE_BACK)) : Effect.void
      )
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
        lines: Effect.suspend(() => storeErrors(spendLines(sql, spend.day())))
      })
    })
  )
}

const largest = (one: Nano, other: Nano): Nano => (one > other ? one : other)
const smallest = (one: Nano, other: Nano): Nano => (one < other ? one : other)

/** The provider of the row with which a node shows that it runs. */
const NO_PROVIDER = "-"

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

  /** Whether it may spend nothing under some bound that is not reached, because other nodes have taken all of the rest. */
  get waits(): boolean {
    return [...this.#allowances.values()].some(({ left, limit, total }) => left <= 0n && total < limit)
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

  compared(day: string, base: ReadonlyMap<string, Nano>): void {
    if (this.#turn() === day) this.#base = base
  }

  /**
   * Plans an exchange from what the other nodes have published. Until it is applied, the node goes on with its former allowance, which the
   * new grant therefore contains.
   */
  plan(day: string, rows: ReadonlyArray<SpendRow>): PlannedExchange {
    const isToday = this.#turn() === day
    const bounds = (isToday ? rows : []).map(
      ({ granted: taken, limit_nano: limit, nodes, provider, reserved, settled }) => {
        const own = this.#ownOf(provider)
        const known = settled + own.settled
        const total = largest(known, this.#baseOf(provider)) + reserved + own.reserved
        const share = (limit - total) / BigInt(nodes + 1)
        const kept = largest(this.#allowances.get(provider)?.left ?? 0n, 0n)
        const granted = largest(kept, smallest(share, limit - total - taken))
        return { provider, limit, total, share, granted, used: own.settled + own.reserved }
      }
    )
    const grants = new Map(bounds.map(({ granted, provider }) => [provider, granted]))
    const sums = isToday ? this.#own : new Map<string, Sums>()
    const none = { settled: 0n, reserved: 0n }
    // The row of no provider shows that this node is running.
    const published = [...new Set([NO_PROVIDER, ...sums.keys(), ...grants.keys()])].map((provider) => ({
      provider,
      ...none,
      ...sums.get(provider),
      granted: grants.get(provider) ?? 0n
    }))
    return { day, published, bounds }
  }

  /** Applies an exchange that is published. Returns the messages to log. */
  apply({ bounds, day }: PlannedExchange): ReadonlyArray<string> {
    if (this.#turn() !== day) return []
    const words: Array<string> = []
    this.#allowances = new Map()
    for (const { granted, limit, provider, share, total, used } of bounds) {
      const own = this.#ownOf(provider)
      const usedSince = own.settled + own.reserved - used
      // The next exchange returns the amount beyond the share to the other nodes.
      this.#allowances.set(provider, { limit, total, left: smallest(granted, share) - usedSince })
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

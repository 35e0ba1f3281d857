/** Plans faults as a function of a seed, and carries the plan out. */
import { Effect } from "effect"
import { missing as clockMissing } from "../support/Clock.ts"
import { missing as standbyMissing } from "../support/Replicas.ts"
import { Random } from "../ledger/Random.ts"
import { fillingMissing, slowingMissing } from "./Disk.ts"
import { HOLD_TTL_MS } from "./Evidence.ts"
import type { Gateway } from "./Gateway.ts"
import type { DatabaseServer } from "./DatabaseServer.ts"
import type { Cluster } from "./Cluster.ts"

/** The kinds of gateway faults. The command line and the summary use these names. */
const gatewayKinds = ["kills", "pauses", "deploys", "partitions", "steps"] as const
const databaseKinds = ["restarts", "fills", "slows", "failovers"] as const

export const kinds = [...gatewayKinds, ...databaseKinds] as const
export type Kind = (typeof kinds)[number]

/** The number of faults of each kind. */
export type Counts = Readonly<Record<Kind, number>>

export const NO_FAULTS: Counts = {
  kills: 0,
  pauses: 0,
  deploys: 0,
  partitions: 0,
  steps: 0,
  restarts: 0,
  fills: 0,
  slows: 0,
  failovers: 0
}

/** The faults of one round of a long run. */
export const ROUND_COUNTS: Counts = {
  kills: 6,
  pauses: 6,
  deploys: 4,
  partitions: 6,
  steps: 6,
  restarts: 2,
  fills: 2,
  slows: 3,
  failovers: 2
}

/** The kinds of faults that this machine does not support, with the reasons. */
export const unsupportedKinds = (): Partial<Record<Kind, string>> => {
  const reasons: ReadonlyArray<readonly [Kind, string | undefined]> = [
    ["steps", clockMissing],
    ["failovers", standbyMissing],
    ["fills", fillingMissing()],
    ["slows", slowingMissing()]
  ]
  return Object.fromEntries(reasons.flatMap(([kind, reason]) => (reason === undefined ? [] : [[kind, reason]])))
}

/** Returns the counts without the kinds that this machine does not support, and lists those on standard error. */
export const supportedCounts = (counts: Counts): Counts =>
  Object.entries(unsupportedKinds()).reduce<Counts>((left, [kind, reason]) => {
    if (left[kind as Kind] === 0) return left
    process.stderr.write(`\n*** SKIPPED: no ${kind}: ${reason} ***\n\n`)
    return { ...left, [kind]: 0 }
  }, counts)

/** One fault. `afterMs` counts from when its target serves again after the fault before. */
export type Fault = { readonly afterMs: number } & (
  | { readonly _tag: "kills" | "deploys" | "failovers" }
  | { readonly _tag: "pauses" | "partitions" | "fills"; readonly forMs: number }
  | { readonly _tag: "steps"; readonly aheadMs: number }
  /** The database is down for this long, and then recovers. */
  | { readonly _tag: "restarts"; readonly downMs: number }
  | { readonly _tag: "slows"; readonly delayMs: number; readonly forMs: number }
)

export interface Plan {
  /** By the gateway's number. */
  readonly gateways: ReadonlyArray<ReadonlyArray<Fault>>
  readonly database: ReadonlyArray<Fault>
}

/** The longest time between two faults of the database in a plan with many kills. */
const DATABASE_WITHIN_MS = 20_000
const DATABASE_AFTER_MS = 2_000

/** The share of faults that last longer than a hold, so that it expires before the gateway can settle its request. */
const LONG = 0.3
const LONG_OUTAGES = 0.2
const SHORT_MS = 2_000
/** The largest step of a clock. Receivers of webhooks accept five minutes. */
const MAX_AHEAD_MS = 240_000
const MAX_DELAY_MS = 100

/** Mostly too short for a hold to expire, sometimes longer than its whole life. */
const durationMs = (random: Random): number =>
  random.chance(LONG) ? HOLD_TTL_MS + 1_000 + random.below(4_000) : 100 + random.below(SHORT_MS)

const faultOf = (random: Random, kind: Kind, afterMs: number): Fault => {
  switch (kind) {
    case "pauses":
    case "partitions":
      return { _tag: kind, afterMs, forMs: durationMs(random) }
    case "steps":
      return { _tag: kind, afterMs, aheadMs: Math.round((random.next() * 2 - 1) * MAX_AHEAD_MS) }
    case "restarts":
      return { _tag: kind, afterMs, downMs: random.chance(LONG_OUTAGES) ? random.below(HOLD_TTL_MS + 2_000) : 0 }
    case "fills":
      return { _tag: kind, afterMs, forMs: 1_000 + random.below(3_000) }
    case "slows":
      return { _tag: kind, afterMs, delayMs: 10 + random.below(MAX_DELAY_MS), forMs: 2_000 + random.below(4_000) }
    default:
      return { _tag: kind, afterMs }
  }
}

/** Lists each kind as often as its count, in random order. */
const shuffle = (random: Random, counts: ReadonlyArray<readonly [Kind, number]>): ReadonlyArray<Kind> => {
  const all = counts.flatMap(([kind, count]) => Array.from({ length: count }, () => kind))
  for (let last = all.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    ;[all[last], all[other]] = [all[other]!, all[last]!]
  }
  return all
}

/** Plans the faults of a seed. Spreads gateway faults evenly over the gateways. */
export const planOf = (
  seed: number,
  { counts, gateways, withinMs }: { readonly gateways: number; readonly counts: Counts; readonly withinMs: number }
): Plan => {
  const random = new Random(seed)
  const shareOf = (kind: Kind, gateway: number) =>
    Math.floor(counts[kind] / gateways) + (gateway < counts[kind] % gateways ? 1 : 0)
  const many = counts.kills > 20
  return {
    gateways: Array.from({ length: gateways }, (_, gateway) =>
      shuffle(
        random,
        gatewayKinds.map((kind) => [kind, shareOf(kind, gateway)])
      ).map((kind) => faultOf(random, kind, random.below(withinMs)))
    ),
    database: shuffle(
      random,
      databaseKinds.map((kind) => [kind, counts[kind]])
    ).map((kind) => {
      const afterMs =
        DATABASE_AFTER_MS + random.below(Math.max(many ? DATABASE_WITHIN_MS : DATABASE_AFTER_MS, withinMs))
      return faultOf(random, kind, afterMs)
    })
  }
}

type Target = Pick<Gateway, "kill" | "start" | "deploy" | "pause" | "partition" | "step">

const breakGateway = (gateway: Target, fault: Fault): Effect.Effect<void> => {
  switch (fault._tag) {
    case "kills":
      return Effect.andThen(gateway.kill, gateway.start)
    case "deploys":
      return gateway.deploy
    case "pauses":
      return gateway.pause(fault.forMs)
    case "partitions":
      return gateway.partition(fault.forMs)
    case "steps":
      return gateway.step(fault.aheadMs)
    default:
      return Effect.die(new Error(`${fault._tag} is no gateway fault`))
  }
}

const breakDatabase = (database: DatabaseServer, fault: Fault): Effect.Effect<void> => {
  switch (fault._tag) {
    case "restarts":
      return database.crash.pipe(Effect.andThen(Effect.sleep(fault.downMs)), Effect.andThen(database.start))
    case "fills":
      return database.fill(fault.forMs)
    case "slows":
      return database.slow(fault.delayMs, fault.forMs)
    case "failovers":
      return database.failOver
    default:
      return Effect.die(new Error(`${fault._tag} is no database fault`))
  }
}

/** The number of faults carried out so far. */
export type FaultTally = Record<Kind, number>

const runInOrder = (
  faults: ReadonlyArray<Fault>,
  carryOut: (fault: Fault) => Effect.Effect<void>,
  done: FaultTally,
  keepGoing: () => boolean
) =>
  Effect.forEach(
    faults,
    (fault) =>
      Effect.suspend(() => {
        if (!keepGoing()) return Effect.void
        return Effect.sleep(fault.afterMs).pipe(
          Effect.andThen(carryOut(fault)),
          Effect.andThen(Effect.sync(() => void done[fault._tag]++))
        )
      }),
    { discard: true }
  )

/** Carries a plan out: the faults of one target in sequence, all targets concurrently. Begins no fault once `keepGoing` returns false. */
export const runPlan = (
  { database, gateways }: Pick<Cluster, "database" | "gateways">,
  plan: Plan,
  done: FaultTally,
  keepGoing: () => boolean
): Effect.Effect<void> =>
  Effect.all(
    [
      ...gateways.map((gateway, index) =>
        runInOrder(plan.gateways[index] ?? [], (fault) => breakGateway(gateway, fault), done, keepGoing)
      ),
      runInOrder(plan.database, (fault) => breakDatabase(database, fault), done, keepGoing)
    ],
    { concurrency: "unbounded", discard: true }
  )

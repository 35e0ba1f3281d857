/** When what is broken, as a function of a seed. */
import { Effect } from "effect"
import { missing as clockMissing } from "../support/Clock.ts"
import { missing as standbyMissing } from "../support/Replicas.ts"
import { Random } from "../ledger/Random.ts"
import { fillingMissing, slowingMissing } from "./Disk.ts"
import { HOLD_TTL_MS } from "./Notes.ts"
import type { Gateway } from "./Gateway.ts"
import type { DatabaseServer } from "./DatabaseServer.ts"
import type { World } from "./World.ts"

/** The kinds of faults of a gateway, and what the command line and the summary call them. */
const gatewayKinds = ["kills", "pauses", "deploys", "partitions", "steps"] as const
/** The kinds of faults of the database. */
const databaseKinds = ["restarts", "fills", "slows", "failovers"] as const

export const kinds = [...gatewayKinds, ...databaseKinds] as const
export type Kind = (typeof kinds)[number]

/** How many faults of each kind. */
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

/** Of everything something: what a round of a long run breaks. */
export const everything: Counts = {
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

/** Why this machine cannot bring faults of a kind about, for each kind that is affected. */
export const missingKinds = (): Partial<Record<Kind, string>> => {
  const reasons: ReadonlyArray<readonly [Kind, string | undefined]> = [
    ["steps", clockMissing],
    ["failovers", standbyMissing],
    ["fills", fillingMissing()],
    ["slows", slowingMissing()]
  ]
  return Object.fromEntries(reasons.flatMap(([kind, reason]) => (reason === undefined ? [] : [[kind, reason]])))
}

/** The counts without the kinds that this machine cannot bring about. Says on standard error which those are. */
export const possible = (counts: Counts): Counts =>
  Object.entries(missingKinds()).reduce<Counts>((left, [kind, reason]) => {
    if (left[kind as Kind] === 0) return left
    process.stderr.write(`\n*** SKIPPED: no ${kind} are tried: ${reason} ***\n\n`)
    return { ...left, [kind]: 0 }
  }, counts)

/** One fault: so long after the one before, counted from when its victim serves again. */
export type Fault = { readonly afterMs: number } & (
  | { readonly _tag: "kills" | "deploys" | "failovers" }
  | { readonly _tag: "pauses" | "partitions" | "fills"; readonly forMs: number }
  | { readonly _tag: "steps"; readonly aheadMs: number }
  /** It is away for so long, and then for as long as it takes to recover. */
  | { readonly _tag: "restarts"; readonly downMs: number }
  | { readonly _tag: "slows"; readonly delayMs: number; readonly forMs: number }
)

export interface Plan {
  /** Faults of each gateway, by gateway. */
  readonly gateways: ReadonlyArray<ReadonlyArray<Fault>>
  readonly database: ReadonlyArray<Fault>
}

/** The most between two faults of the database when there are many. */
const DATABASE_WITHIN_MS = 20_000
const DATABASE_AFTER_MS = 2_000

/** Some outages last longer than a hold: then it ends before its request can be settled. */
const LONG = 0.3
const LONG_OUTAGES = 0.2
const SHORT_MS = 2_000
/** The furthest that a clock is set from the right time. Receivers of webhooks bear five minutes. */
const MOST_AHEAD_MS = 240_000
const MOST_DELAY_MS = 100

/** Mostly shorter than a hold lives with certainty, now and then longer than it can. */
const lasting = (random: Random): number =>
  random.chance(LONG) ? HOLD_TTL_MS + 1_000 + random.below(4_000) : 100 + random.below(SHORT_MS)

const faultOf = (random: Random, kind: Kind, afterMs: number): Fault => {
  switch (kind) {
    case "pauses":
    case "partitions":
      return { _tag: kind, afterMs, forMs: lasting(random) }
    case "steps":
      return { _tag: kind, afterMs, aheadMs: Math.round((random.next() * 2 - 1) * MOST_AHEAD_MS) }
    case "restarts":
      return { _tag: kind, afterMs, downMs: random.chance(LONG_OUTAGES) ? random.below(HOLD_TTL_MS + 2_000) : 0 }
    case "fills":
      return { _tag: kind, afterMs, forMs: 1_000 + random.below(3_000) }
    case "slows":
      return { _tag: kind, afterMs, delayMs: 10 + random.below(MOST_DELAY_MS), forMs: 2_000 + random.below(4_000) }
    default:
      return { _tag: kind, afterMs }
  }
}

/** So many of each kind, in an order of the seed's. */
const shuffled = (random: Random, counts: ReadonlyArray<readonly [Kind, number]>): ReadonlyArray<Kind> => {
  const all = counts.flatMap(([kind, count]) => Array.from({ length: count }, () => kind))
  for (let last = all.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    ;[all[last], all[other]] = [all[other]!, all[last]!]
  }
  return all
}

/** So many faults of each kind, those of gateways spread over all of them, at moments of the seed's. */
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
      shuffled(
        random,
        gatewayKinds.map((kind) => [kind, shareOf(kind, gateway)])
      ).map((kind) => faultOf(random, kind, random.below(withinMs)))
    ),
    database: shuffled(
      random,
      databaseKinds.map((kind) => [kind, counts[kind]])
    ).map((kind) => {
      const afterMs =
        DATABASE_AFTER_MS + random.below(Math.max(many ? DATABASE_WITHIN_MS : DATABASE_AFTER_MS, withinMs))
      return faultOf(random, kind, afterMs)
    })
  }
}

type Victim = Pick<Gateway, "kill" | "start" | "deploy" | "pause" | "partition" | "step">

const ofGateway = (gateway: Victim, fault: Fault): Effect.Effect<void> => {
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
      return Effect.die(new Error(`${fault._tag} are no faults of a gateway`))
  }
}

const ofDatabase = (database: DatabaseServer, fault: Fault): Effect.Effect<void> => {
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
      return Effect.die(new Error(`${fault._tag} are no faults of a database`))
  }
}

/** What of a plan has been carried out. */
export type Done = Record<Kind, number>

/** One victim's faults, one after the other. */
const inOrder = (
  faults: ReadonlyArray<Fault>,
  carryOut: (fault: Fault) => Effect.Effect<void>,
  done: Done,
  goesOn: () => boolean
) =>
  Effect.forEach(
    faults,
    (fault) =>
      Effect.suspend(() => {
        if (!goesOn()) return Effect.void
        return Effect.sleep(fault.afterMs).pipe(
          Effect.andThen(carryOut(fault)),
          Effect.andThen(Effect.sync(() => void done[fault._tag]++))
        )
      }),
    { discard: true }
  )

/** Carries a plan out: each victim's faults one after the other, all victims at once. Ends with the last, or when told. */
export const carryOutPlan = (
  { database, gateways }: Pick<World, "database" | "gateways">,
  plan: Plan,
  done: Done,
  goesOn: () => boolean
): Effect.Effect<void> =>
  Effect.all(
    [
      ...gateways.map((gateway, index) =>
        inOrder(plan.gateways[index] ?? [], (fault) => ofGateway(gateway, fault), done, goesOn)
      ),
      inOrder(plan.database, (fault) => ofDatabase(database, fault), done, goesOn)
    ],
    { concurrency: "unbounded", discard: true }
  )

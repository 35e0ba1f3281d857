/** When what is broken, as a function of a seed. */
import { Effect } from "effect"
import { Random } from "../ledger/Random.ts"
import { HOLD_TTL_MS, type World } from "./World.ts"

/** One fault: so long after the one before, counted from when its victim serves again. */
export type Fault =
  | { readonly _tag: "Kill"; readonly gateway: number; readonly afterMs: number }
  /** It is away for so long, and then for as long as it takes to recover. */
  | { readonly _tag: "RestartDatabase"; readonly afterMs: number; readonly downMs: number }

export interface Plan {
  /** Kills of each gateway, by gateway. */
  readonly kills: ReadonlyArray<ReadonlyArray<Fault>>
  readonly restarts: ReadonlyArray<Fault>
}

/** The most between two faults of one victim. */
const KILL_WITHIN_MS = 2_500
const RESTART_WITHIN_MS = 20_000
const RESTART_AFTER_MS = 2_000

/** Some outages last longer than a hold: then it ends before its request can be settled. */
const LONG_OUTAGE_MS = HOLD_TTL_MS + 2_000
const LONG_OUTAGES = 0.2

/** So many kills spread over so many gateways, and so many restarts of the database, at moments of the seed's. */
export const planOf = (
  seed: number,
  { gateways, kills, restarts }: { gateways: number; kills: number; restarts: number }
): Plan => {
  const random = new Random(seed)
  const each = Array.from({ length: gateways }, (_, gateway) =>
    Array.from({ length: Math.floor(kills / gateways) + (gateway < kills % gateways ? 1 : 0) }, (): Fault => ({
      _tag: "Kill",
      gateway,
      afterMs: random.below(KILL_WITHIN_MS)
    }))
  )
  const spread = kills > 20 ? RESTART_WITHIN_MS : RESTART_AFTER_MS
  return {
    kills: each,
    restarts: Array.from({ length: restarts }, (): Fault => ({
      _tag: "RestartDatabase",
      afterMs: RESTART_AFTER_MS + random.below(spread),
      downMs: random.chance(LONG_OUTAGES) ? random.below(LONG_OUTAGE_MS) : 0
    }))
  }
}

const carryOut = (world: World, fault: Fault): Effect.Effect<void> => {
  if (fault._tag === "RestartDatabase") return world.restartDatabase(fault.downMs)
  const gateway = world.gateways[fault.gateway]
  return gateway === undefined ? Effect.void : Effect.andThen(gateway.kill, gateway.start)
}

/** What of a plan has been carried out. */
export interface Done {
  kills: number
  restarts: number
}

const inOrder = (world: World, faults: ReadonlyArray<Fault>, done: Done, goesOn: () => boolean) =>
  Effect.forEach(
    faults,
    (fault) =>
      Effect.suspend(() => {
        if (!goesOn()) return Effect.void
        return Effect.sleep(fault.afterMs).pipe(
          Effect.andThen(carryOut(world, fault)),
          Effect.andThen(
            Effect.sync(() => {
              if (fault._tag === "Kill") done.kills++
              else done.restarts++
            })
          )
        )
      }),
    { discard: true }
  )

/** Carries a plan out: each victim's faults one after the other, all victims at once. Ends with the last, or when told. */
export const carryOutPlan = (world: World, plan: Plan, done: Done, goesOn: () => boolean): Effect.Effect<void> =>
  Effect.all(
    [...plan.kills, plan.restarts].map((faults) => inOrder(world, faults, done, goesOn)),
    { concurrency: "unbounded", discard: true }
  )

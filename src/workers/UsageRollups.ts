import { type Duration, Effect, Layer, Schedule } from "effect"
import type { Unavailable } from "../platform/Sql.ts"
import { Rollups } from "../usage/Rollups.ts"

/** What is in no rollup yet is read request by request: often enough to keep that short, seldom enough to cost nothing. */
export const ROLLUP_INTERVAL = "10 seconds"

/**
 * Rolls up what was used, again and again, at first all that was there before. Any number of nodes may be at it: one of them is at
 * any time, and what it took is taken.
 */
export const layer = (interval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const rollups = yield* Rollups
      const round: Effect.Effect<void, Unavailable> = Effect.flatMap(rollups.step, ({ full }) =>
        full ? round : Effect.void
      )
      yield* round.pipe(
        // Inside the repeat: one bad round must not be the last.
        Effect.catchCause((cause) => Effect.logWarning("usage is not rolled up at present", cause)),
        Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
        Effect.forkScoped
      )
    })
  )

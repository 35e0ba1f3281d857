import { type Duration, Effect, Layer, Schedule } from "effect"
import { TopUps } from "../billing/TopUps.ts"

/**
 * Asks what became of top-ups that have stayed open, whose events may be lost, again and again. Any number of nodes may be at it.
 */
export const layer = (interval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const topUps = yield* TopUps
      const sweep: typeof topUps.sweep = Effect.flatMap(topUps.sweep, (asked) =>
        asked === 0 ? Effect.succeed(0) : sweep
      )
      yield* sweep.pipe(
        // Inside the repeat: one bad sweep must not be the last.
        Effect.catchCause((cause) => Effect.logWarning("top-ups are not asked about at present", cause)),
        Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
        Effect.forkScoped
      )
    })
  )

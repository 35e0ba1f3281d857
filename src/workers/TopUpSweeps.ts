import { type Duration, Effect, Layer, Schedule } from "effect"
import { TopUps } from "../billing/TopUps.ts"

/** Periodically asks the payment provider about open top-ups, because their events may be lost. Any number of nodes may run it. */
export const layer = (interval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const topUps = yield* TopUps
      const sweep: typeof topUps.sweep = Effect.flatMap(topUps.sweep, (asked) =>
        asked === 0 ? Effect.succeed(0) : sweep
      )
      yield* sweep.pipe(
        // Caught inside the loop, because one failed sweep must not end the sweeping.
        Effect.catchCause((cause) => Effect.logWarning("the gateway cannot ask about open top-ups", cause)),
        Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
        Effect.forkScoped
      )
    })
  )

import { type Duration, Effect, Layer } from "effect"
import { TopUps } from "../billing/TopUps.ts"
import { repeatForever } from "../platform/RepeatForever.ts"

/** Periodically asks the payment provider about open top-ups, because their events may be lost. Any number of nodes may run it. */
export const layer = (interval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const topUps = yield* TopUps
      const sweep: typeof topUps.sweep = Effect.flatMap(topUps.sweep, (asked) =>
        asked === 0 ? Effect.succeed(0) : sweep
      )
      yield* repeatForever(sweep, { every: interval, warning: "the gateway cannot ask about open top-ups" })
    })
  )

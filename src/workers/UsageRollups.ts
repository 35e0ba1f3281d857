import { type Duration, Effect, Layer } from "effect"
import { repeatForever } from "../platform/RepeatForever.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { Rollups } from "../usage/Rollups.ts"
import { seldomWhenIdle } from "./Idle.ts"

/** Usage outside the rollups is read request by request. This interval keeps that part short and still costs next to nothing. */
export const ROLLUP_INTERVAL = "10 seconds"

/**
 * Periodically rolls up usage, beginning with everything that is already there, and less often on an idle node. Any number of nodes
 * may run it; one at a time works, and each request is counted once.
 */
export const layer = (interval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const rollups = yield* Rollups
      const round: Effect.Effect<void, Unavailable> = Effect.flatMap(rollups.step, ({ full }) =>
        full ? round : Effect.void
      )
      yield* repeatForever(yield* seldomWhenIdle(round), {
        every: interval,
        warning: "the gateway cannot roll up usage"
      })
    })
  )

import { type Duration, Effect, Layer } from "effect"
import { repeatForever } from "../platform/RepeatForever.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { Rollups } from "../usage/Rollups.ts"
import { seldomWhenIdle } from "./Idle.ts"

/** The interval of rollups. Reports read newer usage request by request; this interval keeps that part short at a negligible cost. */
export const ROLLUP_INTERVAL = "10 seconds"

/**
 * Periodically rolls up usage, beginning with everything that is already there, and less often on an idle node. Any number of nodes
 * may run it; one node at a time does the work, and each request is counted once.
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

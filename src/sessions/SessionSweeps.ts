import { Duration, Effect, Layer } from "effect"
import { repeatForever } from "../platform/RepeatForever.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { Sessions } from "./Sessions.ts"

/** The interval of sweeps. A search for old sessions reads all of them, and keeping one for an hour too long does no harm. */
const SESSION_SWEEP_INTERVAL = Duration.hours(1)

/** Periodically deletes recorded conversations without a turn for `retention`. Any number of nodes may run it. Zero keeps all. */
export const layer = (retention: Duration.Duration, interval: Duration.Duration = SESSION_SWEEP_INTERVAL) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const unusedMs = Duration.toMillis(retention)
      if (unusedMs === 0) return
      const sessions = yield* Sessions
      const sweep: Effect.Effect<void, Unavailable> = Effect.flatMap(sessions.dropUnused(unusedMs), (dropped) =>
        dropped === 0 ? Effect.void : sweep
      )
      yield* repeatForever(sweep, { every: interval, warning: "the gateway cannot delete old sessions" })
    })
  )

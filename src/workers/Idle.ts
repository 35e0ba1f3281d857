import { Effect } from "effect"
import { Metrics } from "../platform/telemetry/Metrics.ts"

/** An idle node runs one of this many rounds. It still runs some, because another node may have stopped before its own round. */
const IDLE_ROUNDS = 6

/**
 * Returns a round that does nothing five times of six while this node is idle. Use it for work that follows from requests, or that only
 * deletes old rows. A node is idle when it has neither answered a request nor moved money since the round before last, so the round after a
 * burst always runs.
 */
export const seldomWhenIdle = <E, R>(
  round: Effect.Effect<unknown, E, R>
): Effect.Effect<Effect.Effect<void, E, R>, never, R> =>
  Effect.map(Metrics, ({ http, ledger }) => {
    let before = -1
    let wasBusy = true
    let skipped = 0
    return Effect.suspend(() => {
      const { count, inFlight } = http.seen()
      const done = count + ledger.seen()
      const isBusy = inFlight > 0 || done !== before
      const isDue = isBusy || wasBusy || skipped === IDLE_ROUNDS - 1
      before = done
      wasBusy = isBusy
      skipped = isDue ? 0 : skipped + 1
      return isDue ? Effect.asVoid(round) : Effect.void
    })
  })

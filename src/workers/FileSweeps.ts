import { type Duration, Effect, Layer, Schedule } from "effect"
import { Media, type MediaError } from "../platform/Media.ts"

/** Bytes that no row knows are rare, and to find them means to look at all there are. */
export const STRAYS_INTERVAL = "1 hour"

const again = (what: string, interval: Duration.Input, sweep: Effect.Effect<unknown, MediaError>) =>
  sweep.pipe(
    // Inside the repeat: one bad sweep must not be the last.
    Effect.catchCause((cause) => Effect.logWarning(`${what} are not removed at present`, cause)),
    Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
    Effect.forkScoped
  )

/**
 * Removes files that have expired, what was left of those half stored or half removed, and bytes that belong to none, again and
 * again. Any number of nodes may be at it.
 */
export const layer = (interval: Duration.Input, straysInterval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const media = yield* Media
      const sweep: Effect.Effect<void, MediaError> = Effect.flatMap(media.sweep, (removed) =>
        removed === 0 ? Effect.void : sweep
      )
      yield* again("expired files", interval, sweep)
      yield* again("stray files", straysInterval, media.sweepStrays)
    })
  )

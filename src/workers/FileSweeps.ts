import { type Duration, Effect, Layer } from "effect"
import { repeatForever } from "../platform/RepeatForever.ts"
import { Media, type MediaError } from "../platform/files/Media.ts"
import { seldomWhenIdle } from "./Idle.ts"

/** The interval of searches for stored bytes without a row. They are rare, and a search lists the whole store. */
export const STRAYS_INTERVAL = "1 hour"

const again = (what: string, interval: Duration.Input, sweep: Effect.Effect<unknown, MediaError>) =>
  repeatForever(sweep, { every: interval, warning: `the gateway cannot remove ${what}` })

/**
 * Periodically removes expired files, the remains of interrupted uploads and removals, and bytes without a file. Any number of
 * nodes may run it.
 */
export const layer = (interval: Duration.Input, straysInterval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const media = yield* Media
      const sweep: Effect.Effect<void, MediaError> = Effect.flatMap(media.sweep, (removed) =>
        removed === 0 ? Effect.void : sweep
      )
      yield* again("expired files", interval, yield* seldomWhenIdle(sweep))
      yield* again("stray files", straysInterval, media.sweepStrays)
    })
  )

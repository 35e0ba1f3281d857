import { Effect, Schedule } from "effect"

/** So long is waited at most for anything that must come to be; a harness that waits for ever proves nothing. */
const PATIENCE = "60 seconds"

/**
 * Looks again and again until a condition holds. A defect that names what was waited for when it never does; a function names it at
 * the end, with what was seen last.
 */
export const until = <E, R>(
  what: string | (() => string),
  condition: Effect.Effect<boolean, E, R>,
  patience: `${number} seconds` = PATIENCE
): Effect.Effect<void, E, R> =>
  condition.pipe(
    Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (holds) => holds }),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () =>
        Effect.die(new Error(`waited ${patience} in vain until ${typeof what === "string" ? what : what()}`))
    }),
    Effect.asVoid
  )

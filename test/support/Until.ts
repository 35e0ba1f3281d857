import { Effect, Schedule } from "effect"

const TIMEOUT = "60 seconds"

/**
 * Polls a condition every 20 ms until it holds. Dies with `what` after the timeout; a function can add to it what the last poll found.
 */
export const until = <E, R>(
  what: string | (() => string),
  condition: Effect.Effect<boolean, E, R>,
  timeout: `${number} seconds` = TIMEOUT
): Effect.Effect<void, E, R> =>
  condition.pipe(
    Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (holds) => holds }),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.die(new Error(`Timed out after ${timeout} waiting until ${typeof what === "string" ? what : what()}.`))
    }),
    Effect.asVoid
  )

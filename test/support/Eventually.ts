import { Effect } from "effect"

/** Repeats an effect every 10 ms until a condition holds for its value, which it returns. The test's own time is the limit. */
export const eventually = <A, E, R>(
  look: Effect.Effect<A, E, R>,
  holds: (found: A) => boolean
): Effect.Effect<A, E, R> =>
  Effect.flatMap(look, (found) =>
    holds(found) ? Effect.succeed(found) : Effect.andThen(Effect.sleep("10 millis"), eventually(look, holds))
  )

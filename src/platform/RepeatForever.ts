import { type Duration, Effect, type Fiber, Schedule, type Scope } from "effect"

export interface Repetition {
  /** The pause after each run. It varies at random, so that nodes that started together do not work together. */
  readonly every: Duration.Input
  /** The pause before the first run; none when absent. */
  readonly after?: Duration.Input
  /** The log message for a failed run. */
  readonly warning: string
}

/**
 * Runs a task again and again in the background of the current scope. A run that fails or dies is logged as a warning and does not end
 * the repetition.
 */
export const repeatForever = <E, R>(
  task: Effect.Effect<unknown, E, R>,
  { after, every, warning }: Repetition
): Effect.Effect<Fiber.Fiber<unknown>, never, R | Scope.Scope> => {
  const runs = task.pipe(
    Effect.catchCause((cause) => Effect.logWarning(warning, cause)),
    Effect.repeat(Schedule.spaced(every).pipe(Schedule.jittered))
  )
  return Effect.forkScoped(after === undefined ? runs : Effect.delay(runs, after))
}

import { type Duration, Effect, Layer, Schedule } from "effect"
import { Notices } from "../notices/Notices.ts"

/** The longest delay of a letter on an idle node. Each poll costs two reads of empty indexes. */
const POLL = "2 seconds"

const untilNone = <E>(step: Effect.Effect<number, E>): Effect.Effect<void, E> =>
  Effect.flatMap(step, (done) => (done === 0 ? Effect.void : untilNone(step)))

/** Writes and sends the letters to owners while the layer lives, and deletes old ones. Any number of nodes may run it. */
export const layer = (sweepInterval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { send, sweep, write } = yield* Notices
      const repeated = (step: Effect.Effect<number, Effect.Error<typeof send>>, every: Duration.Input, what: string) =>
        untilNone(step).pipe(
          // Caught inside the loop, because one failure must not end it.
          Effect.catchCause((cause) => Effect.logWarning(`the gateway cannot ${what} at present`, cause)),
          Effect.repeat(Schedule.spaced(every).pipe(Schedule.jittered)),
          Effect.forkScoped
        )
      yield* repeated(write, POLL, "write letters to owners")
      yield* repeated(send, POLL, "send letters to owners")
      yield* repeated(sweep, sweepInterval, "delete old letters")
    })
  )

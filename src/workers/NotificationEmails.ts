import { Duration, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { repeatForever } from "../platform/RepeatForever.ts"
import { wakeupsOf } from "../platform/database/Wakeups.ts"
import { Notifications } from "../notifications/Notifications.ts"
import { seldomWhenIdle } from "./Idle.ts"

/** The longest delay of an email on a node that cannot listen to the database. */
const POLL = "2 seconds"

/** The longest delay of a postponed email, which no notification announces. Each poll costs two reads of empty indexes. */
const LONGEST_POLL = Duration.seconds(30)

const untilNone = <E>(step: Effect.Effect<number, E>): Effect.Effect<void, E> =>
  Effect.flatMap(step, (done) => (done === 0 ? Effect.void : untilNone(step)))

/** Writes and sends the emails to owners while the layer lives, and deletes old ones. Any number of nodes may run it. */
export const layer = (sweepInterval: Duration.Input) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { send, sweep, write } = yield* Notifications
      const wakeups = wakeupsOf(yield* SqlClient.SqlClient)
      const wakened = (step: Effect.Effect<number, Effect.Error<typeof send>>, what: string) =>
        Effect.gen(function* () {
          const latch = yield* Latch.make()
          yield* wakeups.on("letters", () => latch.openUnsafe())
          const rest = Effect.suspend(() =>
            Effect.timeoutOption(latch.await, Duration.min(wakeups.waitAtMost(POLL), LONGEST_POLL))
          )
          yield* Effect.andThen(latch.close, untilNone(step)).pipe(
            // Caught inside the loop, because one failure must not end it.
            Effect.catchCause((cause) =>
              Effect.andThen(Effect.logWarning(`the gateway cannot ${what}`, cause), Effect.sleep(POLL))
            ),
            Effect.andThen(rest),
            Effect.forever,
            Effect.forkScoped
          )
        })
      yield* wakened(write, "write emails to owners")
      yield* wakened(send, "send emails to owners")
      yield* repeatForever(yield* seldomWhenIdle(untilNone(sweep)), {
        every: sweepInterval,
        warning: "the gateway cannot delete old emails"
      })
    })
  )

/** Wakes the nodes that wait for work which any node may write, by PostgreSQL's notifications. */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Queue, type Scope } from "effect"
import type { SqlClient } from "effect/sql"

/** The channel of all notifications. A trigger names the kind of work as the payload. */
const CHANNEL = "tollgate_work"

/** How often a node reads what waits while it also hears of it. Notifications are lost only with their connection. */
const LISTENING_POLL = Duration.seconds(60)

const RECONNECT = "2 seconds"

/** Work that nodes hear of. */
export type Work = "webhooks" | "budgets" | "jobs" | "letters" | "spend"

/** The notifications of a client. */
export interface Wakeups {
  /** Calls back at each notification of such work, and when some may have been missed, until the scope closes. */
  readonly on: (work: Work, wake: () => void) => Effect.Effect<void, never, Scope.Scope>
  /**
   * How long a node may wait for a notification before it reads what waits: `unheard` while it hears none, as behind a pooler that
   * shares connections by transaction.
   */
  readonly waitAtMost: (unheard: Duration.Input) => Duration.Duration
}

const nothing: Wakeups = { on: () => Effect.void, waitAtMost: Duration.fromInputUnsafe }

/** Creates the notifications of a database. The connection opens with the first that waits for any. */
export const makeWakeups = (config: PgConnection.Config): Effect.Effect<Wakeups, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const waiting = new Set<{ readonly work: Work; readonly wake: () => void }>()
    let isListening = false
    let isStarted = false
    const wake = (work?: string) => {
      for (const one of waiting) if (work === undefined || one.work === work) one.wake()
    }
    const listening = Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* PgConnection.make(config)
        const heard = yield* connection.listen(CHANNEL)
        isListening = true
        wake()
        return yield* Effect.forever(Effect.map(Queue.take(heard), ({ payload }) => wake(payload)))
      })
    ).pipe(
      Effect.ensuring(Effect.sync(() => (isListening = false))),
      // Other statements tell of a database that is gone. Meanwhile nodes read what waits.
      Effect.catchCause(() => Effect.sleep(RECONNECT)),
      Effect.forever
    )
    return {
      on: (work, callback) =>
        Effect.gen(function* () {
          const one = { work, wake: callback }
          yield* Effect.acquireRelease(
            Effect.sync(() => waiting.add(one)),
            () => Effect.sync(() => waiting.delete(one))
          )
          if (isStarted) return
          isStarted = true
          yield* Effect.forkIn(listening, scope)
        }),
      waitAtMost: (unheard) => {
        const usual = Duration.fromInputUnsafe(unheard)
        return isListening ? Duration.max(usual, LISTENING_POLL) : usual
      }
    }
  })

const own: unique symbol = Symbol("wakeups")

/** Adds notifications to a client, which `wakeupsOf` returns. */
export const withWakeups = <Client extends SqlClient.SqlClient>(client: Client, wakeups: Wakeups): Client =>
  Object.assign(client, { [own]: wakeups })

/** The notifications of a client; none for a client without. */
export const wakeupsOf = (client: SqlClient.SqlClient): Wakeups =>
  (client as SqlClient.SqlClient & { readonly [own]?: Wakeups })[own] ?? nothing

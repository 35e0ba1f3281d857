/** Notifies waiting nodes of new work with PostgreSQL's LISTEN and NOTIFY. */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Queue, type Scope } from "effect"
import type { SqlClient } from "effect/sql"

/** The channel of all notifications. A trigger sends the kind of work as the payload. */
const CHANNEL = "tollgate_work"

/** How often a listening node also polls for work. A notification is lost only with its connection. */
const LISTENING_POLL = Duration.seconds(60)

const RECONNECT = "2 seconds"

/** The kinds of work that triggers announce. */
export type Work = "webhooks" | "budgets" | "jobs" | "letters" | "spend"

/** The PostgreSQL notifications of a client. */
export interface Wakeups {
  /** Calls `wake` at each notification of this kind of work, and when the node may have missed one, until the scope closes. */
  readonly on: (work: Work, wake: () => void) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Returns how long a node may wait for a notification before it polls for work. That is `poll` while the node cannot listen, as behind
   * a pooler that shares connections by transaction.
   */
  readonly waitAtMost: (poll: Duration.Input) => Duration.Duration
}

const nothing: Wakeups = { on: () => Effect.void, waitAtMost: Duration.fromInputUnsafe }

/** Creates the notifications of a database. The connection opens with the first call of `on`. */
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
        const notifications = yield* connection.listen(CHANNEL)
        isListening = true
        wake()
        return yield* Effect.forever(Effect.map(Queue.take(notifications), ({ payload }) => wake(payload)))
      })
    ).pipe(
      Effect.ensuring(Effect.sync(() => (isListening = false))),
      // Other statements report that the database is down. Meanwhile nodes poll for work.
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
      waitAtMost: (poll) => {
        const usual = Duration.fromInputUnsafe(poll)
        return isListening ? Duration.max(usual, LISTENING_POLL) : usual
      }
    }
  })

const own: unique symbol = Symbol("wakeups")

/** Adds notifications to a client, which `wakeupsOf` returns. */
export const withWakeups = <Client extends SqlClient.SqlClient>(client: Client, wakeups: Wakeups): Client =>
  Object.assign(client, { [own]: wakeups })

/** Returns the notifications of a client. A client without them never wakes a node. */
export const wakeupsOf = (client: SqlClient.SqlClient): Wakeups =>
  (client as SqlClient.SqlClient & { readonly [own]?: Wakeups })[own] ?? nothing

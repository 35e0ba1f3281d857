import { Effect, Schedule } from "effect"
import { asSuperuser } from "./Database.ts"
import { eventually } from "./Eventually.ts"

const nameOf = (url: string) => new URL(url).pathname.slice(1)

/** Makes a database unreachable: the server ends its connections and refuses new ones. */
export const takeAway = (url: string) =>
  asSuperuser((sql) =>
    Effect.andThen(
      sql`ALTER DATABASE ${sql(nameOf(url))} ALLOW_CONNECTIONS false`,
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${nameOf(url)}`
    )
  )

/** Makes the database reachable again. */
export const giveBack = (url: string) =>
  asSuperuser((sql) => sql`ALTER DATABASE ${sql(nameOf(url))} ALLOW_CONNECTIONS true`)

/** Whether an error of a service or of an operation says that the database is unreachable. */
const isAway = (error: { readonly _tag: string; readonly reason?: { readonly _tag: string } }) =>
  error._tag === "Unavailable" || error.reason?._tag === "StoreUnavailable"

/**
 * Repeats an effect while the database is unreachable, for at most 5 seconds. The server may refuse a connection after the database is
 * back if the client requested it before.
 */
export const whenBack = <A, E extends Parameters<typeof isAway>[0], R>(work: Effect.Effect<A, E, R>) =>
  Effect.timeout(Effect.retry(work, { schedule: Schedule.spaced("10 millis"), while: isAway }), "5 seconds")

/** Repeats a request while the service answers 503, for at most 5 seconds and for the same reason. */
export const onceBack = <A extends { readonly status: number }, E>(ask: Effect.Effect<A, E>) =>
  Effect.timeout(
    eventually(ask, ({ status }) => status !== 503),
    "5 seconds"
  )

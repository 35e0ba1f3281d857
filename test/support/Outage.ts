import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { inject } from "vitest"
import { eventually } from "./WebhookRooms.ts"

const nameOf = (url: string) => new URL(url).pathname.slice(1)

const onServer = <A, E>(body: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  PgClient.make({ url: Redacted.make(inject("serverUrl")), maxConnections: 1 }).pipe(
    Effect.flatMap(body),
    Effect.scoped,
    Effect.provide(Reactivity.layer)
  )

/** Makes one database unreachable: its connections are ended and new ones refused. */
export const takeAway = (url: string) =>
  onServer((sql) =>
    Effect.andThen(
      sql`ALTER DATABASE ${sql(nameOf(url))} ALLOW_CONNECTIONS false`,
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${nameOf(url)}`
    )
  )

/** Makes it reachable again. */
export const giveBack = (url: string) =>
  onServer((sql) => sql`ALTER DATABASE ${sql(nameOf(url))} ALLOW_CONNECTIONS true`)

/** How a room, or an operation, fails of a store that is away. */
const isAway = (error: { readonly _tag: string; readonly reason?: { readonly _tag: string } }) =>
  error._tag === "Unavailable" || error.reason?._tag === "StoreUnavailable"

/** Does it again while the store is away for it: a connection asked for before the return may be refused after it. */
export const whenBack = <A, E extends Parameters<typeof isAway>[0], R>(work: Effect.Effect<A, E, R>) =>
  Effect.timeout(Effect.retry(work, { schedule: Schedule.spaced("10 millis"), while: isAway }), "5 seconds")

/** Asks again while the service says that its store is away, for the same reason. */
export const onceBack = <A extends { readonly status: number }, E>(ask: Effect.Effect<A, E>) =>
  Effect.timeout(
    eventually(ask, ({ status }) => status !== 503),
    "5 seconds"
  )

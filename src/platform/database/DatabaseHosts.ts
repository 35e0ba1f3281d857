/** A database with several hosts, of which one takes writes: `postgres://user:password@one:5432,two:5432/name`. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted, type Scope } from "effect"
import { urlsOf } from "../config/Variables.ts"
import { connect as connectTo, type Socket } from "node:net"

/** How soon the hosts are asked again while none takes writes. */
const ASK_AGAIN = "500 millis"

/** A host that takes longer to say whether it takes writes is passed over. */
const ANSWER = "2 seconds"

const DEFAULT_PORT = 5_432

/** Connects to the host of a database that takes writes. */
export interface DatabaseHosts {
  /** What a session needs to be opened at that host. */
  readonly session: Pick<PgConnection.Config, "url" | "stream">
}

const takesWrites = (url: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* PgConnection.make({ url: Redacted.make(url), connectTimeout: ANSWER })
      const { rows } = yield* connection.query("SELECT pg_is_in_recovery() AS recovering")
      return rows[0]?.["recovering"] === false
    })
  ).pipe(
    Effect.timeoutOrElse({ duration: ANSWER, orElse: () => Effect.succeed(false) }),
    Effect.catchCause(() => Effect.succeed(false))
  )

/**
 * Finds the host that takes writes, and finds it again whenever a connection to it ends: a server that changes its part ends all of
 * them. With one host there is nothing to find.
 */
export const makeDatabaseHosts = (url: Redacted.Redacted): Effect.Effect<DatabaseHosts, never, Scope.Scope> =>
  Effect.gen(function* () {
    const urls = urlsOf(Redacted.value(url))
    if (urls.length === 1) return { session: { url } }
    const addresses = urls.map((one) => {
      const { hostname, port } = new URL(one)
      return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? DEFAULT_PORT : Number(port) }
    })
    const runFork = Effect.runForkWith(yield* Effect.context())
    let current = 0
    let isFinding = false
    let isClosed = false
    yield* Effect.addFinalizer(() => Effect.sync(() => (isClosed = true)))
    const find: Effect.Effect<void> = Effect.suspend(() =>
      Effect.flatMap(Effect.forEach(urls, takesWrites, { concurrency: "unbounded" }), (found) => {
        const place = found[current] === true ? current : found.indexOf(true)
        if (place < 0) return isClosed ? Effect.void : Effect.andThen(Effect.sleep(ASK_AGAIN), find)
        const moved = place !== current
        current = place
        return moved
          ? Effect.logInfo(`the database now takes writes at ${addresses[place]!.host}:${addresses[place]!.port}`)
          : Effect.void
      })
    )
    const ended = () => {
      if (isFinding || isClosed) return
      isFinding = true
      runFork(
        Effect.ensuring(
          find,
          Effect.sync(() => (isFinding = false))
        )
      )
    }
    yield* Effect.timeoutOption(find, "10 seconds")
    const stream = (): Socket => connectTo({ ...addresses[current]!, noDelay: true }).once("close", ended)
    return { session: { url: Redacted.make(urls[0]!), stream } }
  })

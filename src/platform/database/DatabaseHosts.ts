/** A database with several hosts, of which one takes writes: `postgres://user:password@one:5432,two:5432/name`. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted, type Scope } from "effect"
import { urlsOf } from "../config/Variables.ts"
import { connect as connectTo, type Socket } from "node:net"

/** The interval between searches while no host takes writes. */
const ASK_AGAIN = "500 millis"

/** The time limit for a host to report whether it takes writes. The search skips slower hosts. */
const ANSWER = "2 seconds"

const DEFAULT_PORT = 5_432

/** How long a connection is idle before TCP keep-alive probes it, so that it ends when its server has disappeared. */
const KEEP_ALIVE_MS = 30_000

/** Connects to the host of a database that takes writes. */
export interface DatabaseHosts {
  /** Returns a session's configuration that connects to that host. Pass the result itself to a pool, not a copy. */
  readonly at: <C extends object>(config: C) => C & Pick<PgConnection.Config, "url" | "stream">
  /** Returns the number of bytes that have arrived over all connections. */
  readonly received: () => number
  /** Closes all connections at once, without a message to the server. */
  readonly closeAllConnections: () => void
}

interface Address {
  readonly host: string
  readonly port: number
}

/** Returns the address in a URL; undefined for a socket in the file system. */
const addressOf = (url: string): Address | undefined => {
  const { hostname, port } = new URL(url)
  const host = decodeURIComponent(hostname.replace(/^\[|\]$/g, ""))
  return host.startsWith("/") ? undefined : { host, port: port === "" ? DEFAULT_PORT : Number(port) }
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

/** The open connections, each with its address. */
class Sockets {
  readonly #open = new Map<Socket, Address>()
  #receivedBefore = 0

  connect(address: Address, ended: () => void): Socket {
    const socket = connectTo({ ...address, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS })
    this.#open.set(socket, address)
    return socket.once("close", () => {
      this.#open.delete(socket)
      this.#receivedBefore += socket.bytesRead
      ended()
    })
  }

  received(): number {
    let sum = this.#receivedBefore
    for (const socket of this.#open.keys()) sum += socket.bytesRead
    return sum
  }

  /** Closes the connections to all addresses, or to all but one. */
  closeAll(except?: Address): void {
    for (const [socket, address] of this.#open) if (address !== except) socket.destroy()
  }
}

/**
 * Finds the host that takes writes, and searches again whenever a connection to it ends. A server that changes its role closes all its
 * connections, and the gateway closes those of a silent one (`Silence.ts`). With one host there is no search.
 */
export const makeDatabaseHosts = (url: Redacted.Redacted): Effect.Effect<DatabaseHosts, never, Scope.Scope> =>
  Effect.gen(function* () {
    const urls = urlsOf(Redacted.value(url))
    const addresses = urls.map(addressOf)
    const runFork = Effect.runForkWith(yield* Effect.context())
    const sockets = new Sockets()
    let current = 0
    let isFinding = false
    let isClosed = urls.length === 1
    yield* Effect.addFinalizer(() => Effect.sync(() => (isClosed = true)))
    const find: Effect.Effect<void> = Effect.suspend(() =>
      Effect.flatMap(Effect.forEach(urls, takesWrites, { concurrency: "unbounded" }), (found) => {
        const place = found[current] === true ? current : found.indexOf(true)
        if (place < 0) return isClosed ? Effect.void : Effect.andThen(Effect.sleep(ASK_AGAIN), find)
        if (place === current) return Effect.void
        current = place
        const address = addresses[place]
        // A former host that disappeared may have left its connections open.
        sockets.closeAll(address)
        return Effect.logInfo(`the database now takes writes at ${address?.host}:${address?.port}`)
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
    if (urls.length > 1) yield* Effect.timeoutOption(find, "10 seconds")
    const located = urls.map((one) => Redacted.make(one))
    return {
      at: (config) => {
        // Read anew for each connection, as the name in the host's certificate is.
        const placed = Object.defineProperty({ ...config }, "url", { enumerable: true, get: () => located[current]! })
        const stream = () => sockets.connect(addresses[current]!, ended)
        return Object.assign(placed, addresses.includes(undefined) ? {} : { stream }) as ReturnType<
          DatabaseHosts["at"]
        > &
          typeof config
      },
      received: () => sockets.received(),
      closeAllConnections: () => sockets.closeAll()
    }
  })

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

/** An idle connection is checked after this time, so that one whose server is gone without a word ends. */
const KEEP_ALIVE_MS = 30_000

/** Connects to the host of a database that takes writes. */
export interface DatabaseHosts {
  /** Adds to a session's configuration how it is opened at that host. A pool must get the result itself and not a copy. */
  readonly at: <C extends object>(config: C) => C & Pick<PgConnection.Config, "url" | "stream">
  /** Bytes that came over all connections so far. */
  readonly received: () => number
  /** Ends all connections at once, without a word to the server. */
  readonly closeAllConnections: () => void
}

interface Address {
  readonly host: string
  readonly port: number
}

/** The address in a URL; undefined for a socket in the file system. */
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

/** The connections that are open, each to the address it was opened at. */
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
 * Finds the host that takes writes, and finds it again whenever a connection to it ends: a server that changes its part ends all of
 * them, and one that has fallen silent has them ended. With one host there is nothing to find.
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
        // Connections to the former host may have been left open by a host that is gone without a word.
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

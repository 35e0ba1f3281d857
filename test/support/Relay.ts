/** A relay between a client and a server on loopback that can fall silent: no byte arrives, and no connection ends. */
import { Effect, type Scope } from "effect"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

/** Where bytes wait: on the way to the server, on the way back, or both. */
export type Direction = "requests" | "answers" | "both"

export interface Relay {
  /** The port of the relay on loopback. */
  readonly port: number
  /**
   * Cuts the network. Connections stay open; bytes, ends and new connections wait, because TCP sends them again after the cut. With a
   * direction, only the bytes and ends of that way wait.
   */
  readonly cut: (direction?: Direction) => Effect.Effect<void>
  /** Ends the cut: passes on what waits. */
  readonly heal: Effect.Effect<void>
  /** The number of connections that are open on the client's side. */
  readonly connections: () => number
}

/** One way of one connection. */
class Way {
  readonly #from: Socket
  readonly #to: Socket
  #isCut: boolean
  /** Whether the sender's connection has closed, so that the receiver's must close too. */
  #isBroken = false

  constructor(from: Socket, to: Socket, isCut: boolean) {
    this.#from = from
    this.#to = to
    this.#isCut = isCut
    from.on("error", () => undefined)
    from.once("close", () => {
      this.#isBroken = true
      this.#finish()
    })
    if (!isCut) from.pipe(to)
  }

  /** Passes an end on after the last bytes, and a reset at once. */
  #finish(): void {
    if (!this.#isBroken || this.#isCut) return
    if (this.#from.readableEnded) this.#to.end()
    else this.#to.destroy()
  }

  set isCut(isCut: boolean) {
    if (isCut === this.#isCut) return
    this.#isCut = isCut
    if (isCut) this.#from.unpipe(this.#to)
    else {
      this.#from.pipe(this.#to)
      this.#finish()
    }
  }
}

class Pair {
  readonly #client: Socket
  readonly #server: Socket
  readonly #requests: Way
  readonly #answers: Way

  constructor(client: Socket, target: number, cut: Direction | undefined, ended: (pair: Pair) => void) {
    this.#client = client
    // Each way ends by itself, as between two machines.
    this.#server = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
    client.setNoDelay(true)
    this.#requests = new Way(client, this.#server, cut === "requests" || cut === "both")
    this.#answers = new Way(this.#server, client, cut === "answers" || cut === "both")
    // One side may end long before the other side learns of it.
    for (const socket of [client, this.#server]) {
      socket.once("close", () => client.destroyed && this.#server.destroyed && ended(this))
    }
  }

  get isOpen(): boolean {
    return !this.#client.destroyed
  }

  cut(direction: Direction | undefined): void {
    this.#requests.isCut = direction === "requests" || direction === "both"
    this.#answers.isCut = direction === "answers" || direction === "both"
  }

  destroy(): void {
    this.#client.destroy()
    this.#server.destroy()
  }
}

/** Starts a relay to a port of loopback. The relay and its connections end when the scope closes. */
export const startRelay = (target: number): Effect.Effect<Relay, never, Scope.Scope> =>
  Effect.gen(function* () {
    const pairs = new Set<Pair>()
    /** Connections that clients opened during a cut. */
    const waiting = new Set<Socket>()
    let state: Direction | undefined
    const open = (client: Socket) => void pairs.add(new Pair(client, target, state, (pair) => pairs.delete(pair)))
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      if (state !== "requests" && state !== "both") return open(client)
      client.on("error", () => undefined)
      waiting.add(client)
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const pair of pairs) pair.destroy()
          for (const client of waiting) client.destroy()
        })
    )
    return {
      port: (server.address() as AddressInfo).port,
      cut: (direction = "both") =>
        Effect.sync(() => {
          state = direction
          for (const pair of pairs) pair.cut(direction)
        }),
      heal: Effect.sync(() => {
        state = undefined
        for (const pair of pairs) pair.cut(undefined)
        for (const client of waiting) if (!client.destroyed) open(client)
        waiting.clear()
      }),
      connections: () => [...pairs].filter(({ isOpen }) => isOpen).length + waiting.size
    }
  })

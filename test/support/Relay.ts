/** A network between a client and a server on loopback that can fall silent: nothing arrives any more, and no connection ends. */
import { Effect, type Scope } from "effect"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

/** Where bytes are lost: on the way to the server, on the way back, or both. */
export type Direction = "requests" | "answers" | "both"

export interface Relay {
  /** Where the relay listens on loopback. */
  readonly port: number
  /**
   * Falls silent. Connections stay open, and bytes, ends and new connections wait, as those of a cut network do that TCP sends again.
   * With a direction, only bytes and ends of that way wait.
   */
  readonly cut: (direction?: Direction) => Effect.Effect<void>
  /** Passes on what waits, and then everything. */
  readonly heal: Effect.Effect<void>
  /** Connections that are open on the client's side. */
  readonly connections: () => number
}

/** One way of one connection. */
class Way {
  readonly #from: Socket
  readonly #to: Socket
  #isCut: boolean
  /** The sender's connection has ended in a way that destroys the receiver's. */
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

  /** An ended sender's last bytes go out before the end does, unless it broke its connection off. */
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
    // Each way ends on its own, as it does between two machines.
    this.#server = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
    client.setNoDelay(true)
    this.#requests = new Way(client, this.#server, cut === "requests" || cut === "both")
    this.#answers = new Way(this.#server, client, cut === "answers" || cut === "both")
    // One side may end long before the other may know of it.
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

/** Starts a relay before a port of loopback; it ends with the scope, and all its connections with it. */
export const startRelay = (target: number): Effect.Effect<Relay, never, Scope.Scope> =>
  Effect.gen(function* () {
    const pairs = new Set<Pair>()
    /** Connections that were begun while nothing passed. */
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

/** Tells the clients of a server to close their connections during shutdown. */
import { Context, Effect, Layer } from "effect"
import { type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** The state of shutdown. */
export interface ShutdownState {
  /** Starts shutdown: from now on each response asks its client to close the connection. */
  readonly begin: () => void
  readonly hasBegun: () => boolean
  /** Counts a connection that the server has accepted. */
  readonly accepted: () => void
  /** Waits until the server has accepted the connections that wait for it. */
  readonly untilAllAccepted: Effect.Effect<void>
}

/**
 * Turns of the event loop after which all connections that waited at first have been accepted: the system holds no more for Node, and
 * gives them out in order. Turns and not time, because a process on a busy machine may have none for seconds.
 */
const MAX_TURNS = 512

/**
 * Waits until a turn of the event loop brings no connection. Node accepts one in each turn, and a server that stops listening resets
 * those that still wait; on a busy machine these may be many.
 */
const untilNoneComes = (count: () => number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    let [before, turns] = [-1, 0]
    const look = () => {
      const now = count()
      if (now === before || turns === MAX_TURNS) return resume(Effect.void)
      before = now
      turns += 1
      setImmediate(look)
    }
    setImmediate(look)
  })

/** Whether the service is stopping. */
export class Shutdown extends Context.Service<Shutdown, ShutdownState>()("tollgate/http/Shutdown") {
  /** A service that is not stopping. */
  static readonly layer = Layer.sync(Shutdown, () => {
    let begun = false
    let connections = 0
    return {
      begin: () => void (begun = true),
      hasBegun: () => begun,
      accepted: () => void connections++,
      untilAllAccepted: untilNoneComes(() => connections)
    }
  })
}

/** A connection, and how many requests have arrived on it. */
interface CountedSocket extends Socket {
  requests?: number
}

/** A response that knows its position among those of its connection. */
export interface OrderedResponse extends ServerResponse {
  /** Whether its request is the latest of its connection. */
  readonly isNewest: () => boolean
}

/**
 * The class of a server's responses. Once shutdown has started, a response sends `Connection: close`, however it is written. The
 * exception is a client that pipelines requests. Node drops the responses after one that closes the connection, so only the latest one
 * does, and none while it waits for those before it.
 */
export const responsesUntil = ({ hasBegun }: ShutdownState) =>
  class extends ServerResponse implements OrderedResponse {
    readonly #place: number

    constructor(...args: ConstructorParameters<typeof ServerResponse>) {
      super(...args)
      const { socket }: { readonly socket: CountedSocket } = args[0] as IncomingMessage
      this.#place = socket.requests = (socket.requests ?? 0) + 1
    }

    isNewest(): boolean {
      return (this.req.socket as CountedSocket).requests === this.#place
    }

    // Node also calls this for headers that it writes by itself.
    override writeHead(...args: [never]): this {
      if (hasBegun() && this.socket !== null && this.isNewest()) this.shouldKeepAlive = false
      return super.writeHead(...args)
    }
  }

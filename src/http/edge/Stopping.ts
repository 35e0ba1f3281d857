/** Tells the clients of a server to close their connections during shutdown. */
import { Context, Layer } from "effect"
import { type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** The state of shutdown. */
export interface Stop {
  /** Starts shutdown: from now on each response asks its client to close the connection. */
  readonly begin: () => void
  readonly hasBegun: () => boolean
}

/** Whether the service is stopping. */
export class Stopping extends Context.Service<Stopping, Stop>()("tollgate/http/Stopping") {
  /** A service that is not stopping. */
  static readonly layer = Layer.sync(Stopping, () => {
    let begun = false
    return { begin: () => void (begun = true), hasBegun: () => begun }
  })
}

/** A connection, and how many requests have arrived on it. */
interface Counted extends Socket {
  requests?: number
}

/** A response that knows its position among those of its connection. */
export interface Placed extends ServerResponse {
  /** Whether its request is the latest of its connection. */
  readonly isNewest: () => boolean
}

/**
 * The class of a server's responses. Once shutdown has started, a response sends `Connection: close`, however it is written. The
 * exception is a client that pipelines requests. Node drops the responses after one that closes the connection, so only the latest one
 * does, and none while it waits for those before it.
 */
export const responsesUntil = ({ hasBegun }: Stop) =>
  class extends ServerResponse implements Placed {
    readonly #place: number

    constructor(...args: ConstructorParameters<typeof ServerResponse>) {
      super(...args)
      const { socket }: { readonly socket: Counted } = args[0] as IncomingMessage
      this.#place = socket.requests = (socket.requests ?? 0) + 1
    }

    isNewest(): boolean {
      return (this.req.socket as Counted).requests === this.#place
    }

    // Node also calls this for headers that it writes by itself.
    override writeHead(...args: [never]): this {
      if (hasBegun() && this.socket !== null && this.isNewest()) this.shouldKeepAlive = false
      return super.writeHead(...args)
    }
  }

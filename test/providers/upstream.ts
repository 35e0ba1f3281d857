import { Effect } from "effect"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"

export interface Upstream {
  readonly origin: string
  readonly server: Server
  /** Connections accepted so far. */
  readonly connections: () => number
}

/** Starts a host on loopback, until the scope closes. */
export const upstream = (handler: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<Upstream>((resume) => {
      const server = createServer(handler)
      let connections = 0
      server.on("connection", () => (connections += 1))
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, server, connections: () => connections }))
      })
    }),
    ({ server }) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

/** An address on which no server listens. */
export const closedOrigin = Effect.scoped(
  Effect.map(
    upstream(() => {}),
    ({ origin }) => origin
  )
)

import { Effect, type Scope } from "effect"
import type { Server } from "node:http"
import type { Socket } from "node:net"

interface Written extends Socket {
  /** Node's own handle of the connection: what it was given to write, and what of that the system has not taken yet. */
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
}

/** Bytes of a connection that the system has taken: its buffer has room for more only as the client reads. */
const takenOf = ({ _handle: handle }: Written): number =>
  handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize

/**
 * Ends connections whose client takes nothing of what is written to it for `stalledMs`; looked at every `checkMs`. Without it a
 * client that reads nothing would keep its connection, and what waits there, for ever. Bytes it sends are no sign of reading.
 */
export const endStalled = (
  server: Server,
  { checkMs, stalledMs }: { readonly checkMs: number; readonly stalledMs: number }
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = new Map<Written, { readonly taken: number; readonly since: number }>()
    const sockets = new Set<Written>()
    server.on("connection", (socket: Written) => {
      sockets.add(socket)
      socket.once("close", () => {
        sockets.delete(socket)
        waiting.delete(socket)
      })
    })
    const check = () => {
      const now = performance.now()
      for (const socket of sockets) {
        if (socket.writableLength === 0) {
          waiting.delete(socket)
          continue
        }
        const taken = takenOf(socket)
        const before = waiting.get(socket)
        if (before?.taken !== taken) waiting.set(socket, { taken, since: now })
        else if (now - before.since >= stalledMs) socket.destroy()
      }
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => setInterval(check, checkMs).unref()),
      (timer) => Effect.sync(() => clearInterval(timer))
    )
  })

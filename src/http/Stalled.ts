import { Effect, type Scope } from "effect"
import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

interface Written extends Socket {
  /** Node's own handle of the connection: what it was given to write, and what of that the system has not taken yet. */
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
}

/** Bytes of a connection that the system has taken: its buffer has room for more only as the client reads. */
const takenOf = ({ _handle: handle }: Written): number =>
  handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize

const every = (ms: number, check: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => setInterval(check, ms).unref()),
      (timer) => Effect.sync(() => clearInterval(timer))
    )
  )

/** The least that a client must take of an answer. */
export interface Pace {
  readonly bytesPerSecond: number
  /** For how long it need not, from the beginning on. */
  readonly graceMs: number
  readonly checkMs: number
}

/**
 * Ends the connection of a client that takes an answer more slowly than this, on the whole, while there is more for it; until the
 * scope closes. For answers that keep something from others for as long as they last.
 */
export const endSlow = (
  response: ServerResponse,
  { bytesPerSecond, checkMs, graceMs }: Pace
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const socket: Written | null = response.socket
    if (socket === null) return Effect.void
    const [began, taken] = [performance.now(), takenOf(socket)]
    return every(checkMs, () => {
      const lastedMs = performance.now() - began
      if (lastedMs < graceMs || socket.writableLength === 0) return
      if (takenOf(socket) - taken < (lastedMs / 1_000) * bytesPerSecond) socket.destroy()
    })
  })

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
    yield* every(checkMs, check)
  })

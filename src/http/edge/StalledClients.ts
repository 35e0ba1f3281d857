import { Effect, type Scope } from "effect"
import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

interface ClientConnection extends Socket {
  /** Node's own handle of the connection: the bytes given to it, and those that the system has not taken yet. */
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
}

/** The bytes of a connection that the system has taken. Its buffer takes more only as the client reads. */
const takenOf = ({ _handle: handle }: ClientConnection): number =>
  handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize

const every = (ms: number, check: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => setInterval(check, ms).unref()),
      (timer) => Effect.sync(() => clearInterval(timer))
    )
  )

/** The minimum pace at which a client must read a response. */
export interface Pace {
  readonly bytesPerSecond: number
  /** How long the pace is not required at the start, in milliseconds. */
  readonly graceMs: number
  readonly checkMs: number
}

/**
 * Ends the connection of a client that reads a response more slowly than this on average while more is available, until the scope
 * closes. For responses that occupy something that others need.
 */
export const endSlow = (
  response: ServerResponse,
  { bytesPerSecond, checkMs, graceMs }: Pace
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const socket: ClientConnection | null = response.socket
    if (socket === null) return Effect.void
    const [began, startBytes] = [performance.now(), takenOf(socket)]
    return every(checkMs, () => {
      const lastedMs = performance.now() - began
      if (lastedMs < graceMs || socket.writableLength === 0) return
      if (takenOf(socket) - startBytes < (lastedMs / 1_000) * bytesPerSecond) socket.destroy()
    })
  })

/**
 * Ends connections with a client that takes nothing of what is written to it for `stalledMs`, checked every `checkMs`. Otherwise a client
 * that never reads would keep its connection, and the memory of its response, for ever. Bytes that it sends do not count as reading.
 */
export const endStalled = (
  server: Server,
  { checkMs, stalledMs }: { readonly checkMs: number; readonly stalledMs: number }
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting = new Map<ClientConnection, { readonly readBytes: number; readonly since: number }>()
    const sockets = new Set<ClientConnection>()
    server.on("connection", (socket: ClientConnection) => {
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
        const readBytes = takenOf(socket)
        const before = waiting.get(socket)
        if (before?.readBytes !== readBytes) waiting.set(socket, { readBytes, since: now })
        else if (now - before.since >= stalledMs) socket.destroy()
      }
    }
    yield* every(checkMs, check)
  })

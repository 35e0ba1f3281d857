import { Effect, Schedule } from "effect"
import { createServer } from "node:net"

/** Below the range that Linux gives to outgoing connections, so that no connection takes a port before its listener starts. */
const [FROM, COUNT] = [10_000, 20_000]

const randomPort: Effect.Effect<number, Error> = Effect.callback((resume) => {
  const port = FROM + Math.floor(Math.random() * COUNT)
  const server = createServer()
    .once("error", (error) => resume(Effect.fail(error)))
    .listen(port, "127.0.0.1", () => void server.close(() => resume(Effect.succeed(port))))
})

/** A free port of the loopback address, for a process that restarts at the same address. */
export const freePort: Effect.Effect<number> = Effect.orDie(Effect.retry(randomPort, Schedule.recurs(100)))

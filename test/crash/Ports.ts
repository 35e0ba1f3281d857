import { Effect, Schedule } from "effect"
import { createServer } from "node:net"

/** Below the ports that Linux gives to outgoing connections, so that no connection takes one before its listener does. */
const [FROM, COUNT] = [10_000, 20_000]

const tried: Effect.Effect<number, Error> = Effect.callback((resume) => {
  const port = FROM + Math.floor(Math.random() * COUNT)
  const server = createServer()
    .once("error", (error) => resume(Effect.fail(error)))
    .listen(port, "127.0.0.1", () => void server.close(() => resume(Effect.succeed(port))))
})

/** A port of loopback that nothing listens on: for a process that has to come back at the same address. */
export const freePort: Effect.Effect<number> = Effect.orDie(Effect.retry(tried, Schedule.recurs(100)))

import { Effect } from "effect"
import { createServer } from "node:net"

/** A port of loopback that nobody listens on: for a process that has to come back at the same address. */
export const freePort: Effect.Effect<number> = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

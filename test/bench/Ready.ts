/** How a process of the bench tells that it listens, and ends with the one that started it. */
import type { Server } from "node:net"

/** Listens on a free port of loopback, says where in one line, and ends when its standard input does. */
export const announceReady = (server: Server) => {
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () => {
    const address = server.address()
    if (typeof address === "object" && address !== null)
      process.stdout.write(`ready at http://127.0.0.1:${address.port}\n`)
  })
  endWithParent()
}

/** A parent that is killed closes the pipe, and nothing stays behind. */
export const endWithParent = () => {
  process.stdin.resume()
  process.stdin.once("end", () => process.exit(0))
}

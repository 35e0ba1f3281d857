/** How a child process announces its port, and ends with its parent. */
import type { Server } from "node:net"

/** Listens on a free port of the loopback address and prints it. Ends when standard input closes. */
export const announceReady = (server: Server) => {
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () => {
    const address = server.address()
    if (typeof address === "object" && address !== null)
      process.stdout.write(`ready at http://127.0.0.1:${address.port}\n`)
  })
  endWithParent()
}

/** Ends this process when its parent exits or is killed, because that closes the pipe. */
export const endWithParent = () => {
  process.stdin.resume()
  process.stdin.once("end", () => process.exit(0))
}

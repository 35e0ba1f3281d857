/** A server that answers `/{n}` with n bytes from memory: the machine's own cost of a read. */
import { createServer } from "node:http"
import { announceReady } from "./Ready.ts"

const bodies = new Map<string, Buffer>()

const bodyOf = (path: string): Buffer => {
  let body = bodies.get(path)
  if (body === undefined) {
    body = Buffer.alloc(Number(path.slice(1)), "a")
    bodies.set(path, body)
  }
  return body
}

announceReady(
  createServer({ keepAliveTimeout: 60_000 }, ({ url = "" }, response) => {
    const body = bodyOf(url)
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
  })
)

/**
 * A proxy that forwards requests and answers unread, on the same HTTP server and client as the gateway: Node's own cost. Its argument is
 * the origin to forward to.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { type Dispatcher, Pool } from "undici"
import { announceReady } from "./Ready.ts"

const [origin = ""] = process.argv.slice(2)

/** At least as many connections as the gateway opens to one provider. */
const CONNECTIONS = 512

const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 })

const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "host", "date"])

const endToEnd = (headers: IncomingHttpHeaders): Record<string, string | Array<string>> => {
  const kept: Record<string, string | Array<string>> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !hopByHop.has(name)) kept[name] = value
  }
  return kept
}

const passBack = (response: ServerResponse): Dispatcher.DispatchHandler => ({
  onRequestStart: (controller) => {
    response.once("close", () => {
      if (!response.writableFinished) controller.abort(new Error("the caller has gone"))
    })
  },
  onResponseStart: (_controller, status, headers) => void response.writeHead(status, endToEnd(headers)),
  onResponseData: (controller, chunk) => {
    if (response.write(chunk)) return
    controller.pause()
    response.once("drain", () => controller.resume())
  },
  onResponseEnd: () => void response.end(),
  onResponseError: () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  }
})

const pass = (request: IncomingMessage, response: ServerResponse) =>
  pool.dispatch(
    { method: "POST", path: request.url ?? "/", headers: endToEnd(request.headers), body: request },
    passBack(response)
  )

const server = createServer({ keepAliveTimeout: 60_000 }, pass)
announceReady(server)

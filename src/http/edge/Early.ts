/** Requests that arrive after a server listens and before its routes are built. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http"

/**
 * Keeps the requests of a server until it serves them; Node would leave each without a response for ever. Call it before the server
 * listens. The function that it returns gives the kept requests to a listener, in the order in which they arrived, and ends the
 * keeping. A request is dropped when its client has closed the connection meanwhile.
 */
export const keepEarly = (server: Server): ((listener: RequestListener) => void) => {
  const kept: Array<readonly [IncomingMessage, ServerResponse]> = []
  const keep: RequestListener = (request, response) => void kept.push([request, response])
  server.on("request", keep)
  return (listener) => {
    server.off("request", keep)
    for (const [request, response] of kept.splice(0)) if (!response.destroyed) listener(request, response)
  }
}

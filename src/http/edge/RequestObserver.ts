import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Metrics } from "../../platform/telemetry/Metrics.ts"
import type { Span, Tracing } from "../../platform/telemetry/Tracing.ts"
import { type BeginLine, endLine } from "./AccessLog.ts"

/** Spans of the running requests. */
const spans = new WeakMap<object, Span>()

/** The span of a request, by Node's request object. Undefined unless its trace is recorded. */
export const spanOf = (request: object): Span | undefined => spans.get(request)

/** What the metrics of a request say about it, once it is known. */
export interface RequestLabels {
  /** The path of its operation with names in place of ids. */
  route: string | undefined
  /** The code of the error that answers it. */
  error: string | undefined
}

const labels = new WeakMap<object, RequestLabels>()

/** The labels of a request, by Node's request object. */
export const labelsOf = (request: object): RequestLabels =>
  labels.get(request) ?? { route: undefined, error: undefined }

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"])

/** The convention's placeholder for an unknown method, which would otherwise be a label of the caller's choice. */
const methodOf = ({ method = "" }: IncomingMessage): string => (METHODS.has(method) ? method : "_OTHER")

const text = (header: string | Array<string> | undefined): string | undefined =>
  Array.isArray(header) ? header.join() : header

const begin = (request: IncomingMessage, method: string, span: Span): Span => {
  span.name = method === "_OTHER" ? "HTTP" : method
  spans.set(request, span)
  return span.set({ "http.request.method": method, "url.scheme": "http" })
}

/** Records a response. Only an error of the gateway counts as one; a client that disconnects does not. */
const finish = (span: Span, status: number, whole: boolean): void => {
  if (status !== 0) span.set({ "http.response.status_code": status })
  // When the gateway cut the response after a failure, the client did not leave.
  if (!whole && !span.failed) span.set({ "svc.client_left": true })
  if (status >= 500) span.fail(String(status))
  span.end()
}

/**
 * Counts the requests of a server, and records the span of each that has one, from its headers to the last byte of its response or the
 * loss of its connection. The span of a stream lasts as long as the stream. It must be installed before the code that answers requests.
 * After that, it calls `closed` and ends the access log line, so that one listener does all of this.
 */
export const observe = (
  server: Server,
  metrics: Metrics,
  tracing: Tracing,
  closed?: (response: ServerResponse) => void,
  beginLine?: BeginLine
): void => {
  server.on("request", (request, response) => {
    metrics.http.arrived()
    const arrivedAt = performance.now()
    const method = methodOf(request)
    const known: RequestLabels = { route: undefined, error: undefined }
    labels.set(request, known)
    const { traceparent, tracestate } = request.headers
    const began = tracing.server(text(traceparent), text(tracestate))
    const span = began === undefined ? undefined : begin(request, method, began)
    const line = beginLine?.(request, method, span)
    response.on("close", () => {
      const status = response.headersSent ? response.statusCode : 0
      metrics.http.left({ ...known, method, status, durationMs: performance.now() - arrivedAt })
      if (span !== undefined) finish(span, status, response.writableFinished)
      if (line !== undefined) endLine(line, response)
      closed?.(response)
    })
  })
}

/** A collector on loopback that accepts OTLP over HTTP as JSON, and keeps spans, logs and metrics. */
import { Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { bodyOf } from "./Bodies.ts"

type Attribute = string | number | boolean | ReadonlyArray<string>

/** A received span, decoded. */
export interface ReceivedSpan {
  readonly name: string
  readonly kind: "internal" | "server" | "client"
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  /** Unix nanoseconds. */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, Attribute>>
  readonly failed: boolean
}

/** A received log record, decoded. */
interface ReceivedLog {
  readonly body: Attribute
  readonly severity: string
  readonly traceId: string | undefined
  readonly spanId: string | undefined
  readonly attributes: Readonly<Record<string, Attribute>>
}

/** The fault of a body that is not OTLP, which a test reads in `faults`. */
class Malformed extends Error {}

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const valueOf = (value: Json): Attribute => {
  const [kind, held] = Object.entries<Json>(value)[0] ?? []
  switch (kind) {
    case "stringValue":
    case "boolValue":
      return held
    case "intValue":
    case "doubleValue":
      return Number(held)
    case "arrayValue":
      return held.values.map(valueOf)
    default:
      throw new Malformed(`a value is ${JSON.stringify(value)}`)
  }
}

const attributesOf = (list: ReadonlyArray<{ readonly key: string; readonly value: Json }>) =>
  Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]))

const matching = (text: Json, form: RegExp, what: string): string => {
  if (typeof text !== "string" || !form.test(text)) throw new Malformed(`${what} is ${JSON.stringify(text)}`)
  return text
}

const kinds: Readonly<Record<number, ReceivedSpan["kind"]>> = { 1: "internal", 2: "server", 3: "client" }

const spanOf = (span: Json): ReceivedSpan => {
  const kind = kinds[span.kind]
  if (kind === undefined) throw new Malformed(`a kind is ${span.kind}`)
  return {
    name: matching(span.name, /./, "a name"),
    kind,
    traceId: matching(span.traceId, /^(?!0{32})[0-9a-f]{32}$/, "a trace id"),
    spanId: matching(span.spanId, /^(?!0{16})[0-9a-f]{16}$/, "a span id"),
    parentSpanId:
      span.parentSpanId === undefined ? undefined : matching(span.parentSpanId, /^[0-9a-f]{16}$/, "a parent's id"),
    traceState: span.traceState,
    start: BigInt(matching(span.startTimeUnixNano, /^\d{19}$/, "a start")),
    end: BigInt(matching(span.endTimeUnixNano, /^\d{19}$/, "an end")),
    attributes: attributesOf(span.attributes),
    failed: span.status?.code === 2
  }
}

const logOf = (log: Json): ReceivedLog => ({
  body: valueOf(log.body),
  severity: log.severityText,
  traceId: log.traceId,
  spanId: log.spanId,
  attributes: attributesOf(log.attributes)
})

/**
 * How a collector answers an export. `takes`: it decodes it. `takes anything`: it does not decode it. `refuses`: 503. `pauses`: it answers
 * the first export of each kind with 429 and an hour to wait. `hangs`: never.
 */
export type Behaviour = "takes" | "takes anything" | "refuses" | "pauses" | "hangs"

/** Starts a collector, which ends when the scope closes. */
export const startCollector = (behaviour: Behaviour = "takes") =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const spans: Array<ReceivedSpan> = []
      const logs: Array<ReceivedLog> = []
      const metrics = new Map<string, Json>()
      const faults: Array<string> = []
      const headers: Array<IncomingMessage["headers"]> = []
      const bodies: Array<Buffer> = []
      const resources: Array<Readonly<Record<string, Attribute>>> = []
      const paused = new Set<string | undefined>()
      let text = ""
      let requests = 0
      const take = (path: string | undefined, body: string) => {
        text += body
        const sent = JSON.parse(body)
        for (const { resource, scopeSpans } of sent.resourceSpans ?? []) {
          resources.push(attributesOf(resource.attributes))
          for (const scope of scopeSpans) spans.push(...scope.spans.map(spanOf))
        }
        for (const { scopeLogs } of sent.resourceLogs ?? []) {
          for (const scope of scopeLogs) logs.push(...scope.logRecords.map(logOf))
        }
        for (const { scopeMetrics } of sent.resourceMetrics ?? []) {
          for (const scope of scopeMetrics) for (const metric of scope.metrics) metrics.set(metric.name, metric)
        }
        if (!/^\/v1\/(traces|logs|metrics)$/.test(path ?? "")) throw new Malformed(`the path is ${path}`)
      }
      const server = createServer(async (request, response) => {
        requests++
        const body = await bodyOf(request)
        if (behaviour === "hangs") return
        if (behaviour === "refuses") return response.writeHead(503).end()
        if (behaviour === "pauses" && !paused.has(request.url)) {
          paused.add(request.url)
          return response.writeHead(429, { "retry-after": "3600" }).end()
        }
        headers.push(request.headers)
        bodies.push(body)
        try {
          if (behaviour !== "takes anything") take(request.url, body.toString("utf8"))
        } catch (error) {
          faults.push(String(error))
        }
        response.writeHead(200, { "content-type": "application/json" }).end("{}")
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const close = () => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      }
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return {
        endpoint,
        /** The environment of a service that exports here. */
        environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" },
        spans,
        logs,
        metrics,
        /** Faults of bodies that are not OTLP; none from a correct service. */
        faults,
        headers,
        bodies,
        resources,
        /** All received bodies as one text. */
        text: () => text,
        /** The number of received requests. */
        requests: () => requests,
        /** The spans of a trace, in the order of their starts. */
        trace: (traceId: string) =>
          spans.filter((span) => span.traceId === traceId).toSorted((a, b) => (a.start < b.start ? -1 : 1)),
        close
      }
    }),
    ({ close }) => Effect.promise(close)
  )

export type Collector = Effect.Success<ReturnType<typeof startCollector>>

import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { createServer, request as httpRequest } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { observe, spanOf } from "../../../src/http/edge/RequestObserver.ts"
import type { HttpFigures } from "../../../src/platform/telemetry/HttpMetrics.ts"
import { makeMetrics } from "../../../src/platform/telemetry/Metrics.ts"
import { recordSpans } from "../../support/Spans.ts"

/** An observed server; `answered` are the status of its answers and the spans that ended, as they came. */
const start = (sampled?: Parameters<typeof recordSpans>[0]) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const metrics = makeMetrics()
      const left: Array<number> = []
      const { spans, tracing } = recordSpans(sampled)
      let onLeft = () => {}
      const http = {
        ...metrics.http,
        left: ({ status }: HttpFigures) => {
          left.push(status)
          // The span ends right after.
          setImmediate(onLeft)
        }
      }
      const server = createServer()
      observe(server, { ...metrics, http }, tracing)
      server.on("request", (request, response) => {
        const span = spanOf(request)
        span?.set({ seen: true })
        if (request.url === "/hang") return void response.write("half of it")
        if (request.url === "/cut") {
          span?.fail("upstream_error")
          return void response.write("half of it", () => response.destroy())
        }
        response.writeHead(request.url === "/fault" ? 503 : 200).end(String(span !== undefined))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const allLeft = (count: number) =>
        new Promise<void>((resolve) => {
          onLeft = () => (left.length >= count ? resolve() : undefined)
          onLeft()
        })
      return { allLeft: (count: number) => Effect.promise(() => allLeft(count)), left, origin, server, spans }
    }),
    ({ server }) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  )

const ask = (url: string, init?: RequestInit) => Effect.promise(() => fetch(url, init).then((answer) => answer.text()))

describe("an observed server", () => {
  it.live("records a span for each request, from its headers to the end of its response", () =>
    Effect.gen(function* () {
      const { allLeft, left, origin, spans } = yield* start()
      assert.strictEqual(yield* ask(`${origin}/a?key=secret`), "true")
      yield* ask(`${origin}/fault`, { method: "PUT" })
      yield* allLeft(2)
      const [first, second] = spans.map(({ attributes, failed, kind, name }): Record<string, unknown> => ({
        failed,
        kind,
        name,
        ...attributes
      }))
      assert.deepStrictEqual(first, {
        failed: false,
        kind: "server",
        name: "GET",
        seen: true,
        "http.request.method": "GET",
        "url.scheme": "http",
        "http.response.status_code": 200
      })
      assert.include(second, { failed: true, name: "PUT", "error.type": "503", "http.response.status_code": 503 })
      assert.deepStrictEqual(left, [200, 503])
    }).pipe(Effect.scoped)
  )

  it.live("ends the span of a client that disconnects without an error", () =>
    Effect.gen(function* () {
      const { allLeft, left, origin, spans } = yield* start()
      yield* Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            const asked = httpRequest(`${origin}/hang`, (response) =>
              response.once("data", () => {
                asked.destroy()
                resolve()
              })
            )
            asked.on("error", () => {})
            asked.end()
          })
      )
      yield* allLeft(1)
      assert.deepStrictEqual(left, [200])
      assert.isTrue(spans[0]?.attributes["svc.client_left"])
      assert.isFalse(spans[0]?.failed)
    }).pipe(Effect.scoped)
  )

  it.live("does not report a disconnect when the gateway cut the response after a failure", () =>
    Effect.gen(function* () {
      const { allLeft, origin, spans } = yield* start()
      const exit = yield* Effect.exit(Effect.tryPromise(() => fetch(`${origin}/cut`).then((answer) => answer.text())))
      assert.isTrue(Exit.isFailure(exit))
      yield* allLeft(1)
      assert.isTrue(spans[0]?.failed)
      assert.strictEqual(spans[0]?.attributes["error.type"], "upstream_error")
      assert.notProperty(spans[0]?.attributes, "svc.client_left")
    }).pipe(Effect.scoped)
  )

  it.live("ends the spans of pipelined requests when their connection closes", () =>
    Effect.gen(function* () {
      const { allLeft, left, origin, spans } = yield* start()
      const socket = connect(Number(new URL(origin).port), "127.0.0.1")
      socket.write("GET /hang HTTP/1.1\r\nhost: a\r\n\r\nGET /behind HTTP/1.1\r\nhost: a\r\n\r\n")
      socket.once("data", () => socket.destroy())
      yield* allLeft(2)
      assert.lengthOf(left, 2)
      assert.lengthOf(spans, 2)
    }).pipe(Effect.scoped)
  )

  it.live("counts all requests, records no span when tracing is off, and names no span after an unknown method", () =>
    Effect.gen(function* () {
      const { allLeft, left, origin, spans } = yield* start("of callers")
      const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`
      assert.strictEqual(yield* ask(origin), "false")
      assert.strictEqual(yield* ask(origin, { headers: { traceparent }, method: "PROPFIND" }), "true")
      yield* allLeft(2)
      assert.deepStrictEqual(left, [200, 200])
      assert.lengthOf(spans, 1)
      assert.strictEqual(spans[0]?.name, "HTTP")
      assert.strictEqual(spans[0]?.attributes["http.request.method"], "_OTHER")
      assert.strictEqual(spans[0]?.parentSpanId, "b".repeat(16))
    }).pipe(Effect.scoped)
  )
})

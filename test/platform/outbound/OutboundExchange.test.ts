import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { inspect } from "node:util"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { closedOrigin, upstream } from "../../providers/upstream.ts"
import { post, reasonOf, text, watched } from "./OutboundFixture.ts"

layer(Outbound.layer, { excludeTestServices: true })("a call for a complete answer", (it) => {
  it.effect("returns status, headers and body for every status, and sends only the given headers", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* upstream((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          response.writeHead(503, { "x-one": "1", "set-cookie": ["a=1", "b=2"] })
          response.write(JSON.stringify(request.headers))
          response.end(`|${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
        })
      })
      const answer = yield* outbound.send(post(host.origin)).pipe(Effect.withSpan("parent"))
      const [headers = "", line] = (text(answer.body) ?? "").split("|")
      assert.strictEqual(answer.status, 503)
      assert.strictEqual(answer.headers["x-one"], "1")
      assert.deepStrictEqual(answer.headers["set-cookie"], ["a=1", "b=2"])
      assert.strictEqual(line, "POST /v1/thing?x=1 ping")
      assert.deepStrictEqual(Object.keys(JSON.parse(headers)).toSorted(), [
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host"
      ])
    })
  )

  it.effect("limits the body's size, with or without content-length", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* upstream((request, response) => {
        if (request.url === "/announced") return response.end("x".repeat(11))
        response.write("x".repeat(6))
        return response.end("x".repeat(request.url === "/fits" ? 4 : 5))
      })
      const get = (path: string) => outbound.send(post(host.origin, {}, { path, maxBodyBytes: 10 }))
      assert.deepStrictEqual(yield* reasonOf(get("/announced")), { _tag: "TooLarge", limitBytes: 10 })
      assert.deepStrictEqual(yield* reasonOf(get("/chunked")), { _tag: "TooLarge", limitBytes: 10 })
      assert.strictEqual((yield* get("/fits")).body.length, 10)
    })
  )

  it.effect("reports a host that refuses connections", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const origin = yield* closedOrigin
      assert.deepStrictEqual(yield* reasonOf(outbound.send(post(origin))), {
        _tag: "Connect",
        detail: "ECONNREFUSED"
      })
    })
  )

  it.effect("distinguishes a connection lost before the response from one lost during it", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* upstream((request, response) => {
        if (request.url === "/before") return request.socket.destroy()
        response.writeHead(200, { "content-length": "10" })
        return response.write("half", () => request.socket.destroy())
      })
      const lost = (path: string) => reasonOf(outbound.send(post(host.origin, {}, { path })))
      assert.include(yield* lost("/before"), { _tag: "Broken", answered: false })
      assert.include(yield* lost("/within"), { _tag: "Broken", answered: true })
    })
  )

  it.effect("enforces its total limit and closes the connection", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* watched(() => {})
      const reason = yield* reasonOf(outbound.send(post(host.origin, { totalMs: 300 })))
      assert.deepStrictEqual(reason, { _tag: "TimedOut", clock: "total" })
      yield* host.closed
    })
  )

  it.effect("closes the connection when interrupted", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* watched(() => {})
      const fiber = yield* Effect.forkChild(outbound.send(post(host.origin)))
      yield* host.arrived
      yield* Fiber.interrupt(fiber)
      yield* host.closed
    })
  )

  it.effect("reveals nothing of the request in its errors", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const origin = yield* closedOrigin
      const host = yield* upstream((request) => request.socket.destroy())
      const headers = { authorization: "Bearer planted-secret\n" }
      for (const request of [post(origin), post(host.origin), post(host.origin, {}, { headers })]) {
        const error = yield* Effect.flip(outbound.send(request))
        assert.notInclude(inspect(error, { depth: 10 }) + JSON.stringify(error) + error.message, "planted-secret")
      }
    })
  )
})

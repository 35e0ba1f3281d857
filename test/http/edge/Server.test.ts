import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { connect } from "node:net"
import { freshDatabase } from "../../support/Database.ts"
import { get, json, post, startService } from "../../support/Service.ts"
import { assertEnvelope } from "../envelope.ts"
import { serve } from "../serve.ts"
import { answers, client, Line, parse } from "../wire.ts"

const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/fine", HttpServerResponse.text("fine")),
  HttpRouter.add(
    "POST",
    "/echo",
    Effect.map(
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => Effect.orDie(request.text)),
      (text) => HttpServerResponse.text(text)
    )
  )
)

const impatient = { headersMs: 150, requestMs: 150, checkMs: 20, lingerMs: 50 }
const fine = (path = "/fine") => `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

/** A line over which a stream comes, of which something has come. */
const streaming = (origin: string, key: string, steering: string) =>
  Effect.gen(function* () {
    const body = JSON.stringify({ ...chat, stream: true })
    const line = yield* Line.open(origin)
    line.write(
      `POST /api/v1/chat/completions HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nX-Svc-Sandbox: ${steering}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`
    )
    yield* line.take((text) => text.includes("chat.completion.chunk"))
    return line
  })

describe("a client that is too slow or does not speak HTTP", () => {
  const slow = {
    "half a header": "GET /fine HTTP/1.1\r\nHost: te",
    "half a body": "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf"
  }
  for (const [name, text] of Object.entries(slow)) {
    it.live(`is answered 408 after ${name}, and its connection is closed`, () =>
      Effect.gen(function* () {
        const { origin } = yield* serve(routes, { patience: impatient })
        const line = yield* Line.open(origin)
        line.write(text)
        const got = parse(yield* line.take(answers(1)))
        const { error } = assertEnvelope(got, name)
        assert.deepStrictEqual([got.status, error.type, error.code], [408, "timeout_error", "request_timeout"])
        assert.strictEqual(got.headers["connection"], "close")
        assert.strictEqual(got.headers["x-svc-sandbox"], "true")
        yield* line.ended
        yield* line.gone
      }).pipe(Effect.scoped)
    )
  }

  const malformed = {
    "no HTTP at all": ["hello there\r\n\r\n", "request"],
    "a space in a header's name": ["GET /fine HTTP/1.1\r\nHo st: test\r\n\r\n", "request"],
    "two lengths": ["POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "request"],
    "a length and chunks": [
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "request"
    ],
    "an unknown method": ["FETCH /fine HTTP/1.1\r\nHost: test\r\n\r\n", "method"],
    "too much in its headers": [`GET /fine HTTP/1.1\r\nHost: test\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`, "headers"]
  } as const
  for (const [name, [text, field]] of Object.entries(malformed)) {
    it.live(`is answered 400 to ${name}, and its connection is closed`, () =>
      Effect.gen(function* () {
        const { origin } = yield* serve(routes, { patience: impatient })
        const line = yield* Line.open(origin)
        line.write(text)
        const got = parse(yield* line.take(answers(1)))
        const { error } = assertEnvelope(got, name)
        assert.deepStrictEqual([got.status, error.code, error.param], [400, "validation_error", field])
        if (field === "method") {
          assert.strictEqual(error.message, "`method` must be GET, HEAD, POST, PUT, PATCH or DELETE; got FETCH.")
        }
        yield* line.gone
        assert.strictEqual(line.text, "")
      }).pipe(Effect.scoped)
    )
  }

  it.live("never gets an error in the middle of another response", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const line = yield* streaming(service.origin, inferenceKey, "chunk_ms=20,output_tokens=200")
      line.write("hello there\r\n\r\n")
      yield* line.gone
      assert.notInclude(line.text, "HTTP/1.1")
      yield* Effect.repeat(service.balance(account.id), { until: ({ held }) => held === 0n })
      const { data } = yield* Effect.flatMap(get(`${service.api}/requests`, inferenceKey), json)
      assert.strictEqual(data[0].status, "cancelled")
    }).pipe(Effect.scoped)
  )
})

describe("a connection", () => {
  it.live("serves requests one after another, and several sent at once in their order", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes)
      const line = yield* Line.open(origin)
      line.write(fine())
      assert.strictEqual(parse(yield* line.take(answers(1))).text, "fine")
      line.write(`POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nfirst${fine()}${fine("/nothing")}`)
      const [first = "", second = "", third = ""] = (yield* line.take(answers(3))).split(/(?=HTTP\/1\.1)/)
      assert.deepStrictEqual([parse(first).text, parse(second).text], ["first", "fine"])
      assert.strictEqual(assertEnvelope(parse(third), "third").error.code, "unknown_route")
    }).pipe(Effect.scoped)
  )

  it.live("stays open after an error with an unread body", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes)
      const line = yield* Line.open(origin)
      line.write(`POST /nothing HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbody${fine()}`)
      const [first = "", second = ""] = (yield* line.take(answers(2))).split(/(?=HTTP\/1\.1)/)
      assert.deepStrictEqual([parse(first).status, parse(second).text], [404, "fine"])
    }).pipe(Effect.scoped)
  )

  it.live("is served whatever its Expect and Upgrade headers say", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes)
      const send = yield* client(origin)
      for (const headers of [
        { expect: "100-continue" },
        { expect: "a miracle" },
        { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABk" }
      ]) {
        const got = yield* send({ method: "POST", path: "/echo", headers, body: "said" })
        assert.deepStrictEqual([got.status, got.text], [200, "said"])
      }
    }).pipe(Effect.scoped)
  )

  it.live("continues with HTTP when an upgrade is requested", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes, { patience: { keepAliveMs: 50 } })
      for (const protocol of ["websocket", "h2c", "other"]) {
        const line = yield* Line.open(origin)
        line.write(`GET /fine HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`)
        assert.strictEqual(parse(yield* line.take(answers(1))).text, "fine", protocol)
        yield* line.ended
        yield* line.gone
      }
    }).pipe(Effect.scoped)
  )

  it.live("answers HEAD like GET, without the body", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes)
      const send = yield* client(origin)
      const [head, whole] = [yield* send({ method: "HEAD", path: "/fine" }), yield* send({ path: "/fine" })]
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      assert.strictEqual(head.headers["content-length"], whole.headers["content-length"])
      assert.strictEqual((yield* send({ method: "HEAD", path: "/nothing" })).status, 404)
      assert.strictEqual((yield* send({ method: "HEAD", path: "/api/v1/estimate" })).headers["allow"], "POST")
    }).pipe(Effect.scoped)
  )
})

/** Whether a new connection is refused. */
const refuses = (origin: string) =>
  Effect.callback<boolean>((resume) => {
    const { hostname, port } = new URL(origin)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.once("connect", () => resume(Effect.succeed(false)))
    socket.once("error", () => resume(Effect.succeed(true)))
    return Effect.sync(() => socket.destroy())
  })

describe("a service that cannot listen", () => {
  it.live("names the variable", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes)
      const { port } = new URL(origin)
      for (const [env, message] of [
        [{ PORT: port }, `PORT ${port} is in use; stop the program that uses it, or set PORT to another port`],
        [{ HOST: "192.0.2.1" }, "HOST 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL)"]
      ] as const) {
        const error = yield* Effect.flip(serve(routes, { env }))
        assert.strictEqual(error.message, message)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a service after SIGTERM", () => {
  it.live("does not wait for idle connections", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { origin } = yield* serve(routes, { env: { SHUTDOWN_GRACE: "10 minutes" } }).pipe(Scope.provide(scope))
      const silent = yield* Line.open(origin)
      const rested = yield* Line.open(origin)
      rested.write(fine())
      yield* rested.take(answers(1))
      yield* Scope.close(scope, Exit.void)
      yield* silent.gone
      yield* rested.gone
    }).pipe(Effect.scoped)
  )

  it.live("answers one request that follows a running one on its connection, and no further ones", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const env = { DATABASE_URL: yield* freshDatabase("behind"), SHUTDOWN_GRACE: "10 minutes" }
      const service = yield* startService(env).pipe(Scope.provide(scope))
      const { inferenceKey } = yield* service.account(1)
      // The next request with this key goes direct.
      yield* post(`${service.api}/chat/completions`, inferenceKey, chat)
      const line = yield* streaming(service.origin, inferenceKey, "chunk_ms=50,output_tokens=60")
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.repeat(refuses(service.origin), { until: (refused) => refused })
      line.write(fine("/nothing"))
      yield* line.ended
      const [stream = "", behind = ""] = line.text.split(/(?=HTTP\/1\.1)/)
      assert.include(stream, "data: [DONE]")
      assert.strictEqual(assertEnvelope(parse(behind), "behind").error.code, "unknown_route")
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped)
  )

  for (const stream of [false, true]) {
    it.live(`refuses new connections and finishes ${stream ? "the stream" : "the request"} under way, settled`, () =>
      Effect.gen(function* () {
        // A stop that waited for anything but the request would outlast the test.
        const env = { DATABASE_URL: yield* freshDatabase("shutdown"), SHUTDOWN_GRACE: "10 minutes" }
        const scope = yield* Scope.make()
        const service = yield* startService(env).pipe(Scope.provide(scope))
        const { account, inferenceKey } = yield* service.account(1)
        const steering = stream ? "chunk_ms=50,output_tokens=60" : "latency_ms=1500"
        const asked = yield* Effect.forkChild(
          Effect.flatMap(
            post(`${service.api}/chat/completions`, inferenceKey, { ...chat, stream }, { "x-svc-sandbox": steering }),
            (response) => Effect.promise(async () => ({ status: response.status, text: await response.text() }))
          )
        )
        yield* Effect.repeat(service.balance(account.id), { until: ({ held }) => held > 0n })
        const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* Effect.repeat(refuses(service.origin), { until: (refused) => refused })
        assert.isUndefined(asked.pollUnsafe())
        const { status, text } = yield* Fiber.join(asked)
        assert.strictEqual(status, 200)
        yield* Fiber.join(stopping)

        const last = stream ? text.split("\n\n").at(-3)?.slice("data: ".length) : text
        const said = JSON.parse(last ?? "")
        const again = yield* startService(env)
        const receipt = yield* Effect.flatMap(get(`${again.api}/requests/${said.request_id}`, inferenceKey), json)
        assert.isAbove(said.cost_usd, 0)
        assert.deepStrictEqual([receipt.status, receipt.cost_usd], ["succeeded", said.cost_usd])
        assert.strictEqual((yield* again.balance(account.id)).held, 0n)
      }).pipe(Effect.scoped)
    )
  }
})

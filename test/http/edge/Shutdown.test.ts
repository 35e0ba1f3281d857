/** What clients with kept connections see of a stop. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Scope } from "effect"
import { holding } from "../../support/Clock.ts"
import { request } from "node:http"
import { freshDatabase } from "../../support/Database.ts"
import { get, post, type Service, startService } from "../../support/Service.ts"
import { assertEnvelope } from "../envelope.ts"
import { answers, client, type Got, Line, parse } from "../wire.ts"

const CHAT = "/api/v1/chat/completions"
const ask = { model: "gpt-4o-mini", max_tokens: 20, messages: [{ role: "user", content: "hello" }] }

/** A delay that nothing else has. */
const DELAY = "601 seconds"

interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
}

/** A request as bytes. */
const bytesOf = (key: string, { body, headers = {}, method = body === undefined ? "GET" : "POST", path }: Asked) => {
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body)
  const all: Record<string, string> = { host: "test", authorization: `Bearer ${key}`, ...headers }
  if (body !== undefined) Object.assign(all, { "content-type": "application/json", "content-length": text.length })
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`
}

const isReady = (service: Service) =>
  Effect.promise(() => fetch(`${service.ops}/readyz`).then(({ status }) => status === 200))

/**
 * A service that stops when `stop` is run, and an account of it whose key it remembers. It serves on for SHUTDOWN_DELAY, or until `end`
 * is run: how long its clients take on a busy machine is nothing that a test knows.
 */
const stoppable = Effect.fnUntraced(function* (env: Record<string, string>) {
  const { clock, end } = yield* holding(DELAY)
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) =>
    Effect.andThen(end, Scope.close(scope, Exit.void))
  )
  const service = yield* Scope.provide(startService({ SHUTDOWN_DELAY: DELAY, ...env }), scope).pipe(
    Effect.provideService(Clock.Clock, clock)
  )
  const { inferenceKey: key } = yield* service.account(10)
  yield* post(service.origin + CHAT, key, ask)
  const close = Effect.provideService(Scope.close(scope, Exit.void), Clock.Clock, clock)
  /** Begins the stop, and returns once the service says that it is not ready. */
  const stop = Effect.gen(function* () {
    const stopping = yield* Effect.forkChild(close)
    yield* Effect.repeat(isReady(service), { until: (ready) => !ready })
    return stopping
  })
  return { close, end, service, key, stop }
})

/** Requests of every way into the service and every kind of answer, and the status of each. */
const kinds: Readonly<Record<string, readonly [Asked, number]>> = {
  "an answer of chat completions": [{ path: CHAT, body: ask }, 200],
  "a stream of chat completions": [{ path: CHAT, body: { ...ask, stream: true } }, 200],
  "chat completions with a query": [{ path: `${CHAT}?a=b`, body: ask }, 200],
  "a stream with a query": [{ path: `${CHAT}?a=b`, body: { ...ask, stream: true } }, 200],
  "an answer of messages": [{ path: "/api/v1/messages", body: ask }, 200],
  "a stream of messages": [{ path: "/api/v1/messages", body: { ...ask, stream: true } }, 200],
  "a stream of responses": [
    { path: "/api/v1/responses", body: { model: "gpt-4o-mini", input: "hello", stream: true } },
    200
  ],
  "a replay": [{ path: CHAT, body: ask, headers: { "idempotency-key": "before-the-stop" } }, 200],
  "a list of vectors": [
    { path: "/api/v1/embeddings", body: { model: "text-embedding-3-small", input: Array(300).fill("hi") } },
    200
  ],
  "an answer without a body": [
    {
      method: "OPTIONS",
      path: CHAT,
      headers: { origin: "http://page.example", "access-control-request-method": "POST" }
    },
    204
  ],
  "an answer to HEAD": [{ method: "HEAD", path: "/api/v1/models" }, 200],
  "a list": [{ path: "/api/v1/models" }, 200],
  "the contract": [{ path: "/api/v1/openapi.json" }, 200],
  "a body that is not JSON": [{ path: CHAT, body: "{" }, 400],
  "a wrong field with a query": [{ path: `${CHAT}?a=b`, body: { ...ask, max_tokens: -1 } }, 400],
  "a wrong key": [{ path: CHAT, body: ask, headers: { authorization: "Bearer svc_sk_wrong" } }, 401],
  "an unknown route": [{ path: "/api/v1/nothing" }, 404],
  "a wrong method": [{ method: "GET", path: CHAT }, 405],
  "a provider's failure": [
    {
      path: CHAT,
      body: { ...ask, routing: { allow_fallbacks: false } },
      headers: { "x-svc-sandbox": "fault=error" }
    },
    502
  ]
}

/** The status of an answer over a connection of its own; 0 where the connection broke. */
const statusOf = (origin: string, key: string): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(origin)
    const headers = { authorization: `Bearer ${key}` }
    request({ hostname, port, path: "/api/v1/models/gpt-4o-mini", agent: false, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on("error", () => resolve(0))
      .end()
  })

describe("a service after SIGTERM", () => {
  it.live("answers requests on connections that it had not accepted yet", () =>
    Effect.gen(function* () {
      const { close, key, service } = yield* stoppable({
        DATABASE_URL: yield* freshDatabase("stopping"),
        SHUTDOWN_DELAY: "0 millis"
      })
      const asked = Promise.all(Array.from({ length: 200 }, () => statusOf(service.origin, key)))
      // The system connects them at once; the service accepts one in each turn of its event loop.
      yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
      const stopping = yield* Effect.forkChild(close)
      const statuses = yield* Effect.promise(() => asked)
      assert.deepStrictEqual([...new Set(statuses)], [200])
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped)
  )

  it.live("serves all requests for SHUTDOWN_DELAY and closes the connection after each answer", () =>
    Effect.gen(function* () {
      const { end, key, service, stop } = yield* stoppable({ DATABASE_URL: yield* freshDatabase("stopping") })
      yield* post(service.origin + CHAT, key, ask, { "idempotency-key": "before-the-stop" })
      const lines: Array<readonly [string, Line]> = []
      for (const name of Object.keys(kinds)) {
        const line = yield* Line.open(service.origin)
        line.write(bytesOf(key, { path: "/api/v1/models/gpt-4o-mini" }))
        assert.strictEqual(parse(yield* line.take(answers(1))).headers["connection"], "keep-alive")
        lines.push([name, line])
      }
      const idle = yield* Line.open(service.origin)
      idle.write(bytesOf(key, { path: "/api/v1/models/gpt-4o-mini" }))
      yield* idle.take(answers(1))

      const stopping = yield* stop
      for (const [name, line] of lines) line.write(bytesOf(key, kinds[name]![0]))
      for (const [name, line] of lines) {
        const status = kinds[name]![1]
        yield* line.ended
        const got = parse(line.text)
        assert.deepStrictEqual([got.status, got.headers["connection"]], [status, "close"], name)
        if (status >= 400) assertEnvelope(got, name)
        if (name.includes("stream")) assert.match(got.text, /\[DONE\]|message_stop|response\.completed/, name)
        if (name === "a replay") assert.strictEqual(got.headers["idempotency-replayed"], "true")
      }
      // New connections are taken all the time, and an idle one is left alone.
      assert.strictEqual((yield* get(`${service.api}/models`, key)).headers.get("connection"), "close")
      assert.isUndefined(stopping.pollUnsafe())
      idle.write(bytesOf(key, { path: CHAT, body: ask }))
      yield* idle.ended
      assert.strictEqual(parse(idle.text).status, 200)
      yield* end
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped)
  )

  it.live("closes idle connections after SHUTDOWN_DELAY, and no earlier", () =>
    Effect.gen(function* () {
      const { key, service, stop } = yield* stoppable({
        DATABASE_URL: yield* freshDatabase("stopping"),
        SHUTDOWN_DELAY: "700 millis"
      })
      const idle = yield* Line.open(service.origin)
      idle.write(bytesOf(key, { path: "/api/v1/models/gpt-4o-mini" }))
      yield* idle.take(answers(1))
      const startedAt = performance.now()
      const stopping = yield* stop
      yield* idle.ended
      assert.isAtLeast(performance.now() - startedAt, 690)
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped)
  )

  it.live("answers all pipelined requests, and closes the connection after the last", () =>
    Effect.gen(function* () {
      const { end, key, service, stop } = yield* stoppable({ DATABASE_URL: yield* freshDatabase("stopping") })
      const line = yield* Line.open(service.origin)
      const stopping = yield* stop
      const slow = (ms: number) =>
        bytesOf(key, { path: CHAT, body: ask, headers: { "x-svc-sandbox": `latency_ms=${ms}` } })
      line.write(slow(100) + bytesOf(key, { path: "/api/v1/nothing" }) + slow(500))
      yield* line.ended
      const got = line.text.split(/(?=HTTP\/1\.1)/).map(parse)
      assert.deepStrictEqual(
        got.map(({ headers, status }) => [status, headers["connection"]]),
        [
          [200, "keep-alive"],
          [404, "keep-alive"],
          [200, "close"]
        ]
      )
      yield* end
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped)
  )

  it.live("answers the request that follows a stream which began before shutdown and outlasted the delay", () =>
    Effect.gen(function* () {
      const { end, key, service, stop } = yield* stoppable({ DATABASE_URL: yield* freshDatabase("stopping") })
      const line = yield* Line.open(service.origin)
      const steering = { "x-svc-sandbox": "chunk_ms=50,output_tokens=40" }
      line.write(bytesOf(key, { path: CHAT, body: { ...ask, max_tokens: 100, stream: true }, headers: steering }))
      yield* line.take((text) => text.includes("chat.completion.chunk"))
      const stopping = yield* stop
      yield* end
      yield* line.take((text) => text.endsWith("\r\n0\r\n\r\n"))
      // The client takes the answer to its end, and then asks again.
      yield* Effect.sleep("50 millis")
      line.write(bytesOf(key, { path: CHAT, body: ask }))
      yield* line.ended
      const { headers, status } = parse(line.text)
      assert.deepStrictEqual([status, headers["connection"]], [200, "close"])
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped)
  )

  it.live("fails no request of clients that keep their connections and never retry", () =>
    Effect.gen(function* () {
      const database = yield* freshDatabase("stopping")
      const { end, key, service, stop } = yield* stoppable({ DATABASE_URL: database })
      const other = yield* startService({ DATABASE_URL: database })
      const failures: Array<Got> = []
      const served = Array.from({ length: 8 }, () => 0)
      const asked = { path: CHAT, method: "POST", headers: { authorization: `Bearer ${key}` } }
      /** Asks without a pause: at the first service until that asks to close the connection, then a little at the other one. */
      const user = Effect.fnUntraced(function* (at: number) {
        const [first, second] = [yield* client(service.origin), yield* client(other.origin)]
        const body = JSON.stringify({ ...ask, stream: at % 2 === 0 })
        const once = Effect.fnUntraced(function* (send: typeof first) {
          const got = yield* send({ ...asked, headers: { ...asked.headers, "content-type": "application/json" }, body })
          if (got.status === 200) served[at]!++
          else failures.push(got)
          return got
        })
        // One that is told nothing would be reset by the end of the stop.
        while (failures.length === 0 && (yield* once(first)).headers["connection"] !== "close");
        for (let more = 0; more < 3; more++) yield* once(second)
      })
      const users = yield* Effect.forkChild(
        Effect.all(
          served.map((_, at) => user(at)),
          { concurrency: 8 }
        )
      )
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => served.every((count) => count > 1) })
      const stopping = yield* stop
      yield* Fiber.join(users)
      yield* end
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(failures, [])
    }).pipe(Effect.scoped)
  )
})

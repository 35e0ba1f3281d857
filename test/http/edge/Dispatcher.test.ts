import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { get, json, post, startService } from "../../support/Service.ts"
import { answers, type Got, Line, parse } from "../wire.ts"

const PATH = "/api/v1/chat/completions"
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

/** The operation has no query parameters, and ignores those of a request. */
const ways = { plain: PATH, queried: `${PATH}?a=b` }

const headOf = (key: string, path: string, length: number, headers: Readonly<Record<string, string>> = {}): string => {
  const all = {
    host: "test",
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": String(length),
    ...headers
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`
}

const requestOf = (key: string, path: string, body: string, headers?: Readonly<Record<string, string>>): string =>
  headOf(key, path, Buffer.byteLength(body), headers) + body

/** A service and a key that it remembers. */
const remembering = (env?: Record<string, string>) =>
  Effect.gen(function* () {
    const service = yield* startService(env)
    const { account, inferenceKey } = yield* service.account(1)
    yield* post(service.origin + PATH, inferenceKey, chat)
    return { service, account, key: inferenceKey }
  })

/** What is told of a request by chance or by the clock. */
const own = new Set(["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit"])

const shown = ({ headers, status }: Got) => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name) && name !== "content-length"))
})

const cases: Readonly<Record<string, { readonly body: string; readonly headers?: Readonly<Record<string, string>> }>> =
  {
    "an answer": { body: JSON.stringify(chat) },
    "an answer with an ignored member": { body: JSON.stringify({ ...chat, colour: "red" }) },
    "no JSON": { body: "{" },
    "a wrong field": { body: JSON.stringify({ ...chat, max_tokens: "many" }) },
    "an unknown model": { body: JSON.stringify({ ...chat, model: "none" }) },
    "more than there is money for": { body: JSON.stringify({ ...chat, model: "gpt-5", max_tokens: 128_000 }) },
    "another type of body": { body: "hello", headers: { "content-type": "text/plain" } },
    "a provider's failure": {
      body: JSON.stringify({ ...chat, routing: { allow_fallbacks: false } }),
      headers: { "x-svc-sandbox": "fault=error" }
    }
  }

describe("a request of an operation", () => {
  it.live("gets the same response with a query as without", () =>
    Effect.gen(function* () {
      const { key, service } = yield* remembering()
      const line = yield* Line.open(service.origin)
      const seen: Array<number> = []
      for (const [name, { body, headers }] of Object.entries(cases)) {
        const got: Array<Got> = []
        for (const path of [ways.plain, ways.queried]) {
          line.write(requestOf(key, path, body, headers))
          got.push(parse(yield* line.take(answers(1))))
        }
        const [plain, queried] = got as [Got, Got]
        assert.deepStrictEqual(shown(plain), shown(queried), name)
        assert.match(plain.headers["x-request-id"] ?? "", /^req_/)
        assert.deepStrictEqual(Object.keys(JSON.parse(plain.text)), Object.keys(JSON.parse(queried.text)), name)
        seen.push(plain.status)
      }
      assert.deepStrictEqual(seen, [200, 200, 400, 400, 400, 402, 415, 502])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("streams", () =>
    Effect.gen(function* () {
      const { key, service } = yield* remembering()
      const response = yield* post(service.origin + PATH, key, { ...chat, stream: true })
      const text = yield* Effect.promise(() => response.text())
      assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
      assert.isTrue(text.endsWith("data: [DONE]\n\n"))
    }).pipe(Effect.scoped)
  )

  it.live("counts against its key's rate limit, with 429 beyond it", () =>
    Effect.gen(function* () {
      const { key, service } = yield* remembering({ RATE_LIMIT_SCALE: "0.1" })
      const first = yield* post(service.origin + PATH, key, chat)
      const left = Number(first.headers.get("x-ratelimit-remaining"))
      for (let at = 0; at < left; at++) yield* post(service.origin + PATH, key, chat)
      const refused = yield* post(service.origin + PATH, key, chat)
      assert.strictEqual(refused.status, 429)
      assert.strictEqual((yield* json(refused)).error.code, "rate_limit_exceeded")
      assert.isNotNull(refused.headers.get("retry-after"))
    }).pipe(Effect.scoped)
  )

  it.live("answers 503 in the error envelope when shutdown interrupts the request", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { account, key, service } = yield* Scope.provide(remembering({ SHUTDOWN_GRACE: "100 millis" }), scope)
      const slow = { "x-svc-sandbox": "latency_ms=60000" }
      let before = 0n
      const lines: Array<Line> = []
      for (const [path, body] of [
        [PATH, chat],
        ["/api/v1/messages", { ...chat, max_tokens: 10 }],
        ["/api/v1/responses", { model: chat.model, input: "hello" }]
      ] as const) {
        const line = yield* Line.open(service.origin)
        line.write(requestOf(key, path, JSON.stringify(body), slow))
        const { held } = yield* Effect.repeat(service.balance(account.id), { until: ({ held }) => held > before })
        before = held
        lines.push(line)
      }
      yield* Scope.close(scope, Exit.void)
      for (const line of lines) {
        const { headers, status, text } = parse(yield* line.take(answers(1)))
        assert.deepStrictEqual([status, headers["retry-after"]], [503, "1"])
        assert.match(headers["x-request-id"] ?? "", /^req_/)
        assert.strictEqual(JSON.parse(text).error.code, "service_unavailable")
      }
    }).pipe(Effect.scoped)
  )

  it.live("is interrupted when its client disconnects", () =>
    Effect.gen(function* () {
      const { account, key, service } = yield* remembering()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const line = yield* Line.open(service.origin)
          line.write(requestOf(key, PATH, JSON.stringify(chat), { "x-svc-sandbox": "latency_ms=60000" }))
          yield* Effect.repeat(service.balance(account.id), { until: ({ held }) => held > 0n })
        })
      )
      yield* Effect.repeat(service.balance(account.id), { until: ({ held }) => held === 0n })
      const { data } = yield* Effect.flatMap(get(`${service.api}/requests`, key), json)
      assert.strictEqual(data[0].status, "cancelled")
    }).pipe(Effect.scoped)
  )

  it.live("is interrupted when its client disconnects before its body has arrived", () =>
    Effect.gen(function* () {
      const { key, service } = yield* remembering()
      const half = Effect.map(Line.open(service.origin), (line) => line.write(`${headOf(key, PATH, 100)}{`))
      yield* Effect.scoped(half)
      assert.strictEqual((yield* post(service.origin + PATH, key, chat)).status, 200)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

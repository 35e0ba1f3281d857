/** The legacy chat and its cache, as a client sees them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { LegacyErrorBody } from "../../schemas/LegacyErrors.ts"
import { makeRedisLink, type RedisLink } from "../../src/platform/RedisLink.ts"
import { nano } from "../support/Amounts.ts"
import { managing } from "../support/Management.ts"
import { missing, RedisServer } from "../support/Redis.ts"
import { announceSkip } from "../support/Skips.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const messages = [{ role: "user", content: "Say something worth keeping" }]
const question = { model: "gpt-4o-mini", messages }
const STATUS = "x-svc-cache-status"
const actor = { type: "operator", id: "test" } as const

const decodeError = Schema.decodeUnknownSync(LegacyErrorBody, { onExcessProperty: "error" })

const chat = (service: Service, key: string, body: unknown = question, headers: Record<string, string> = {}) =>
  post(`${service.api}/chat`, key, body, headers)

/** Sends a question. Returns its cache status, its answer and its charge. */
const asking =
  (service: Service, accountId: string, key: string) => (body?: unknown, headers?: Record<string, string>) =>
    Effect.gen(function* () {
      const before = yield* service.balance(accountId)
      const response = yield* chat(service, key, body, headers)
      const answer = yield* json(response)
      const after = yield* service.balance(accountId)
      assert.strictEqual(after.held, 0n)
      assert.strictEqual(response.status, 200, JSON.stringify(answer))
      return { status: response.headers.get(STATUS), answer, paid: before.posted - after.posted, response }
    })

const opened = (env: Record<string, string> = {}, usd = 10) =>
  Effect.gen(function* () {
    const service = yield* startService(env)
    const { account, inferenceKey, managementKey } = yield* service.account(usd)
    const manage = managing(service, managementKey)
    return { service, account, key: inferenceKey, ask: asking(service, account.id, inferenceKey), manage }
  })

/** Checks the legacy form of an error. Returns its status and code. */
const failed = (response: Response) =>
  Effect.gen(function* () {
    const body = decodeError(yield* json(response))
    const flat = response.status === 429
    assert.strictEqual(typeof body.error, flat ? "string" : "object")
    const { code, message } = typeof body.error === "string" ? { code: body.error, message: body.message } : body.error
    assert.deepStrictEqual([body.code, body.message], [code, message])
    assert.strictEqual(body.request_id, response.headers.get("x-request-id"))
    return [response.status, code] as const
  })

describe("the cache of /chat", () => {
  it.live("charges a question once, and serves a repeat free as a hit without a receipt", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* opened({}, 4)
      const first = yield* ask()
      assert.deepStrictEqual([first.status, first.answer.cached], ["MISS", false])
      assert.isAbove(Number(first.paid), 0)
      assert.strictEqual(first.paid, nano(first.answer.cost_usd))
      assert.isDefined(first.answer.balance_warning)
      const second = yield* ask()
      assert.deepStrictEqual([second.status, second.answer.cached, second.paid], ["HIT", true, 0n])
      assert.deepStrictEqual(second.answer.choices, first.answer.choices)
      assert.deepStrictEqual(
        [second.answer.provider, second.answer.resolved_model],
        [first.answer.provider, "gpt-4o-mini"]
      )
      assert.deepStrictEqual([second.answer.cost_usd, second.answer.usage.total_tokens], [0, 0])
      assert.notProperty(second.answer, "balance_warning")
      assert.notProperty(second.answer.routing, "provider_attempts")
      assert.notStrictEqual(second.answer.request_id, first.answer.request_id)
      assert.strictEqual(second.answer.request_id, second.response.headers.get("x-request-id"))
      const receipts = yield* Effect.flatMap(get(`${service.api}/requests`, key), json)
      assert.deepStrictEqual(
        receipts.data.map((one: { readonly id: string; readonly operation: string }) => [one.id, one.operation]),
        [[first.answer.request_id, "chat"]]
      )
      assert.strictEqual((yield* get(`${service.api}/requests/${second.answer.request_id}`, key)).status, 404)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("hits for an equivalent request, and misses for a different one", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened()
      yield* ask()
      const same = [
        { messages, model: " gpt-4o-mini " },
        { ...question, budget_cents: 50, temperature: null },
        { ...question, messages: [{ role: "user", content: [{ type: "text", text: messages[0]?.content }] }] },
        { ...question, routing: { timeouts: { total_ms: 60_000 } } }
      ]
      for (const body of same) assert.strictEqual((yield* ask(body)).status, "HIT", JSON.stringify(body))
      const others = [
        { ...question, temperature: 0.5 },
        { ...question, model: "gpt-4o-mini,gpt-4o" },
        { ...question, messages: [{ role: "system", content: messages[0]?.content }, ...messages] },
        { ...question, routing: { data_policy: "no_training" } },
        { ...question, user: "somebody" }
      ]
      for (const body of others) assert.strictEqual((yield* ask(body)).status, "MISS", JSON.stringify(body))
    }).pipe(Effect.scoped)
  )

  it.live("shares no answer between accounts or projects", () =>
    Effect.gen(function* () {
      const { account, ask, manage, service } = yield* opened()
      const other = yield* service.account(10)
      yield* ask()
      const foreign = asking(service, other.account.id, other.inferenceKey)
      const first = yield* foreign()
      assert.strictEqual(first.status, "MISS")
      assert.isAbove(Number(first.paid), 0)
      assert.deepStrictEqual([(yield* foreign()).status, (yield* ask()).status], ["HIT", "HIT"])
      const inProjects = yield* Effect.forEach(["p", "q"], (name) =>
        Effect.gen(function* () {
          const { data } = (yield* manage("POST", "/projects", { name })).body
          const of = { accountId: account.id, kind: "inference", scopes: [], actor } as const
          const { key } = yield* service.keys.create({ ...of, name: "o", projectId: data.id })
          return asking(service, account.id, key)
        })
      )
      for (const within of inProjects) assert.strictEqual((yield* within()).status, "MISS")
      for (const within of [ask, ...inProjects]) assert.strictEqual((yield* within()).status, "HIT")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is bypassed when a header asks for it, accepts a TTL, and answers 400 to invalid headers", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* opened()
      const bypasses = [{ "x-svc-cache": "false" }, { "cache-control": "max-age=0, no-store" }]
      for (const headers of bypasses) {
        const { answer, paid, status } = yield* ask(question, headers)
        assert.deepStrictEqual([status, answer.cached], ["BYPASS", false])
        assert.isAbove(Number(paid), 0)
      }
      assert.strictEqual((yield* ask(question, { "x-svc-cache": "true", "x-svc-cache-ttl": "3600" })).status, "MISS")
      assert.strictEqual((yield* ask()).status, "HIT")
      for (const headers of bypasses) assert.strictEqual((yield* ask(question, headers)).status, "BYPASS")
      for (const headers of [{ "x-svc-cache": "maybe" }, { "x-svc-cache-ttl": "0" }, { "x-svc-cache-ttl": "3601" }]) {
        const refused = yield* chat(service, key, question, headers)
        assert.deepStrictEqual(yield* failed(refused), [400, "validation_error"])
      }
    }).pipe(Effect.scoped)
  )

  it.live("is neither read nor written under zero retention", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened()
      const kept = { model: "claude-sonnet-4-5", messages }
      const silent = { ...kept, routing: { data_policy: "zero_retention" } }
      for (const _ of [1, 2]) {
        const { paid, status } = yield* ask(silent)
        assert.strictEqual(status, "BYPASS")
        assert.isAbove(Number(paid), 0)
      }
      assert.strictEqual((yield* ask(kept)).status, "MISS")
      assert.strictEqual((yield* ask(silent)).status, "BYPASS")
    }).pipe(Effect.scoped)
  )

  it.live("keeps no failure and no answer of a fallback, but keeps an answer cut by max_tokens", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* opened()
      const error = { "x-svc-sandbox": "fault=error" }
      const alone = { ...question, routing: { allow_fallbacks: false } }
      assert.strictEqual((yield* chat(service, key, alone, error)).status, 502)
      assert.strictEqual((yield* chat(service, key, alone, error)).status, 502)
      const chain = { ...question, model: "claude-sonnet-4-5,gpt-4o-mini" }
      const down = { "x-svc-sandbox": "fault=error,provider=anthropic" }
      const only = { ...chain, routing: { providers: { only: ["anthropic", "openai"] } } }
      for (const _ of [1, 2]) {
        const { answer, status } = yield* ask(only, down)
        assert.deepStrictEqual([status, answer.resolved_model], ["MISS", "gpt-4o-mini"])
      }
      const cut = { ...question, max_tokens: 5 }
      const long = { "x-svc-sandbox": "output_tokens=200" }
      assert.strictEqual((yield* ask(cut, long)).answer.choices[0].finish_reason, "length")
      assert.strictEqual((yield* ask(cut, long)).status, "HIT")
    }).pipe(Effect.scoped)
  )

  it.live("serves a hit to an account without balance, and answers 401 to a revoked key", () =>
    Effect.gen(function* () {
      const { account, ask, key, service } = yield* opened({}, 0)
      const body = { ...question, max_tokens: 100 }
      const { hold_usd } = yield* Effect.flatMap(post(`${service.api}/estimate`, key, body), json)
      yield* service.customers.topUp(account, nano(hold_usd))
      const all = { "x-svc-sandbox": "usage=held" }
      assert.strictEqual((yield* ask(body, all)).status, "MISS")
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: 0n, held: 0n })
      assert.strictEqual((yield* ask(body, all)).status, "HIT")
      assert.deepStrictEqual(yield* failed(yield* chat(service, key)), [402, "insufficient_credits"])
      const other = yield* service.keys.create({
        accountId: account.id,
        kind: "inference",
        name: "o",
        scopes: [],
        actor
      })
      assert.strictEqual((yield* chat(service, other.key, body, all)).headers.get(STATUS), "HIT")
      yield* service.keys.revoke(other.id, actor)
      for (const _ of [1, 2]) {
        assert.deepStrictEqual(yield* failed(yield* chat(service, other.key, body, all)), [401, "invalid_api_key"])
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is consulted after the idempotency key: a stored answer is replayed, and a hit claims no key", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* opened()
      const once = { "idempotency-key": "k" }
      const first = yield* ask(question, once)
      assert.strictEqual(first.status, "MISS")
      const repeat = yield* ask(question, once)
      assert.deepStrictEqual(repeat.answer, first.answer)
      assert.deepStrictEqual([repeat.status, repeat.paid], ["BYPASS", 0n])
      assert.strictEqual(repeat.response.headers.get("idempotency-replayed"), "true")
      yield* ask({ ...question, seed: 1 })
      const reused = yield* chat(service, key, { ...question, seed: 1 }, once)
      assert.deepStrictEqual(yield* failed(reused), [422, "idempotency_key_reused"])
      for (const headers of [{ "x-svc-cache": "false" }, { "x-svc-cache-ttl": "9" }, { "cache-control": "no-store" }]) {
        const otherwise = yield* chat(service, key, question, { ...once, ...headers })
        assert.deepStrictEqual(yield* failed(otherwise), [422, "idempotency_key_reused"], JSON.stringify(headers))
      }
      for (const headers of [
        { "x-svc-cache": "true" },
        { "x-svc-cache-ttl": "300" },
        { "cache-control": "no-cache" }
      ]) {
        assert.strictEqual((yield* ask(question, { ...once, ...headers })).status, "BYPASS")
      }
      const other = { "idempotency-key": "another" }
      const hit = yield* ask(question, other)
      assert.deepStrictEqual([hit.status, hit.paid, hit.answer.cached], ["HIT", 0n, true])
      const unclaimed = yield* ask({ ...question, seed: 2 }, other)
      assert.strictEqual(unclaimed.status, "MISS")
      assert.deepStrictEqual(yield* failed(yield* chat(service, key, question, other)), [422, "idempotency_key_reused"])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

announceSkip("the chat cache between nodes", missing)

/** Waits until Redis has one answer, because the gateway stores it while it sends it to the client. */
const untilKept = (link: RedisLink, tries = 1_000): Effect.Effect<void> =>
  Effect.flatMap(
    link.attempt((redis) => redis.send<number>("ZCARD", "tollgate:cache:{chat}:ends")),
    (kept) => {
      if (kept === 1) return Effect.void
      return tries === 0 ? Effect.die(new Error("the cache must have one answer")) : untilKept(link, tries - 1)
    }
  )

describe.skipIf(missing !== undefined)("the cache of /chat in Redis", () => {
  it.live("is shared by all nodes, and misses while Redis is away", () =>
    Effect.gen(function* () {
      const redis = yield* RedisServer
      const env = { REDIS_URL: Redacted.value(redis.url) }
      const one = yield* opened(env)
      const two = yield* startService({ ...env, DATABASE_URL: one.service.databaseUrl })
      const there = asking(two, one.account.id, one.key)
      assert.strictEqual((yield* one.ask()).status, "MISS")
      yield* untilKept(yield* makeRedisLink(redis.url, { began: "Redis is away", over: "Redis is back" }))
      assert.strictEqual((yield* there()).status, "HIT")
      yield* redis.stop
      for (const ask of [one.ask, there]) {
        const { paid, status } = yield* ask()
        assert.strictEqual(status, "MISS")
        assert.isAbove(Number(paid), 0)
      }
      assert.deepStrictEqual(yield* one.service.faults, [])
    }).pipe(Effect.provide(RedisServer.layer), Effect.scoped)
  )
})

describe("a request to /chat", () => {
  it.live("skips the models of a chain that its budget excludes, and gets 400 when it excludes all", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* opened()
      const chain = { model: "claude-opus-4-1, gpt-4o-mini", messages, max_tokens: 200, budget_cents: 0.5 }
      const { answer } = yield* ask(chain)
      assert.deepStrictEqual([answer.model, answer.resolved_model], [chain.model, "gpt-4o-mini"])
      assert.deepStrictEqual(answer.routing.requested_models, ["claude-opus-4-1", "gpt-4o-mini"])
      const none = yield* chat(service, key, { ...chain, budget_cents: 0 })
      assert.deepStrictEqual(yield* failed(none), [400, "no_model_in_budget"])
    }).pipe(Effect.scoped)
  )

  it.live("is refused with a legacy error at every step", () =>
    Effect.gen(function* () {
      const { key, service } = yield* opened()
      const cases: ReadonlyArray<readonly [unknown, number, string, string?]> = [
        ["{", 400, "invalid_json"],
        [[], 400, "validation_error"],
        [{ ...question, stream: true }, 400, "validation_error", "stream"],
        [{ ...question, tools: [] }, 400, "validation_error", "tools"],
        [{ ...question, session_id: "" }, 400, "validation_error", "session_id"],
        [{ ...question, session_id: "nobody's" }, 404, "not_found"],
        [{ ...question, temperature: 9 }, 400, "validation_error", "temperature"],
        [{ ...question, model: "no-such-model" }, 400, "unknown_model", "model"],
        [{ ...question, model: "gpt-4o,,o3" }, 400, "invalid_fallback_chain", "model"],
        [{ ...question, model: "@no-such-preset" }, 404, "not_found"]
      ]
      for (const [body, status, code, param] of cases) {
        const response = yield* chat(service, key, body)
        const copy = response.clone()
        assert.deepStrictEqual(yield* failed(response), [status, code], JSON.stringify(body))
        if (param !== undefined) assert.strictEqual((yield* json(copy)).error.param, param)
      }
      const unknown = yield* chat(service, `svc_sk_${"A".repeat(43)}`)
      assert.deepStrictEqual(yield* failed(unknown), [401, "invalid_api_key"])
      const anonymous = yield* Effect.promise(() => fetch(`${service.api}/chat`, { method: "POST" }))
      assert.deepStrictEqual(yield* failed(anonymous), [401, "missing_api_key"])
      const { managementKey } = yield* service.account(0)
      assert.deepStrictEqual(yield* failed(yield* chat(service, managementKey)), [403, "wrong_key_kind"])
      const poor = yield* service.account(0)
      assert.deepStrictEqual(yield* failed(yield* chat(service, poor.inferenceKey)), [402, "insufficient_credits"])
      const typed = yield* chat(service, key, question, { "content-type": "text/plain" })
      assert.deepStrictEqual(yield* failed(typed), [415, "unsupported_media_type"])
      const broken = yield* chat(service, key, { ...question, seed: 9 }, { "x-svc-sandbox": "fault=empty" })
      assert.deepStrictEqual(yield* failed(broken), [502, "empty_completion"])
      const elsewhere = yield* get(`${service.api}/chat`, key)
      assert.deepStrictEqual(yield* failed(elsewhere), [405, "method_not_allowed"])
    }).pipe(Effect.scoped)
  )

  it.live("has a rate limit of its own, which counts hits too", () =>
    Effect.gen(function* () {
      const { key, service } = yield* opened({ RATE_LIMIT_SCALE: "1" })
      const seen: Array<number> = []
      for (let sent = 0; sent < 60; sent++) seen.push((yield* chat(service, key)).status)
      assert.deepStrictEqual(new Set(seen), new Set([200]))
      const refused = yield* chat(service, key)
      assert.strictEqual(refused.headers.get("ratelimit-policy"), '"chat";q=60;w=60')
      assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
      assert.deepStrictEqual(yield* failed(refused), [429, "rate_limit_exceeded"])
      const other = yield* post(`${service.api}/chat/completions`, key, question)
      assert.deepStrictEqual([other.status, other.headers.get("x-ratelimit-remaining")], [200, "59"])
    }).pipe(Effect.scoped)
  )
})

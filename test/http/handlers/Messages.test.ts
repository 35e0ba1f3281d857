import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../../support/Amounts.ts"
import { get, json, post, type Service, startService } from "../../support/Service.ts"
import { eventsOf } from "../../support/Streams.ts"

const message = { model: "gpt-4o-mini", max_tokens: 300, messages: [{ role: "user", content: "hello" }] }
const tools = [
  { name: "look", input_schema: { type: "object", properties: { at: { const: "it" } }, required: ["at"] } }
]
const steered = (steering: string) => ({ "x-svc-sandbox": steering })

const asking = (env: Record<string, string> = {}, usd = 10) =>
  Effect.gen(function* () {
    const service = yield* startService(env)
    const { account, inferenceKey } = yield* service.account(usd)
    const ask = (body: object = {}, headers: Record<string, string> = {}) =>
      post(`${service.api}/messages`, inferenceKey, { ...message, ...body }, headers)
    return { service, account, key: inferenceKey, ask }
  })

/** A POST of the message with these headers alone. */
const send = ({ api }: Service, headers: Record<string, string>, path = "/messages") =>
  Effect.promise(() =>
    fetch(`${api}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(message)
    })
  )

const textOf = ({ content }: { readonly content: ReadonlyArray<{ readonly text?: string }> }) =>
  content.map(({ text = "" }) => text).join("")

describe("POST /messages", () => {
  it.live("answers in Anthropic's format, and charges the reported cost", () =>
    Effect.gen(function* () {
      const { account, ask, key, service } = yield* asking()
      const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
      const response = yield* ask({}, { traceparent: `00-${trace}-00f067aa0ba902b7-01` })
      const answer = yield* json(response)
      assert.include(textOf(answer), 'You said "hello"')
      assert.deepStrictEqual(
        [answer.type, answer.role, answer.model, answer.stop_reason],
        ["message", "assistant", "gpt-4o-mini", "end_turn"]
      )
      assert.strictEqual(answer.id, `msg_${answer.request_id.slice(4)}`)
      assert.strictEqual(response.headers.get("request-id"), answer.request_id)
      const { posted } = yield* service.balance(account.id)
      assert.strictEqual(10_000_000_000n - posted, nano(answer.cost_usd))
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${answer.request_id}`, key), json)
      assert.deepStrictEqual(
        [receipt.operation, receipt.trace_id, receipt.cost_usd],
        ["messages", trace, answer.cost_usd]
      )
    }).pipe(Effect.scoped)
  )

  it.live("counts cached tokens separately, complete and streamed", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking()
      const steering = steered("cached_tokens=2,output_tokens=40,reasoning_tokens=10")
      const { usage } = yield* Effect.flatMap(ask({ model: "claude-sonnet-4-5" }, steering), json)
      assert.strictEqual(usage.cache_read_input_tokens, 2)
      assert.strictEqual(usage.output_tokens_details.thinking_tokens, 10)
      const streamed = yield* Effect.flatMap(ask({ model: "claude-sonnet-4-5", stream: true }, steering), eventsOf)
      assert.deepStrictEqual(streamed.find(({ event }) => event === "message_delta")?.data.usage, usage)
    }).pipe(Effect.scoped)
  )

  it.live("costs what the same chat costs, and has the same receipt", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* asking()
      const headers = steered("cached_tokens=2,output_tokens=40,reasoning_tokens=10")
      const routing = { providers: { only: ["openai"] } }
      const receiptOf = (id: string) =>
        Effect.map(Effect.flatMap(get(`${service.api}/requests/${id}`, key), json), (receipt) => {
          const { cost_usd, held_usd, provider, resolved_model, status, usage } = receipt
          return { cost_usd, held_usd, provider, resolved_model, status, usage }
        })
      const chat = yield* Effect.flatMap(
        post(`${service.api}/chat/completions`, key, { ...message, routing }, headers),
        json
      )
      const answer = yield* Effect.flatMap(ask({ routing }, headers), json)
      assert.strictEqual(answer.cost_usd, chat.cost_usd)
      const {
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        input_tokens,
        output_tokens
      } = answer.usage
      assert.deepStrictEqual(
        [input_tokens + read + written, read, output_tokens],
        [chat.usage.prompt_tokens, chat.usage.prompt_tokens_details.cached_tokens, chat.usage.completion_tokens]
      )
      assert.deepStrictEqual(yield* receiptOf(answer.request_id), yield* receiptOf(chat.request_id))
    }).pipe(Effect.scoped)
  )

  it.live("streams the same content as a complete answer", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking()
      for (const body of [{}, { tools }, { max_tokens: 5 }]) {
        const whole = yield* Effect.flatMap(ask(body, steered("output_tokens=60")), json)
        const streamed = yield* Effect.flatMap(ask({ ...body, stream: true }, steered("output_tokens=60")), eventsOf)
        const said = streamed.map(({ data }) => data.delta?.text ?? data.delta?.partial_json ?? "").join("")
        const [block] = whole.content
        assert.strictEqual(said, block.type === "text" ? block.text : JSON.stringify(block.input))
        const last = streamed.find(({ event }) => event === "message_delta")?.data
        assert.deepStrictEqual(last.usage, whole.usage)
        assert.strictEqual(last.delta.stop_reason, whole.stop_reason)
        assert.strictEqual(last.cost_usd, whole.cost_usd)
        assert.isAbove(streamed[0]?.data.message.usage.input_tokens, 0)
      }
    }).pipe(Effect.scoped)
  )

  it.live("signs all thinking, and omits its text on request", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking()
      const blocksOf = (display: string) =>
        Effect.map(
          Effect.flatMap(
            ask({ thinking: { type: "adaptive", display } }, steered("reasoning_tokens=9,output_tokens=40")),
            json
          ),
          ({ content: [first, second] }) => {
            assert.deepStrictEqual([first.type, second.type], ["thinking", "text"])
            assert.isAbove(first.signature.length, 40)
            return first.thinking
          }
        )
      assert.isNotEmpty(yield* blocksOf("summarized"))
      assert.strictEqual(yield* blocksOf("omitted"), "")
    }).pipe(Effect.scoped)
  )

  it.live("lists fields without effect, and accepts Anthropic's headers", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking()
      const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": "none-such" }
      const response = yield* ask({ session_id: "s", routing: { max_price: { image: 1 } } }, headers)
      assert.strictEqual(response.headers.get("x-svc-ignored-parameters"), "session_id, routing.max_price.image")
    }).pipe(Effect.scoped)
  )

  it.live("applies a preset, and names it in headers", () =>
    Effect.gen(function* () {
      const { account, ask, service } = yield* asking()
      yield* service.preset(account.id, "brief", { model: "gpt-4o-mini", instructions: "Be brief" })
      for (const stream of [false, true]) {
        const response = yield* ask({ model: "@brief", stream })
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get("x-svc-preset"), "brief")
        assert.strictEqual(response.headers.get("x-svc-preset-version"), "1")
        yield* Effect.promise(() => response.text())
      }
    }).pipe(Effect.scoped)
  )

  it.live("falls back along the chain when the first provider fails", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking()
      const failing = steered("fault=error,provider=anthropic")
      const models = {
        model: "claude-sonnet-4-5",
        models: ["gpt-4o-mini"],
        routing: { providers: { only: ["anthropic", "openai"] } }
      }
      const answer = yield* Effect.flatMap(ask(models, failing), json)
      assert.deepStrictEqual([answer.resolved_model, answer.model], ["gpt-4o-mini", "claude-sonnet-4-5"])
    }).pipe(Effect.scoped)
  )
})

describe("a repeat of a message under its idempotency key", () => {
  const once = { "idempotency-key": "order-7" }

  for (const stream of [false, true]) {
    it.live(`is the same ${stream ? "stream" : "answer"}, charged once`, () =>
      Effect.gen(function* () {
        const { account, ask, service } = yield* asking()
        const first = yield* ask({ stream }, once)
        const text = yield* Effect.promise(() => first.text())
        const charged = yield* service.balance(account.id)
        const again = yield* ask({ stream }, once)
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
        if (stream) {
          const joined = (all: string) =>
            [...all.matchAll(/"text_delta","text":("(?:[^"\\]|\\.)*")/g)].map(([, said]) => JSON.parse(said!)).join("")
          const repeated = yield* Effect.promise(() => again.text())
          const ends = (all: string) => [/^.*\n.*\n/.exec(all)?.[0], all.slice(all.indexOf("event: message_delta"))]
          assert.strictEqual(joined(repeated), joined(text))
          assert.deepStrictEqual(ends(repeated), ends(text))
        } else {
          assert.strictEqual(yield* Effect.promise(() => again.text()), text)
        }
        assert.deepStrictEqual(yield* service.balance(account.id), charged)
      }).pipe(Effect.scoped)
    )
  }

  it.live("is refused for another message, in Anthropic's error format", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking()
      yield* ask({}, once)
      const response = yield* ask({ max_tokens: 9 }, once)
      const { error, request_id, type } = yield* json(response)
      assert.deepStrictEqual(
        [response.status, type, error.type, error.code, error.param],
        [422, "error", "invalid_request_error", "idempotency_key_reused", "Idempotency-Key"]
      )
      assert.strictEqual(request_id, response.headers.get("x-request-id"))
    }).pipe(Effect.scoped)
  )

  it.live("gets 409 while the first request still runs", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* asking()
      const slow = { ...once, "x-svc-sandbox": "latency_ms=1500" }
      const running = Effect.runPromise(ask({}, slow))
      yield* Effect.repeat(Effect.flatMap(get(`${service.api}/requests`, key), json), {
        until: ({ data }) => data.length === 1
      })
      const response = yield* ask({}, slow)
      assert.strictEqual(response.status, 409)
      assert.strictEqual(response.headers.get("retry-after"), "1")
      const { error } = yield* json(response)
      assert.deepStrictEqual([error.type, error.code], ["invalid_request_error", "idempotency_request_in_progress"])
      assert.strictEqual((yield* Effect.promise(() => running)).status, 200)
    }).pipe(Effect.scoped)
  )
})

describe("the key of a message", () => {
  it.live("is accepted as x-api-key or as a bearer token, and the bearer token wins", () =>
    Effect.gen(function* () {
      const { key, service } = yield* asking()
      const unknown = `svc_sk_${"A".repeat(43)}`
      const bearer = (one: string) => ({ authorization: `Bearer ${one}` })
      for (const path of ["/messages", "/messages/count_tokens"]) {
        const statusOf = (headers: Record<string, string>) =>
          Effect.tap(
            Effect.map(send(service, headers, path), (response) => response.status),
            () => Effect.void
          )
        assert.strictEqual(yield* statusOf({ "x-api-key": key }), 200)
        assert.strictEqual(yield* statusOf({ "x-api-key": unknown, ...bearer(key) }), 200)
        assert.strictEqual(yield* statusOf({ "x-api-key": key, ...bearer(unknown) }), 401)
        assert.strictEqual(yield* statusOf({ "x-api-key": "", ...bearer(key) }), 200)
      }
      const elsewhere = yield* send(service, { "x-api-key": key }, "/chat/completions")
      assert.strictEqual(elsewhere.status, 401)
    }).pipe(Effect.scoped)
  )

  it.live("is reported as missing when there is none", () =>
    Effect.gen(function* () {
      const { service } = yield* asking()
      const response = yield* send(service, {})
      const body = yield* json(response)
      assert.deepStrictEqual(
        [response.status, body.type, body.error.type, body.error.code],
        [401, "error", "authentication_error", "missing_api_key"]
      )
      assert.match(body.error.message, /x-api-key.*Bearer.*\.$/)
      assert.strictEqual(response.headers.get("request-id"), body.request_id)
      const malformed = yield* Effect.flatMap(send(service, { "x-api-key": "sk ant" }), json)
      assert.strictEqual(malformed.error.code, "invalid_api_key")
    }).pipe(Effect.scoped)
  )

  it.live("is refused in the wrong form with the name of the header that contained it", () =>
    Effect.gen(function* () {
      const { key, service } = yield* asking()
      const messageFor = (headers: Record<string, string>) =>
        Effect.map(Effect.flatMap(send(service, headers), json), ({ error }) => error.message)
      const alone = "`x-api-key` must be the key alone, such as `svc_sk_…`."
      assert.strictEqual(yield* messageFor({ "x-api-key": `Bearer ${key}` }), alone)
      assert.strictEqual(yield* messageFor({ "x-api-key": "sk ant" }), alone)
      assert.match(
        yield* messageFor({ "x-api-key": "sk-ant-api03" }),
        /^`x-api-key` must contain a key of this service/
      )
      assert.strictEqual(yield* messageFor({ authorization: key }), "`Authorization` must be `Bearer <key>`.")
      assert.strictEqual(
        yield* messageFor({ authorization: key, "x-api-key": key }),
        "`Authorization` must be `Bearer <key>`."
      )
    }).pipe(Effect.scoped)
  )

  it.live("counts against one rate limit, in either header", () =>
    Effect.gen(function* () {
      const { key, service } = yield* asking({ RATE_LIMIT_SCALE: "0.05" })
      const ways = [{ "x-api-key": key }, { authorization: `Bearer ${key}` }]
      const seen = []
      for (const way of [...ways, ...ways]) seen.push((yield* send(service, way, "/messages/count_tokens")).status)
      assert.deepStrictEqual(seen, [200, 200, 200, 429])
      const { error } = yield* Effect.flatMap(send(service, { "x-api-key": key }), json)
      assert.deepStrictEqual([error.type, error.code], ["rate_limit_error", "rate_limit_exceeded"])
    }).pipe(Effect.scoped)
  )
})

describe("a message that fails", () => {
  it.live("gets Anthropic's error format for every kind of failure", () =>
    Effect.gen(function* () {
      const { ask, key, service } = yield* asking()
      const large = yield* Effect.flatMap(post(`${service.api}/messages`, key, `"${"x".repeat(33 * 1_048_576)}"`), json)
      assert.deepStrictEqual([large.type, large.error.type], ["error", "request_too_large"])
      const wrong = yield* Effect.flatMap(ask({ temperature: 2, top_p: -1 }), json)
      assert.deepStrictEqual(
        [wrong.error.code, wrong.error.param, wrong.details.length],
        ["validation_error", "temperature", 2]
      )
      const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } }
      const blind = yield* Effect.flatMap(
        ask({ model: "microsoft/phi-4", messages: [{ role: "user", content: [image] }] }),
        json
      )
      assert.strictEqual(blind.error.code, "model_not_vision_capable")
      const got = yield* get(`${service.api}/messages`, key)
      const { error, request_id, type } = yield* json(got)
      assert.deepStrictEqual([got.status, got.headers.get("allow"), type], [405, "POST", "error"])
      assert.deepStrictEqual([error.type, error.code], ["invalid_request_error", "method_not_allowed"])
      assert.strictEqual(got.headers.get("request-id"), request_id)
      const absent = yield* get(`${service.api}/messages/batches`, key)
      const said = yield* json(absent)
      assert.deepStrictEqual([absent.status, said.type, said.error.code], [404, "error", "unknown_route"])
      assert.strictEqual(absent.headers.get("request-id"), said.request_id)
    }).pipe(Effect.scoped)
  )

  it.live("within its stream ends the stream with an error event", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking()
      const broken = yield* Effect.flatMap(
        ask({ stream: true }, steered("fault=break,after=2,output_tokens=200")),
        eventsOf
      )
      const { event, data } = broken.at(-1)!
      assert.deepStrictEqual([event, data.error.type, data.error.code], ["error", "api_error", "upstream_error"])
      assert.isUndefined(broken.find(({ event }) => event === "message_stop"))
    }).pipe(Effect.scoped)
  )

  it.live("for lack of money names the limit that was reached", () =>
    Effect.gen(function* () {
      const { ask } = yield* asking({}, 0)
      const response = yield* ask()
      const { error, limit_source } = yield* json(response)
      assert.deepStrictEqual([response.status, error.type, limit_source], [402, "billing_error", "balance"])
    }).pipe(Effect.scoped)
  )
})

describe("POST /messages/count_tokens", () => {
  it.live("counts a prompt with its tools, system text and preset, free of charge", () =>
    Effect.gen(function* () {
      const { account, key, service } = yield* asking()
      yield* service.preset(account.id, "brief", { model: "gpt-4o-mini", instructions: "Be as brief as you can be" })
      const count = (body: object) =>
        Effect.map(
          Effect.flatMap(post(`${service.api}/messages/count_tokens`, key, { ...message, ...body }), json),
          ({ input_tokens }) => input_tokens as number
        )
      const plain = yield* count({ max_tokens: null })
      assert.isAbove(plain, 0)
      assert.isAbove(yield* count({ system: "Be brief" }), plain)
      assert.isAbove(yield* count({ tools }), plain)
      assert.isAbove(yield* count({ model: "@brief" }), plain)
      const { posted } = yield* service.balance(account.id)
      assert.strictEqual(posted, 10_000_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("returns 404 for an unknown model", () =>
    Effect.gen(function* () {
      const { key, service } = yield* asking()
      for (const body of [{ model: "no-such-model" }, { models: ["gpt-4o", "text-embedding-3-small"] }]) {
        const response = yield* post(`${service.api}/messages/count_tokens`, key, { ...message, ...body })
        const { error } = yield* json(response)
        assert.deepStrictEqual([response.status, error.code], [400, "unknown_model"])
      }
    }).pipe(Effect.scoped)
  )
})

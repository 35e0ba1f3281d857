/** Providers that fail, on real sockets: fallbacks, circuit breakers, hedges, the client's answer and the charge. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { THIN_BELOW_SAMPLES } from "../../src/catalogue/LiveFigures.ts"
import { MAX_COUNT } from "../../src/domain/Usage.ts"
import { rules } from "../../src/providers/pool/Breaker.ts"
import { endedReceiptOf } from "../support/ReadReceipts.ts"
import { missing, RedisServer } from "../support/Redis.ts"
import { announceSkip } from "../support/Skips.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { frames, textOf } from "../support/Streams.ts"

announceSkip("the Redis half of Failover", missing)

const MODEL = "meta-llama/llama-3.3-70b-instruct"

type Behaviour =
  | "serve"
  /** Content, and then a lost connection. */
  | "break"
  /** No answer until the gateway closes the connection. */
  | "hang"
  /** A body above the gateway's size limit for answers. */
  | "drone"
  | { readonly status: number; readonly retryAfter?: string }

const content = "It works."

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`

/** The usage that a host reports. A host with an impossible count reports it for the prompt as well. */
const usageOf = (completion: number) => {
  const prompt = completion > MAX_COUNT ? completion : 5
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

const whole = (completion: number) =>
  JSON.stringify({
    id: "chatcmpl-host",
    object: "chat.completion",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    usage: usageOf(completion)
  })

const drone = Buffer.alloc(16 * 1024 * 1024 + 1, " ")

const first = event({ choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] })
const last = (completion: number) =>
  `${event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${event({ choices: [], usage: usageOf(completion) })}data: [DONE]\n\n`

const answer = (response: ServerResponse, behaviour: Behaviour, stream: boolean, completion: number) => {
  if (behaviour === "hang") return
  if (typeof behaviour === "object") {
    const { retryAfter, status } = behaviour
    response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter })
    response.end(JSON.stringify({ error: { message: "scripted" } }))
    return
  }
  response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" })
  if (behaviour === "drone") response.end(drone)
  else if (!stream) response.end(whole(completion))
  else if (behaviour === "serve") response.end(`${first}${last(completion)}`)
  else response.write(first, () => response.destroy())
}

interface Host {
  readonly port: number
  behaviour: Behaviour
  /** The output tokens that the host reports for every answer. */
  completion: number
  readonly calls: Array<number>
  readonly close: () => void
}

/** Starts a host that behaves as its `behaviour` says. */
const startHost = (completion: number) =>
  Effect.acquireRelease(
    Effect.callback<Host>((resume) => {
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text) => (body += text))
        request.on("end", () => {
          host.calls.push(performance.now())
          answer(response, host.behaviour, body.includes(`"stream":true`), host.completion)
        })
      })
      const host = {
        port: 0,
        behaviour: "serve" as Behaviour,
        completion,
        calls: [] as Array<number>,
        close: () => {
          server.close()
          server.closeAllConnections()
        }
      }
      server.listen(0, "127.0.0.1", () => {
        host.port = (server.address() as AddressInfo).port
        resume(Effect.succeed(host))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const hostsFile = (hosts: Readonly<Record<string, number>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "tollgate-hosts-"))
      const entries = Object.entries(hosts).map(([id, port]) => ({
        id,
        base_url: `http://127.0.0.1:${port}/v1`,
        models: { [MODEL]: "llama" }
      }))
      writeFileSync(join(directory, "hosts.json"), JSON.stringify(entries))
      return { directory, path: join(directory, "hosts.json") }
    }),
    ({ directory }) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

/** A gateway with two hosts of one model, `a` before `b`, and an account. `env` adds to its settings. */
const sceneWith = Effect.fnUntraced(function* (env: Record<string, string>) {
  const [a, b] = [yield* startHost(10), yield* startHost(20)]
  const { path } = yield* hostsFile({ a: a.port, b: b.port })
  const settings = { PROVIDERS_FILE: path, OUTBOUND_ALLOW_LOOPBACK: "1", SANDBOX: "off", ...env }
  const service = yield* startService(settings)
  const { account, inferenceKey } = yield* service.account(10)
  const ask = (more: object = {}, only: ReadonlyArray<string> = ["a", "b"], { api }: { api: string } = service) =>
    post(`${api}/chat/completions`, inferenceKey, {
      model: MODEL,
      max_tokens: 50,
      messages: [{ role: "user", content: "Are you there?" }],
      routing: { providers: { only, order: ["a", "b"] } },
      ...more
    })
  /** One more node on the same database and hosts. */
  const another = startService({ ...settings, DATABASE_URL: service.databaseUrl })
  return { a, b, account, another, ask, inferenceKey, service }
})

const scene = sceneWith({})

/** Provider and outcome of each attempt of an answer. */
// oxlint-disable-next-line typescript/no-explicit-any
const attemptsOf = (answered: any): ReadonlyArray<string> =>
  // oxlint-disable-next-line typescript/no-explicit-any
  answered.routing.provider_attempts.map((one: any, index: number) => {
    assert.deepStrictEqual(Object.keys(one).toSorted(), ["attempt_index", "outcome", "provider"])
    assert.strictEqual(one.attempt_index, index)
    return `${one.provider} ${one.outcome}`
  })

const metric = (service: Service, line: string) =>
  Effect.map(
    Effect.promise(() => fetch(`${service.ops}/metrics`).then((response) => response.text())),
    (text) => Number(text.split(`\n${line} `)[1]?.split("\n")[0])
  )

describe("a provider that fails", () => {
  it.live("is skipped while its breaker is open, and called again after a successful probe", () =>
    Effect.gen(function* () {
      const { a, account, ask, b, inferenceKey, service } = yield* scene
      a.behaviour = { status: 500 }
      for (let request = 0; request < rules.consecutive; request++) {
        const answered = yield* json(yield* ask())
        assert.deepStrictEqual(attemptsOf(answered), ["a failed_over", "b served"])
        const { price, provider, usage } = yield* endedReceiptOf(service, inferenceKey, answered.request_id)
        assert.strictEqual(provider, "b")
        const cost = usage.input_tokens * price.input + usage.output_tokens * price.output
        assert.closeTo(answered.cost_usd, cost, 1e-9)
      }
      const before = a.calls.length
      assert.strictEqual(before, rules.consecutive)
      // These requests end before the shortest time for which a breaker stays open.
      const many = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.flatMap(ask(), json), {
        concurrency: "unbounded"
      })
      for (const answered of many) assert.deepStrictEqual(attemptsOf(answered), ["b served"])
      assert.strictEqual(a.calls.length, before)
      assert.strictEqual(yield* metric(service, 'svc_provider_passed_over_total{gen_ai_provider_name="a"}'), 20)
      assert.strictEqual(yield* metric(service, 'svc_provider_breakers_open{gen_ai_provider_name="a"}'), 1)
      a.behaviour = "serve"
      const healed = yield* Effect.flatMap(ask(), json).pipe(
        Effect.repeat({
          until: ({ provider }) => provider === "a",
          schedule: Schedule.spaced("50 millis"),
          times: 400
        })
      )
      assert.deepStrictEqual(attemptsOf(healed), ["a served"])
      assert.strictEqual(a.calls.length, before + 1)
      assert.strictEqual(yield* metric(service, 'svc_provider_breakers_open{gen_ai_provider_name="a"}'), 0)
      const receipt = yield* endedReceiptOf(service, inferenceKey, healed.request_id)
      assert.deepStrictEqual([receipt.provider, receipt.usage.output_tokens], ["a", 10])
      assert.strictEqual((yield* service.balance(account.id)).held, 0n)
      assert.isAbove(b.calls.length, rules.consecutive + 20)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "gets one probe a second when no other is allowed; requests between them get 503 with retry-after, without a hold",
    () =>
      Effect.gen(function* () {
        const { a, account, ask, service } = yield* scene
        a.behaviour = { status: 500 }
        const alone = Effect.gen(function* () {
          const response = yield* ask({}, ["a"])
          return { response, code: (yield* json(response)).error?.code }
        })
        for (let request = 0; request < rules.consecutive; request++) {
          assert.strictEqual((yield* alone).code, "upstream_error")
        }
        const { code, response } = yield* alone
        assert.deepStrictEqual([response.status, code], [503, "no_provider_available"])
        assert.strictEqual(response.headers.get("retry-after"), "1")
        assert.strictEqual(response.headers.get("x-should-retry"), "true")
        assert.strictEqual(a.calls.length, rules.consecutive)
        a.behaviour = "serve"
        yield* alone.pipe(
          Effect.repeat({
            until: ({ response }) => response.status === 200,
            schedule: Schedule.spaced("50 millis"),
            times: 400
          })
        )
        assert.strictEqual(a.calls.length, rules.consecutive + 1)
        assert.isAtLeast(a.calls.at(-1)! - a.calls.at(-2)!, rules.earlyProbeMs - 1)
        assert.strictEqual((yield* service.balance(account.id)).held, 0n)
      }).pipe(Effect.scoped)
  )

  it.live(
    "is not called before its Retry-After ends: a request waits for a short one, and passes a long one on to the client",
    () =>
      Effect.gen(function* () {
        const { a, account, ask, b, service } = yield* scene
        a.behaviour = { status: 429, retryAfter: "1" }
        const waiting = ask({}, ["a"])
        const recovery = Effect.sync(() => {
          if (a.calls.length > 0) a.behaviour = "serve"
          return a.calls.length
        }).pipe(Effect.repeat({ until: (calls) => calls > 0, schedule: Schedule.spaced("5 millis") }))
        const [response] = yield* Effect.all([waiting, recovery], { concurrency: 2 })
        assert.deepStrictEqual(attemptsOf(yield* json(response)), ["a failed_over", "a served"])
        assert.isAtLeast(a.calls[1]! - a.calls[0]!, 999)
        a.behaviour = { status: 503, retryAfter: "30" }
        const last = yield* ask({}, ["a"])
        assert.deepStrictEqual([last.status, last.headers.get("retry-after")], [502, "30"])
        const refused = yield* ask({}, ["a"])
        assert.strictEqual((yield* json(refused)).error.code, "no_provider_available")
        const seconds = Number(refused.headers.get("retry-after"))
        assert.isTrue(seconds > 1 && seconds <= 30, String(seconds))
        assert.deepStrictEqual(attemptsOf(yield* json(yield* ask())), ["b served"])
        assert.deepStrictEqual([a.calls.length, b.calls.length], [3, 1])
        assert.strictEqual((yield* service.balance(account.id)).held, 0n)
      }).pipe(Effect.scoped)
  )

  it.live(
    "is not a provider whose log-probabilities exceed the size limit: the client gets 400, and no breaker opens",
    () =>
      Effect.gen(function* () {
        const { a, account, ask, b, service } = yield* scene
        a.behaviour = "drone"
        for (let request = 0; request < rules.consecutive; request++) {
          const response = yield* ask({ logprobs: true, top_logprobs: 20 })
          const { error } = yield* json(response)
          assert.deepStrictEqual([response.status, error.code, error.param], [400, "validation_error", "logprobs"])
          assert.strictEqual(response.headers.get("x-should-retry"), "false")
        }
        assert.deepStrictEqual([a.calls.length, b.calls.length], [rules.consecutive, 0])
        a.behaviour = "serve"
        assert.deepStrictEqual(attemptsOf(yield* json(yield* ask())), ["a served"])
        assert.strictEqual((yield* service.balance(account.id)).held, 0n)
      }).pipe(Effect.scoped)
  )

  it.live("during a stream gets no fallback, and the client pays for the delivered output", () =>
    Effect.gen(function* () {
      const { a, ask, b, inferenceKey, service } = yield* scene
      a.behaviour = "break"
      const response = yield* ask({ stream: true })
      const id = response.headers.get("x-request-id") ?? ""
      const all = yield* frames(response)
      assert.strictEqual(textOf(all.filter((frame) => frame.error === undefined)), content)
      assert.strictEqual(all.find((frame) => frame.error !== undefined)?.error.code, "upstream_error")
      assert.deepStrictEqual([a.calls.length, b.calls.length], [1, 0])
      const receipt = yield* endedReceiptOf(service, inferenceKey, id)
      assert.deepStrictEqual([receipt.status, receipt.usage_basis, receipt.provider], ["failed", "counted", "a"])
      assert.isAbove(receipt.settled_usd, 0)
      assert.deepStrictEqual(attemptsOf(receipt), ["a failed"])
      // Five broken streams do not open the breaker, as five missing answers do; twenty in a row open it.
      for (let stream = 1; stream < rules.minimumSamples; stream++) yield* frames(yield* ask({ stream: true }))
      assert.strictEqual(a.calls.length, rules.minimumSamples)
      assert.strictEqual(textOf(yield* frames(yield* ask({ stream: true }))), content)
      assert.deepStrictEqual([a.calls.length, b.calls.length], [rules.minimumSamples, 1])
    }).pipe(Effect.scoped)
  )

  it.live("to report a plausible usage still delivers its answer, and the charge is limited to the hold", () =>
    Effect.gen(function* () {
      const { a, account, ask, inferenceKey, service } = yield* scene
      for (const [completion, stream] of [9e15, 1e300].flatMap((figure) => [
        [figure, false] as const,
        [figure, true] as const
      ])) {
        a.completion = completion
        const response = yield* ask({ stream }, ["a"])
        assert.strictEqual(response.status, 200)
        if (stream) {
          const all = yield* frames(response)
          assert.strictEqual(textOf(all), content)
          assert.isUndefined(all.find(({ error }) => error !== undefined))
        } else assert.strictEqual((yield* json(response)).choices[0].message.content, content)
        const receipt = yield* endedReceiptOf(service, inferenceKey, response.headers.get("x-request-id") ?? "")
        assert.deepStrictEqual([receipt.status, receipt.usage_basis], ["succeeded", "reported"])
        assert.deepStrictEqual([receipt.settled_usd, receipt.usage.output_tokens], [receipt.held_usd, MAX_COUNT])
        assert.isAbove(receipt.absorbed_usd, 0)
      }
      assert.strictEqual((yield* service.balance(account.id)).held, 0n)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(missing !== undefined)("is not called by any node on one Redis before its Retry-After ends", () =>
    Effect.gen(function* () {
      const { url } = yield* RedisServer
      const { a, another, ask, b } = yield* sceneWith({ REDIS_URL: Redacted.value(url) })
      const other = yield* another
      a.behaviour = { status: 429, retryAfter: "600" }
      assert.deepStrictEqual(attemptsOf(yield* json(yield* ask())), ["a failed_over", "b served"])
      a.behaviour = "serve"
      // Until the other node has read it from Redis, it calls `a`, which serves.
      yield* Effect.flatMap(ask({}, ["a", "b"], other), json).pipe(
        Effect.repeat({ until: ({ provider }) => provider === "b", schedule: Schedule.spaced("50 millis"), times: 200 })
      )
      const calls = a.calls.length
      const refused = yield* ask({}, ["a"], other)
      assert.strictEqual((yield* json(refused)).error.code, "no_provider_available")
      assert.isAbove(Number(refused.headers.get("retry-after")), 500)
      assert.strictEqual(a.calls.length, calls)
      assert.isAbove(b.calls.length, 1)
    }).pipe(Effect.scoped, Effect.provide(RedisServer.layer))
  )

  it.live(
    "to answer in its usual time is hedged when hedges are on, and the client pays only for the answer it gets",
    () =>
      Effect.gen(function* () {
        const { a, account, ask, inferenceKey, service } = yield* sceneWith({ LATENCY_HEDGE: "1" })
        for (let stream = 0; stream <= THIN_BELOW_SAMPLES; stream++) yield* frames(yield* ask({ stream: true }, ["a"]))
        a.behaviour = "hang"
        const providers = { only: ["a", "b"], order: ["a", "b"] }
        // The figures behind a plan may be a second old, and a timeout this short does not count against the host.
        const routing = { strategy: "latency", providers, timeouts: { first_token_ms: 2_000 } }
        const hedged = Effect.gen(function* () {
          const response = yield* ask({ stream: true, routing })
          assert.strictEqual(textOf(yield* frames(response)), content)
          const won = 'svc_provider_hedges_total{gen_ai_provider_name="b",svc_outcome="won"}'
          return { id: response.headers.get("x-request-id") ?? "", hedges: yield* metric(service, won) }
        })
        const { hedges, id } = yield* Effect.repeat(hedged, { until: ({ hedges }) => hedges === 1, times: 5 })
        assert.strictEqual(hedges, 1)
        const receipt = yield* endedReceiptOf(service, inferenceKey, id)
        assert.deepStrictEqual(attemptsOf(receipt), ["a failed_over", "b served"])
        assert.deepStrictEqual([receipt.provider, receipt.usage.output_tokens], ["b", 20])
        assert.strictEqual((yield* service.balance(account.id)).held, 0n)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )
})

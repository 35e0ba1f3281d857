/** The spans of a paid request at a collector: the request, the hold, the calls to providers and the settlement. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Collector, type ReceivedSpan, startCollector } from "../support/Collector.ts"
import { endedReceiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"
import { frames, hangUpAfter, lastFrame } from "../support/Streams.ts"

const ROUTE = "POST /api/v1/chat/completions"
const CALLER = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }

const ask = (more: object = {}) => ({
  model: "gpt-4o-mini",
  max_tokens: 50,
  messages: [{ role: "user", content: "PLANTED-PROMPT" }],
  ...more
})

const chat = (service: Service, key: string, body: object, headers: Record<string, string> = {}) =>
  post(`${service.api}/chat/completions`, key, body, headers)

const nano = (usd: number) => Math.round(usd * 1e9)

/** Polls until there is a result. */
const until = <A>(look: Effect.Effect<A | undefined>): Effect.Effect<A> =>
  Effect.flatMap(look, (found) =>
    found === undefined ? Effect.andThen(Effect.sleep("10 millis"), until(look)) : Effect.succeed(found)
  )

/** Whether the moments are in this order. OpenTelemetry's SDK cuts the start of each span to a whole millisecond. */
const inOrder = (...moments: ReadonlyArray<bigint>): boolean =>
  moments.every((moment, at) => at === 0 || moment + 1_000_000n > moments[at - 1]!)

/** Waits for the spans of a trace, and checks that they have these names in the order of their start. */
const traceOf = (collector: Collector, traceId: string, names: ReadonlyArray<string>) =>
  until(
    Effect.sync(() => {
      const spans = collector.trace(traceId)
      return spans.length >= names.length ? spans : undefined
    })
  ).pipe(
    Effect.timeout("20 seconds"),
    Effect.orElseSucceed(() => collector.trace(traceId)),
    Effect.map((spans) => {
      assert.deepStrictEqual(
        spans.map(({ name }) => name),
        names
      )
      const [server, ...below] = spans
      for (const span of below) {
        assert.strictEqual(span.parentSpanId, server!.spanId)
        assert.isTrue(span.start >= server!.start)
      }
      assert.isTrue(spans.every(({ end, start }) => end >= start))
      assert.strictEqual(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)
      return spans as [ReceivedSpan, ...ReadonlyArray<ReceivedSpan>]
    })
  )

/** Starts a gateway that exports to a collector. */
const observed = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const collector = yield* startCollector()
    const service = yield* startService({ ...collector.environment, ...env })
    const { account, inferenceKey, managementKey } = yield* service.account(10)
    return { account, collector, inferenceKey, managementKey, service }
  })

const attributes = (span: ReceivedSpan | undefined, ...names: ReadonlyArray<string>) =>
  names.map((name) => span?.attributes[name])

describe("a paid request", () => {
  it.live("is one trace of request, hold, attempt and settlement, with the ids and amounts of its receipt", () =>
    Effect.gen(function* () {
      const { account, collector, inferenceKey, service } = yield* observed()
      const body = ask({ temperature: 0.5, stop: ["PLANTED-STOP"] })
      const answer = yield* json(yield* chat(service, inferenceKey, body))
      const receipt = yield* endedReceiptOf(service, inferenceKey, answer.request_id)
      const [server, hold, attempt, settle] = yield* traceOf(collector, receipt.trace_id, [
        ROUTE,
        "ledger.hold",
        "chat gpt-4o-mini",
        "ledger.settle"
      ])
      assert.deepStrictEqual([server.kind, attempt?.kind, server.parentSpanId], ["server", "client", undefined])
      const ids = attributes(server, "svc.request_id", "svc.account_id", "svc.key_id")
      assert.deepStrictEqual(ids, [answer.request_id, account.id, receipt.key_id])
      assert.deepStrictEqual(
        attributes(server, "http.request.method", "http.route", "http.response.status_code", "svc.streamed"),
        ["POST", "/api/v1/chat/completions", 200, false]
      )
      assert.strictEqual(hold?.attributes["svc.hold.granted_nano_usd"], nano(receipt.held_usd))
      assert.strictEqual(settle?.attributes["svc.settle.settled_nano_usd"], nano(receipt.settled_usd))
      assert.strictEqual(server.attributes["svc.cost_nano_usd"], nano(answer.cost_usd))
      assert.deepStrictEqual(
        attributes(
          attempt,
          ...["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.request.stream"],
          ...["gen_ai.request.max_tokens", "gen_ai.request.temperature", "gen_ai.usage.input_tokens"],
          ...[
            "gen_ai.usage.output_tokens",
            "gen_ai.response.finish_reasons",
            "svc.attempt.index",
            "svc.attempt.outcome"
          ]
        ),
        [
          "chat",
          "openai",
          "gpt-4o-mini",
          false,
          50,
          0.5,
          answer.usage.prompt_tokens,
          answer.usage.completion_tokens,
          ["stop"],
          0,
          "served"
        ]
      )
      assert.isFalse([server, hold, attempt, settle].some((span) => span?.failed))
      assert.isTrue(inOrder(hold!.end, attempt!.start, attempt!.end, settle!.start))
      assert.deepStrictEqual(collector.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "with a stream has request and attempt spans as long as the stream, and the settlement before their end",
    () =>
      Effect.gen(function* () {
        const { collector, inferenceKey, service } = yield* observed()
        const steering = { "x-svc-sandbox": "chunk_ms=20,text=one%20two%20three,cached_tokens=2" }
        const last = lastFrame(yield* frames(yield* chat(service, inferenceKey, ask({ stream: true }), steering)))
        const receipt = yield* endedReceiptOf(service, inferenceKey, last.request_id)
        const [server, , attempt, settle] = yield* traceOf(collector, receipt.trace_id, [
          ROUTE,
          "ledger.hold",
          "chat gpt-4o-mini",
          "ledger.settle"
        ])
        assert.isTrue(inOrder(attempt!.end, settle!.start, settle!.end, server.end))
        assert.isAtLeast(Number(attempt!.end - attempt!.start), 40_000_000)
        const [first, input, cached] = attributes(
          attempt,
          ...[
            "gen_ai.response.time_to_first_chunk",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.cache_read.input_tokens"
          ]
        )
        assert.isAtMost(Number(first), Number(attempt!.end - attempt!.start) / 1e9)
        assert.deepStrictEqual([input, cached], [last.usage.prompt_tokens, 2])
        assert.strictEqual(settle?.attributes["svc.settle.settled_nano_usd"], nano(last.cost_usd))
      }).pipe(Effect.scoped)
  )

  it.live("whose stream breaks has a failed span, although its status is 200", () =>
    Effect.gen(function* () {
      const { collector, inferenceKey, service } = yield* observed()
      const broken = { "x-svc-sandbox": "fault=break,after=2,output_tokens=200" }
      const response = yield* chat(service, inferenceKey, ask({ stream: true }), broken)
      assert.include(yield* Effect.promise(() => response.text()), '"upstream_error"')
      const id = response.headers.get("x-request-id") ?? ""
      const receipt = yield* endedReceiptOf(service, inferenceKey, id)
      const [server] = yield* traceOf(collector, receipt.trace_id, [
        ROUTE,
        "ledger.hold",
        "chat gpt-4o-mini",
        "ledger.settle"
      ])
      assert.isTrue(server.failed)
      const said = attributes(server, "http.response.status_code", "error.type")
      assert.deepStrictEqual(said, [200, "upstream_error"])
    }).pipe(Effect.scoped)
  )

  it.live("for embeddings or rerank has the number of prompt tokens on its attempt", () =>
    Effect.gen(function* () {
      const { collector, inferenceKey, service } = yield* observed()
      const bodies = {
        embeddings: { model: "text-embedding-3-small", input: "a cat and a dog" },
        rerank: { model: "rerank-2.5", query: "cats", documents: ["about dogs", "about cats"] }
      }
      for (const [path, body] of Object.entries(bodies)) {
        const answer = yield* json(yield* post(`${service.api}/${path}`, inferenceKey, body))
        const receipt = yield* endedReceiptOf(service, inferenceKey, answer.request_id)
        const [, , attempt] = yield* traceOf(collector, receipt.trace_id, [
          `POST /api/v1/${path}`,
          "ledger.hold",
          `${path} ${body.model}`,
          "ledger.settle"
        ])
        assert.strictEqual(attempt?.attributes["gen_ai.usage.input_tokens"], answer.usage.total_tokens)
      }
    }).pipe(Effect.scoped)
  )

  it.live("whose hold grows has a span for each extension, and their amounts add up to the hold on the receipt", () =>
    Effect.gen(function* () {
      const { collector, inferenceKey, service } = yield* observed()
      const body = { model: "gpt-4o-mini", stream: true, messages: [{ role: "user", content: "Tell me of the sea" }] }
      const response = yield* chat(service, inferenceKey, body, { "x-svc-sandbox": "output_tokens=6000" })
      const receipt = yield* endedReceiptOf(service, inferenceKey, lastFrame(yield* frames(response)).request_id)
      const [, hold, , extend] = yield* traceOf(collector, receipt.trace_id, [
        ROUTE,
        "ledger.hold",
        "chat gpt-4o-mini",
        "ledger.extend",
        "ledger.settle"
      ])
      const [granted] = attributes(hold, "svc.hold.granted_nano_usd")
      const [more, outcome] = attributes(extend, "svc.hold.more_nano_usd", "svc.outcome")
      assert.strictEqual(Number(granted) + Number(more), nano(receipt.held_usd))
      assert.strictEqual(outcome, "extended")
    }).pipe(Effect.scoped)
  )

  it.live("that falls back has a span for each attempt, in order, with its outcome", () =>
    Effect.gen(function* () {
      const { collector, inferenceKey, service } = yield* observed()
      for (const stream of [false, true]) {
        const routing = { providers: { order: ["openai", "azure"] } }
        const response = yield* chat(service, inferenceKey, ask({ stream, routing }), {
          "x-svc-sandbox": "provider=openai,fault=error"
        })
        const id = response.headers.get("x-request-id") ?? ""
        yield* Effect.promise(() => response.text())
        const receipt = yield* endedReceiptOf(service, inferenceKey, id)
        const [, , first, second] = yield* traceOf(collector, receipt.trace_id, [
          ROUTE,
          "ledger.hold",
          "chat gpt-4o-mini",
          "chat gpt-4o-mini",
          "ledger.settle"
        ])
        const facts = ["gen_ai.provider.name", "svc.attempt.index", "svc.attempt.outcome", "error.type"]
        assert.deepStrictEqual(attributes(first, ...facts), ["openai", 0, "failed_over", "ServerError"])
        assert.deepStrictEqual(attributes(second, ...facts), ["azure.ai.openai", 1, "served", undefined])
        assert.deepStrictEqual([first?.failed, second?.failed], [true, false])
      }
    }).pipe(Effect.scoped)
  )

  it.live("whose client disconnects has the settlement in its trace", () =>
    Effect.gen(function* () {
      const { collector, inferenceKey, service } = yield* observed()
      const steering = { "x-svc-sandbox": "chunk_ms=15,text=one%20two%20three%20four%20five%20six%20seven" }
      const url = `${service.api}/chat/completions`
      const { requestId } = yield* hangUpAfter(url, inferenceKey, ask({ stream: true }), steering, 2)
      const receipt = yield* endedReceiptOf(service, inferenceKey, requestId)
      const [server, , attempt, settle] = yield* traceOf(collector, receipt.trace_id, [
        ROUTE,
        "ledger.hold",
        "chat gpt-4o-mini",
        "ledger.settle"
      ])
      assert.deepStrictEqual(attributes(server, "svc.client_left", "svc.request_id"), [true, requestId])
      assert.strictEqual(attempt?.attributes["svc.attempt.outcome"], "cancelled")
      assert.deepStrictEqual(attributes(settle, "svc.status", "svc.settle.settled_nano_usd"), [
        "cancelled",
        nano(receipt.settled_usd)
      ])
    }).pipe(Effect.scoped)
  )

  it.live("that is refused or replayed has a trace without an attempt", () =>
    Effect.gen(function* () {
      const { collector, inferenceKey, service } = yield* observed()
      const poor = yield* service.account(0.000_001)
      const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`
      assert.strictEqual((yield* chat(service, poor.inferenceKey, ask(), { traceparent })).status, 402)
      const [refused, hold] = yield* traceOf(collector, CALLER.traceId, [ROUTE, "ledger.hold"])
      assert.strictEqual(refused.attributes["http.response.status_code"], 402)
      assert.deepStrictEqual(attributes(hold, "svc.outcome", "svc.limit_source"), ["refused", "balance"])
      assert.isFalse(refused.failed)

      const again = (traceId: string) =>
        chat(service, inferenceKey, ask(), { traceparent: `00-${traceId}-${CALLER.spanId}-01`, "idempotency-key": "a" })
      assert.strictEqual((yield* again("1".repeat(32))).status, 200)
      assert.strictEqual((yield* again("2".repeat(32))).headers.get("idempotency-replayed"), "true")
      const [, replayed] = yield* traceOf(collector, "2".repeat(32), [ROUTE, "ledger.hold"])
      assert.strictEqual(replayed?.attributes["svc.outcome"], "claimed")
    }).pipe(Effect.scoped)
  )

  it.live("that no provider serves has the release in its trace, and its log lines have the trace id", () =>
    Effect.gen(function* () {
      const { collector, inferenceKey, service } = yield* observed({ LOG_LEVEL: "info" })
      const response = yield* chat(service, inferenceKey, ask({ routing: { allow_fallbacks: false } }), {
        "x-svc-sandbox": "fault=error"
      })
      const id = response.headers.get("x-request-id") ?? ""
      assert.strictEqual(response.status, 502)
      const receipt = yield* endedReceiptOf(service, inferenceKey, id)
      const [server, , attempt, release] = yield* traceOf(collector, receipt.trace_id, [
        ROUTE,
        "ledger.hold",
        "chat gpt-4o-mini",
        "ledger.release"
      ])
      assert.deepStrictEqual([server.failed, server.attributes["error.type"]], [true, "502"])
      assert.strictEqual(attempt?.attributes["svc.attempt.outcome"], "failed")
      assert.deepStrictEqual(attributes(release, "svc.status", "svc.settle.settled_nano_usd"), ["failed", 0])
      const log = yield* until(Effect.sync(() => collector.logs.find(({ traceId }) => traceId === receipt.trace_id)))
      assert.strictEqual(log.spanId, server.spanId)
      assert.strictEqual(log.attributes["request_id"], id)
    }).pipe(Effect.scoped)
  )
})

/** An OpenAI-compatible host that records the headers of its calls. */
const startHost = Effect.acquireRelease(
  Effect.promise(async () => {
    const seen: Array<IncomingHttpHeaders> = []
    const server = createServer((request, response) => {
      seen.push(request.headers)
      request.resume()
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
      const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "PLANTED-ANSWER" } }]
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ id: "x", object: "chat.completion", model: "m", choices, usage }))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { port: (server.address() as AddressInfo).port, seen, server }
  }),
  ({ server }) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    })
)

const hostsFile = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "tollgate-hosts-"))
      const model = "meta-llama/llama-3.3-70b-instruct"
      const host = (id: string) => ({ id, base_url: `http://127.0.0.1:${port}/v1`, models: { [model]: "llama" } })
      writeFileSync(join(directory, "hosts.json"), JSON.stringify([host("told"), host("untold")]))
      return { directory, model, path: join(directory, "hosts.json") }
    }),
    ({ directory }) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

describe("a client's trace", () => {
  it.live("continues in the gateway, and reaches only the providers in TRACE_CONTEXT_PROVIDERS", () =>
    Effect.gen(function* () {
      const host = yield* startHost
      const { model, path } = yield* hostsFile(host.port)
      const env = { PROVIDERS_FILE: path, OUTBOUND_ALLOW_LOOPBACK: "1", TRACE_CONTEXT_PROVIDERS: "told" }
      const { collector, inferenceKey, service } = yield* observed(env)
      const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`, tracestate: "vendor=1" }
      for (const only of ["told", "untold"]) {
        const response = yield* chat(
          service,
          inferenceKey,
          ask({ model, routing: { providers: { only: [only] } } }),
          headers
        )
        assert.strictEqual(response.status, 200)
      }
      const [sampled, untold] = host.seen
      assert.notProperty(untold, "traceparent")
      assert.notProperty(untold, "tracestate")
      const whole = until(
        Effect.sync(() => (collector.trace(CALLER.traceId).length === 8 ? collector.trace(CALLER.traceId) : undefined))
      )
      const spans = yield* whole
      const call = spans.find(
        ({ attributes }) => attributes["svc.provider"] === "told" && attributes["server.port"] !== undefined
      )
      assert.strictEqual(sampled?.["traceparent"], `00-${CALLER.traceId}-${call?.spanId}-01`)
      assert.strictEqual(sampled?.["tracestate"], "vendor=1")
      assert.deepStrictEqual(attributes(call, "server.address", "server.port"), ["127.0.0.1", host.port])
      const servers = spans.filter(({ kind }) => kind === "server")
      for (const server of servers) assert.strictEqual(server.parentSpanId, CALLER.spanId)
      assert.isTrue(spans.every(({ traceState }) => traceState === "vendor=1"))
    }).pipe(Effect.scoped)
  )

  it.live("is on the receipt and passed on unchanged without a collector, and is ignored when it is malformed", () =>
    Effect.gen(function* () {
      const host = yield* startHost
      const { model, path } = yield* hostsFile(host.port)
      const service = yield* startService({
        PROVIDERS_FILE: path,
        OUTBOUND_ALLOW_LOOPBACK: "1",
        TRACE_CONTEXT_PROVIDERS: "told"
      })
      const { inferenceKey } = yield* service.account(10)
      const traceOf = (traceparent: string) =>
        Effect.gen(function* () {
          const body = ask({ model, routing: { providers: { only: ["told"] } } })
          const answer = yield* json(yield* chat(service, inferenceKey, body, { traceparent }))
          return (yield* endedReceiptOf(service, inferenceKey, answer.request_id)).trace_id
        })
      const good = `00-${CALLER.traceId}-${CALLER.spanId}-00`
      assert.strictEqual(yield* traceOf(good), CALLER.traceId)
      assert.strictEqual(host.seen.at(-1)?.["traceparent"], good)
      for (const bad of [
        "no",
        `00-${"0".repeat(32)}-${CALLER.spanId}-01`,
        `ff-${CALLER.traceId}-${CALLER.spanId}-01`
      ]) {
        assert.isNull(yield* traceOf(bad))
        assert.notProperty(host.seen.at(-1), "traceparent")
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "decides whether it is sampled; traces that start in the gateway are sampled as a whole at the configured ratio",
    () =>
      Effect.gen(function* () {
        const sampler = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.1" }
        const collector = yield* startCollector()
        const recorded = yield* Effect.gen(function* () {
          const service = yield* startService({ ...collector.environment, ...sampler })
          const { inferenceKey } = yield* service.account(10)
          const one = Effect.flatMap(chat(service, inferenceKey, ask()), json)
          const answers = yield* Effect.all(
            Array.from({ length: 200 }, () => one),
            { concurrency: 16 }
          )
          const unwanted = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-00` }
          yield* chat(service, inferenceKey, ask(), unwanted)
          const wanted = { traceparent: `00-${"a".repeat(32)}-${CALLER.spanId}-01` }
          yield* chat(service, inferenceKey, ask(), wanted)
          const receipts = yield* Effect.forEach(answers, ({ request_id }) =>
            endedReceiptOf(service, inferenceKey, request_id)
          )
          return receipts.map((receipt) => receipt.trace_id).filter((id) => id !== null)
        }).pipe(Effect.scoped)
        // Of 200 traces at a ratio of one in ten, fewer than 2 or more than 60 are sampled about once in 10^8 runs.
        assert.isAtLeast(recorded.length, 2)
        assert.isAtMost(recorded.length, 60)
        const paid = new Set(collector.spans.filter(({ name }) => name === ROUTE).map(({ traceId }) => traceId))
        assert.sameMembers([...paid], [...recorded, "a".repeat(32)])
        for (const traceId of paid) assert.lengthOf(collector.trace(traceId), 4)
      }).pipe(Effect.scoped)
  )
})

describe("an export to a collector", () => {
  it.live("contains no key, prompt or answer, and has the operator's headers, service name and attributes", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      const secrets = yield* Effect.gen(function* () {
        const service = yield* startService({
          ...collector.environment,
          OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`,
          OTEL_EXPORTER_OTLP_HEADERS: "X-Api-Key=PLANTED%20SECRET",
          OTEL_SERVICE_NAME: "gate",
          OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test"
        })
        const { inferenceKey, managementKey } = yield* service.account(10)
        const said = { "x-svc-sandbox": "text=PLANTED-ANSWER,output_tokens=9", "idempotency-key": "PLANTED-CLAIM" }
        for (const more of [{}, { stream: true, user: "PLANTED-USER", stop: "PLANTED-STOP" }]) {
          yield* frames(yield* chat(service, inferenceKey, ask(more), said))
        }
        yield* chat(service, managementKey, ask())
        yield* chat(service, inferenceKey, ask({ model: "PLANTED-MODEL" }))
        yield* get(`${service.origin}/PLANTED-PATH?key=PLANTED-QUERY`, "PLANTED-KEY")
        return [inferenceKey, managementKey, inferenceKey.slice(11, 40), managementKey.slice(11, 40), "PLANTED"]
      }).pipe(Effect.scoped)
      assert.isAtLeast(collector.spans.length, 5)
      for (const secret of secrets) assert.notInclude(collector.text(), secret)
      assert.isTrue(collector.headers.every((headers) => headers["x-api-key"] === "PLANTED SECRET"))
      for (const resource of collector.resources) {
        assert.include(resource, { "service.name": "gate", "deployment.environment": "test" })
      }
      for (const name of ["gen_ai.client.token.usage", "gen_ai.server.request.duration", "svc.ledger.group.size"]) {
        assert.isTrue(collector.metrics.has(name), name)
      }
      assert.deepStrictEqual(collector.faults, [])
    }).pipe(Effect.scoped)
  )
})

describe("a collector that fails", () => {
  for (const behaviour of ["refuses", "hangs"] as const) {
    it.live(`because it ${behaviour} does not disturb requests`, () =>
      Effect.gen(function* () {
        const collector = yield* startCollector(behaviour)
        yield* Effect.gen(function* () {
          const service = yield* startService(collector.environment)
          const { account, inferenceKey } = yield* service.account(10)
          const answers = yield* Effect.all(
            Array.from({ length: 300 }, () => chat(service, inferenceKey, ask())),
            { concurrency: 16 }
          )
          assert.isTrue(answers.every(({ status }) => status === 200))
          assert.strictEqual((yield* service.balance(account.id)).held, 0n)
        }).pipe(Effect.scoped)
        assert.isAbove(collector.requests(), 0)
        // The exporter batches the spans: 300 requests have 1,200 of them.
        assert.isBelow(collector.requests(), 100)
        assert.isEmpty(collector.spans)
      }).pipe(Effect.scoped)
    )
  }
})

/** Work other than chat under the same routing rules, on the test clock. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { type Candidate, defaultPolicy, type RoutingPolicy } from "../../../src/domain/Plan.ts"
import type { Price, UnitPrice } from "../../../src/domain/Pricing.ts"
import { makeMetrics, Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import { recordSpans } from "../../support/Spans.ts"
import { rules } from "../../../src/providers/pool/Breaker.ts"
import { otherWork, type WorkPoolCall } from "../../../src/providers/pool/CallKind.ts"
import type { Provider, WorkCall } from "../../../src/providers/Provider.ts"
import { ProviderError, type ProviderFault } from "../../../src/providers/ProviderError.ts"
import { ProviderPool } from "../../../src/providers/pool/ProviderPool.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { candidate, clocks } from "../calls.ts"
import { outcomes, pooled } from "../pools.ts"

const perCharacter: UnitPrice = { unit: "character", perUnit: 15_000n }

const voice = (provider: string, model = "voice-1"): Candidate<Price> => ({
  ...candidate(provider, { model: { id: model, modality: "audio" } }),
  price: perCharacter
})

const [a, b, c] = [voice("a"), voice("b"), voice("c")]

const server: ProviderFault = { _tag: "ServerError", status: 500, detail: "planted" }
const unreachable: ProviderFault = { _tag: "Unreachable", detail: "X" }
const times = (count: number, fault: ProviderFault) => Array.from({ length: count }, () => fault)

/** A speech provider that fails with these faults, one per call, each after `latencyMs`, then succeeds; records its calls. */
const speaker = (id: string, faults: ReadonlyArray<ProviderFault> = [], latencyMs = 0) => {
  const seen: Array<WorkCall> = []
  const provider: Provider = {
    ...makeSandbox(id),
    speak: (call, { input }) =>
      Effect.gen(function* () {
        seen.push(call)
        const fault = faults[seen.length - 1]
        if (latencyMs > 0) yield* Effect.sleep(latencyMs)
        if (fault !== undefined) return yield* new ProviderError({ provider: id, fault })
        return { audio: new TextEncoder().encode(`${id} says ${input}`) }
      })
  }
  return { provider, seen }
}

/** A provider without speech. */
const mute = (id: string): Provider => {
  const { speak: _, ...provider } = makeSandbox(id)
  return provider
}

const workCall = (
  candidates: readonly [Candidate<Price>, ...ReadonlyArray<Candidate<Price>>],
  policy: Partial<RoutingPolicy> = {},
  more: Partial<WorkPoolCall> = {}
): WorkPoolCall => ({
  requestId: "req_0123456789abcdef",
  plan: { requestedModels: ["voice-1"], policy: { ...defaultPolicy, ...policy }, candidates },
  operation: "speech",
  steering: undefined,
  ...more
})

type Pooled = Effect.Success<ReturnType<typeof pooled>>

const speak = (pool: Pooled["pool"], call: WorkPoolCall) =>
  pool.ask(call, (provider, asked) => provider.speak?.(asked, { input: "hi", voice: "alloy", format: "mp3", speed: 1 }))

/** The outcome of a request: the attempts, and the reason that the caller gets. */
const tried = ({ pool }: Pick<Pooled, "pool">, call: WorkPoolCall) =>
  Effect.match(speak(pool, call), {
    onSuccess: ({ attempts }) => ({ attempts: outcomes(attempts), reason: undefined }),
    onFailure: ({ attempts, reason }) => ({ attempts: outcomes(attempts), reason })
  })

/** The same while the test clock advances by `time` milliseconds. */
const triedWithin = (all: Pick<Pooled, "pool">, call: WorkPoolCall, time: number) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(tried(all, call), { startImmediately: true })
    yield* TestClock.adjust(time)
    return yield* Fiber.join(fiber)
  })

const metric = ({ metrics }: Pick<Pooled, "metrics">, line: string) =>
  PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry))
    .split("\n")
    .find((one) => one.startsWith(`${line} `))
    ?.slice(line.length + 1)

const resting = (seconds: number) => ({
  _tag: "NoProviderAvailable",
  detail: "The circuit breakers of all providers for this request are open because of recent failures; try again later",
  retryAfterSeconds: seconds
})

const unable = { _tag: "NoProviderAvailable", detail: "No provider of the requested model does this kind of work" }

describe("work other than chat", () => {
  it("is called with the common fields only", () => {
    const call = workCall([a], {}, { steering: "fault=error" })
    const expected = { requestId: call.requestId, candidate: a, clocks, steering: "fault=error" }
    assert.deepStrictEqual<unknown>(otherWork.callTo(a, call, clocks), expected)
    assert.strictEqual(otherWork.operationOf(call), "speech")
  })

  it.effect("is served by the first working candidate at its own price, and reports all attempts", () =>
    Effect.gen(function* () {
      const [first, second] = [speaker("a", [server]), speaker("b")]
      const all = yield* pooled(first.provider, second.provider)
      const told: Array<unknown> = []
      const call = workCall([a, b, c], {}, { onAttempt: (info) => told.push(Object.values(info)) })
      const { attempts, candidate, firstTokenMs, output, stopsBillingOnAbort } = yield* speak(all.pool, call)
      assert.strictEqual(new TextDecoder().decode(output.audio), "b says hi")
      assert.deepStrictEqual(candidate, b)
      assert.deepStrictEqual([firstTokenMs, stopsBillingOnAbort], [undefined, true])
      assert.deepStrictEqual(outcomes(attempts), ["a failed_over", "b served"])
      assert.deepStrictEqual(told, [
        ["a", true, true],
        ["b", true, true]
      ])
      assert.deepStrictEqual(all.samples, [
        { model: "voice-1", provider: "a", ok: false, durationMs: 0, firstTokenMs: undefined },
        { model: "voice-1", provider: "b", ok: true, durationMs: 0, firstTokenMs: undefined }
      ])
      const done = 'gen_ai_operation_name="text_to_speech",gen_ai_provider_name="b",gen_ai_request_model="voice-1"'
      assert.strictEqual(metric(all, `gen_ai_client_operation_duration_count{${done}}`), "1")
      assert.strictEqual(metric(all, 'svc_provider_attempts{gen_ai_provider_name="a",svc_outcome="failed"}'), "1")
    })
  )

  it.effect("tries only the first candidate when fallbacks are not allowed", () =>
    Effect.gen(function* () {
      const all = yield* pooled(speaker("a", [server]).provider, speaker("b").provider)
      const told = yield* tried(all, workCall([a, b], { allowFallbacks: false }))
      assert.deepStrictEqual(told, {
        attempts: ["a failed"],
        reason: { _tag: "UpstreamError", detail: "a: server error" }
      })
    })
  )

  it.effect("skips providers that do not support it, without an attempt", () =>
    Effect.gen(function* () {
      const able = speaker("c")
      const all = yield* pooled(mute("a"), { ...mute("b"), steerable: false }, able.provider)
      const told: Array<string> = []
      const call = workCall([a, b, c], {}, { onAttempt: ({ provider }) => told.push(provider) })
      assert.deepStrictEqual((yield* tried(all, call)).attempts, ["c served"])
      assert.deepStrictEqual(told, ["c"])
      assert.deepStrictEqual(
        all.samples.map(({ provider }) => provider),
        ["c"]
      )
      assert.strictEqual(able.seen[0]?.clocks.totalMs, clocks.totalMs)
      assert.isUndefined(metric(all, 'svc_provider_attempts{gen_ai_provider_name="a",svc_outcome="failed"}'))
    })
  )

  it.effect("fails as unavailable when no allowed provider supports it", () =>
    Effect.gen(function* () {
      const all = yield* pooled(mute("a"), mute("b"), speaker("c").provider)
      assert.deepStrictEqual<unknown>(yield* tried(all, workCall([a, b])), { attempts: [], reason: unable })
      const alone = workCall([a, c], { allowFallbacks: false })
      assert.deepStrictEqual<unknown>(yield* tried(all, alone), { attempts: [], reason: unable })
      assert.deepStrictEqual(all.samples, [])
    })
  )

  it.effect("fails with the failure, not with the providers after it that do not support the work", () =>
    Effect.gen(function* () {
      const all = yield* pooled(speaker("a", [server]).provider, mute("b"))
      const told = yield* tried(all, workCall([a, b]))
      assert.deepStrictEqual(told, {
        attempts: ["a failed"],
        reason: { _tag: "UpstreamError", detail: "a: server error" }
      })
    })
  )

  it.effect("opens the breaker of a failing model only", () =>
    Effect.gen(function* () {
      const bad = speaker("a", times(rules.consecutive, server))
      const all = yield* pooled(bad.provider, speaker("b").provider, mute("c"))
      for (let request = 0; request < rules.consecutive; request++) yield* tried(all, workCall([a, b]))
      assert.deepStrictEqual((yield* tried(all, workCall([a, b]))).attempts, ["b served"])
      assert.lengthOf(bad.seen, rules.consecutive)
      // Among providers that do not support the work, the open breaker is what the caller learns about.
      assert.deepStrictEqual<unknown>(yield* tried(all, workCall([a, c])), { attempts: [], reason: resting(1) })
      assert.deepStrictEqual((yield* tried(all, workCall([voice("a", "voice-2"), b]))).attempts, ["a served"])
      yield* TestClock.adjust(rules.firstOpenMs)
      // The first request is the probe, and closes the breaker.
      for (let request = 0; request < 2; request++) {
        assert.deepStrictEqual((yield* tried(all, workCall([a, b]))).attempts, ["a served"])
      }
    })
  )

  it.effect("does not count failures that a sandbox client requested", () =>
    Effect.gen(function* () {
      const count = rules.consecutive + 1
      const all = yield* pooled(speaker("a", times(count, server)).provider)
      const call = workCall([a], {}, { steering: "fault=error" })
      for (let request = 0; request < count; request++) {
        assert.deepStrictEqual((yield* tried(all, call)).attempts, ["a failed"])
      }
      assert.deepStrictEqual((yield* tried(all, workCall([a]))).attempts, ["a served"])
    })
  )

  it.effect("waits for a host that names a short pause", () =>
    Effect.gen(function* () {
      const busy = speaker("a", [{ _tag: "RateLimited", retryAfterSeconds: 2 }])
      const all = yield* pooled(busy.provider)
      assert.deepStrictEqual((yield* triedWithin(all, workCall([a]), 2_500)).attempts, ["a failed_over", "a served"])
      assert.strictEqual(metric(all, 'svc_provider_retries{gen_ai_provider_name="a"}'), "1")
      const long = speaker("b", [{ _tag: "RateLimited", retryAfterSeconds: 30 }])
      const told = yield* tried(yield* pooled(long.provider), workCall([b]))
      assert.deepStrictEqual<unknown>(told, {
        attempts: ["b failed"],
        reason: { _tag: "UpstreamRateLimited", retryAfterSeconds: 30 }
      })
    })
  )

  it.effect("is retried once at once after a failed connection, and then within the retry budget", () =>
    Effect.gen(function* () {
      const once = yield* pooled(speaker("a", [unreachable]).provider)
      assert.deepStrictEqual((yield* tried(once, workCall([a]))).attempts, ["a failed_over", "a served"])
      const gone = speaker("a", times(9, unreachable))
      const { attempts } = yield* triedWithin(yield* pooled(gone.provider), workCall([a]), 1_000)
      assert.deepStrictEqual(attempts, ["a failed_over", "a failed_over", "a failed_over", "a failed"])
      const all = yield* pooled(speaker("a", times(1_000, unreachable)).provider)
      // Each request is for its own model, so that no breaker opens.
      const models = Array.from({ length: 30 }, (_, index) => voice("a", `voice-${index}`))
      const asking = Effect.forEach(models, (model) => tried(all, workCall([model])), { concurrency: "unbounded" })
      const fiber = yield* Effect.forkChild(asking, { startImmediately: true })
      yield* TestClock.adjust(1_000)
      yield* Fiber.join(fiber)
      const retries = Number(metric(all, 'svc_provider_retries{gen_ai_provider_name="a"}'))
      assert.isTrue(retries >= 30 + 10 && retries <= 30 + 10 + 3 + 1, `${retries} retries`)
    })
  )

  it.effect("has one total limit for all attempts, the shorter of the service's and the caller's", () =>
    Effect.gen(function* () {
      const [slow, second] = [speaker("a", [server, server], 700), speaker("b")]
      const all = yield* pooled(slow.provider, second.provider)
      const within = (totalMs: number) => workCall([a, b], { timeouts: { connectMs: 10, totalMs } })
      const { attempts } = yield* triedWithin(all, within(1_000), 700)
      assert.deepStrictEqual(attempts, ["a failed_over", "b served"])
      assert.deepStrictEqual(slow.seen[0]?.clocks, { ...clocks, connectMs: 10, totalMs: 1_000 })
      assert.deepStrictEqual(second.seen[0]?.clocks, { ...clocks, connectMs: 10, totalMs: 300 })
      assert.deepStrictEqual((yield* triedWithin(all, within(700), 700)).attempts, ["a failed"])
    })
  )

  it.effect("is never hedged, whatever its plan says", () =>
    Effect.gen(function* () {
      const [slow, other] = [speaker("a", [], 5_000), speaker("b")]
      const all = yield* pooled(slow.provider, other.provider)
      const call = workCall([a, b])
      const hedged = { ...call, plan: { ...call.plan, hedgeAfterMs: 100 } }
      assert.deepStrictEqual((yield* triedWithin(all, hedged, 5_000)).attempts, ["a served"])
      assert.lengthOf(other.seen, 0)
    })
  )

  it.effect("is cancelled when the caller disconnects, without a sample", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const slow = speaker("a", [], 5_000)
      const all = yield* pooled(slow.provider)
      const call = workCall([a], {}, { onAttempt: () => Deferred.doneUnsafe(begun, Exit.void) })
      const fiber = yield* Effect.forkChild(tried(all, call))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(all.samples, [])
      assert.strictEqual(metric(all, 'svc_provider_attempts{gen_ai_provider_name="a",svc_outcome="cancelled"}'), "1")
    })
  )
})

describe("the spans of work other than chat", () => {
  const traced = Effect.fnUntraced(function* (call: WorkPoolCall, ...providers: ReadonlyArray<Provider>) {
    const { spans, tracing } = recordSpans()
    const span = tracing.server(undefined, undefined)
    const layer = ProviderPool.layerFrom({ providers, clocks, observe: () => undefined, traceTo: new Set(["b"]) })
    const pool = Context.get(
      yield* Layer.build(Layer.provide(layer, Layer.succeed(Metrics, makeMetrics()))),
      ProviderPool
    )
    yield* tried({ pool }, { ...call, trace: { span, from: undefined } })
    return spans
  }, Effect.scoped)

  it.effect("exist once per attempt, are children of the request's span, and reach only allowed providers", () =>
    Effect.gen(function* () {
      const [first, second] = [speaker("a", [server]), speaker("b")]
      const spans = yield* traced(workCall([c, a, b]), mute("c"), first.provider, second.provider)
      assert.deepStrictEqual(
        spans.map(({ failed, kind, name }) => [name, kind, failed]),
        [
          ["text_to_speech voice-1", "client", true],
          ["text_to_speech voice-1", "client", false]
        ]
      )
      assert.deepStrictEqual(spans[1]?.attributes, {
        "gen_ai.operation.name": "text_to_speech",
        "gen_ai.provider.name": "b",
        "gen_ai.request.model": "voice-1",
        "gen_ai.output.type": "speech",
        "svc.provider": "b",
        "svc.upstream_model": "up-1",
        "svc.attempt.index": 1,
        "svc.attempt.outcome": "served"
      })
      assert.isUndefined(first.seen[0]?.traceHeaders)
      const { spanId, traceId } = spans[1]!.context
      assert.deepStrictEqual(second.seen[0]?.traceHeaders, { traceparent: `00-${traceId}-${spanId}-01` })
    })
  )

  it.effect("carry the name of the operation", () =>
    Effect.gen(function* () {
      const named = yield* Effect.forEach(["embeddings", "rerank", "search"] as const, (operation) =>
        Effect.map(traced(workCall([a], {}, { operation }), speaker("a").provider), (spans) => {
          assert.isUndefined(spans[0]?.attributes["gen_ai.output.type"])
          return spans.map(({ name }) => name)
        })
      )
      assert.deepStrictEqual(named, [["embeddings voice-1"], ["rerank voice-1"], ["retrieval voice-1"]])
    })
  )

  it.effect("record the outcome only when an answer that was still arriving has ended", () =>
    Effect.gen(function* () {
      const { provider } = speaker("a")
      const all = yield* pooled(provider)
      const broken: ProviderFault = { _tag: "Broken", detail: "ECONNRESET" }
      const attempt = (one: Provider, call: WorkCall) =>
        one.speak?.(call, { input: "hi", voice: "alloy", format: "mp3", speed: 1 })
      for (const fault of [undefined, broken]) {
        const end = yield* Deferred.make<void, ProviderError>()
        const before = all.samples.length
        yield* all.pool.ask(workCall([a]), attempt, () => Deferred.await(end))
        assert.lengthOf(all.samples, before)
        yield* TestClock.adjust(70)
        yield* fault === undefined
          ? Deferred.succeed(end, undefined)
          : Deferred.fail(end, new ProviderError({ provider: "a", fault }))
        yield* Effect.yieldNow
        assert.deepInclude(all.samples.at(-1), { provider: "a", ok: fault === undefined, durationMs: 70 })
      }
      let asked = 0
      const breaking = { ...provider, speak: () => Effect.sync(() => ((asked += 1), { audio: new Uint8Array() })) }
      const resting = yield* pooled(breaking)
      const rest = () => Effect.fail(new ProviderError({ provider: "a", fault: broken }))
      for (let call = 0; call < 100; call++) yield* Effect.exit(resting.pool.ask(workCall([a]), attempt, rest))
      assert.isBelow(asked, 100)
    })
  )
})

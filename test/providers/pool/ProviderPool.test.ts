import type { TakeEvents } from "../../../src/providers/Provider.ts"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Metric, Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import type { OutputEvent } from "../../../src/domain/Output.ts"
import type { Attempt } from "../../../src/domain/Plan.ts"
import type { Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import type { PoolCall } from "../../../src/providers/pool/CallKind.ts"
import type { PoolError } from "../../../src/providers/pool/PoolError.ts"
import type { ChatCall, Provider } from "../../../src/providers/Provider.ts"
import type { ProviderError, ProviderFault } from "../../../src/providers/ProviderError.ts"
import type { ProviderPool } from "../../../src/providers/pool/ProviderPool.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { candidate, clocks, drain, joined, nextOf } from "../calls.ts"
import { double, failing, outcomes, poolCall, pooled, scripted } from "../pools.ts"

const a = candidate("a")
const b = candidate("b")
const c = candidate("c")

type Pool = ProviderPool["Service"]

/** The same expectations for complete and for streamed answers. */
const ways: ReadonlyArray<
  readonly [
    string,
    (
      pool: Pool,
      call: PoolCall
    ) => Effect.Effect<{ text: string; attempts: ReadonlyArray<Attempt>; provider: string }, PoolError | ProviderError>
  ]
> = [
  [
    "complete",
    (pool, call) =>
      Effect.map(pool.chat(call), ({ output, attempts, candidate }) => ({
        text: output.text,
        attempts,
        provider: candidate.offer.provider
      }))
  ],
  [
    "streamed",
    (pool, call) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { source, attempts, candidate } = yield* pool.chatStream(call)
          const text = joined((yield* drain(source)).flat(), "Text")
          return { text, attempts, provider: candidate.offer.provider }
        })
      )
  ]
]

/** Hedges with this outcome at the provider `b`. */
const hedges = ({ registry }: Metrics, outcome: string) => {
  const text = PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, registry))
  const line = `svc_provider_hedges{gen_ai_provider_name="b",svc_outcome="${outcome}"} `
  return Number(text.split(line)[1]?.split("\n")[0])
}

const poolError = <A>(effect: Effect.Effect<A, PoolError | ProviderError>) =>
  Effect.map(Effect.flip(effect), (error) => {
    if (error._tag !== "PoolError") throw error
    return error
  })

for (const [way, ask] of ways) {
  describe(`a ${way} answer`, () => {
    it.effect("comes from the first working candidate", () =>
      Effect.gen(function* () {
        const { pool, samples } = yield* pooled(
          double("a", "fault=error"),
          double("b", "fault=empty"),
          double("c", "text=hi")
        )
        const served = yield* ask(pool, poolCall([a, b, c]))
        assert.deepStrictEqual([served.text, served.provider], ["hi", "c"])
        assert.deepStrictEqual(outcomes(served.attempts), ["a failed_over", "b failed_over", "c served"])
        assert.deepStrictEqual(
          samples.map(({ provider, model, ok }) => [provider, model, ok]),
          [
            ["a", "model-1", false],
            ["c", "model-1", true]
          ]
        )
      })
    )

    it.effect("comes from the next candidate after any fault before the content", () =>
      Effect.gen(function* () {
        for (const fault of ["rate_limit", "error", "malformed", "empty", "break,after=0"]) {
          const { pool } = yield* pooled(double("a", `fault=${fault}`), makeSandbox("b"))
          assert.deepStrictEqual(outcomes((yield* ask(pool, poolCall([a, b]))).attempts), ["a failed_over", "b served"])
        }
      })
    )

    it.effect("comes only from the first candidate when fallbacks are not allowed", () =>
      Effect.gen(function* () {
        const { pool } = yield* pooled(double("a", "fault=error"), makeSandbox("b"))
        const error = yield* poolError(ask(pool, poolCall([a, b], { allowFallbacks: false })))
        assert.deepStrictEqual(outcomes(error.attempts), ["a failed"])
      })
    )

    it.effect("may be empty when its output limit truncated it", () =>
      Effect.gen(function* () {
        const { pool } = yield* pooled(double("a", "reasoning_tokens=2000"), makeSandbox("b"))
        const hidden = candidate("a", { model: { hiddenReasoning: true } })
        const served = yield* ask(pool, poolCall([hidden, b]))
        assert.deepStrictEqual([served.text, served.provider], ["", "a"])
      })
    )

    it.effect("does not come from a provider that the gateway does not know", () =>
      Effect.gen(function* () {
        const { pool, samples } = yield* pooled(makeSandbox("b"))
        assert.deepStrictEqual(outcomes((yield* ask(pool, poolCall([a, b]))).attempts), ["a failed_over", "b served"])
        assert.lengthOf(samples, 1)
        const { reason, attempts } = yield* poolError(ask(pool, poolCall([a])))
        assert.deepStrictEqual(reason, { _tag: "UpstreamError", detail: "a: unavailable" })
        assert.deepStrictEqual(outcomes(attempts), ["a failed"])
        assert.deepStrictEqual([pool.has("a"), pool.has("b")], [false, true])
      })
    )

    const unreachable: ProviderFault = { _tag: "Unreachable", detail: "X" }

    it.effect("is not requested from another provider after a lost one", () =>
      Effect.gen(function* () {
        const lost = failing("a", { _tag: "Lost", detail: "X" })
        const { pool } = yield* pooled(lost, makeSandbox("b"))
        const { attempts, reason } = yield* poolError(ask(pool, poolCall([a, b])))
        assert.deepStrictEqual(outcomes(attempts), ["a failed"])
        assert.deepStrictEqual(reason, { _tag: "UpstreamError", detail: "a: lost answer" })
      })
    )

    it.effect("comes from the last candidate after a retry when it was unreachable", () =>
      Effect.gen(function* () {
        const { pool } = yield* pooled(failing("a", unreachable, unreachable), failing("b", unreachable))
        const served = yield* ask(pool, poolCall([a, b]))
        assert.deepStrictEqual(outcomes(served.attempts), ["a failed_over", "b failed_over", "b served"])
        assert.deepStrictEqual(outcomes((yield* ask(pool, poolCall([a]))).attempts), ["a failed_over", "a served"])
      })
    )

    it.effect(
      "is requested with the candidate's output limit and the shorter time limits, and reports each attempt",
      () =>
        Effect.gen(function* () {
          const seen: Array<ChatCall> = []
          const told: Array<unknown> = []
          const { pool } = yield* pooled(
            { ...double("a", "fault=error", seen), stopsBillingOnAbort: false },
            double("b", "", seen)
          )
          const timeouts = { connectMs: 10, firstTokenMs: 99_999_999, totalMs: 30 }
          yield* ask(
            pool,
            poolCall(
              [a, b],
              { timeouts },
              {
                maxOutputTokens: ({ offer }) => (offer.provider === "a" ? 11 : 22),
                onAttempt: (info) => told.push(info)
              }
            )
          )
          assert.deepStrictEqual(
            seen.map((call) => [call.candidate.offer.provider, call.maxOutputTokens]),
            [
              ["a", 11],
              ["b", 22]
            ]
          )
          assert.deepStrictEqual(seen[0]?.clocks, { ...clocks, connectMs: 10, totalMs: 30 })
          assert.deepStrictEqual(told, [
            { provider: "a", stopsBillingOnAbort: false, beginsAlone: true },
            { provider: "b", stopsBillingOnAbort: true, beginsAlone: true }
          ])
        })
    )

    const refused: ProviderFault = { _tag: "Refused", status: 422, detail: "too odd" }
    const limited: ProviderFault = { _tag: "RateLimited", retryAfterSeconds: 9 }
    const unauthorized: ProviderFault = { _tag: "Unauthorized", status: 401 }
    const server: ProviderFault = { _tag: "ServerError", status: 500, detail: "planted detail" }
    const late = (clock: "connect" | "total"): ProviderFault => ({ _tag: "TimedOut", clock })
    const refusedBy = (provider: string) => ({ _tag: "ProviderRefused", provider, detail: "too odd" })
    const reasons: ReadonlyArray<readonly [string, ReadonlyArray<ProviderFault | "empty">, object]> = [
      ["all refuse", [refused, refused], refusedBy("b")],
      ["the last refuses", [server, refused], refusedBy("b")],
      ["one refuses, the others are unauthorized or unreachable", [refused, unauthorized, unreachable], refusedBy("a")],
      [
        "one refuses, then one fails",
        [refused, server],
        { _tag: "UpstreamError", detail: "a: refused the request; b: server error" }
      ],
      ["all time out", [late("connect"), late("total")], { _tag: "UpstreamTimeout", clock: "total" }],
      ["one times out", [server, late("total")], { _tag: "UpstreamError", detail: "a: server error; b: timed out" }],
      ["all answer empty", ["empty", "empty"], { _tag: "EmptyCompletion" }],
      [
        "one answers empty",
        [late("total"), "empty"],
        { _tag: "UpstreamError", detail: "a: timed out; b: empty answer" }
      ],
      [
        "the last is rate limited",
        [server, limited],
        { _tag: "UpstreamError", detail: "a: server error; b: rate limited", retryAfterSeconds: 9 }
      ],
      [
        "the first is rate limited",
        [limited, server],
        { _tag: "UpstreamError", detail: "a: rate limited; b: server error" }
      ],
      ["the gateway's account is unauthorized", [unauthorized], { _tag: "UpstreamError", detail: "a: unavailable" }]
    ]
    for (const [name, faults, reason] of reasons) {
      it.effect(`fails with the right reason when no provider serves: ${name}`, () =>
        Effect.gen(function* () {
          const ids = [a, b, c].slice(0, faults.length)
          const providers = faults.map((fault, index) => {
            const id = ids[index]?.offer.provider ?? ""
            return fault === "empty" ? double(id, "fault=empty") : failing(id, ...Array(9).fill(fault))
          })
          const { pool, samples } = yield* pooled(...providers)
          const asking = yield* Effect.forkChild(poolError(ask(pool, poolCall([a, ...ids.slice(1)]))))
          yield* TestClock.adjust("10 seconds")
          const error = yield* Fiber.join(asking)
          assert.deepStrictEqual<unknown>(error.reason, reason)
          assert.strictEqual(error.attempts.at(-1)?.outcome, "failed")
          assert.deepStrictEqual(
            error.failures.slice(0, faults.length).map(({ fault }) => fault ?? "empty"),
            faults
          )
          assert.isTrue(samples.every((sample) => !sample.ok))
          const telling = error.failures.filter(({ fault }) => fault !== undefined && fault._tag !== "Refused")
          assert.lengthOf(samples, telling.length)
        })
      )
    }

    it.effect("is cancelled when the caller disconnects, without a sample", () =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const { pool, samples } = yield* pooled(double("a", "latency_ms=1000"))
        const call = poolCall([a], {}, { onAttempt: () => Deferred.doneUnsafe(begun, Exit.void) })
        const fiber = yield* Effect.forkChild(ask(pool, call))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.lengthOf(samples, 0)
      })
    )
  })
}

describe("a stream", () => {
  const text = (words: string): OutputEvent => ({ _tag: "Text", text: words })
  const stop: OutputEvent = { _tag: "Finish", reason: "stop" }
  const length: OutputEvent = { _tag: "Finish", reason: "length" }
  const usage: OutputEvent = { _tag: "Usage", usage: { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 } }
  const broken: ProviderFault = { _tag: "Broken", detail: "X" }

  it.effect("delivers the first events unchanged, then the rest", () =>
    Effect.gen(function* () {
      const { provider, closed } = scripted("a", [[usage], [text("one"), text("two")], [text("three")], [stop]])
      const { pool } = yield* pooled(provider)
      const { source } = yield* pool.chatStream(poolCall([a]))
      assert.deepStrictEqual(yield* drain(source), [[usage, text("one"), text("two")], [text("three")], [stop]])
      assert.isUndefined(yield* nextOf(source))
      assert.strictEqual(closed(), 0)
    }).pipe(Effect.scoped)
  )

  it.effect("is closed before the next attempt begins, or with its scope when it served", () =>
    Effect.gen(function* () {
      const empty = scripted("a", [[stop, usage]])
      const broke = scripted("b", [[usage]], broken)
      const served = scripted("c", [[text("hi")], [stop]])
      const { pool, samples } = yield* pooled(empty.provider, broke.provider, served.provider)
      const closedAt: Array<ReadonlyArray<number>> = []
      const onAttempt = () => closedAt.push([empty.closed(), broke.closed(), served.closed()])
      const scope = yield* Scope.make()
      const { attempts } = yield* Scope.provide(pool.chatStream(poolCall([a, b, c], {}, { onAttempt })), scope)
      assert.deepStrictEqual(closedAt, [
        [0, 0, 0],
        [1, 0, 0],
        [1, 1, 0]
      ])
      assert.deepStrictEqual(outcomes(attempts), ["a failed_over", "b failed_over", "c served"])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual([empty.closed(), broke.closed(), served.closed()], [1, 1, 1])
      assert.deepStrictEqual(
        samples.map(({ provider }) => provider),
        ["b", "c"]
      )
    })
  )

  it.effect("never falls back after its first content", () =>
    Effect.gen(function* () {
      const { pool, samples } = yield* pooled(double("a", "fault=break,after=2"), makeSandbox("b"))
      const { source, attempts } = yield* pool.chatStream(poolCall([a, b]))
      assert.deepStrictEqual(outcomes(attempts), ["a served"])
      assert.lengthOf(yield* nextOf(source).pipe(Effect.map((events) => events ?? [])), 1)
      assert.lengthOf(yield* nextOf(source).pipe(Effect.map((events) => events ?? [])), 1)
      const error = yield* Effect.flip(nextOf(source))
      assert.strictEqual(error.fault._tag, "Broken")
      assert.deepStrictEqual(
        samples.map(({ provider, ok }) => [provider, ok]),
        [["a", false]]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("that its output limit left empty is served as it is", () =>
    Effect.gen(function* () {
      const { pool } = yield* pooled(scripted("a", [[length], [usage]]).provider, makeSandbox("b"))
      const { source, firstTokenMs } = yield* pool.chatStream(poolCall([a, b]))
      assert.deepStrictEqual(yield* drain(source), [[length, usage]])
      assert.isUndefined(firstTokenMs)
    }).pipe(Effect.scoped)
  )

  it.effect("is measured from the start of its own attempt to its first content and to its end", () =>
    Effect.gen(function* () {
      const { pool, samples } = yield* pooled(
        double("a", "fault=stall,after=0"),
        double("b", "latency_ms=300,chunk_ms=100,text=a%20b%20c")
      )
      const call = poolCall([a, b], { timeouts: { firstTokenMs: 1_000 } })
      const fiber = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            const served = yield* pool.chatStream(call)
            yield* drain(served.source)
            return served
          })
        )
      )
      yield* TestClock.adjust(1_500)
      const { firstTokenMs, attempts } = yield* Fiber.join(fiber)
      assert.strictEqual(firstTokenMs, 300)
      assert.deepStrictEqual(outcomes(attempts), ["a failed_over", "b served"])
      assert.deepStrictEqual(samples, [
        { model: "model-1", provider: "b", ok: true, durationMs: 500, firstTokenMs: 300 }
      ])
    })
  )

  it.effect("that its reader abandons counts as a success without a duration", () =>
    Effect.gen(function* () {
      const { pool, samples } = yield* pooled(makeSandbox("a"))
      yield* Effect.scoped(Effect.flatMap(pool.chatStream(poolCall([a])), ({ source }) => nextOf(source)))
      assert.deepStrictEqual(
        samples.map(({ durationMs, ok }) => [ok, durationMs]),
        [[true, undefined]]
      )
    })
  )
})

describe("a hedge", () => {
  const hedged = (afterMs: number, more: Partial<PoolCall> = {}) => {
    const call = poolCall([a, b, c], {}, more)
    return { ...call, plan: { ...call.plan, hedgeAfterMs: afterMs } }
  }

  /** Runs a request while the test clock advances by `ms` milliseconds. */
  const asked = <A, E>(effect: Effect.Effect<A, E>, ms: number) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
      yield* TestClock.adjust(ms)
      return yield* Fiber.join(fiber)
    })

  /** A sandbox provider that counts its calls and those that were interrupted before their end. */
  const watched = (id: string, steering: string) => {
    const provider = double(id, steering)
    const seen = { begun: 0, left: 0 }
    const begin = Effect.sync(() => void seen.begun++)
    const leave = Effect.sync(() => void seen.left++)
    return {
      seen,
      provider: {
        ...provider,
        chat: (call: ChatCall) =>
          Effect.andThen(
            begin,
            Effect.onInterrupt(provider.chat(call), () => leave)
          ),
        chatStream: (call: ChatCall) =>
          Effect.gen(function* () {
            yield* begin
            const { each } = yield* provider.chatStream(call).pipe(Effect.onInterrupt(() => leave))
            return { each: (take: TakeEvents) => Effect.onInterrupt(each(take), () => leave) }
          })
      } satisfies Provider
    }
  }

  for (const [way, ask] of ways) {
    it.effect(`wins over a slow first attempt, which is abandoned: ${way}`, () =>
      Effect.gen(function* () {
        const [slow, quick] = [watched("a", "latency_ms=5000"), watched("b", "latency_ms=100,text=quick")]
        const { metrics, pool, samples } = yield* pooled(slow.provider, quick.provider, makeSandbox("c"))
        const told: Array<unknown> = []
        const call = hedged(200, { onAttempt: ({ provider }) => told.push(provider) })
        const served = yield* asked(ask(pool, call), 300)
        assert.deepStrictEqual([served.text, served.provider], ["quick", "b"])
        assert.deepStrictEqual(outcomes(served.attempts), ["a failed_over", "b served"])
        assert.deepStrictEqual(
          [slow.seen, quick.seen],
          [
            { begun: 1, left: 1 },
            { begun: 1, left: 0 }
          ]
        )
        assert.deepStrictEqual(told, ["a", "b", "b"])
        // The elapsed time is a lower bound, for a stream's first token or for a complete answer.
        const least =
          way === "streamed"
            ? { durationMs: undefined, firstTokenMs: 300 }
            : { durationMs: 300, firstTokenMs: undefined }
        assert.deepInclude(samples, { model: "model-1", provider: "a", ok: true, ...least })
        assert.strictEqual(hedges(metrics, "won"), 1)
      })
    )

    it.effect(`loses to a first attempt that recovers: ${way}`, () =>
      Effect.gen(function* () {
        const [first, late] = [watched("a", "latency_ms=300,text=first"), watched("b", "latency_ms=5000")]
        const { metrics, pool, samples } = yield* pooled(first.provider, late.provider, makeSandbox("c"))
        const served = yield* asked(ask(pool, hedged(200)), 300)
        assert.deepStrictEqual([served.text, served.provider], ["first", "a"])
        assert.deepStrictEqual(outcomes(served.attempts), ["b failed_over", "a served"])
        assert.deepStrictEqual(late.seen, { begun: 1, left: 1 })
        assert.deepStrictEqual(
          samples.map(({ provider }) => provider),
          ["a"]
        )
        assert.strictEqual(hedges(metrics, "lost"), 1)
      })
    )

    it.effect(`is not started beside a fast or failed attempt: ${way}`, () =>
      Effect.gen(function* () {
        const other = watched("b", "text=other")
        const { pool } = yield* pooled(double("a", "latency_ms=199"), other.provider, makeSandbox("c"))
        assert.deepStrictEqual(outcomes((yield* asked(ask(pool, hedged(200)), 300)).attempts), ["a served"])
        assert.strictEqual(other.seen.begun, 0)
        const failed = yield* pooled(double("a", "fault=error"), double("b", "latency_ms=300"), makeSandbox("c"))
        const { attempts } = yield* asked(ask(failed.pool, hedged(200)), 300)
        assert.deepStrictEqual(outcomes(attempts), ["a failed_over", "b served"])
      })
    )

    it.effect(`turns no success into a failure, whichever attempt fails: ${way}`, () =>
      Effect.gen(function* () {
        const bad = "fault=error,latency_ms=100"
        const one = yield* pooled(double("a", "latency_ms=1000"), double("b", bad), makeSandbox("c"))
        const alone = yield* asked(ask(one.pool, hedged(200)), 1_000)
        assert.deepStrictEqual(outcomes(alone.attempts), ["b failed_over", "a served"])
        const other = yield* pooled(double("a", "fault=error,latency_ms=250"), double("b", "latency_ms=500"))
        const taken = yield* asked(ask(other.pool, hedged(200)), 700)
        assert.deepStrictEqual(outcomes(taken.attempts), ["a failed_over", "b served"])
        const both = yield* pooled(double("a", "fault=error,latency_ms=250"), double("b", bad), makeSandbox("c"))
        const third = yield* asked(ask(both.pool, hedged(200)), 300)
        assert.deepStrictEqual(outcomes(third.attempts), ["a failed_over", "b failed_over", "c served"])
      })
    )

    it.effect(`is cancelled when the caller disconnects: ${way}`, () =>
      Effect.gen(function* () {
        const [slow, late] = [watched("a", "latency_ms=5000"), watched("b", "latency_ms=5000")]
        const { pool, samples } = yield* pooled(slow.provider, late.provider)
        const fiber = yield* Effect.forkChild(ask(pool, hedged(200)), { startImmediately: true })
        yield* TestClock.adjust(300)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(
          [slow.seen, late.seen],
          [
            { begun: 1, left: 1 },
            { begun: 1, left: 1 }
          ]
        )
        assert.lengthOf(samples, 0)
      })
    )

    it.effect(`takes from the retry budget of its host: ${way}`, () =>
      Effect.gen(function* () {
        const other = watched("b", "text=other")
        const { pool } = yield* pooled(double("a", "latency_ms=300"), other.provider)
        const asking = Effect.forEach(Array(30).fill(0), () => ask(pool, hedged(200)), { concurrency: "unbounded" })
        assert.lengthOf(yield* asked(asking, 300), 30)
        assert.strictEqual(other.seen.begun, 10)
      })
    )
  }

  it.effect("is not started after a delay that was measured for a skipped candidate", () =>
    Effect.gen(function* () {
      const other = watched("c", "text=other")
      const limited: ProviderFault = { _tag: "RateLimited", retryAfterSeconds: 60 }
      const { pool } = yield* pooled(failing("a", limited), double("b", "latency_ms=300"), other.provider)
      yield* Effect.exit(pool.chat(poolCall([a])))
      const { attempts } = yield* asked(pool.chat(hedged(200)), 300)
      assert.deepStrictEqual(outcomes(attempts), ["b served"])
      assert.strictEqual(other.seen.begun, 0)
    })
  )

  it.effect("is followed by no attempt once the other answer was lost", () =>
    Effect.gen(function* () {
      const first = failing("a", { _tag: "Lost", detail: "X", ours: true, param: "logprobs" })
      const slow: Provider = { ...first, chat: (call) => Effect.delay(first.chat(call), 250) }
      const { pool } = yield* pooled(slow, double("b", "fault=error,latency_ms=100"), makeSandbox("c"))
      const { attempts, reason } = yield* asked(Effect.flip(pool.chat(hedged(200))), 300)
      assert.deepStrictEqual(outcomes(attempts), ["a failed_over", "b failed"])
      assert.strictEqual(reason._tag, "ValidationError")
    })
  )

  it.effect("reports that an abort stops billing only if it does at both providers", () =>
    Effect.gen(function* () {
      const first = { ...double("a", "latency_ms=400"), stopsBillingOnAbort: false }
      const { pool } = yield* pooled(first, double("b", "latency_ms=400"))
      const told: Array<unknown> = []
      yield* asked(pool.chat(hedged(200, { onAttempt: (info) => told.push(Object.values(info)) })), 400)
      assert.deepStrictEqual(told, [
        ["a", false, true],
        ["b", false, false],
        ["a", false, false]
      ])
    })
  )
})

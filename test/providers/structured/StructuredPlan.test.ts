/** Answers off their schema within a plan: which candidate is tried next, and what the answers say about their provider. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import type { Model } from "../../../src/domain/Model.ts"
import { emptyOutput, type Output } from "../../../src/domain/Output.ts"
import type { Candidate } from "../../../src/domain/Plan.ts"
import { fixedBound, promptBoundAt, TOKENS_PER_IMAGE } from "../../../src/domain/TokenBound.ts"
import { makeMetrics, Metrics } from "../../../src/platform/telemetry/Metrics.ts"
import { AnswerTimes } from "../../../src/providers/pool/AnswerClock.ts"
import { rules } from "../../../src/providers/pool/Breaker.ts"
import { streamedChat, wholeChat, type PoolCall } from "../../../src/providers/pool/CallKind.ts"
import { PlanExecution } from "../../../src/providers/pool/PlanExecution.ts"
import type { AttemptSample } from "../../../src/providers/pool/FirstContent.ts"
import { makeHosts } from "../../../src/providers/Hosts.ts"
import type { ChatCall, Provider } from "../../../src/providers/Provider.ts"
import { ProviderPool } from "../../../src/providers/pool/ProviderPool.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, clocks, drain, joined } from "../calls.ts"
import { failing, outcomes, poolCall } from "../pools.ts"

const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] }
const conversation = asked("hi", { format: { type: "json_schema", name: "n", schema, strict: true } })
const native: Partial<Model> = { id: "model-2", capabilities: ["streaming", "structured_outputs"] }

/** A provider that answers with this text and counts its calls; its answers are checked like a real host's. */
const saying = (id: string, text: string, more: Partial<Output> = {}) => {
  const asked = { times: 0 }
  const provider: Provider = {
    id,
    stopsBillingOnAbort: true,
    chat: () =>
      Effect.sync(() => {
        asked.times++
        return { ...emptyOutput, text, finish: "stop", ...more }
      }),
    chatStream: () => Effect.die("a stream was requested")
  }
  return { provider, asked }
}

/** A pool that lives as long as its test. */
const pooled = Effect.fnUntraced(function* (...providers: ReadonlyArray<Provider>) {
  const samples: Array<AttemptSample> = []
  const layer = ProviderPool.layerFrom({ providers, clocks, observe: (sample) => samples.push(sample) }).pipe(
    Layer.provide(Layer.succeed(Metrics, makeMetrics()))
  )
  return { pool: Context.get(yield* Layer.build(layer), ProviderPool), samples }
})

const call = (...candidates: readonly [Candidate, ...ReadonlyArray<Candidate>]): PoolCall =>
  poolCall(candidates, {}, { conversation })

describe("an answer to a schema", () => {
  it.effect(
    "comes from a native candidate after one that fails its schema, and a valid one is returned as JSON alone",
    () =>
      Effect.gen(function* () {
        const [off, good, sure] = [saying("a", "SECRET"), saying("b", 'Here: {"a":1}'), saying("d", "unchecked")]
        const { pool, samples } = yield* pooled(off.provider, good.provider, sure.provider)
        const over = yield* pool.chat(call(candidate("a"), candidate("d", { model: native })))
        assert.strictEqual(over.output.text, "unchecked")
        assert.deepStrictEqual(outcomes(over.attempts), ["a failed_over", "d served"])
        const plan = call(candidate("b"))
        const whole = yield* pool.chat(plan)
        assert.strictEqual(whole.output.text, '{"a":1}')
        const stream = yield* pool.chatStream(plan)
        assert.strictEqual(joined((yield* drain(stream.source)).flat(), "Text"), '{"a":1}')
        assert.isUndefined(stream.firstTokenMs)
        assert.deepStrictEqual(
          samples.map(({ firstTokenMs, ok, provider }) => ({ firstTokenMs, ok, provider })),
          ["d", "b", "b"].map((provider) => ({ firstTokenMs: undefined, ok: true, provider }))
        )
      })
  )

  it.effect("opens no breaker when it fails its schema, and the caller learns where it failed", () =>
    Effect.gen(function* () {
      const off = saying("a", '{"a":"SECRET"}')
      const { pool, samples } = yield* pooled(off.provider)
      const times = rules.consecutive * 3
      for (let request = 0; request < times; request++) {
        const asking = { ...call(candidate("a")), accountId: `${request}` }
        const { attempts, reason } = yield* Effect.flip(pool.chat(asking))
        assert.deepStrictEqual(outcomes(attempts), ["a failed"])
        const detail = "a: the answer did not meet the schema (#/a: type)"
        assert.deepStrictEqual(reason, { _tag: "UpstreamError", detail })
      }
      assert.deepStrictEqual(samples, [])
      assert.strictEqual(off.asked.times, times)
    })
  )

  it.effect("comes only from native candidates after one has failed the schema", () =>
    Effect.gen(function* () {
      const all = ["a", "b", "c"].map((id) => saying(id, "no"))
      const d = saying("d", "", { text: "unchecked" })
      const { pool } = yield* pooled(...[...all, d].map(({ provider }) => provider))
      const [a, b, c] = [candidate("a"), candidate("b"), candidate("c")]
      const served = yield* pool.chat(call(a, b, c, candidate("d", { model: native })))
      assert.deepStrictEqual(outcomes(served.attempts), ["a failed_over", "d served"])
      assert.strictEqual(served.output.text, "unchecked")
      const unserved = yield* Effect.flip(pool.chat(call(a, b, c)))
      assert.deepStrictEqual(outcomes(unserved.attempts), ["a failed"])
      assert.deepStrictEqual(
        all.map(({ asked }) => asked.times),
        [2, 0, 0]
      )
    })
  )

  it.live("is not requested again from candidates that need checks, before or beside the failed one", () =>
    Effect.gen(function* () {
      const unreachable = { _tag: "Unreachable", detail: "X" } as const
      const off = saying("b", "no").provider
      const before = yield* pooled(failing("a", unreachable), off)
      const tried = yield* Effect.flip(before.pool.chat(call(candidate("a"), candidate("b"))))
      assert.deepStrictEqual(outcomes(tried.attempts), ["a failed_over", "b failed"])
      const slow = (provider: Provider, ms: number): Provider => ({
        ...provider,
        chat: (asking) => Effect.delay(provider.chat(asking), ms)
      })
      const beside = yield* pooled(slow(off, 300), slow(failing("c", unreachable), 1_000))
      const plain = call(candidate("b"), candidate("c"))
      const hedged = { ...plain, plan: { ...plain.plan, hedgeAfterMs: 100 } }
      const both = yield* Effect.flip(beside.pool.chat(hedged))
      assert.deepStrictEqual(outcomes(both.attempts), ["b failed_over", "c failed"])
    })
  )

  it.effect("is not requested when the schema cannot be checked, and the caller gets a validation error", () =>
    Effect.gen(function* () {
      const off = saying("a", "{}")
      const { pool } = yield* pooled(off.provider)
      const format = { type: "json_schema", name: "n", schema: { pattern: "(" }, strict: true } as const
      const { reason } = yield* Effect.flip(
        pool.chat({ ...call(candidate("a")), conversation: asked("hi", { format }) })
      )
      const message =
        "must be a schema that the gateway can check, because these models do not guarantee it: each `pattern` must be a regular expression"
      assert.deepStrictEqual(reason, { _tag: "ValidationError", problems: [{ field: "response_format", message }] })
      assert.strictEqual(off.asked.times, 0)
    })
  )
})

describe("a provider call", () => {
  it.effect("carries the account, and bounds its prompt by the model's tokens per image", () =>
    Effect.gen(function* () {
      const seen: Array<ChatCall> = []
      const seeing: Provider = {
        ...saying("a", "seen").provider,
        chat: (call) => Effect.sync(() => (seen.push(call), { ...emptyOutput, text: "seen", finish: "stop" }))
      }
      const { pool } = yield* pooled(seeing)
      const image = { type: "image", url: "u", detail: "auto" } as const
      const shown = asked("", { messages: [{ role: "user", content: [image, image] }] })
      for (const tokensPerImage of [undefined, TOKENS_PER_IMAGE + 5]) {
        const plan = poolCall([candidate("a", { model: { tokensPerImage } })], {}, { conversation: shown })
        const size = { prompt: fixedBound(20_000), images: 2 }
        yield* pool.chat({ ...plan, accountId: "one", promptBound: ({ model }) => promptBoundAt(size, model) })
      }
      assert.deepStrictEqual(
        seen.map(({ accountId, promptBound }) => [accountId, promptBound]),
        [
          ["one", 20_000],
          ["one", 20_010]
        ]
      )
    })
  )
})

describe("a stream that the gateway has to check", () => {
  it.effect("is not hedged after the time of a first token", () =>
    Effect.gen(function* () {
      const metrics = makeMetrics()
      const hosts = makeHosts(["a", "b"].map(makeSandbox), metrics)
      const shared = { hosts, metrics, clocks, observe: () => {}, traceTo: undefined, times: new AnswerTimes() }
      const clock = yield* Clock.Clock
      const hedgeOf = (stream: boolean, first: Candidate) => {
        const plain = call(first, candidate("b"))
        const hedged = { ...plain, plan: { ...plain.plan, hedgeAfterMs: 200 } }
        return new PlanExecution(shared, hedged, stream ? streamedChat : wholeChat, clock, () => 0).hedgeAfterMs
      }
      assert.isUndefined(hedgeOf(true, candidate("a")))
      assert.strictEqual(hedgeOf(false, candidate("a")), 200)
      assert.strictEqual(hedgeOf(true, candidate("a", { model: native })), 200)
    })
  )
})

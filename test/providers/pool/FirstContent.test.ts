import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { emptyOutput, type OutputEvent } from "../../../src/domain/Output.ts"
import { makeMetrics } from "../../../src/platform/telemetry/Metrics.ts"
import { AttemptRecord } from "../../../src/providers/pool/AttemptRecord.ts"
import { type AttemptSample, streamAttempt, wholeAttempt } from "../../../src/providers/pool/FirstContent.ts"
import type { Provider } from "../../../src/providers/Provider.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { chatCall, drain } from "../calls.ts"
import { double, failing, scripted } from "../pools.ts"

const text: OutputEvent = { _tag: "Text", text: "hi" }
const stop: OutputEvent = { _tag: "Finish", reason: "stop" }
const late: ProviderFault = { _tag: "TimedOut", clock: "total" }
const broken: ProviderFault = { _tag: "Broken", detail: "X" }

/** An attempt at this provider, and what it reports. */
const attemptAt = (provider: Provider, stream: boolean) => {
  const ends: Array<string> = []
  const samples: Array<AttemptSample> = []
  const call = chatCall()
  const facts = {
    metrics: makeMetrics(),
    trace: undefined,
    provider,
    operation: "chat",
    call,
    index: 0,
    stream
  } as const
  const record = new AttemptRecord(facts)
  const observe = (sample: AttemptSample) => samples.push(sample)
  const ended = (fault: ProviderFault | undefined) => ends.push(fault?._tag ?? "well")
  const blames = (fault: ProviderFault | undefined) => fault?._tag === "Broken" || fault?._tag === "Malformed"
  return { context: { provider, call, record, observe, blames, ended }, ends, samples }
}

describe("an attempt at a complete answer", () => {
  it.effect("succeeds with content, and returns nothing for an empty answer", () =>
    Effect.gen(function* () {
      const good = attemptAt(double("a", "text=hi"), false)
      assert.strictEqual((yield* wholeAttempt.attempt(good.context))?.text, "hi")
      assert.deepStrictEqual(good.ends, ["well"])
      const empty = attemptAt(double("a", "fault=empty"), false)
      assert.isUndefined(yield* wholeAttempt.attempt(empty.context))
      const endless = attemptAt({ ...makeSandbox("a"), chat: () => Effect.succeed(emptyOutput) }, false)
      assert.strictEqual((yield* Effect.flip(wholeAttempt.attempt(endless.context))).fault._tag, "Malformed")
      const impatient = attemptAt(failing("a", late), false)
      yield* Effect.flip(wholeAttempt.attempt(impatient.context))
      const failed = attemptAt(failing("a", broken), false)
      yield* Effect.flip(wholeAttempt.attempt(failed.context))
      const oks = [empty, endless, impatient, failed].map(({ ends, samples }) => {
        assert.deepStrictEqual(ends, [])
        return samples.map(({ ok }) => ok)
      })
      assert.deepStrictEqual(oks, [[], [false], [], [false]])
    })
  )
})

describe("an attempt whose answer a content filter emptied", () => {
  const filtered = { _tag: "Finish", reason: "content_filter" } as const
  const rejected = { _tag: "Refused", status: 200, about: "policy" } as const

  it.effect("fails as refused by the provider, and records no sample", () =>
    Effect.gen(function* () {
      const complete = { ...emptyOutput, finish: filtered.reason }
      const asWhole = attemptAt({ ...makeSandbox("a"), chat: () => Effect.succeed(complete) }, false)
      assert.deepInclude((yield* Effect.flip(wholeAttempt.attempt(asWhole.context))).fault, rejected)
      const asStream = attemptAt(scripted("a", [[filtered]]).provider, true)
      const { fault } = yield* Effect.flip(Effect.scoped(streamAttempt.attempt(asStream.context)))
      assert.deepInclude(fault, rejected)
      assert.deepStrictEqual([asWhole.samples, asStream.samples], [[], []])
      const begun = attemptAt(scripted("a", [[text], [filtered]]).provider, true)
      assert.isDefined(yield* Effect.scoped(streamAttempt.attempt(begun.context)))
    })
  )
})

describe("an attempt at a stream", () => {
  it.effect("ends once, as a success or with its fault", () =>
    Effect.gen(function* () {
      const good = attemptAt(scripted("a", [[text], [stop]]).provider, true)
      const bad = attemptAt(scripted("a", [[text]], broken).provider, true)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [first, other] = [yield* streamAttempt.attempt(good.context), yield* streamAttempt.attempt(bad.context)]
          assert.deepStrictEqual([good.ends, bad.ends], [[], []])
          yield* drain(first!.source)
          yield* Effect.flip(drain(other!.source))
        })
      )
      assert.deepStrictEqual([good.ends, bad.ends], [["well"], ["Broken"]])
    })
  )

  it.effect("does not count prompt usage alone as content", () =>
    Effect.gen(function* () {
      const prompt: OutputEvent = { _tag: "PromptUsage", usage: { input: 1, cached: 2, cacheWrite: 3 } }
      const good = attemptAt(scripted("a", [[prompt], [text], [stop]]).provider, true)
      const bad = attemptAt(scripted("a", [[prompt]], broken).provider, true)
      const empty = attemptAt(scripted("a", [[prompt], [stop]]).provider, true)
      yield* Effect.scoped(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* drain((yield* streamAttempt.attempt(good.context))!.source), [
            [prompt, text],
            [stop]
          ])
          assert.strictEqual((yield* Effect.flip(streamAttempt.attempt(bad.context))).fault._tag, "Broken")
          assert.isUndefined(yield* streamAttempt.attempt(empty.context))
        })
      )
    })
  )

  it.effect("does not count log-probabilities alone as content", () =>
    Effect.gen(function* () {
      const weighed: OutputEvent = { _tag: "Logprobs", content: [{ token: "<|eot_id|>" }] }
      const good = attemptAt(scripted("a", [[weighed], [text], [stop]]).provider, true)
      const bad = attemptAt(scripted("a", [[weighed]], broken).provider, true)
      const empty = attemptAt(scripted("a", [[weighed], [stop]]).provider, true)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { source } = (yield* streamAttempt.attempt(good.context))!
          assert.deepStrictEqual(yield* drain(source), [[weighed, text], [stop]])
          assert.strictEqual((yield* Effect.flip(streamAttempt.attempt(bad.context))).fault._tag, "Broken")
          assert.isUndefined(yield* streamAttempt.attempt(empty.context))
        })
      )
    })
  )

  it.effect("records a sample only when its outcome says something about the provider", () =>
    Effect.gen(function* () {
      const ended = (batches: ReadonlyArray<ReadonlyArray<OutputEvent>>, fault?: ProviderFault) => {
        const attempt = attemptAt(scripted("a", batches, fault).provider, true)
        const read = Effect.flatMap(streamAttempt.attempt(attempt.context), (given) =>
          given === undefined ? Effect.void : drain(given.source)
        )
        return Effect.map(Effect.exit(Effect.scoped(read)), () => attempt.samples.map(({ ok }) => ok))
      }
      assert.deepStrictEqual(yield* ended([[stop]]), [])
      assert.deepStrictEqual(yield* ended([[]]), [false])
      assert.deepStrictEqual(yield* ended([], late), [])
      assert.deepStrictEqual(yield* ended([[text]], late), [])
      assert.deepStrictEqual(yield* ended([[text]], broken), [false])
    })
  )

  it.effect("is closed at once when it is abandoned, and records no duration", () =>
    Effect.gen(function* () {
      const script = scripted("a", [[text], [stop]])
      const { context, samples } = attemptAt(script.provider, true)
      const scope = yield* Scope.make()
      const given = yield* Scope.provide(streamAttempt.attempt(context), scope)
      yield* streamAttempt.abandon(given!)
      assert.strictEqual(script.closed(), 1)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(script.closed(), 1)
      assert.deepStrictEqual(
        samples.map(({ durationMs, firstTokenMs, ok }) => ({ durationMs, firstTokenMs, ok })),
        [{ durationMs: undefined, firstTokenMs: 0, ok: true }]
      )
    })
  )
})

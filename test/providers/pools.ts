/** Pools of sandbox providers that fail as a test wants, and calls to them. */
import { pulledSource } from "../../src/providers/wire/EventSource.ts"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { OutputEvent } from "../../src/domain/Output.ts"
import { type Attempt, type Candidate, defaultPolicy, type RoutingPolicy } from "../../src/domain/Plan.ts"
import { makeMetrics, Metrics } from "../../src/platform/telemetry/Metrics.ts"
import type { PoolCall } from "../../src/providers/pool/CallKind.ts"
import type { AttemptSample } from "../../src/providers/pool/FirstContent.ts"
import type { ChatCall, ChatSource, Provider } from "../../src/providers/Provider.ts"
import { ProviderError, type ProviderFault } from "../../src/providers/ProviderError.ts"
import { ProviderPool } from "../../src/providers/pool/ProviderPool.ts"
import { makeSandbox } from "../../src/providers/sandbox/Sandbox.ts"
import { asked } from "../support/Conversations.ts"
import { clocks } from "./calls.ts"

/** A sandbox provider that is always steered in the same way. */
export const double = (id: string, steering: string, seen: Array<ChatCall> = []): Provider => {
  const sandbox = makeSandbox(id)
  const steered = (call: ChatCall) => {
    seen.push(call)
    return { ...call, steering }
  }
  return {
    ...sandbox,
    chat: (call) => sandbox.chat(steered(call)),
    chatStream: (call) => sandbox.chatStream(steered(call))
  }
}

/** A provider that fails with these faults, one per call, then serves. */
export const failing = (id: string, ...faults: ReadonlyArray<ProviderFault>): Provider => {
  const served = makeSandbox(id)
  let calls = 0
  const next = () => {
    const fault = faults[calls++]
    return fault === undefined ? Effect.void : Effect.fail(new ProviderError({ provider: id, fault }))
  }
  return {
    ...served,
    chat: (call) => Effect.andThen(Effect.suspend(next), served.chat(call)),
    chatStream: (call) => Effect.andThen(Effect.suspend(next), served.chatStream(call))
  }
}

/** A provider whose streams emit these batches; `closed` counts the streams that were closed. */
export const scripted = (id: string, batches: ReadonlyArray<ReadonlyArray<OutputEvent>>, end?: ProviderFault) => {
  let closed = 0
  const source = (): ChatSource => {
    const left = [...batches]
    return pulledSource(
      Effect.suspend(() => {
        const batch = left.shift()
        return batch === undefined && end !== undefined
          ? Effect.fail(new ProviderError({ provider: id, fault: end }))
          : Effect.succeed(batch)
      })
    )
  }
  const provider: Provider = {
    ...makeSandbox(id),
    chatStream: () =>
      Effect.acquireRelease(Effect.sync(source), () =>
        Effect.sync(() => {
          closed += 1
        })
      )
  }
  return { provider, closed: () => closed }
}

export const poolCall = (
  candidates: readonly [Candidate, ...ReadonlyArray<Candidate>],
  policy: Partial<RoutingPolicy> = {},
  more: Partial<PoolCall> = {}
): PoolCall => ({
  requestId: "req_0123456789abcdef",
  plan: { requestedModels: ["model-1"], policy: { ...defaultPolicy, ...policy }, candidates },
  conversation: asked("hello"),
  maxOutputTokens: () => 1_000,
  promptBound: () => 100,
  held: 1_000_000n,
  steering: undefined,
  ...more
})

export const pooled = Effect.fnUntraced(function* (...providers: ReadonlyArray<Provider>) {
  const samples: Array<AttemptSample> = []
  const metrics = makeMetrics()
  const layer = ProviderPool.layerFrom({ providers, clocks, observe: (sample) => samples.push(sample) }).pipe(
    Layer.provide(Layer.succeed(Metrics, metrics))
  )
  return { pool: yield* Effect.provide(ProviderPool, layer), samples, metrics }
})

export const outcomes = (attempts: ReadonlyArray<Attempt>) => {
  attempts.forEach((attempt, index) => assert.strictEqual(attempt.index, index))
  return attempts.map(({ provider, outcome }) => `${provider} ${outcome}`)
}

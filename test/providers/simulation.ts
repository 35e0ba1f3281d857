/** What every adapter makes of an independent simulation of its host's wire, by @copilotkit/aimock. */
import { type FixtureFileResponse, LLMock } from "@copilotkit/aimock"
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { Outbound } from "../../src/platform/outbound/Outbound.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import { chatCall, joined, nextOf } from "./calls.ts"
import { both, faultOf } from "./suite.ts"

/** A simulation that answers as it was prepared to, until the scope closes. */
export const simulation = (prepare: (mock: LLMock) => unknown) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const made = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" })
      prepare(made)
      await made.start()
      return made
    }),
    (made) => Effect.promise(() => made.stop())
  )

/** Prepares one answer to `hello`. */
export const one =
  (response: FixtureFileResponse, options?: Parameters<LLMock["onMessage"]>[2]) =>
  (mock: LLMock): unknown =>
    mock.onMessage("hello", response, options)

/** How an adapter differs from others here. */
export interface SimulatedWire {
  /** The adapter of a simulation at this address. */
  readonly adapter: (url: string) => Effect.Effect<Provider, never, Outbound>
  /** Its word for a body that is no answer. */
  readonly malformed: string
  /** The chunks of a stream after which "Hell" or "Hello wi" has come. */
  readonly chunks: number
}

/** What goes wrong in a simulation, and what the adapter tells of it. */
export const simulationSuite = (it: Vitest.MethodsNonLive<Outbound>, { adapter, chunks, malformed }: SimulatedWire) => {
  const simulated = (prepare: (mock: LLMock) => unknown) =>
    Effect.flatMap(simulation(prepare), ({ url }) => adapter(url))

  const chaos = [
    ["a 500", { dropRate: 1 }, { _tag: "ServerError", status: 500, detail: "Chaos: request dropped" }],
    ["a 429 with its pause", { rateLimitRate: 1 }, { _tag: "RateLimited", retryAfterSeconds: 1 }],
    ["malformed JSON", { malformedRate: 1 }, { _tag: "Malformed", detail: malformed }],
    ["a connection lost before the answer", { disconnectRate: 1 }, { _tag: "Unreachable" }]
  ] as const
  for (const [name, rates, fault] of chaos) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const provider = yield* simulated(one({ content: "Hello" }, { chaos: rates }))
        for (const answer of both(provider, chatCall())) assert.deepInclude(yield* faultOf(answer), fault)
      }).pipe(Effect.scoped)
    )
  }

  it.effect("an unknown model", () =>
    Effect.gen(function* () {
      const provider = yield* simulated(() => {})
      for (const answer of both(provider, chatCall())) {
        assert.deepStrictEqual(yield* faultOf(answer), { _tag: "Refused", status: 404, detail: "No fixture matched" })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a stream cut in the middle", () =>
    Effect.gen(function* () {
      const provider = yield* simulated(
        one({ content: "Hello wide world" }, { latency: 5, truncateAfterChunks: chunks })
      )
      const source = yield* provider.chatStream(chatCall())
      let text = ""
      const fault = yield* faultOf(
        Effect.forever(
          Effect.tap(nextOf(source), (events) => Effect.sync(() => (text += joined(events ?? [], "Text"))))
        )
      )
      assert.strictEqual(fault._tag, "Broken")
      assert.include(["Hell", "Hello wi"], text)
    }).pipe(Effect.scoped)
  )
}

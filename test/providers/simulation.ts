/** Tests that every adapter passes against an independent simulation of its host's API, by @copilotkit/aimock. */
import { type FixtureFileResponse, LLMock } from "@copilotkit/aimock"
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { Outbound } from "../../src/platform/outbound/Outbound.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import { chatCall, joined, nextOf } from "./calls.ts"
import { both, faultOf } from "./suite.ts"

/** Starts a simulation, prepared by `prepare`, until the scope closes. */
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

/** How one adapter differs from others in these tests. */
export interface SimulatedWire {
  /** Makes the adapter of a simulation at this URL. */
  readonly adapter: (url: string) => Effect.Effect<Provider, never, Outbound>
  /** Its detail for a body that is not an answer. */
  readonly malformed: string
  /** The number of stream chunks after which "Hell" or "Hello wi" has arrived. */
  readonly chunks: number
}

/** Failures of a simulated host, and the fault that the adapter reports for each. */
export const simulationSuite = (it: Vitest.MethodsNonLive<Outbound>, { adapter, chunks, malformed }: SimulatedWire) => {
  const simulated = (prepare: (mock: LLMock) => unknown) =>
    Effect.flatMap(simulation(prepare), ({ url }) => adapter(url))

  const chaos = [
    ["a status 500", { dropRate: 1 }, { _tag: "ServerError", status: 500, detail: "Chaos: request dropped" }],
    ["a status 429 with retry-after", { rateLimitRate: 1 }, { _tag: "RateLimited", retryAfterSeconds: 1 }],
    ["malformed JSON", { malformedRate: 1 }, { _tag: "Malformed", detail: malformed }],
    ["a connection lost before the answer", { disconnectRate: 1 }, { _tag: "Unreachable" }]
  ] as const
  for (const [name, rates, fault] of chaos) {
    it.effect(`fails with the right fault on ${name}`, () =>
      Effect.gen(function* () {
        const provider = yield* simulated(one({ content: "Hello" }, { chaos: rates }))
        for (const answer of both(provider, chatCall())) assert.deepInclude(yield* faultOf(answer), fault)
      }).pipe(Effect.scoped)
    )
  }

  it.effect("refuses an unknown model", () =>
    Effect.gen(function* () {
      const provider = yield* simulated(() => {})
      for (const answer of both(provider, chatCall())) {
        assert.deepStrictEqual(yield* faultOf(answer), { _tag: "Refused", status: 404, detail: "No fixture matched" })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("reports a stream that breaks off in the middle as broken, after its text", () =>
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

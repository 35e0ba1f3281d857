import { assert, describe, it } from "@effect/vitest"
import { Effect, Random, Schedule } from "effect"
import { get, json, post, startService } from "../support/Service.ts"

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }], max_tokens: 20 }

/** Always draws the number that makes every request explore if it may. */
const exploring: Random.Random = { nextIntUnsafe: () => 0, nextDoubleUnsafe: () => 0 }

const PATIENCE = "30 seconds"

describe("routing", () => {
  it.live("explores an unmeasured provider with a request but not with an estimate, and both have the same hold", () =>
    Effect.gen(function* () {
      const { account, api } = yield* Effect.provideService(startService(), Random.Random, exploring)
      const { inferenceKey } = yield* account()
      const ask = Effect.flatMap(post(`${api}/chat/completions`, inferenceKey, chat), json)
      const first = yield* ask
      assert.strictEqual(first.routing.provider, "openai")
      // Exploring starts after the first provider has been measured, which takes some requests and a second.
      const explored = yield* Effect.repeat(ask, {
        schedule: Schedule.spaced("5 millis"),
        until: (answer) => answer.routing.provider !== "openai"
      }).pipe(Effect.timeout(PATIENCE))
      assert.deepStrictEqual(
        explored.routing.provider_attempts.map(({ outcome }: { outcome: string }) => outcome),
        ["served"]
      )
      const estimate = yield* Effect.flatMap(post(`${api}/estimate`, inferenceKey, chat), json)
      assert.strictEqual(estimate.breakdown[0].provider, "openai")
      const receipt = yield* Effect.flatMap(get(`${api}/requests/${explored.request_id}`, inferenceKey), json)
      assert.strictEqual(receipt.routing.provider, explored.routing.provider)
      assert.strictEqual(receipt.held_usd, estimate.hold_usd)
    }).pipe(Effect.scoped)
  )

  it.live("is repeated unchanged in the replay of an answer", () =>
    Effect.gen(function* () {
      const { account, api } = yield* startService()
      const { inferenceKey } = yield* account()
      const ask = (routing: object) =>
        Effect.flatMap(
          post(`${api}/chat/completions`, inferenceKey, { ...chat, routing }, { "idempotency-key": "once" }),
          json
        )
      const routing = { providers: { order: ["azure"] }, strategy: "latency" }
      const first = yield* ask(routing)
      assert.strictEqual(first.routing.provider, "azure")
      assert.deepStrictEqual(yield* ask(routing), first)
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schedule, Scope } from "effect"
import { freshDatabase } from "../support/Database.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const body = {
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "How fast are you?" }],
  provider: { only: ["openai"] },
  stream: true
}

/** Returns the figures that a node shows for the provider. */
const shown = (service: Service, key: string) =>
  Effect.map(
    Effect.flatMap(get(`${service.api}/models/gpt-4o-mini`, key), json),
    (model) => model.providers.find(({ provider }: { provider: string }) => provider === "openai").performance
  )

const ask = (service: Service, key: string, times: number) =>
  Effect.gen(function* () {
    for (let done = 0; done < times; done += 1) {
      const response = yield* post(`${service.api}/chat/completions`, key, body)
      assert.strictEqual(response.status, 200)
      yield* Effect.promise(() => response.text())
    }
  })

describe("live figures", () => {
  it.live("are shared by all nodes, and survive a restart of all nodes", () =>
    Effect.gen(function* () {
      const DATABASE_URL = yield* freshDatabase("figures")
      const running = yield* Scope.make()
      yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
      const one = yield* Scope.provide(startService({ DATABASE_URL }), running)
      const two = yield* Scope.provide(startService({ DATABASE_URL }), running)
      const { inferenceKey } = yield* one.account(10)
      assert.deepStrictEqual(yield* shown(two, inferenceKey), {
        samples: 0,
        successRate: null,
        p50Ms: null,
        p95Ms: null,
        medianTtftMs: null,
        thin: true
      })
      yield* ask(one, inferenceKey, 15)
      yield* ask(two, inferenceKey, 10)
      const everywhere = Effect.all([shown(one, inferenceKey), shown(two, inferenceKey)])
      const [byOne, byTwo] = yield* Effect.repeat(everywhere, {
        schedule: Schedule.spaced("200 millis").pipe(Schedule.upTo({ duration: "40 seconds" })),
        until: (all) => all.every(({ samples }) => samples === 25)
      }).pipe(Effect.andThen(everywhere))
      assert.deepStrictEqual(byTwo, byOne)
      const { medianTtftMs, p50Ms, samples, successRate, thin } = byTwo
      assert.deepStrictEqual({ samples, successRate, thin }, { samples: 25, successRate: 1, thin: false })
      assert.isAtLeast(medianTtftMs, 1)
      assert.isAtLeast(p50Ms, medianTtftMs)
      yield* ask(two, inferenceKey, 1)
      yield* Scope.close(running, Exit.void)
      const three = yield* startService({ DATABASE_URL })
      assert.strictEqual((yield* shown(three, inferenceKey)).samples, 26)
    }).pipe(Effect.scoped)
  )
})

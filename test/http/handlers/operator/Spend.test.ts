import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { operatorScene } from "./scene.ts"

describe("/operator/spend", () => {
  it.live("refuses a provider that does not exist and an amount below zero", () =>
    Effect.gen(function* () {
      const { operate } = yield* operatorScene()
      assert.strictEqual((yield* operate("PATCH", "/spend/nobody", { limit_usd: 5 })).status, 404)
      assert.strictEqual((yield* operate("PATCH", "/spend/openai", { limit_usd: -5 })).status, 400)
      assert.strictEqual((yield* operate("PATCH", "/spend/all", { limit_usd: 5 })).status, 200)
      const { body } = yield* operate("GET", "/spend")
      assert.deepStrictEqual(
        body.data.map(({ limit_usd, provider }: Record<string, unknown>) => [provider, limit_usd]),
        [["all", 5]]
      )
    }).pipe(Effect.scoped)
  )

  it.live("lists every provider that it can send requests to, before any has cost money", () =>
    Effect.gen(function* () {
      const { operate } = yield* operatorScene()
      const { body } = yield* operate("GET", "/spend")
      assert.deepStrictEqual(body.data, [])
      assert.includeMembers(body.providers, ["openai", "anthropic", "tavily"])
    }).pipe(Effect.scoped)
  )
})

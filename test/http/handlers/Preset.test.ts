import { assert, describe, it } from "@effect/vitest"
import { modelFieldsOf } from "../../../src/dialects/Decode.ts"
import { Effect } from "effect"
import { failure } from "../../../src/domain/Failure.ts"
import { Exchange } from "../../../src/http/edge/Exchange.ts"
import { takePreset } from "../../../src/http/handlers/Preset.ts"
import type { Presets } from "../../../src/presets/Presets.ts"
import { json, post, startService } from "../../support/Service.ts"

const exchange = () => Effect.runSync(Effect.map(Exchange, (one): Exchange => ({ ...one, requestId: "req_1" })))

describe("the preset of a request", () => {
  const config = { model: "a" }
  const known = {
    resolve: (_: string, slug: string) => Effect.succeed({ slug, version: 3, config })
  } as unknown as Presets["Service"]

  const taking = (presets: Presets["Service"], exchange: Exchange, model: unknown, slug?: string) =>
    takePreset(presets, exchange, { accountId: "account", sent: { model, models: undefined }, slug })

  it.effect("is named in the response's headers", () =>
    Effect.gen(function* () {
      const ways = [
        ["@p", undefined],
        [undefined, "p"],
        ["gpt-4o", "p"],
        ["@p", "p"]
      ] as const
      for (const [model, slug] of ways) {
        const one = exchange()
        assert.deepStrictEqual(yield* taking(known, one, model, slug), { slug: "p", version: 3, config })
        assert.deepStrictEqual(one.preset, { slug: "p", version: 3 })
      }
    })
  )

  it.effect("adds no headers when the request uses none", () =>
    Effect.gen(function* () {
      const reason = { _tag: "NotFound", what: "preset", id: "p" } as const
      const unknown = { resolve: () => Effect.fail(failure(reason)) } as unknown as Presets["Service"]
      const one = exchange()
      assert.deepStrictEqual((yield* Effect.flip(taking(unknown, one, "@p"))).reason, { ...reason, param: "model" })
      assert.deepStrictEqual((yield* Effect.flip(taking(unknown, one, undefined, "p"))).reason, reason)
      assert.strictEqual((yield* Effect.flip(taking(known, one, "@q", "p"))).reason._tag, "InvalidFallbackChain")
      for (const model of ["gpt-4o", "@p,gpt-4o", 7, null]) assert.isUndefined(yield* taking(known, one, model))
      for (const body of ["@p", null, ["@p"]]) {
        assert.isUndefined(yield* takePreset(known, one, { accountId: "account", sent: modelFieldsOf(body) }))
      }
      assert.isUndefined(one.preset)
    })
  )

  it.live("is readable by scripts of other origins, also on failures", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(0)
      yield* service.preset(account.id, "p", { model: "gpt-4o-mini" })
      const body = { messages: [{ role: "user", content: "Hello" }] }
      const response = yield* post(`${service.api}/presets/p/chat/completions`, inferenceKey, body)
      assert.strictEqual((yield* json(response)).error.code, "insufficient_credits")
      const exposed = response.headers.get("access-control-expose-headers")?.toLowerCase().split(", ") ?? []
      for (const [name, value] of [
        ["x-svc-preset", "p"],
        ["x-svc-preset-version", "1"]
      ] as const) {
        assert.strictEqual(response.headers.get(name), value)
        assert.include(exposed, name)
      }
    }).pipe(Effect.scoped)
  )
})

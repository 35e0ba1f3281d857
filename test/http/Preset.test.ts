import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { failure } from "../../src/domain/Failure.ts"
import type { Exchange } from "../../src/http/Exchange.ts"
import { takePreset } from "../../src/http/Preset.ts"
import type { Presets } from "../../src/presets/Presets.ts"
import { json, post, startService } from "../support/Service.ts"

const exchange = (): Exchange => ({
  requestId: "req_1",
  arrivedAt: 0,
  address: () => "127.0.0.1",
  verdict: undefined,
  preset: undefined,
  span: undefined
})

describe("the preset of a request", () => {
  const config = { model: "a" }
  const known = { resolve: () => Effect.succeed({ slug: "p", version: 3, config }) } as unknown as Presets["Service"]

  it.effect("is told of with its response", () =>
    Effect.gen(function* () {
      const [one, other] = [exchange(), exchange()]
      assert.deepStrictEqual(yield* takePreset(known, one, "account", "p"), { slug: "p", version: 3, config })
      assert.deepStrictEqual(one.preset, { slug: "p", version: 3 })
      assert.isUndefined(yield* takePreset(known, other, "account", undefined))
      assert.isUndefined(other.preset)
    })
  )

  it.effect("is not told of when there is none", () =>
    Effect.gen(function* () {
      const reason = { _tag: "NotFound", what: "preset", id: "p" } as const
      const unknown = { resolve: () => Effect.fail(failure(reason)) } as unknown as Presets["Service"]
      const one = exchange()
      assert.deepStrictEqual((yield* Effect.flip(takePreset(unknown, one, "account", "p"))).reason, reason)
      assert.isUndefined(one.preset)
    })
  )

  it.live("is shown to scripts of other origins, on failures too", () =>
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

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Config } from "../../../src/platform/config/Config.ts"
import { PublicUrl } from "../../../src/platform/outbound/PublicUrl.ts"

const on = (variables: Record<string, string>) =>
  PublicUrl.pipe(Effect.provide(PublicUrl.layer.pipe(Layer.provide(Config.layerFrom(variables)))))

describe("PublicUrl", () => {
  it.effect("is PUBLIC_URL, whatever the listening port", () =>
    Effect.gen(function* () {
      const url = yield* on({ PUBLIC_URL: "https://gate.example/", PORT: "80" })
      url.listening(1234)
      assert.strictEqual(url.base(), "https://gate.example")
    })
  )

  it.effect("defaults to this machine with its port, once the port is known", () =>
    Effect.gen(function* () {
      const url = yield* on({ PORT: "0" })
      url.listening(1234)
      assert.strictEqual(url.base(), "http://localhost:1234")
      assert.strictEqual((yield* on({ PORT: "8080" })).base(), "http://localhost:8080")
    })
  )
})

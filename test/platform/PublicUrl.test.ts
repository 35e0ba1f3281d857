import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Config } from "../../src/platform/Config.ts"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"

const on = (variables: Record<string, string>) =>
  PublicUrl.pipe(Effect.provide(PublicUrl.layer.pipe(Layer.provide(Config.layerFrom(variables)))))

describe("PublicUrl", () => {
  it.effect("is what the operator says, whatever port is listened on", () =>
    Effect.gen(function* () {
      const url = yield* on({ PUBLIC_URL: "https://gate.example/", PORT: "80" })
      url.listening(1234)
      assert.strictEqual(url.base(), "https://gate.example")
    })
  )

  it.effect("is else this machine by its port, once that is known where any would do", () =>
    Effect.gen(function* () {
      const url = yield* on({ PORT: "0" })
      url.listening(1234)
      assert.strictEqual(url.base(), "http://localhost:1234")
      assert.strictEqual((yield* on({ PORT: "8080" })).base(), "http://localhost:8080")
    })
  )
})

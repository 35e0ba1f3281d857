import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Payments } from "../../src/billing/Payments.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { STRIPE_KEY, STRIPE_SECRET } from "../support/Stripe.ts"

const stripe = { STRIPE_SECRET_KEY: STRIPE_KEY, STRIPE_WEBHOOK_SECRET: STRIPE_SECRET }

const chosen = (env: Record<string, string>) =>
  Effect.map(Payments, ({ processor }) => processor?.name).pipe(
    Effect.provide(Payments.layer.pipe(Layer.provide(Config.layerFrom(env))))
  )

describe("payments", () => {
  it.effect("use Stripe when it is set up, are simulated in the sandbox, and are otherwise unavailable", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* chosen({ ...stripe, SANDBOX: "off" }), "stripe")
      assert.strictEqual(yield* chosen({ ...stripe, SANDBOX: "on" }), "stripe")
      assert.strictEqual(yield* chosen({ SANDBOX: "on" }), "simulated")
      assert.isUndefined(yield* chosen({ SANDBOX: "off" }))
    })
  )

  it.effect("fail to start when Stripe is only half set up", () =>
    Effect.gen(function* () {
      for (const [name, other] of [
        ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"],
        ["STRIPE_WEBHOOK_SECRET", "STRIPE_SECRET_KEY"]
      ] as const) {
        const { message } = yield* Effect.flip(chosen({ [name]: stripe[name] }))
        assert.strictEqual(message, `${other} must be set when Stripe takes payments`)
      }
    })
  )
})

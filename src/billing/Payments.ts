import { Context, Effect, Layer } from "effect"
import { Config } from "../platform/config/Config.ts"
import type { Processor } from "./Processor.ts"
import { makeSimulated } from "./SimulatedPayments.ts"
import { makeStripe } from "./StripePayments.ts"

/** The payment processor by the settings: Stripe when configured, otherwise a simulation in the sandbox, otherwise none. */
export class Payments extends Context.Service<Payments, { readonly processor: Processor | undefined }>()(
  "tollgate/billing/Payments"
) {
  static readonly layer = Layer.effect(
    Payments,
    Effect.map(Config, ({ sandbox, stripe }) =>
      Payments.of({ processor: stripe === undefined ? (sandbox ? makeSimulated() : undefined) : makeStripe(stripe) })
    )
  )

  /** The layer with this processor. */
  static readonly layerFrom = (processor: Processor | undefined) => Layer.succeed(Payments, Payments.of({ processor }))
}

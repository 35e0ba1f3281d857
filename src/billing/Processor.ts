import type { Effect } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { CheckoutState, PaymentEvent } from "../domain/TopUp.ts"
import type { NotSigned } from "./StripeEvents.ts"

/** The top-up to open a checkout for. Every try sends the same values, so that there is only one checkout. */
export interface CheckoutRequest {
  readonly id: string
  readonly amount_cents: number
  readonly return_url: string
}

/** A checkout, where a customer pays. */
export interface Checkout {
  readonly sessionId: string
  readonly url: string
}

/** Takes customers' money. Its methods fail with `ServiceUnavailable` when the processor cannot be reached. */
export interface Processor {
  readonly name: "stripe" | "simulated"
  /** Opens a checkout. Returns the same one when called again for the same top-up. */
  readonly open: (request: CheckoutRequest) => Effect.Effect<Checkout, Failure>
  readonly ask: (sessionId: string) => Effect.Effect<CheckoutState, Failure>
  /** Closes an open checkout, so that it can no longer be paid. */
  readonly expire: (sessionId: string) => Effect.Effect<CheckoutState, Failure>
  /** Reads a delivered event from its raw body and its signature. */
  readonly read: (raw: Uint8Array, signature: string | undefined) => Effect.Effect<PaymentEvent, NotSigned>
  /** Only the simulated processor has it: the signed event that reports a payment of this checkout. */
  readonly pay?: (checkout: CheckoutRequest & { readonly session_id: string }) => {
    readonly raw: Uint8Array
    readonly signature: string
  }
}

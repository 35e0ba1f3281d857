import type { Effect } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { CheckoutState, PaymentEvent } from "../domain/TopUp.ts"
import type { NotSigned } from "./StripeEvents.ts"

/** What a checkout is opened for. It is asked for in the same words however often, so that there is one. */
export interface CheckoutWish {
  readonly id: string
  readonly amount_cents: number
  readonly return_url: string
}

/** Where a customer pays. */
export interface Checkout {
  readonly sessionId: string
  readonly url: string
}

/** Takes customers' money. Its methods fail with `ServiceUnavailable` when the processor cannot be reached. */
export interface Processor {
  readonly name: "stripe" | "simulated"
  /** Opens a checkout; for the same top-up again, answers the same one. */
  readonly open: (wish: CheckoutWish) => Effect.Effect<Checkout, Failure>
  readonly ask: (sessionId: string) => Effect.Effect<CheckoutState, Failure>
  /** Closes an open checkout, so that it can no longer be paid. */
  readonly expire: (sessionId: string) => Effect.Effect<CheckoutState, Failure>
  /** Reads what was delivered, as it came, under the signature it came with. */
  readonly read: (raw: Uint8Array, signature: string | undefined) => Effect.Effect<PaymentEvent, NotSigned>
  /** Of the simulated one: the signed event that a payment of this checkout is told by. */
  readonly pay?: (paid: CheckoutWish & { readonly session_id: string }) => {
    readonly raw: Uint8Array
    readonly signature: string
  }
}

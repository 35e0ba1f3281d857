import type { Effect } from "effect"
import type { Failure } from "../domain/Failure.ts"
import type { CheckoutSaid } from "../domain/TopUp.ts"
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

/** What an event tells that has been found to come from the processor. */
export type Told =
  | {
      readonly _tag: "Checkout"
      readonly said: CheckoutSaid
      /** What the checkout was opened with. */
      readonly topUpId: string | null
    }
  /** Money has been given back or is disputed, by the processor's own means. */
  | {
      readonly _tag: "Notice"
      readonly eventId: string
      readonly type: string
      readonly about: "refund" | "dispute"
      readonly paymentId: string | null
      readonly topUpId: string | null
      /** In the smallest unit of its currency. */
      readonly amount: number | null
      /** Three lowercase letters. */
      readonly currency: string | null
    }
  /** Something that is not listened to. */
  | { readonly _tag: "Other"; readonly type: string }
  /** One that is listened to, in a form that is not known here. */
  | { readonly _tag: "Unreadable"; readonly type: string }

/** Takes customers' money. Its methods fail with `ServiceUnavailable` when the processor cannot be reached. */
export interface Processor {
  readonly name: "stripe" | "simulated"
  /** Opens a checkout; for the same top-up again, answers the same one. */
  readonly open: (wish: CheckoutWish) => Effect.Effect<Checkout, Failure>
  readonly ask: (sessionId: string) => Effect.Effect<CheckoutSaid, Failure>
  /** Closes an open checkout, so that it can no longer be paid. */
  readonly expire: (sessionId: string) => Effect.Effect<CheckoutSaid, Failure>
  /** Reads what was delivered, as it came, under the signature it came with. */
  readonly read: (raw: Uint8Array, signature: string | undefined) => Effect.Effect<Told, NotSigned>
  /** Of the simulated one: the signed event that a payment of this checkout is told by. */
  readonly pay?: (paid: CheckoutWish & { readonly session_id: string }) => {
    readonly raw: Uint8Array
    readonly signature: string
  }
}

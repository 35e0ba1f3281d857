/** The states of a top-up, and how what the payment processor reports of its checkout changes them. */
export type TopUpStatus = "open" | "paid" | "expired" | "failed"

/** What the next state depends on. */
export interface RecordedTopUp {
  readonly status: TopUpStatus
  readonly amountCents: number
  /** Its checkout; null until it is known. */
  readonly sessionId: string | null
  /** The most that was reported as given back to its payer, which may arrive before the payment's event. */
  readonly refundedCents: number
}

/** What the processor says of a checkout, in an event or when the gateway asks. */
export type CheckoutState = {
  readonly sessionId: string
} & (
  | {
      readonly _tag: "Paid"
      /** In the smallest unit of the currency; null when not given. */
      readonly amount: number | null
      /** Three lowercase letters. */
      readonly currency: string | null
      /** Later refunds and disputes name it. */
      readonly paymentId: string | null
    }
  /** It is waiting for its customer. */
  | { readonly _tag: "Open" }
  /** The customer has finished, and the money is on its way. */
  | { readonly _tag: "Pending" }
  | { readonly _tag: "Failed" }
  | { readonly _tag: "Expired" }
  /** The processor knows of no such checkout. */
  | { readonly _tag: "Unknown" }
)

/** What the gateway does about it, in one transaction. */
export type TopUpStep =
  /** The balance is credited. */
  | { readonly _tag: "Credits" }
  /** It ends without money. */
  | { readonly _tag: "Ends"; readonly status: "expired" | "failed" }
  /** Nothing moves until an operator has looked at it. */
  | { readonly _tag: "Attends"; readonly reason: string }
  | { readonly _tag: "Nothing" }

const nothing: TopUpStep = { _tag: "Nothing" }

/**
 * What the gateway does about a report. Reports that come twice, late or in another order lead to the same end. `paid` is final. A
 * payment is credited even when the top-up had ended without it, because the customer's money has been taken, unless all of it is
 * known to be given back.
 */
export const nextOf = (recorded: RecordedTopUp, state: CheckoutState): TopUpStep => {
  const open = recorded.status === "open"
  if (recorded.sessionId !== null && recorded.sessionId !== state.sessionId) {
    return state._tag === "Paid" ? attends(`another checkout was paid for it: ${state.sessionId}`) : nothing
  }
  switch (state._tag) {
    case "Paid":
      if (recorded.status === "paid") return nothing
      if (state.amount !== recorded.amountCents || state.currency !== "usd") {
        return attends(
          `paid ${state.amount} ${state.currency} instead of ${recorded.amountCents} usd, in the smallest unit`
        )
      }
      return recorded.refundedCents < recorded.amountCents
        ? { _tag: "Credits" }
        : attends("the full amount was refunded before it was credited")
    case "Failed":
    case "Expired":
      return open ? { _tag: "Ends", status: state._tag === "Failed" ? "failed" : "expired" } : nothing
    case "Unknown":
      return open ? attends(`there is no checkout ${state.sessionId}`) : nothing
    case "Open":
    case "Pending":
      return nothing
  }
}

const attends = (reason: string): TopUpStep => ({ _tag: "Attends", reason })

/** The content of an event whose signature is the processor's. */
export type PaymentEvent =
  | {
      readonly _tag: "Checkout"
      readonly state: CheckoutState
      /** The metadata that the checkout was opened with. */
      readonly topUpId: string | null
    }
  /** Money was given back or is disputed at the processor. */
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
  /** An event that the gateway does not use. */
  | { readonly _tag: "Other"; readonly type: string }
  /** An event that the gateway uses, in a form that it does not know. */
  | { readonly _tag: "Unreadable"; readonly type: string }

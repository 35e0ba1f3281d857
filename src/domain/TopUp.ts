/** How a top-up goes from one state to the next, by what the processor of payments says of its checkout. */
export type TopUpStatus = "open" | "paid" | "expired" | "failed"

/** What the next state depends on. */
export interface TopUpStanding {
  readonly status: TopUpStatus
  readonly amountCents: number
  /** The checkout that was opened for it; null until it is known. */
  readonly sessionId: string | null
  /** The most that was told of what its payer was given back, which may be heard of before the payment is. */
  readonly refundedCents: number
}

/** What the processor says of a checkout, by an event or when it is asked. */
export type CheckoutState = {
  readonly sessionId: string
} & (
  | {
      readonly _tag: "Paid"
      /** In the smallest unit of the currency; null where it is not said. */
      readonly amount: number | null
      /** Three lowercase letters. */
      readonly currency: string | null
      /** What is given back or disputed later names this. */
      readonly paymentId: string | null
    }
  /** It still waits for its customer. */
  | { readonly _tag: "Open" }
  /** The customer is done, and the money is still on its way. */
  | { readonly _tag: "Pending" }
  | { readonly _tag: "Failed" }
  | { readonly _tag: "Expired" }
  /** The processor knows of no such checkout. */
  | { readonly _tag: "Unknown" }
)

/** What follows, all of it in one transaction. */
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
 * What follows of what is said. Whatever is said twice, late or in another order comes to the same: `paid` is final, and what was
 * paid is credited even where the top-up had ended without it, because the customer's money has been taken. Where all of it is known
 * to be given back, it has not.
 */
export const nextOf = (standing: TopUpStanding, said: CheckoutState): TopUpStep => {
  const open = standing.status === "open"
  if (standing.sessionId !== null && standing.sessionId !== said.sessionId) {
    return said._tag === "Paid" ? attends(`another checkout was paid for it: ${said.sessionId}`) : nothing
  }
  switch (said._tag) {
    case "Paid":
      if (standing.status === "paid") return nothing
      if (said.amount !== standing.amountCents || said.currency !== "usd") {
        return attends(
          `paid ${said.amount} ${said.currency} instead of ${standing.amountCents} usd, in the smallest unit`
        )
      }
      return standing.refundedCents < standing.amountCents
        ? { _tag: "Credits" }
        : attends("all of it was given back before it was credited")
    case "Failed":
    case "Expired":
      return open ? { _tag: "Ends", status: said._tag === "Failed" ? "failed" : "expired" } : nothing
    case "Unknown":
      return open ? attends(`there is no checkout ${said.sessionId}`) : nothing
    case "Open":
    case "Pending":
      return nothing
  }
}

const attends = (reason: string): TopUpStep => ({ _tag: "Attends", reason })

/** What an event tells that has been found to come from the processor. */
export type PaymentEvent =
  | {
      readonly _tag: "Checkout"
      readonly said: CheckoutState
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

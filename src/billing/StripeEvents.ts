/** The events and checkout sessions of Stripe (docs.stripe.com/api) that the gateway uses. */
import { Data, Effect, Option, Schema } from "effect"
import { Stripe } from "stripe"
import type { CheckoutState, PaymentEvent } from "../domain/TopUp.ts"
import { isResourceId } from "../platform/Ids.ts"

/** The event is not from the processor, too old, or was changed on its way. */
export class NotSigned extends Data.TaggedError("NotSigned")<{ readonly detail: string }> {}

/** The gateway looks up Stripe's ids in the database, which does not take every text. */
const Id = Schema.String.check(Schema.isPattern(/^[\w-]{1,255}$/))
const Text = Schema.optionalKey(Schema.NullOr(Schema.String))
const Amount = Schema.optionalKey(Schema.NullOr(Schema.Int))
const Metadata = Schema.optionalKey(Schema.NullOr(Schema.Struct({ top_up_id: Text })))

/** An id, or the expanded object that it names. */
const Payment = Schema.optionalKey(
  Schema.NullOr(Schema.Union([Id, Schema.Struct({ id: Id, status: Schema.optionalKey(Schema.String) })]))
)

const Session = Schema.Struct({
  id: Id,
  metadata: Metadata,
  amount_total: Amount,
  currency: Text,
  payment_status: Schema.String,
  status: Text,
  payment_intent: Payment
})
type Session = typeof Session.Type

const Charge = Schema.Struct({ payment_intent: Payment, metadata: Metadata, amount_refunded: Amount, currency: Text })

const Dispute = Schema.Struct({ payment_intent: Payment, amount: Amount, currency: Text })

const decodeSession = Schema.decodeUnknownOption(Session)
const decodeCharge = Schema.decodeUnknownOption(Charge)
const decodeDispute = Schema.decodeUnknownOption(Dispute)

const idOf = (payment: Session["payment_intent"]): string | null =>
  typeof payment === "string" ? payment : (payment?.id ?? null)

const topUpIdOf = (text: string | null | undefined): string | null =>
  text !== null && text !== undefined && isResourceId(text) ? text : null

const paidStateOf = (session: Session): CheckoutState => ({
  _tag: "Paid",
  sessionId: session.id,
  amount: session.amount_total ?? null,
  currency: session.currency ?? null,
  paymentId: idOf(session.payment_intent)
})

/** The state when a customer has finished and the money has not come: it may still come, or will not. */
const unpaidOf = ({ id: sessionId, payment_intent: payment }: Session): CheckoutState => {
  const status = typeof payment === "object" && payment !== null ? payment.status : undefined
  return { _tag: status === "canceled" || status === "requires_payment_method" ? "Failed" : "Pending", sessionId }
}

const sessionState = (session: Session): CheckoutState => {
  if (session.payment_status === "paid") return paidStateOf(session)
  if (session.status === "expired") return { _tag: "Expired", sessionId: session.id }
  return session.status === "open" ? { _tag: "Open", sessionId: session.id } : unpaidOf(session)
}

/** The state of a checkout session; undefined when its form is unknown. */
export const checkoutStateOf = (session: unknown): CheckoutState | undefined =>
  Option.getOrUndefined(Option.map(decodeSession(session), sessionState))

const checkout = (object: unknown, stateOf: (session: Session) => CheckoutState): Option.Option<PaymentEvent> =>
  Option.map(decodeSession(object), (session) => ({
    _tag: "Checkout",
    state: stateOf(session),
    // `client_reference_id` proves nothing: the visitor of a payment link of the same account chooses it.
    topUpId: topUpIdOf(session.metadata?.top_up_id)
  }))

const notice = (
  { id: eventId, type }: Stripe.Event,
  found: Option.Option<
    Pick<Extract<PaymentEvent, { readonly _tag: "Notice" }>, "amount" | "currency" | "paymentId" | "topUpId">
  >
): Option.Option<PaymentEvent> =>
  Option.map(found, (one) => {
    const about = type === "charge.refunded" ? "refund" : "dispute"
    return { _tag: "Notice", eventId, type, about, ...one }
  })

/** Undefined for an event that the gateway does not use. */
const paymentEventOf = (event: Stripe.Event): Option.Option<PaymentEvent> | undefined => {
  const object: unknown = event.data.object
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      // `complete` does not mean paid: with some ways to pay the money comes days later.
      return checkout(object, (session) =>
        session.payment_status === "paid" ? paidStateOf(session) : { _tag: "Pending", sessionId: session.id }
      )
    case "checkout.session.async_payment_failed":
      return checkout(object, ({ id }) => ({ _tag: "Failed", sessionId: id }))
    case "checkout.session.expired":
      return checkout(object, ({ id }) => ({ _tag: "Expired", sessionId: id }))
    case "charge.refunded":
      return notice(
        event,
        Option.map(decodeCharge(object), ({ amount_refunded: amount = null, currency = null, ...charge }) => ({
          paymentId: idOf(charge.payment_intent),
          topUpId: topUpIdOf(charge.metadata?.top_up_id),
          amount,
          currency
        }))
      )
    case "charge.dispute.created":
    case "charge.dispute.closed":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated":
      return notice(
        event,
        Option.map(decodeDispute(object), ({ amount = null, currency = null, payment_intent: payment }) => ({
          paymentId: idOf(payment),
          topUpId: null,
          amount,
          currency
        }))
      )
    default:
      return undefined
  }
}

const isEvent = Schema.is(
  Schema.Struct({ id: Id, type: Schema.String, data: Schema.Struct({ object: Schema.Unknown }) })
)

/** Reads a delivered event if it was signed with this secret within Stripe's tolerance of five minutes. */
export const readEvent = (
  raw: Uint8Array,
  signature: string | undefined,
  secret: string
): Effect.Effect<PaymentEvent, NotSigned> =>
  Effect.map(
    Effect.try({
      try: () => Stripe.webhooks.constructEvent(Buffer.from(raw), signature ?? "", secret),
      catch: (error) =>
        new NotSigned({
          detail:
            error instanceof Stripe.errors.StripeSignatureVerificationError
              ? "it is missing, is too old, or does not match the body"
              : "the body is not an event"
        })
    }),
    (event): PaymentEvent => {
      if (!isEvent(event)) return { _tag: "Unreadable", type: "unknown" }
      const parsed = paymentEventOf(event)
      if (parsed === undefined) return { _tag: "Other", type: event.type }
      return Option.getOrElse(parsed, (): PaymentEvent => ({ _tag: "Unreadable", type: event.type }))
    }
  )

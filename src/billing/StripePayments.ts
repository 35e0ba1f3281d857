import { Effect, Redacted } from "effect"
import { Stripe } from "stripe"
import { type Failure, failure } from "../domain/Failure.ts"
import type { CheckoutState } from "../domain/TopUp.ts"
import type { StripeSettings } from "../platform/config/Config.ts"
import type { CheckoutRequest, Processor } from "./Processor.ts"
import { readEvent, checkoutStateOf } from "./StripeEvents.ts"

/** The limit on a call, since callers wait for a checkout. Stripe answers within a second. */
const TIMEOUT_MS = 10_000

/** Retries by Stripe's client, which keep the idempotency key. */
const RETRIES = 2

const RETRY_SECONDS = 5

/** What operators should know of Stripe's error, without what was sent. */
const describe = (error: unknown): string =>
  error instanceof Stripe.errors.StripeError
    ? [error.type, error.code, error.param, error.requestId].filter((part) => part !== undefined).join(" ")
    : String(error)

const unavailable = (error: unknown): Failure =>
  failure(
    {
      _tag: "ServiceUnavailable",
      detail: "The payment processor does not answer; try again",
      retryAfterSeconds: RETRY_SECONDS
    },
    describe(error)
  )

/** The parameters depend only on the top-up: Stripe refuses different ones under the same idempotency key. */
const paramsOf = ({ amount_cents, id, return_url }: CheckoutRequest): Stripe.Checkout.SessionCreateParams => ({
  mode: "payment",
  client_reference_id: id,
  metadata: { top_up_id: id },
  payment_intent_data: { metadata: { top_up_id: id } },
  line_items: [
    {
      quantity: 1,
      price_data: { currency: "usd", unit_amount: amount_cents, product_data: { name: "Balance top-up" } }
    }
  ],
  // The customer must pay exactly the asked amount, in dollars.
  adaptive_pricing: { enabled: false },
  success_url: `${return_url}/billing?top_up=${id}`,
  cancel_url: `${return_url}/billing?top_up=${id}&cancelled=1`
})

/** Undefined when Stripe says that there is no such object; throws every other error. */
const unlessMissing = (error: unknown): undefined => {
  if (error instanceof Stripe.errors.StripeInvalidRequestError && error.code === "resource_missing") return undefined
  throw error
}

/** The number of idempotency keys of one top-up. Each failure of Stripe's own uses up one. */
const MAX_KEYS = 10

/** Stripe also keeps its own failures under the idempotency key, and repeats them for a day. */
const isToldAgain = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeError &&
  (error.statusCode ?? 0) >= 500 &&
  error.headers?.["idempotent-replayed"] === "true"

/**
 * Opens the checkout of a top-up, with the first of its idempotency keys that keeps no failure, so that all callers get the same
 * one. A failed call may also have opened one, which no client learns of and which expires by itself.
 */
const openCheckout = async (
  stripe: Stripe,
  request: CheckoutRequest,
  failures = 0
): Promise<Stripe.Checkout.Session> => {
  const idempotencyKey = failures === 0 ? request.id : `${request.id}.${failures}`
  try {
    return await stripe.checkout.sessions.create(paramsOf(request), { idempotencyKey })
  } catch (error) {
    if (!isToldAgain(error) || failures + 1 >= MAX_KEYS) throw error
    return openCheckout(stripe, request, failures + 1)
  }
}

const understood = (session: Stripe.Checkout.Session): Effect.Effect<CheckoutState, Failure> => {
  const state = checkoutStateOf(session)
  return state === undefined ? Effect.fail(unavailable("a checkout session in an unknown form")) : Effect.succeed(state)
}

/** Stripe, by its own client: Checkout in mode `payment` (docs.stripe.com/payments/checkout). */
export const makeStripe = ({ baseUrl, secretKey, webhookSecret }: StripeSettings): Processor => {
  const stripe = new Stripe(Redacted.value(secretKey), {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(baseUrl === undefined
      ? {}
      : {
          host: baseUrl.hostname,
          protocol: baseUrl.protocol === "http:" ? ("http" as const) : ("https" as const),
          port: baseUrl.port === "" ? (baseUrl.protocol === "http:" ? 80 : 443) : Number(baseUrl.port)
        })
  })
  return {
    name: "stripe",
    open: (request) =>
      Effect.tryPromise({
        try: () => openCheckout(stripe, request),
        catch: unavailable
      }).pipe(
        Effect.flatMap(({ id: sessionId, url }) =>
          url === null
            ? Effect.fail(unavailable("a checkout session without an address"))
            : Effect.succeed({ sessionId, url })
        )
      ),
    ask: (sessionId) =>
      Effect.flatMap(
        Effect.tryPromise({
          try: () => stripe.checkout.sessions.retrieve(sessionId, { expand: ["payment_intent"] }).catch(unlessMissing),
          catch: unavailable
        }),
        (session) =>
          session === undefined ? Effect.succeed<CheckoutState>({ _tag: "Unknown", sessionId }) : understood(session)
      ),
    expire: (sessionId) =>
      Effect.flatMap(
        Effect.tryPromise({ try: () => stripe.checkout.sessions.expire(sessionId), catch: unavailable }),
        understood
      ),
    read: (raw, signature) => readEvent(raw, signature, Redacted.value(webhookSecret))
  }
}

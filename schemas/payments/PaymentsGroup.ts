import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OpenAccess } from "../Access.ts"
import { TopUpReport } from "../console/TopUps.ts"
import { ConflictError, NotFoundError, RateLimitError, UnavailableError } from "../Errors.ts"
import { operation } from "../Operation.ts"

/** The event was received and need not be delivered again. */
export const EventReceived = Schema.Struct({ received: Schema.Literal(true) }).annotate({ identifier: "EventReceived" })

const free = { limit: "default", charge: "free" } as const

/** For payment processors, which have no key: Stripe signs its events (docs.stripe.com/webhooks). */
export class PaymentsGroup extends HttpApiGroup.make("payments").add(
  HttpApiEndpoint.post("receiveStripe", "/payments/stripe", {
    headers: {
      /** Stripe's signature of the event. */
      "stripe-signature": Schema.optional(Schema.String)
    },
    success: EventReceived,
    error: [RateLimitError, UnavailableError]
  }).annotateMerge(operation("payments.stripe", "Receive a signed event from Stripe, at most 256 KiB", free)),
  HttpApiEndpoint.get("paySimulated", "/payments/simulated/:session_id", {
    params: {
      /** The id of a checkout of the sandbox. */
      session_id: Schema.String.check(
        Schema.isPattern(/^cs_simulated_[0-9a-f]{32}$/, {
          message: "must be cs_simulated_ and 32 hexadecimal characters"
        })
      )
    },
    success: TopUpReport,
    error: [NotFoundError, ConflictError, UnavailableError]
  })
    .middleware(OpenAccess)
    .annotateMerge(operation("payments.simulated", "Pay a sandbox checkout", free))
) {}

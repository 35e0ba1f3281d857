import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { Stripe } from "stripe"
import { formatUsd, NANO_PER_CENT } from "../domain/Money.ts"
import type { Processor } from "./Processor.ts"
import { readEvent } from "./StripeEvents.ts"

/** The address at which a simulated checkout is paid, by its id. Any holder of the address can pay. */
const SIMULATED_PATH = "/api/v1/payments/simulated"

/**
 * Payments of the sandbox, without real money: opening the link pays. An event in Stripe's form, signed in Stripe's way with a secret
 * that only this process has, reports the payment. So it takes the same path as a real one.
 */
export const makeSimulated = (): Processor => {
  const secret = `whsec_${randomBytes(32).toString("hex")}`
  return {
    name: "simulated",
    open: ({ amount_cents, return_url }) =>
      Effect.suspend(() => {
        const sessionId = `cs_simulated_${randomBytes(16).toString("hex")}`
        const url = `${return_url}${SIMULATED_PATH}/${sessionId}`
        return Effect.as(
          Effect.logInfo(`sandbox: open ${url} to pay ${formatUsd(BigInt(amount_cents) * NANO_PER_CENT)}, simulated`),
          { sessionId, url }
        )
      }),
    ask: (sessionId) => Effect.succeed({ _tag: "Open", sessionId }),
    expire: (sessionId) => Effect.succeed({ _tag: "Expired", sessionId }),
    read: (raw, signature) => readEvent(raw, signature, secret),
    pay: ({ amount_cents, id, session_id }) => {
      const payload = JSON.stringify({
        id: `evt_simulated_${session_id}`,
        object: "event",
        type: "checkout.session.completed",
        livemode: false,
        created: Math.floor(Date.now() / 1_000),
        data: {
          object: {
            id: session_id,
            object: "checkout.session",
            client_reference_id: id,
            metadata: { top_up_id: id },
            amount_total: amount_cents,
            currency: "usd",
            status: "complete",
            payment_status: "paid",
            payment_intent: `pi_simulated_${session_id}`
          }
        }
      })
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret })
      return { raw: Buffer.from(payload), signature }
    }
  }
}

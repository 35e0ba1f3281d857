import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { TopUps } from "../../billing/TopUps.ts"
import { invalid } from "../../domain/Failure.ts"
import { readBytes } from "../edge/Body.ts"
import { topUpOf } from "./console/TopUps.ts"
import { makeRefuse } from "../edge/Edge.ts"
import { Exchange } from "../edge/Exchange.ts"
import { answer } from "./management/Answers.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** Stripe's events have a few kilobytes. */
const MAX_EVENT_BYTES = 262_144

const SIGNATURE = "stripe-signature"

/** `/payments`: events of payment processors, and the sandbox's checkout. */
export const paymentsHandlers = Effect.gen(function* () {
  const topUps = yield* TopUps
  const refuse = yield* makeRefuse

  const receive = (request: ApiRequest) =>
    Effect.gen(function* () {
      const raw = yield* readBytes(request, MAX_EVENT_BYTES)
      yield* topUps.receive(raw, request.headers[SIGNATURE])
      return HttpServerResponse.jsonUnsafe({ received: true })
    }).pipe(
      // Stripe may deliver any number of events. Only unsigned requests from others are counted.
      Effect.catchTag("NotSigned", ({ detail }) =>
        Effect.flatMap(Exchange, (exchange) => refuse(exchange, invalid("Stripe-Signature", detail)))
      )
    )

  return operations("payments", {
    receiveStripe: ({ request }) => receive(request),
    paySimulated: ({ params }) => answer(topUps.simulateCheckout(params.session_id), (row) => ({ data: topUpOf(row) }))
  })
})

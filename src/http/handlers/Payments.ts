import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import { TopUps } from "../../billing/TopUps.ts"
import { invalid } from "../../domain/Failure.ts"
import { named } from "../edge/Access.ts"
import { readBytes } from "../edge/Body.ts"
import { topUpOf } from "./console/TopUps.ts"
import { makeRefuse } from "../edge/Edge.ts"
import { Exchange } from "../edge/Exchange.ts"
import { answer, answered } from "./management/Answers.ts"

/** Stripe's events have a few kilobytes. */
const MAX_EVENT_BYTES = 262_144

const SIGNATURE = "stripe-signature"

/** `/payments`: events of payment processors, and the sandbox's checkout. */
export const layer = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fnUntraced(function* (handlers) {
    const topUps = yield* TopUps
    const refuse = yield* makeRefuse

    const receive = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.gen(function* () {
        const raw = yield* readBytes(request, MAX_EVENT_BYTES)
        yield* topUps.receive(raw, request.headers[SIGNATURE])
        return HttpServerResponse.jsonUnsafe({ received: true })
      }).pipe(
        // Stripe may deliver any number of events. Only unsigned requests from others are counted.
        Effect.catchTag("NotSigned", ({ detail }) =>
          Effect.flatMap(Exchange, (exchange) => refuse(exchange, invalid("Stripe-Signature", detail)))
        ),
        answered
      )

    return handlers
      .handleRaw("receiveStripe", ({ endpoint, request }) =>
        Effect.flatMap(Exchange, (exchange) => {
          named(exchange, endpoint)
          return receive(request)
        })
      )
      .handle("paySimulated", ({ params }) =>
        answer(topUps.simulateCheckout(params.session_id), (row) => ({ data: topUpOf(row) }))
      )
  })
)

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "../../schemas/Access.ts"
import { Api } from "../../schemas/Api.ts"
import { Mutations } from "../account/Mutations.ts"
import { Webhooks } from "../webhooks/Webhooks.ts"
import { answer, pageOf } from "./management/Answers.ts"
import { deliveryOf, endpointOf, makeWrites } from "./WebhookWrites.ts"

/** `/webhooks` and all below it. */
export const layer = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    const writes = makeWrites(webhooks, yield* Mutations, (record) => record)
    return handlers
      .handleRaw("createWebhook", ({ request }) => writes.create(request))
      .handleRaw("updateWebhook", ({ params, request }) => writes.update(params.webhook_id, request))
      .handleAll({
        listWebhooks: ({ query }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.list(accountId, pageOf(query))),
            ({ next, rows }) => ({ object: "list", data: rows.map(endpointOf), next_cursor: next })
          ),
        getWebhook: ({ params }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.find(accountId, params.webhook_id)),
            endpointOf
          ),
        listDeliveries: ({ params, query }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.deliveries(accountId, params.webhook_id, pageOf(query))),
            ({ next, rows }) => ({ object: "list", data: rows.map(deliveryOf), next_cursor: next })
          ),
        deleteWebhook: ({ params, request }) => writes.remove(params.webhook_id, request),
        testWebhook: ({ params, request }) => writes.test(params.webhook_id, request),
        rotateSecret: ({ params, request }) => writes.rotateSecret(params.webhook_id, request),
        redeliver: ({ params, request }) => writes.redeliver(params.webhook_id, params.delivery_id, request)
      })
  })
)

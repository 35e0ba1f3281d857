import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../../schemas/Api.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Webhooks } from "../../../webhooks/Webhooks.ts"
import { makeOperations } from "../WebhookOperations.ts"

/** `/management/webhooks` and everything under it. */
export const layer = HttpApiBuilder.group(
  Api,
  "managementWebhooks",
  Effect.fnUntraced(function* (handlers) {
    const operations = makeOperations(yield* Webhooks, yield* Mutations, (data) => ({ data }))
    return handlers
      .handleRaw("createWebhook", ({ request }) => operations.create(request))
      .handleRaw("updateWebhook", ({ params, request }) => operations.update(params.webhook_id, request))
      .handleAll({
        listWebhooks: ({ query }) => operations.list(query),
        getWebhook: ({ params }) => operations.find(params.webhook_id),
        listDeliveries: ({ params, query }) => operations.deliveries(params.webhook_id, query),
        deleteWebhook: ({ params, request }) => operations.remove(params.webhook_id, request),
        testWebhook: ({ params, request }) => operations.test(params.webhook_id, request),
        rotateSecret: ({ params, request }) => operations.rotateSecret(params.webhook_id, request),
        redeliver: ({ params, request }) => operations.redeliver(params.webhook_id, params.delivery_id, request)
      })
  })
)

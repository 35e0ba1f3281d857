import { Effect } from "effect"
import { Mutations } from "../../../account/Mutations.ts"
import { operations } from "../../edge/Operations.ts"
import { Webhooks } from "../../../webhooks/Webhooks.ts"
import { makeOperations } from "../WebhookOperations.ts"

/** `/management/webhooks` and everything under it. */
export const managementWebhooksHandlers = Effect.gen(function* () {
  const webhooks = makeOperations(yield* Webhooks, yield* Mutations, (data) => ({ data }))
  return operations("managementWebhooks", {
    createWebhook: ({ request }) => webhooks.create(request),
    updateWebhook: ({ params, request }) => webhooks.update(params.webhook_id, request),
    listWebhooks: ({ query }) => webhooks.list(query),
    getWebhook: ({ params }) => webhooks.find(params.webhook_id),
    listDeliveries: ({ params, query }) => webhooks.deliveries(params.webhook_id, query),
    deleteWebhook: ({ params, request }) => webhooks.remove(params.webhook_id, request),
    testWebhook: ({ params, request }) => webhooks.test(params.webhook_id, request),
    rotateSecret: ({ params, request }) => webhooks.rotateSecret(params.webhook_id, request),
    redeliver: ({ params, request }) => webhooks.redeliver(params.webhook_id, params.delivery_id, request)
  })
})

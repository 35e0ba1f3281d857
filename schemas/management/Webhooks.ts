import { Schema } from "effect"
import { WebhookDelivery, WebhookEndpoint, WebhookEndpointWithSecret } from "../account/Webhooks.ts"
import { ResourceId } from "../Ids.ts"

/** One endpoint. */
export const WebhookResult = Schema.Struct({ data: WebhookEndpoint }).annotate({ identifier: "WebhookResult" })

/** An endpoint with its signing secret, which is shown only once. */
export const WebhookResultWithSecret = Schema.Struct({ data: WebhookEndpointWithSecret }).annotate({
  identifier: "WebhookResultWithSecret"
})

/** One delivery. */
export const WebhookDeliveryResult = Schema.Struct({ data: WebhookDelivery }).annotate({
  identifier: "WebhookDeliveryResult"
})

/** The confirmation that an endpoint was deleted. */
export const WebhookRemoved = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("webhook_endpoint"), deleted: Schema.Literal(true) })
}).annotate({ identifier: "WebhookRemoved" })

import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { ResourcePage } from "../Page.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import {
  NewWebhook,
  WebhookChange,
  WebhookDeleted,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookList,
  WebhookTest
} from "./Webhooks.ts"

const params = {
  /** The id of a webhook. */
  webhook_id: ResourceId
}

const delivered = {
  ...params,
  /** The id of a delivery. */
  delivery_id: ResourceId
}

const free = { limit: "default", charge: "free" } as const

/** URLs that receive events, in messages signed according to Standard Webhooks. */
export class WebhooksGroup extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.post("createWebhook", "/webhooks", {
      headers: idempotency,
      payload: NewWebhook,
      success: WebhookEndpointWithSecret,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(operation("webhooks.create", "Register a webhook; the response shows its secret once", free)),
    HttpApiEndpoint.get("listWebhooks", "/webhooks", { query: ResourcePage, success: WebhookList }).annotateMerge(
      operation("webhooks.list", "List webhooks, newest first", free)
    ),
    HttpApiEndpoint.get("getWebhook", "/webhooks/:webhook_id", {
      params,
      success: WebhookEndpoint,
      error: NotFoundError
    }).annotateMerge(operation("webhooks.get", "Retrieve a webhook", free)),
    HttpApiEndpoint.patch("updateWebhook", "/webhooks/:webhook_id", {
      params,
      payload: WebhookChange,
      success: WebhookEndpoint,
      error: NotFoundError
    }).annotateMerge(operation("webhooks.update", "Change a webhook, or enable it again", free)),
    HttpApiEndpoint.get("listDeliveries", "/webhooks/:webhook_id/deliveries", {
      params,
      query: ResourcePage,
      success: WebhookDeliveryList,
      error: NotFoundError
    }).annotateMerge(operation("webhooks.deliveries", "List the deliveries of a webhook, newest first", free)),
    HttpApiEndpoint.post("redeliver", "/webhooks/:webhook_id/deliveries/:delivery_id/redeliver", {
      params: delivered,
      headers: idempotency,
      success: WebhookDelivery,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(operation("webhooks.redeliver", "Try a delivery once more", free)),
    HttpApiEndpoint.post("rotateSecret", "/webhooks/:webhook_id/rotate-secret", {
      params,
      headers: idempotency,
      success: WebhookEndpointWithSecret,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(
      operation("webhooks.rotate_secret", "Replace the secret of a webhook; both secrets sign for 24 hours", free)
    ),
    HttpApiEndpoint.post("testWebhook", "/webhooks/:webhook_id/test", {
      params,
      success: WebhookTest,
      error: NotFoundError
    }).annotateMerge(operation("webhooks.test", "Send a webhook a test event", free)),
    HttpApiEndpoint.delete("deleteWebhook", "/webhooks/:webhook_id", {
      params,
      success: WebhookDeleted,
      error: NotFoundError
    }).annotateMerge(operation("webhooks.delete", "Delete a webhook", free))
  )
  .middleware(InferenceAccess) {}

import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { ResourcePage } from "../Page.ts"
import { NewWebhook, WebhookChange, WebhookDeliveryList, WebhookList, WebhookTest } from "../account/Webhooks.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import { WebhookDeliveryResult, WebhookRemoved, WebhookResult, WebhookResultWithSecret } from "./Webhooks.ts"

const params = {
  /** The id of a webhook. */
  webhook_id: ResourceId
}

const delivered = {
  ...params,
  /** The id of a delivery. */
  delivery_id: ResourceId
}

const reads = { limit: "management_reads", charge: "free", scope: "webhooks:read" } as const
const writes = { limit: "management_writes", charge: "free", scope: "webhooks:write" } as const

/** The webhooks of the account, shared by its inference keys and its management keys. */
export class ManagementWebhooksGroup extends HttpApiGroup.make("managementWebhooks")
  .add(
    HttpApiEndpoint.get("listWebhooks", "/management/webhooks", {
      query: ResourcePage,
      success: WebhookList
    }).annotateMerge(operation("management.webhooks.list", "List webhooks, newest first", reads)),
    HttpApiEndpoint.post("createWebhook", "/management/webhooks", {
      headers: idempotency,
      payload: NewWebhook,
      success: WebhookResultWithSecret,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(
      operation("management.webhooks.create", "Register a webhook; the response shows its secret once", writes)
    ),
    HttpApiEndpoint.get("getWebhook", "/management/webhooks/:webhook_id", {
      params,
      success: WebhookResult,
      error: NotFoundError
    }).annotateMerge(operation("management.webhooks.get", "Retrieve a webhook", reads)),
    HttpApiEndpoint.patch("updateWebhook", "/management/webhooks/:webhook_id", {
      params,
      payload: WebhookChange,
      success: WebhookResult,
      error: NotFoundError
    }).annotateMerge(operation("management.webhooks.update", "Change a webhook, or enable it again", writes)),
    HttpApiEndpoint.post("testWebhook", "/management/webhooks/:webhook_id/test", {
      params,
      success: WebhookTest,
      error: NotFoundError
    }).annotateMerge(operation("management.webhooks.test", "Send a webhook a test event", writes)),
    HttpApiEndpoint.post("rotateSecret", "/management/webhooks/:webhook_id/rotate-secret", {
      params,
      headers: idempotency,
      success: WebhookResultWithSecret,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(
      operation(
        "management.webhooks.rotate_secret",
        "Replace the secret of a webhook; both secrets sign for 24 hours",
        writes
      )
    ),
    HttpApiEndpoint.get("listDeliveries", "/management/webhooks/:webhook_id/deliveries", {
      params,
      query: ResourcePage,
      success: WebhookDeliveryList,
      error: NotFoundError
    }).annotateMerge(
      operation("management.webhooks.deliveries", "List the deliveries of a webhook, newest first", reads)
    ),
    HttpApiEndpoint.post("redeliver", "/management/webhooks/:webhook_id/deliveries/:delivery_id/redeliver", {
      params: delivered,
      headers: idempotency,
      success: WebhookDeliveryResult,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(operation("management.webhooks.redeliver", "Try a delivery once more", writes)),
    HttpApiEndpoint.delete("deleteWebhook", "/management/webhooks/:webhook_id", {
      params,
      success: WebhookRemoved,
      error: NotFoundError
    }).annotateMerge(operation("management.webhooks.delete", "Remove a webhook", writes))
  )
  .middleware(ManagementAccess) {}

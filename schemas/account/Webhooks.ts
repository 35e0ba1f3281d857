import { Schema } from "effect"
import { Count, sized } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** The types of events. */
export const WebhookEventType = Schema.Literals(["video.completed", "video.failed", "budget.threshold"])

const wanted = {
  url: Schema.String.check(...sized(1, 2_048, "characters")),
  events: Schema.Array(WebhookEventType).check(...sized(1, 16, "items"))
}

/** A public https URL that receives events. */
export const NewWebhook = Schema.Struct(wanted).annotate({ identifier: "NewWebhook" })

const WebhookStatus = Schema.Literals(["enabled", "disabled"])

/** The changes to an endpoint, at least one. An endpoint that is enabled again receives its pending events. */
export const WebhookChange = Schema.Struct({
  status: Schema.optionalKey(WebhookStatus),
  url: Schema.optionalKey(wanted.url),
  events: Schema.optionalKey(wanted.events)
})
  .check(Schema.isMinProperties(1, { message: "must contain at least one of status, url and events" }))
  .annotate({ identifier: "WebhookChange" })

const endpoint = {
  id: ResourceId,
  object: Schema.Literal("webhook_endpoint"),
  url: Schema.String,
  events: Schema.Array(WebhookEventType),
  /** `disabled`: the endpoint answered 410, failed for five days, or was disabled by the account. It receives nothing. */
  status: WebhookStatus,
  /** Unix seconds. */
  created_at: Schema.Int
}

/** A URL that receives events. */
export const WebhookEndpoint = Schema.Struct(endpoint).annotate({ identifier: "WebhookEndpoint" })
export type WebhookEndpoint = typeof WebhookEndpoint.Type

/** An endpoint with its signing secret, which is shown only once: `whsec_` and 32 bytes in base64. */
export const WebhookEndpointWithSecret = Schema.Struct({ ...endpoint, secret: Schema.String }).annotate({
  identifier: "WebhookEndpointWithSecret"
})
export type WebhookEndpointWithSecret = typeof WebhookEndpointWithSecret.Type

/** The confirmation that an endpoint was deleted. */
export const WebhookDeleted = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("webhook_endpoint"),
  deleted: Schema.Literal(true)
}).annotate({ identifier: "WebhookDeleted" })

/** One page of endpoints, newest first. `next_cursor` is null on the last page. */
export const WebhookList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(WebhookEndpoint),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "WebhookList" })

/**
 * One delivery attempt. Without a response, `status_code` is null and `error` contains the reason. `response` is the start of the
 * response body.
 */
export const WebhookAttempt = Schema.Struct({
  /** Unix seconds. */
  started_at: Schema.Int,
  duration_ms: Count,
  status_code: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String),
  response: Schema.NullOr(Schema.String)
}).annotate({ identifier: "WebhookAttempt" })

/** The delivery of an event to one endpoint, with its last attempts. `event_id` is the `webhook-id` of every attempt. */
export const WebhookDelivery = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("webhook_delivery"),
  event_id: Schema.String,
  event_type: Schema.String,
  /**
   * `failed`: no further automatic attempt follows. A delivery that has arrived stays `delivered`, whatever the result of sending it
   * again.
   */
  status: Schema.Literals(["pending", "delivered", "failed"]),
  attempt_count: Count,
  attempts: Schema.Array(WebhookAttempt),
  /** Unix seconds; null once the delivery has ended, and during an attempt. */
  next_attempt_at: Schema.NullOr(Schema.Int),
  /** Unix seconds. */
  created_at: Schema.Int,
  ended_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDelivery = typeof WebhookDelivery.Type

/** One page of deliveries, newest first. `next_cursor` is null on the last page. */
export const WebhookDeliveryList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(WebhookDelivery),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "WebhookDeliveryList" })

/** The result of a test event: whether the endpoint answered with success, with which status and how fast, or why not. */
export const WebhookTest = Schema.Struct({
  data: Schema.Struct({
    delivered: Schema.Boolean,
    status_code: Schema.NullOr(Schema.Int),
    duration_ms: Count,
    error: Schema.NullOr(Schema.String)
  })
}).annotate({ identifier: "WebhookTest" })
export type WebhookTest = typeof WebhookTest.Type

/** The page of a list: its cursor and its size. */
export const WebhookPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId)
}

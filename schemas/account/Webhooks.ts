import { Schema } from "effect"
import { Count, sized } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"

/** The types of events. */
export const WebhookEventType = Schema.Literals(["video.completed", "video.failed", "budget.threshold"])

const wanted = {
  /** A public https URL of 1 to 2,048 characters. */
  url: Schema.String.check(...sized(1, 2_048, "characters")),
  /** The types of events that the endpoint receives. */
  events: Schema.Array(WebhookEventType).check(...sized(1, 16, "items"))
}

/** An endpoint to register. */
export const NewWebhook = Schema.Struct(wanted).annotate({ identifier: "NewWebhook" })

/** `enabled`: the endpoint receives events. `disabled`: it receives none. */
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
  /** Where the events go. */
  url: Schema.String,
  /** The types of events that the endpoint receives. */
  events: Schema.Array(WebhookEventType),
  /** `disabled`: the endpoint answered 410, failed for five days, or was disabled by the account. It receives nothing. */
  status: WebhookStatus,
  /** Unix seconds. */
  created_at: Schema.Int
}

/** A URL that receives events. */
export const WebhookEndpoint = Schema.Struct(endpoint).annotate({ identifier: "WebhookEndpoint" })
export type WebhookEndpoint = typeof WebhookEndpoint.Type

/** An endpoint with its signing secret, which is shown only once. */
export const WebhookEndpointWithSecret = Schema.Struct({
  ...endpoint,
  /** The signing secret: `whsec_` and 32 bytes in base64. */
  secret: Schema.String
}).annotate({ identifier: "WebhookEndpointWithSecret" })
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
  /** The entries of the page. */
  data: Schema.Array(WebhookEndpoint),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "WebhookList" })

/** One delivery attempt. */
export const WebhookAttempt = Schema.Struct({
  /** Unix seconds. */
  started_at: Schema.Int,
  /** How long the attempt took. */
  duration_ms: Count,
  /** The status of the endpoint's response; null without a response. */
  status_code: Schema.NullOr(Schema.Int),
  /** Why there was no response; null when there was one. */
  error: Schema.NullOr(Schema.String),
  /** The start of the response's body; null without a response. */
  response: Schema.NullOr(Schema.String)
}).annotate({ identifier: "WebhookAttempt" })

/** The delivery of an event to one endpoint. */
export const WebhookDelivery = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("webhook_delivery"),
  /** The id of the event, and the `webhook-id` of every attempt. */
  event_id: Schema.String,
  /** The type of the event. */
  event_type: Schema.String,
  /**
   * `failed`: no further automatic attempt follows. A delivery that has arrived stays `delivered`, whatever the result of sending it
   * again.
   */
  status: Schema.Literals(["pending", "delivered", "failed"]),
  /** The number of attempts so far. */
  attempt_count: Count,
  /** The last attempts. */
  attempts: Schema.Array(WebhookAttempt),
  /** Unix seconds; null once the delivery has ended, and during an attempt. */
  next_attempt_at: Schema.NullOr(Schema.Int),
  /** Unix seconds. */
  created_at: Schema.Int,
  /** When the delivery ended, in Unix seconds; null before. */
  ended_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDelivery = typeof WebhookDelivery.Type

/** One page of deliveries, newest first. `next_cursor` is null on the last page. */
export const WebhookDeliveryList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(WebhookDelivery),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "WebhookDeliveryList" })

/** The result of a test event. */
export const WebhookTest = Schema.Struct({
  data: Schema.Struct({
    /** Whether the endpoint answered with success. */
    delivered: Schema.Boolean,
    /** The status of its response; null without a response. */
    status_code: Schema.NullOr(Schema.Int),
    /** How long the attempt took. */
    duration_ms: Count,
    /** Why there was no response; null when there was one. */
    error: Schema.NullOr(Schema.String)
  })
}).annotate({ identifier: "WebhookTest" })
export type WebhookTest = typeof WebhookTest.Type

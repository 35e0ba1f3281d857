import { Schema } from "effect"
import { Count, sized } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"

/** What an endpoint can be told of. */
export const WebhookEventType = Schema.Literals(["video.completed", "video.failed", "budget.threshold"])

const wanted = {
  url: Schema.String.check(...sized(1, 2_048, "characters")),
  events: Schema.Array(WebhookEventType).check(...sized(1, 16, "items"))
}

/** An address to be told of events, over https and at a public address. */
export const NewWebhook = Schema.Struct(wanted).annotate({ identifier: "NewWebhook" })

const WebhookStatus = Schema.Literals(["enabled", "disabled"])

/** What is to be otherwise with an endpoint, one member at least. Once enabled, it is sent what is pending for it. */
export const WebhookChange = Schema.Struct({
  status: Schema.optionalKey(WebhookStatus),
  url: Schema.optionalKey(wanted.url),
  events: Schema.optionalKey(wanted.events)
})
  .check(Schema.isMinProperties(1, { message: "at least one of status, url and events" }))
  .annotate({ identifier: "WebhookChange" })

const endpoint = {
  id: ResourceId,
  object: Schema.Literal("webhook_endpoint"),
  url: Schema.String,
  events: Schema.Array(WebhookEventType),
  /** `disabled` once it answered 410 or failed again and again for five days, or on demand: nothing is sent to it. */
  status: WebhookStatus,
  /** Unix seconds. */
  created_at: Schema.Int
}

/** An address that is told of events. */
export const WebhookEndpoint = Schema.Struct(endpoint).annotate({ identifier: "WebhookEndpoint" })
export type WebhookEndpoint = typeof WebhookEndpoint.Type

/** The same with its signing secret, which is shown this once: `whsec_` and the base64 of 32 bytes. */
export const WebhookEndpointWithSecret = Schema.Struct({ ...endpoint, secret: Schema.String }).annotate({
  identifier: "WebhookEndpointWithSecret"
})
export type WebhookEndpointWithSecret = typeof WebhookEndpointWithSecret.Type

/** What is told of an endpoint that is no more. */
export const WebhookDeleted = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("webhook_endpoint"),
  deleted: Schema.Literal(true)
}).annotate({ identifier: "WebhookDeleted" })

/** Newest first; `next_cursor` is null on the last page. */
export const WebhookList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(WebhookEndpoint),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "WebhookList" })

/** One attempt to deliver. Without an answer `status_code` is null and `error` says why; `response` is the answer's beginning. */
export const WebhookAttempt = Schema.Struct({
  /** Unix seconds. */
  started_at: Schema.Int,
  duration_ms: Count,
  status_code: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String),
  response: Schema.NullOr(Schema.String)
}).annotate({ identifier: "WebhookAttempt" })

/** An event on its way to one endpoint, with its last attempts. `event_id` is the `webhook-id` of every one of them. */
export const WebhookDelivery = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("webhook_delivery"),
  event_id: Schema.String,
  event_type: Schema.String,
  /** `failed` once no further attempt is made by itself. One that arrived is `delivered`, whatever came of it when it was sent again. */
  status: Schema.Literals(["pending", "delivered", "failed"]),
  attempt_count: Count,
  attempts: Schema.Array(WebhookAttempt),
  /** Unix seconds; null once it has ended, and during an attempt. */
  next_attempt_at: Schema.NullOr(Schema.Int),
  /** Unix seconds. */
  created_at: Schema.Int,
  ended_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDelivery = typeof WebhookDelivery.Type

/** Newest first; `next_cursor` is null on the last page. */
export const WebhookDeliveryList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(WebhookDelivery),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "WebhookDeliveryList" })

/** What came of a test: whether the endpoint answered it with success, with what status, how soon, or why not. */
export const WebhookTest = Schema.Struct({
  data: Schema.Struct({
    delivered: Schema.Boolean,
    status_code: Schema.NullOr(Schema.Int),
    duration_ms: Count,
    error: Schema.NullOr(Schema.String)
  })
}).annotate({ identifier: "WebhookTest" })
export type WebhookTest = typeof WebhookTest.Type

/** A page of a list: where it begins, and how much is on it. */
export const WebhookPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the page before. */
  cursor: Schema.optionalKey(ResourceId)
}

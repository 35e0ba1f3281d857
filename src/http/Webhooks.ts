import { Effect, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "../../schemas/Access.ts"
import {
  NewWebhook,
  WebhookChange,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEndpointWithSecret,
  type WebhookTest
} from "../../schemas/account/Webhooks.ts"
import { Api } from "../../schemas/Api.ts"
import { Mutations } from "../account/Mutations.ts"
import { decoder } from "../dialects/Decode.ts"
import { newResourceId } from "../platform/Ids.ts"
import { type Delivery, type EventType, type TestResult, Webhooks } from "../webhooks/Webhooks.ts"
import type { EndpointRow } from "../webhooks/WebhooksSql.ts"
import { readJson } from "./Body.ts"
import { answer, answered, type Asked, asKey, makeMutate, pageOf } from "./management/Answers.ts"

const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1_000)

/** An endpoint as it is shown. */
export const endpointOf = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  object: "webhook_endpoint",
  url: row.url,
  events: row.events as ReadonlyArray<EventType>,
  status: row.status,
  created_at: secondsOf(row.created_at)
})

const withSecret = (made: {
  readonly endpoint: EndpointRow
  readonly secret: Redacted.Redacted
}): WebhookEndpointWithSecret => ({ ...endpointOf(made.endpoint), secret: Redacted.value(made.secret) })

/** A delivery as it is shown. */
export const deliveryOf = (row: Delivery): WebhookDelivery => ({
  id: row.id,
  object: "webhook_delivery",
  event_id: row.event_id,
  event_type: row.type,
  status: row.status,
  attempt_count: row.attempts,
  attempts: row.log.map((attempt) => ({
    started_at: secondsOf(attempt.started_at),
    duration_ms: attempt.duration_ms,
    status_code: attempt.status_code,
    error: attempt.error,
    response: attempt.response
  })),
  next_attempt_at: row.next_at === null ? null : secondsOf(row.next_at),
  created_at: secondsOf(row.created_at),
  ended_at: row.ended_at === null ? null : secondsOf(row.ended_at)
})

/** What came of a test, as it is shown. */
export const testOf = (result: TestResult): WebhookTest => ({
  data: {
    delivered: result.delivered,
    status_code: result.status ?? null,
    duration_ms: result.durationMs,
    error: result.error ?? null
  }
})

const decodeNew = decoder(NewWebhook, { strict: true })
const decodeChange = decoder(WebhookChange, { strict: true })

/** A change of an endpoint that a request asks for. */
const changing = (request: HttpServerRequest.HttpServerRequest, id: string, type: string, body?: unknown): Asked => ({
  request,
  type: `webhook.${type}`,
  resource: { type: "webhook_endpoint", id },
  ...(body === undefined ? {} : { body })
})

/** `/webhooks` and all below it. */
export const layer = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    const mutate = makeMutate(yield* Mutations)
    return handlers
      .handleRaw("createWebhook", ({ request }) => {
        const made = Effect.gen(function* () {
          const body = yield* readJson(request)
          const { events, url } = yield* Effect.fromResult(decodeNew(body))
          const id = newResourceId()
          const asked: Asked = { ...changing(request, id, "created", body), secret: true }
          return yield* mutate(asKey, asked, (asker) =>
            Effect.map(webhooks.register({ ...asker, id, url, events }), withSecret)
          )
        })
        return answered(made)
      })
      .handleRaw("updateWebhook", ({ params: { webhook_id: id }, request }) => {
        const changed = Effect.gen(function* () {
          const body = yield* readJson(request)
          const change = yield* Effect.fromResult(decodeChange(body))
          return yield* mutate(asKey, changing(request, id, "updated", body), (asker) =>
            Effect.map(webhooks.update({ ...asker, id, ...change }), endpointOf)
          )
        })
        return answered(changed)
      })
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
        redeliver: ({ params: { delivery_id: deliveryId, webhook_id: id } }) =>
          answer(
            Effect.flatMap(asKey, (asker) => webhooks.redeliver({ ...asker, id, deliveryId })),
            deliveryOf
          ),
        rotateSecret: ({ params: { webhook_id: id }, request }) =>
          mutate(asKey, { ...changing(request, id, "secret_rotated"), secret: true }, (asker) =>
            Effect.map(webhooks.rotateSecret({ ...asker, id }), withSecret)
          ),
        testWebhook: ({ params }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.test(accountId, params.webhook_id)),
            testOf
          ),
        deleteWebhook: ({ params: { webhook_id: id }, request }) =>
          mutate(asKey, changing(request, id, "removed"), (asker) =>
            Effect.as(webhooks.remove({ ...asker, id }), { id, object: "webhook_endpoint", deleted: true })
          )
      })
  })
)

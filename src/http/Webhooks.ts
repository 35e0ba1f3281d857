import { Effect, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
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
import { DEFAULT_LIMIT } from "../../schemas/Page.ts"
import { decoder } from "../dialects/Decode.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import type { Unavailable } from "../platform/Sql.ts"
import { type Delivery, type EventType, type TestResult, Webhooks } from "../webhooks/Webhooks.ts"
import type { EndpointRow } from "../webhooks/WebhooksSql.ts"
import { readJson } from "./Body.ts"
import { Exchange } from "./Exchange.ts"
import { logged, respond } from "./Failures.ts"

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

/** Answers with what came of it, or with its failure. */
const answer = <A, B, R>(work: Effect.Effect<A, Failure | Unavailable, R>, show: (made: A) => B) =>
  Effect.gen(function* () {
    const exchange = yield* Exchange
    return yield* work.pipe(
      Effect.map((made) => HttpServerResponse.jsonUnsafe(show(made))),
      Effect.catchTags({
        Unavailable: (error) => Effect.succeed(respond(failure({ _tag: "StoreUnavailable" }, error), exchange)),
        Failure: (failed) => Effect.as(logged(failed, exchange), respond(failed, exchange))
      })
    )
  })

const pageOf = ({ cursor, limit = DEFAULT_LIMIT }: { readonly limit?: number; readonly cursor?: string }) => ({
  limit,
  cursor
})

/** Who changes an endpoint: the holder of the key. */
const doing = (id: string) =>
  Effect.map(Caller, ({ accountId, keyId }) => ({ accountId, id, actor: { type: "key", id: keyId } as const }))

/** `/webhooks` and all below it. */
export const layer = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers
      .handleRaw("createWebhook", ({ request }) => {
        const made = Effect.gen(function* () {
          const { accountId, keyId } = yield* Caller
          const { events, url } = yield* Effect.fromResult(decodeNew(yield* readJson(request)))
          return yield* webhooks.register({ accountId, url, events, actor: { type: "key", id: keyId } })
        })
        return answer(made, withSecret)
      })
      .handleRaw("updateWebhook", ({ params, request }) => {
        const changed = Effect.gen(function* () {
          const one = yield* doing(params.webhook_id)
          return yield* webhooks.update({
            ...one,
            ...(yield* Effect.fromResult(decodeChange(yield* readJson(request))))
          })
        })
        return answer(changed, endpointOf)
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
        redeliver: ({ params }) =>
          answer(
            Effect.flatMap(doing(params.webhook_id), (one) =>
              webhooks.redeliver({ ...one, deliveryId: params.delivery_id })
            ),
            deliveryOf
          ),
        rotateSecret: ({ params }) =>
          answer(Effect.flatMap(doing(params.webhook_id), webhooks.rotateSecret), withSecret),
        testWebhook: ({ params }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.test(accountId, params.webhook_id)),
            testOf
          ),
        deleteWebhook: ({ params }) =>
          answer(Effect.flatMap(doing(params.webhook_id), webhooks.remove), () => ({
            id: params.webhook_id,
            object: "webhook_endpoint",
            deleted: true
          }))
      })
  })
)

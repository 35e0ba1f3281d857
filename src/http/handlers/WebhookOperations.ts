/** The webhook operations, for inference keys and management keys alike. */
import { Effect, Redacted } from "effect"
import { Caller } from "../../../schemas/Access.ts"
import {
  NewWebhook,
  WebhookChange,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookTest
} from "../../../schemas/account/Webhooks.ts"
import type { Mutations } from "../../account/Mutations.ts"
import { decoder } from "../../dialects/Decode.ts"
import { secondsOf } from "../../domain/UnixTime.ts"
import { newResourceId } from "../../platform/Ids.ts"
import type { Delivery, EventType, TestResult, Webhooks } from "../../webhooks/Webhooks.ts"
import type { EndpointRow } from "../../webhooks/WebhooksSql.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"
import { readJson } from "../edge/Body.ts"
import { answer, asCaller, makeMutate, pageOf, withoutBody } from "./management/Answers.ts"

/** An endpoint as the API shows it. */
export const endpointOf = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  object: "webhook_endpoint",
  url: row.url,
  events: row.events as ReadonlyArray<EventType>,
  status: row.status,
  created_at: secondsOf(row.created_at)
})

/** A delivery as the API shows it. */
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
  next_attempt_at: secondsOf(row.next_at),
  created_at: secondsOf(row.created_at),
  ended_at: secondsOf(row.ended_at)
})

const testOf = (result: TestResult): WebhookTest => ({
  data: {
    delivered: result.delivered,
    status_code: result.status ?? null,
    duration_ms: result.durationMs,
    error: result.error ?? null
  }
})

const withSecret = (made: { readonly endpoint: EndpointRow; readonly secret: Redacted.Redacted }) => ({
  ...endpointOf(made.endpoint),
  secret: Redacted.value(made.secret)
})

const decodeNew = decoder(NewWebhook, { strict: true })
const decodeChange = decoder(WebhookChange, { strict: true })

type Request = ApiRequest

type Query = Parameters<typeof pageOf>[0]

const listOf = <Row, Shown>(
  { next, rows }: { readonly next: string | null; readonly rows: ReadonlyArray<Row> },
  show: (row: Row) => Shown
) => ({
  object: "list",
  data: rows.map(show),
  next_cursor: next
})

const writeOf = (request: Request, type: string, id: string) => ({
  request,
  type: `webhook.${type}`,
  resource: { type: "webhook_endpoint", id }
})

/** The operations on webhooks. `result` turns a record into a response. */
export const makeOperations = (
  webhooks: Webhooks["Service"],
  mutations: Mutations["Service"],
  result: (record: object) => object
) => {
  const mutate = makeMutate(mutations)
  const create = Effect.fnUntraced(function* (request: Request) {
    const body = yield* readJson(request)
    const { events, url } = yield* Effect.fromResult(decodeNew(body))
    // DNS servers may be slow, so the lookup happens outside the transaction.
    const address = yield* webhooks.address(url)
    const id = newResourceId()
    return yield* mutate(asCaller, { ...writeOf(request, "created", id), body, secret: true }, (caller) =>
      Effect.map(webhooks.register({ ...caller, id, url: address, events }), (made) => result(withSecret(made)))
    )
  })
  const update = Effect.fnUntraced(function* (id: string, request: Request) {
    const body = yield* readJson(request)
    const { url, ...change } = yield* Effect.fromResult(decodeChange(body))
    const address = url === undefined ? {} : { url: yield* webhooks.address(url) }
    return yield* mutate(asCaller, { ...writeOf(request, "updated", id), body }, (caller) =>
      Effect.map(webhooks.update({ ...caller, id, ...change, ...address }), (row) => result(endpointOf(row)))
    )
  })
  return {
    list: (query: Query) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => webhooks.list(accountId, pageOf(query))),
        (page) => listOf(page, endpointOf)
      ),
    find: (id: string) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => webhooks.find(accountId, id)),
        (row) => result(endpointOf(row))
      ),
    deliveries: (id: string, query: Query) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => webhooks.deliveries(accountId, id, pageOf(query))),
        (page) => listOf(page, deliveryOf)
      ),
    create,
    update,
    remove: (id: string, request: Request) =>
      withoutBody(
        request,
        mutate(asCaller, writeOf(request, "removed", id), (caller) =>
          Effect.as(webhooks.remove({ ...caller, id }), result({ id, object: "webhook_endpoint", deleted: true }))
        )
      ),
    rotateSecret: (id: string, request: Request) =>
      withoutBody(
        request,
        mutate(asCaller, { ...writeOf(request, "secret_rotated", id), secret: true }, (caller) =>
          Effect.map(webhooks.rotateSecret({ ...caller, id }), (made) => result(withSecret(made)))
        )
      ),
    redeliver: (id: string, deliveryId: string, request: Request) =>
      withoutBody(
        request,
        mutate(asCaller, writeOf(request, "redelivered", id), (caller) =>
          Effect.map(webhooks.redeliver({ ...caller, id, deliveryId }), (row) => result(deliveryOf(row)))
        )
      ),
    test: (id: string, request: Request) =>
      withoutBody(
        request,
        mutate(asCaller, { ...writeOf(request, "tested", id), outside: true }, ({ accountId }) =>
          Effect.map(webhooks.test(accountId, id), testOf)
        )
      )
  }
}

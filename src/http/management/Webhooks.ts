import { Effect, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "../../../schemas/Access.ts"
import { NewWebhook, WebhookChange } from "../../../schemas/account/Webhooks.ts"
import { Api } from "../../../schemas/Api.ts"
import { Mutations } from "../../account/Mutations.ts"
import { decoder } from "../../dialects/Decode.ts"
import { newResourceId } from "../../platform/Ids.ts"
import { Webhooks } from "../../webhooks/Webhooks.ts"
import type { EndpointRow } from "../../webhooks/WebhooksSql.ts"
import { readJson } from "../Body.ts"
import { deliveryOf, endpointOf, testOf } from "../Webhooks.ts"
import { answer, answered, asKey, makeMutate, pageOf } from "./Answers.ts"

const decodeNew = decoder(NewWebhook, { strict: true })
const decodeChange = decoder(WebhookChange, { strict: true })

const resultOf = (row: EndpointRow) => ({ data: endpointOf(row) })

const resultWithSecret = (made: { readonly endpoint: EndpointRow; readonly secret: Redacted.Redacted }) => ({
  data: { ...endpointOf(made.endpoint), secret: Redacted.value(made.secret) }
})

type Request = HttpServerRequest.HttpServerRequest

const asked = (request: Request, type: string, id: string) => ({
  request,
  type: `webhook.${type}`,
  resource: { type: "webhook_endpoint", id }
})

/** The writes of `/management/webhooks`. */
const makeWrites = (webhooks: Webhooks["Service"], mutate: ReturnType<typeof makeMutate>) => ({
  create: Effect.fnUntraced(function* (request: Request) {
    const body = yield* readJson(request)
    const { events, url } = yield* Effect.fromResult(decodeNew(body))
    // Name servers may take their time, and nobody is to wait for them in a transaction.
    const address = yield* webhooks.address(url)
    const id = newResourceId()
    return yield* mutate(asKey, { ...asked(request, "created", id), body, secret: true }, (asker) =>
      Effect.map(webhooks.register({ ...asker, id, url: address, events }), resultWithSecret)
    )
  }),
  update: Effect.fnUntraced(function* (id: string, request: Request) {
    const body = yield* readJson(request)
    const { url, ...change } = yield* Effect.fromResult(decodeChange(body))
    const address = url === undefined ? {} : { url: yield* webhooks.address(url) }
    return yield* mutate(asKey, { ...asked(request, "updated", id), body }, (asker) =>
      Effect.map(webhooks.update({ ...asker, id, ...change, ...address }), resultOf)
    )
  }),
  remove: (id: string, request: Request) =>
    mutate(asKey, asked(request, "removed", id), (asker) =>
      Effect.as(webhooks.remove({ ...asker, id }), { data: { id, object: "webhook_endpoint", deleted: true } })
    ),
  rotateSecret: (id: string, request: Request) =>
    mutate(asKey, { ...asked(request, "secret_rotated", id), secret: true }, (asker) =>
      Effect.map(webhooks.rotateSecret({ ...asker, id }), resultWithSecret)
    ),
  redeliver: (id: string, deliveryId: string, request: Request) =>
    mutate(asKey, asked(request, "redelivered", id), (asker) =>
      Effect.map(webhooks.redeliver({ ...asker, id, deliveryId }), (row) => ({ data: deliveryOf(row) }))
    ),
  test: (id: string, request: Request) =>
    mutate(asKey, { ...asked(request, "tested", id), outside: true }, ({ accountId }) =>
      Effect.map(webhooks.test(accountId, id), testOf)
    )
})

/** `/management/webhooks` and all below it. */
export const layer = HttpApiBuilder.group(
  Api,
  "managementWebhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    const writes = makeWrites(webhooks, makeMutate(yield* Mutations))
    return handlers
      .handleRaw("createWebhook", ({ request }) => answered(writes.create(request)))
      .handleRaw("updateWebhook", ({ params, request }) => answered(writes.update(params.webhook_id, request)))
      .handleAll({
        listWebhooks: ({ query }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.list(accountId, pageOf(query))),
            ({ next, rows }) => ({ object: "list", data: rows.map(endpointOf), next_cursor: next })
          ),
        getWebhook: ({ params }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.find(accountId, params.webhook_id)),
            resultOf
          ),
        listDeliveries: ({ params, query }) =>
          answer(
            Effect.flatMap(Caller, ({ accountId }) => webhooks.deliveries(accountId, params.webhook_id, pageOf(query))),
            ({ next, rows }) => ({ object: "list", data: rows.map(deliveryOf), next_cursor: next })
          ),
        deleteWebhook: ({ params, request }) => writes.remove(params.webhook_id, request),
        testWebhook: ({ params, request }) => writes.test(params.webhook_id, request),
        rotateSecret: ({ params, request }) => writes.rotateSecret(params.webhook_id, request),
        redeliver: ({ params, request }) => writes.redeliver(params.webhook_id, params.delivery_id, request)
      })
  })
)

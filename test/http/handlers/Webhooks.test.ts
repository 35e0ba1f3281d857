import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Webhook } from "standardwebhooks"
import {
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookList,
  WebhookTest
} from "../../../schemas/account/Webhooks.ts"
import { newResourceId } from "../../../src/platform/Ids.ts"
import { receiver, status } from "../../support/Receiver.ts"
import { get, json, post, startService } from "../../support/Service.ts"
import { eventually } from "../../support/Eventually.ts"

const exact = { onExcessProperty: "error" } as const
const decodeMade = Schema.decodeUnknownSync(WebhookEndpointWithSecret, exact)
const decodeEndpoint = Schema.decodeUnknownSync(WebhookEndpoint, exact)
const decodeList = Schema.decodeUnknownSync(WebhookList, exact)
const decodeDelivery = Schema.decodeUnknownSync(WebhookDelivery, exact)
const decodeDeliveries = Schema.decodeUnknownSync(WebhookDeliveryList, exact)
const decodeTest = Schema.decodeUnknownSync(WebhookTest, exact)

const customer = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1", ...env })
    const { account, inferenceKey: key } = yield* service.account(1)
    const url = `${service.api}/webhooks`
    return {
      account,
      publish: (data: object = {}) => {
        const id = `evt_${newResourceId()}`
        const event = { id, accountId: account.id, type: "video.completed", data, createdAt: new Date() } as const
        return Effect.as(service.webhooks.publish(event), id)
      },
      register: (body: unknown, headers: Record<string, string> = {}) => post(url, key, body, headers),
      get: (path = "") => get(`${url}${path}`, key),
      post: (path: string) => post(`${url}${path}`, key, {}),
      patch: (path: string, body: unknown) =>
        Effect.promise(() =>
          fetch(`${url}${path}`, {
            method: "PATCH",
            headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
            body: JSON.stringify(body)
          })
        ),
      remove: (path: string) =>
        Effect.promise(() => fetch(`${url}${path}`, { method: "DELETE", headers: { authorization: `Bearer ${key}` } }))
    }
  })

const events = ["video.completed", "video.failed"] as const

describe("webhooks", () => {
  it.live("are registered, delivered to, listed and deleted", () =>
    Effect.gen(function* () {
      const mine = yield* customer()
      const hook = yield* receiver()
      const response = yield* mine.register({ url: hook.url, events })
      assert.strictEqual(response.status, 200)
      const { secret, ...endpoint } = decodeMade(yield* json(response))
      assert.deepInclude(endpoint, { object: "webhook_endpoint", url: hook.url, events, status: "enabled" })
      assert.deepStrictEqual(decodeEndpoint(yield* Effect.flatMap(mine.get(`/${endpoint.id}`), json)), endpoint)
      const id = yield* mine.publish({ object: "video" })
      yield* hook.have(1)
      const [message] = hook.received
      const verified = new Webhook(secret).verify(message!.body, message!.headers as Record<string, string>)
      assert.deepInclude(verified, { id, type: "video.completed", data: { object: "video" } })
      const log = Effect.map(Effect.flatMap(mine.get(`/${endpoint.id}/deliveries`), json), decodeDeliveries)
      const { data } = yield* eventually(log, (page) => page.data[0]?.status === "delivered")
      assert.deepInclude(data[0], { event_id: id, event_type: "video.completed", attempt_count: 1 })
      assert.deepInclude(data[0]?.attempts[0], { status_code: 200, error: null, response: "" })
      const again = yield* mine.post(`/${endpoint.id}/deliveries/${data[0]!.id}/redeliver`)
      assert.strictEqual(decodeDelivery(yield* json(again)).status, "pending")
      yield* hook.have(2)
      assert.strictEqual(hook.received[1]?.headers["webhook-id"], id)
      const removed = yield* mine.remove(`/${endpoint.id}`)
      assert.deepStrictEqual(yield* json(removed), { id: endpoint.id, object: "webhook_endpoint", deleted: true })
      assert.strictEqual((yield* mine.get(`/${endpoint.id}`)).status, 404)
      assert.deepStrictEqual(decodeList(yield* Effect.flatMap(mine.get(), json)).data, [])
    }).pipe(Effect.scoped)
  )

  it.live("are tested, and rotate their secret with an overlap of a day", () =>
    Effect.gen(function* () {
      const mine = yield* customer()
      const hook = yield* receiver()
      const made = decodeMade(yield* Effect.flatMap(mine.register({ url: hook.url, events }), json))
      const rotated = decodeMade(yield* Effect.flatMap(mine.post(`/${made.id}/rotate-secret`), json))
      assert.notStrictEqual(rotated.secret, made.secret)
      const good = decodeTest(yield* Effect.flatMap(mine.post(`/${made.id}/test`), json))
      assert.deepInclude(good.data, { delivered: true, status_code: 200, error: null })
      const [{ body, headers } = { body: "", headers: {} }] = hook.received
      for (const secret of [made.secret, rotated.secret]) {
        new Webhook(secret).verify(body, headers as Record<string, string>)
      }
      hook.answerWith(status(503))
      const bad = decodeTest(yield* Effect.flatMap(mine.post(`/${made.id}/test`), json))
      assert.deepInclude(bad.data, { delivered: false, status_code: 503, error: null })
    }).pipe(Effect.scoped)
  )

  it.live("are changed and enabled again, field by field", () =>
    Effect.gen(function* () {
      const mine = yield* customer()
      const hook = yield* receiver(status(410))
      const { id } = decodeMade(yield* Effect.flatMap(mine.register({ url: hook.url, events }), json))
      const path = `/${id}`
      const change = (body: object) => Effect.map(Effect.flatMap(mine.patch(path, body), json), decodeEndpoint)
      const event = yield* mine.publish()
      yield* hook.have(1)
      const look = Effect.map(Effect.flatMap(mine.get(path), json), decodeEndpoint)
      yield* eventually(look, (one) => one.status === "disabled")
      const narrowed = yield* change({ events: ["video.failed", "video.failed"] })
      assert.deepInclude(narrowed, { events: ["video.failed"], url: hook.url, status: "disabled" })
      hook.answerWith(status(200))
      assert.deepInclude(yield* change({ status: "enabled", events }), { events, status: "enabled" })
      const next = yield* mine.publish()
      yield* hook.have(2)
      assert.deepStrictEqual(
        hook.received.map(({ headers }) => headers["webhook-id"]),
        [event, next]
      )
      assert.deepInclude(yield* change({ status: "disabled" }), { status: "disabled" })
      assert.deepInclude(yield* change({ url: "http://LOCALHOST:9" }), {
        url: "http://localhost:9/",
        status: "disabled"
      })
      const refused: ReadonlyArray<readonly [body: object, param: string]> = [
        [{}, "body"],
        [{ status: "removed" }, "status"],
        [{ status: null }, "status"],
        [{ events: [] }, "events"],
        [{ url: "https://10.0.0.1/" }, "url"],
        [{ url: "https://1.1.1.1/\n" }, "url"],
        [{ status: "enabled", secret: "mine" }, "secret"]
      ]
      for (const [body, param] of refused) {
        const response = yield* mine.patch(path, body)
        const said = yield* json(response)
        assert.deepStrictEqual([response.status, said.error.code, said.error.param], [400, "validation_error", param])
      }
      assert.strictEqual((yield* look).status, "disabled")
    }).pipe(Effect.scoped)
  )

  it.live("are listed newest first, page by page", () =>
    Effect.gen(function* () {
      const mine = yield* customer()
      const ids: Array<string> = []
      for (let made = 0; made < 5; made++) {
        const body = { url: "http://localhost:9/", events: ["video.failed", "video.failed"] }
        const endpoint = decodeMade(yield* Effect.flatMap(mine.register(body), json))
        assert.deepStrictEqual(endpoint.events, ["video.failed"])
        ids.unshift(endpoint.id)
      }
      const first = decodeList(yield* Effect.flatMap(mine.get("?limit=3"), json))
      const rest = decodeList(yield* Effect.flatMap(mine.get(`?limit=3&cursor=${first.next_cursor}`), json))
      assert.deepStrictEqual(
        [...first.data, ...rest.data].map(({ id }) => id),
        ids
      )
      assert.isNull(rest.next_cursor)
    }).pipe(Effect.scoped)
  )

  it.live("are rejected with the invalid field", () =>
    Effect.gen(function* () {
      const mine = yield* customer({ OUTBOUND_ALLOW_LOOPBACK: "0" })
      const url = "https://1.1.1.1/"
      const refused: ReadonlyArray<readonly [body: unknown, param: string]> = [
        [{ events }, "url"],
        [{ url: "", events }, "url"],
        [{ url: `https://1.1.1.1/${"a".repeat(2_048)}`, events }, "url"],
        [{ url: "http://example.com/", events }, "url"],
        [{ url: "https://127.0.0.1/", events }, "url"],
        [{ url: "https://[::ffff:10.0.0.1]/", events }, "url"],
        [{ url: "https://a:b@1.1.1.1/", events }, "url"],
        [{ url: "https://1.1.1.1/a\0b", events }, "url"],
        [{ url }, "events"],
        [{ url, events: [] }, "events"],
        [{ url, events: ["video.completed", "video.exploded"] }, "events[1]"],
        [{ url, events, description: "mine" }, "description"]
      ]
      for (const [body, param] of refused) {
        const response = yield* mine.register(body)
        const said = yield* json(response)
        assert.deepStrictEqual([response.status, said.error.code, said.error.param], [400, "validation_error", param])
      }
      assert.strictEqual((yield* mine.register("{")).status, 400)
      const none = newResourceId()
      const nothing = [
        mine.get(`/${none}`),
        mine.get(`/${none}/deliveries`),
        mine.post(`/${none}/test`),
        mine.post(`/${none}/rotate-secret`),
        mine.post(`/${none}/deliveries/${none}/redeliver`),
        mine.patch(`/${none}`, { status: "enabled" }),
        mine.remove(`/${none}`)
      ]
      for (const response of yield* Effect.all(nothing)) {
        assert.deepStrictEqual([response.status, (yield* json(response)).error.code], [404, "not_found"])
      }
      assert.strictEqual((yield* mine.get("/nonsense")).status, 400)
    }).pipe(Effect.scoped)
  )
})

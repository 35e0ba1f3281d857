import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook } from "standardwebhooks"
import { newResourceId } from "../../../../src/platform/Ids.ts"
import { layerUrl } from "../../../support/Database.ts"
import { managing, refusal } from "../../../support/Management.ts"
import { receiver } from "../../../support/Receiver.ts"
import { type Service, startService } from "../../../support/Service.ts"
import { eventually } from "../../../support/Eventually.ts"

const events = ["video.completed", "video.failed"]

const customer = (service: Service) =>
  Effect.map(service.account(), ({ account, managementKey }) => {
    const all = managing(service, managementKey)
    /** How the lines of the audit log on an endpoint are, the oldest first. */
    const log = (id: string) =>
      Effect.map(all("GET", `/audit?resource_ids[]=${id}`), ({ body }) =>
        body.data.toReversed().map(({ code, outcome, type }: Record<string, string>) => `${type} ${code ?? outcome}`)
      )
    return { account, ask: managing(service, managementKey, "/webhooks"), log }
  })

/** All that is in the database, as text. */
const everything = (service: Service) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
    const texts = yield* Effect.forEach(
      tables,
      ({ name }) => sql<{ text: string }>`SELECT COALESCE(string_agg(t::text, ' '), '') AS text FROM ${sql(name)} t`
    )
    return texts.map(([row]) => row!.text).join("\n")
  }).pipe(Effect.provide(layerUrl(service.databaseUrl, 1)))

describe("webhooks of an account", () => {
  it.live("are registered, changed, tested, delivered to and removed, each with an audit log line", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, ask, log } = yield* customer(service)
      const hook = yield* receiver()
      const url = `${hook.url}?token=planted-in-the-address`
      const made = yield* ask("POST", "", { url, events })
      assert.deepStrictEqual([made.status, made.headers.get("cache-control")], [200, "no-store"])
      const { secret, ...endpoint } = made.body.data
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.deepInclude(endpoint, { object: "webhook_endpoint", url, events, status: "enabled" })
      assert.deepStrictEqual((yield* ask("GET", `/${endpoint.id}`)).body, { data: endpoint })
      const listed = (yield* ask("GET", "?limit=1")).body
      assert.deepStrictEqual(listed, { object: "list", data: [endpoint], next_cursor: null })

      const changed = yield* ask("PATCH", `/${endpoint.id}`, { events: ["video.failed"] })
      assert.deepStrictEqual(changed.body, { data: { ...endpoint, events: ["video.failed"] } })
      const tested = yield* ask("POST", `/${endpoint.id}/test`)
      assert.deepInclude(tested.body.data, { delivered: true, status_code: 200, error: null })
      const [message] = hook.received
      new Webhook(secret).verify(message!.body, message!.headers as Record<string, string>)

      const id = `evt_${newResourceId()}`
      const event = { id, accountId: account.id, type: "video.failed", data: {}, createdAt: new Date() } as const
      yield* service.webhooks.publish(event)
      const deliveries = Effect.map(ask("GET", `/${endpoint.id}/deliveries`), ({ body }) => body)
      const { data } = yield* eventually(deliveries, (page) => page.data[0]?.status === "delivered")
      assert.deepInclude(data[0], { event_id: id, event_type: "video.failed", attempt_count: 1 })
      const again = yield* ask("POST", `/${endpoint.id}/deliveries/${data[0].id}/redeliver`)
      assert.deepInclude(again.body.data, { id: data[0].id, status: "pending" })
      yield* hook.have(3)

      const rotated = (yield* ask("POST", `/${endpoint.id}/rotate-secret`)).body.data
      assert.notStrictEqual(rotated.secret, secret)
      assert.strictEqual(rotated.id, endpoint.id)
      const removed = yield* ask("DELETE", `/${endpoint.id}`)
      assert.deepStrictEqual(removed.body, { data: { id: endpoint.id, object: "webhook_endpoint", deleted: true } })
      assert.deepStrictEqual(refusal(yield* ask("GET", `/${endpoint.id}`)), [404, "not_found", null])
      assert.deepStrictEqual(yield* log(endpoint.id), [
        "webhook.created succeeded",
        "webhook.updated succeeded",
        "webhook.tested succeeded",
        "webhook.redelivered succeeded",
        "webhook.secret_rotated succeeded",
        "webhook.removed succeeded"
      ])

      const stored = yield* everything(service)
      for (const one of [secret, rotated.secret]) assert.notInclude(stored, one.slice("whsec_".length))
      assert.include(stored, "planted-in-the-address", "it is called")
      const audit = yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql<{ text: string }>`SELECT (SELECT string_agg(e::text, ' ') FROM audit_event e)
            || (SELECT string_agg(c::text, ' ') FROM audit_completion c) AS text`
        ),
        layerUrl(service.databaseUrl, 1)
      )
      assert.notInclude(audit[0]!.text, "planted-in-the-address")
    }).pipe(Effect.scoped)
  )

  it.live("are registered once per idempotency key, and show their secret once", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { ask } = yield* customer(service)
      const hook = yield* receiver()
      const key = { "idempotency-key": "once" }
      const body = { url: hook.url, events }
      const first = yield* ask("POST", "", body, key)
      assert.strictEqual(first.status, 200)
      const again = yield* ask("POST", "", body, key)
      assert.deepStrictEqual(refusal(again), [409, "idempotency_result_unavailable", "Idempotency-Key"])
      const other = yield* ask("POST", "", { ...body, events: ["video.failed"] }, key)
      assert.deepStrictEqual(refusal(other), [422, "idempotency_key_reused", "Idempotency-Key"])
      assert.strictEqual((yield* ask("GET")).body.data.length, 1)
      const { id } = first.body.data
      // A test makes nothing, so that it may be repeated.
      for (let times = 0; times < 2; times++) {
        const tested = yield* ask("POST", `/${id}/test`, undefined, key)
        assert.deepStrictEqual([tested.status, tested.headers.get("idempotency-replayed")], [200, null])
      }
      assert.strictEqual(hook.received.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("are rejected with the invalid fields, and return 404 for other accounts", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [mine, other] = [yield* customer(service), yield* customer(service)]
      const refused = (body: unknown) => Effect.map(mine.ask("POST", "", body), refusal)
      assert.deepStrictEqual(yield* refused({ url: "http://127.0.0.1:9/", events }), [400, "validation_error", "url"])
      assert.deepStrictEqual(yield* refused({ url: "https://1.1.1.1/", events, more: 1 }), [
        400,
        "validation_error",
        "more"
      ])
      const made = yield* mine.ask("POST", "", { url: "https://1.1.1.1/", events })
      const { id } = made.body.data
      const absent = "0".repeat(24)
      for (const [method, path, body] of [
        ["GET", ""],
        ["PATCH", "", { status: "disabled" }],
        ["DELETE", ""],
        ["POST", "/test"],
        ["POST", "/rotate-secret"],
        ["GET", "/deliveries"],
        ["POST", `/deliveries/${absent}/redeliver`]
      ] as const) {
        const foreign = yield* other.ask(method, `/${id}${path}`, body)
        const none = yield* other.ask(method, `/${absent}${path}`, body)
        assert.deepStrictEqual(refusal(foreign), [404, "not_found", null], `${method} ${path}`)
        assert.strictEqual(JSON.stringify(foreign.body).replaceAll(id, absent), JSON.stringify(none.body))
      }
      assert.deepStrictEqual((yield* other.ask("GET")).body.data, [])
      assert.deepStrictEqual(yield* mine.log(id), ["webhook.created succeeded"])
      assert.include(yield* other.log(id), "webhook.tested not_found")
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import OpenAI from "openai"
import { Webhook } from "standardwebhooks"
import { Audit } from "../../src/account/Audit.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { Outbox } from "../../src/webhooks/Outbox.ts"
import { DELAYS_MS } from "../../src/webhooks/Schedule.ts"
import { Sender } from "../../src/webhooks/Sender.ts"
import { MAX_ENDPOINTS_PER_ACCOUNT, Webhooks } from "../../src/webhooks/Webhooks.ts"
import { freshDatabase, layer as database, layerUrl } from "../support/Database.ts"
import { type Received, receiver, status } from "../support/Receiver.ts"
import { actor, webhookAccount, webhookRooms } from "../support/WebhookRooms.ts"

/** An address without a server. */
const closed = "http://127.0.0.1:9/"

/** Returns the reason of a failure and its message about a field. */
const whyOf = <A, R>(effect: Effect.Effect<A, { readonly _tag: string }, R>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return "no failure"
    const { _tag, reason } = result.failure as {
      readonly _tag: string
      readonly reason?: { readonly _tag: string; readonly problems?: ReadonlyArray<{ readonly message: string }> }
    }
    return reason?.problems?.[0]?.message ?? reason?._tag ?? _tag
  })

const verified = (secret: Redacted.Redacted, { body, headers }: Received) =>
  new Webhook(Redacted.value(secret)).verify(body, headers as Record<string, string>)

/** Sends all due deliveries once. */
const sendDue = Effect.gen(function* () {
  const [outbox, sender] = [yield* Outbox, yield* Sender]
  const claimed = yield* outbox.claim(100)
  yield* Effect.forEach(claimed, (one) => Effect.flatMap(sender.send(one.message), (sent) => outbox.note(one, sent)))
  return claimed
})

describe("Webhooks", () => {
  layer(webhookRooms().pipe(Layer.provideMerge(database)), { excludeTestServices: true })((it) => {
    it.effect("notify an account's subscribed endpoints of an event, and no others", () =>
      Effect.gen(function* () {
        const [mine, other] = [yield* webhookAccount, yield* webhookAccount]
        const [both, failures, foreign] = [yield* receiver(), yield* receiver(), yield* receiver()]
        const { endpoint, secret } = yield* mine.register(both.url)
        yield* mine.register(failures.url, ["video.failed"])
        yield* other.register(foreign.url)
        const id = yield* mine.publish("video.completed", { status: "completed", text: "ä€😀" })
        assert.lengthOf(yield* sendDue, 1)
        assert.deepStrictEqual([both.received.length, failures.received.length, foreign.received.length], [1, 0, 0])
        const [message] = both.received
        const event = JSON.parse(message!.body)
        assert.deepStrictEqual(Object.keys(event), ["id", "object", "type", "created_at", "timestamp", "data"])
        assert.deepStrictEqual([event.id, event.object, event.type], [id, "event", "video.completed"])
        assert.strictEqual(event.created_at, Math.floor(Date.parse(event.timestamp) / 1000))
        assert.deepStrictEqual(event.data, { id: "job", status: "completed", text: "ä€😀" })
        assert.deepInclude(message!.headers, { "webhook-id": id, "content-type": "application/json" })
        assert.deepStrictEqual(verified(secret, message!), event)
        const client = new OpenAI({ apiKey: "none" })
        const headers = message!.headers as Record<string, string>
        const read: unknown = yield* Effect.promise(() =>
          client.webhooks.unwrap(message!.body, headers, Redacted.value(secret))
        )
        assert.deepStrictEqual(read, event)
        const [delivery] = yield* mine.deliveries(endpoint.id)
        assert.deepInclude(delivery, { event_id: id, type: "video.completed", status: "delivered", attempts: 1 })
        assert.deepInclude(delivery!.log[0], { status_code: 200, error: null, response: "" })
        assert.isNull(delivery!.next_at)
      }).pipe(Effect.scoped)
    )

    it.effect("report an event once, and nothing that was rolled back", () =>
      Effect.gen(function* () {
        const { accountId, deliveries, register } = yield* webhookAccount
        const [webhooks, sql] = [yield* Webhooks, yield* SqlClient.SqlClient]
        const { endpoint } = yield* register(closed)
        const event = (id: string) =>
          webhooks.publish({ id, accountId, type: "video.failed", data: {}, createdAt: new Date() })
        const [once, never] = [`evt_${newResourceId()}`, `evt_${newResourceId()}`]
        yield* Effect.exit(sql.withTransaction(Effect.andThen(event(never), Effect.fail("changed my mind"))))
        assert.deepStrictEqual(yield* deliveries(endpoint.id), [])
        yield* event(once)
        yield* event(once)
        const found = yield* deliveries(endpoint.id)
        assert.deepStrictEqual(
          found.map(({ event_id }) => event_id),
          [once]
        )
      })
    )

    it.effect("accept public https addresses only", () =>
      Effect.gen(function* () {
        const { register } = yield* webhookAccount
        const notHttps = "must be an https URL"
        const notPublic = "must be at a public address"
        const noControl = "must not contain control characters"
        const refused: ReadonlyArray<readonly [url: string, why: string]> = [
          ["http://example.com/", notHttps],
          ["ftp://example.com/", notHttps],
          ["example.com", notHttps],
          ["https://user:pass@1.1.1.1/", "must have no user name or password"],
          ["https://10.0.0.1/", notPublic],
          ["https://169.254.169.254/latest/meta-data", notPublic],
          ["https://192.168.1.1/", notPublic],
          ["https://[::ffff:10.0.0.1]/", notPublic],
          ["https://[fd00::1]/", notPublic],
          ["https://0x0a000001/", notPublic],
          ["http://10.0.0.1/", notHttps],
          ...["\0", "\n", "\t", "\u007f", "\u0085"].map((sign) => [`https://1.1.1.1/a${sign}b`, noControl] as const),
          ["ht\ntps://1.1.1.1/", noControl],
          [`https://1.1.1.1/${"ä".repeat(2_000)}`, "must have at most 8,192 characters; got 12,016"]
        ]
        for (const [url, why] of refused) assert.strictEqual(yield* whyOf(register(url)), why, url)
        const stored: ReadonlyArray<readonly [url: string, href: string]> = [
          ["https://1.1.1.1:8443/a?b=c", "https://1.1.1.1:8443/a?b=c"],
          ["HTTPS://0x01010101:443", "https://1.1.1.1/"],
          ["https://1.1.1.1/ä b/\ud800", "https://1.1.1.1/%C3%A4%20b/%EF%BF%BD"]
        ]
        for (const [url, href] of stored) assert.strictEqual((yield* register(url)).endpoint.url, href)
      })
    )

    it.effect("are limited to twenty per account, even for concurrent requests", () =>
      Effect.gen(function* () {
        const { accountId, register } = yield* webhookAccount
        const tries = Array.from({ length: MAX_ENDPOINTS_PER_ACCOUNT + 3 }, () => whyOf(register("https://1.1.1.1/")))
        const ends = yield* Effect.all(tries, { concurrency: 5 })
        assert.lengthOf(
          ends.filter((end) => end === "Conflict"),
          3
        )
        const webhooks = yield* Webhooks
        const first = yield* webhooks.list(accountId, { limit: 15, cursor: undefined })
        const rest = yield* webhooks.list(accountId, { limit: 15, cursor: first.next ?? undefined })
        assert.deepStrictEqual([first.rows.length, rest.rows.length, rest.next], [15, 5, null])
        const ids = [...first.rows, ...rest.rows].map(({ id }) => id)
        assert.deepStrictEqual(ids, ids.toSorted().toReversed())
        yield* webhooks.remove({ accountId, id: ids[0]!, actor })
        yield* register("https://1.1.1.1/")
      })
    )

    it.effect("of another account count as missing, as do removed ones", () =>
      Effect.gen(function* () {
        const [mine, other] = [yield* webhookAccount, yield* webhookAccount]
        const webhooks = yield* Webhooks
        const { endpoint } = yield* mine.register(closed)
        yield* mine.publish()
        const [delivery] = yield* mine.deliveries(endpoint.id)
        const allAs = (accountId: string, id: string) => {
          const page = { limit: 1, cursor: undefined }
          return Effect.all([
            whyOf(webhooks.find(accountId, id)),
            whyOf(webhooks.deliveries(accountId, id, page)),
            whyOf(webhooks.rotateSecret({ accountId, id, actor })),
            whyOf(webhooks.update({ accountId, id, actor, status: "enabled", url: closed })),
            whyOf(webhooks.redeliver({ accountId, id, actor, deliveryId: delivery!.id })),
            whyOf(webhooks.test(accountId, id)),
            whyOf(webhooks.remove({ accountId, id, actor }))
          ])
        }
        const nothing = Array.from({ length: 7 }, () => "NotFound")
        assert.deepStrictEqual(yield* allAs(other.accountId, endpoint.id), nothing)
        const redeliver = webhooks.redeliver({
          accountId: mine.accountId,
          id: endpoint.id,
          actor,
          deliveryId: newResourceId()
        })
        assert.strictEqual(yield* whyOf(redeliver), "NotFound")
        yield* webhooks.remove({ accountId: mine.accountId, id: endpoint.id, actor })
        assert.deepStrictEqual(yield* allAs(mine.accountId, endpoint.id), nothing)
        yield* mine.publish()
        assert.deepStrictEqual(
          (yield* sendDue).filter(({ endpointId }) => endpointId === endpoint.id),
          []
        )
        const types = (yield* (yield* Audit).list(mine.accountId, 9)).map(({ type }) => type)
        assert.deepStrictEqual(types.slice(0, 2), ["webhook.removed", "webhook.created"])
      })
    )

    it.effect("sign with both secrets for one day after a rotation", () =>
      Effect.gen(function* () {
        const { accountId, publish, register } = yield* webhookAccount
        const [webhooks, sql] = [yield* Webhooks, yield* SqlClient.SqlClient]
        const hook = yield* receiver()
        const { endpoint, secret: before } = yield* register(hook.url)
        const { secret: after } = yield* webhooks.rotateSecret({ accountId, id: endpoint.id, actor })
        assert.notStrictEqual(Redacted.value(after), Redacted.value(before))
        yield* publish()
        yield* sendDue
        const [first] = hook.received
        assert.deepStrictEqual(verified(before, first!), verified(after, first!))
        assert.lengthOf(first!.headers["webhook-signature"]!.split(" "), 2)
        const [row] = yield* sql<{
          hours: number
        }>`SELECT round(extract(epoch FROM previous_until - now()) / 3600)::int AS hours
          FROM webhook_endpoint WHERE id = ${endpoint.id}`
        assert.strictEqual(row?.hours, 24)
        yield* sql`UPDATE webhook_endpoint SET previous_until = now() WHERE id = ${endpoint.id}`
        yield* publish()
        yield* sendDue
        verified(after, hook.received[1]!)
        assert.throws(() => verified(before, hook.received[1]!))
        assert.lengthOf(hook.received[1]!.headers["webhook-signature"]!.split(" "), 1)
      }).pipe(Effect.scoped)
    )

    it.effect("can be tested on demand, and report the result", () =>
      Effect.gen(function* () {
        const { accountId, deliveries, register } = yield* webhookAccount
        const webhooks = yield* Webhooks
        const hook = yield* receiver()
        const { endpoint, secret } = yield* register(hook.url)
        const good = yield* webhooks.test(accountId, endpoint.id)
        assert.deepInclude(good, { delivered: true, status: 200, error: undefined })
        const event = verified(secret, hook.received[0]!) as { readonly type: string; readonly data: object }
        assert.deepStrictEqual([event.type, event.data], ["webhook.test", { endpoint_id: endpoint.id }])
        hook.answerWith(status(302, { location: "http://127.0.0.1:1/" }))
        assert.deepInclude(yield* webhooks.test(accountId, endpoint.id), { delivered: false, status: 302 })
        assert.lengthOf(hook.received, 2)
        const { endpoint: gone } = yield* register(closed)
        const bad = yield* webhooks.test(accountId, gone.id)
        assert.deepInclude(bad, { delivered: false, status: undefined })
        assert.match(bad.error ?? "", /^the connection failed \(ECONNREFUSED\)$/)
        assert.deepStrictEqual(yield* deliveries(endpoint.id), [])
      }).pipe(Effect.scoped)
    )

    it.effect("deliver again on demand, with the same ID and a new timestamp", () =>
      Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const [webhooks, sql] = [yield* Webhooks, yield* SqlClient.SqlClient]
        const hook = yield* receiver()
        const { endpoint } = yield* register(hook.url)
        const event = yield* publish()
        yield* sendDue
        const [{ id: deliveryId } = { id: "" }] = yield* deliveries(endpoint.id)
        const again = webhooks.redeliver({ accountId, id: endpoint.id, deliveryId, actor })
        assert.deepInclude(yield* again, { status: "pending", attempts: 1, ended_at: null })
        hook.answerWith(status(500))
        yield* sendDue
        assert.deepStrictEqual(
          hook.received.map(({ headers }) => headers["webhook-id"]),
          [event, event]
        )
        const [delivery] = yield* deliveries(endpoint.id)
        assert.deepInclude(delivery, { status: "delivered", attempts: 2, next_at: null })
        assert.isNotNull(delivery!.ended_at)
        const [{ failing } = { failing: true }] = yield* sql<{ failing: boolean }>`
          SELECT failing_since IS NOT NULL AS failing FROM webhook_endpoint WHERE id = ${endpoint.id}`
        assert.isFalse(failing)
        assert.deepStrictEqual(
          delivery!.log.map(({ status_code }) => status_code),
          [200, 500]
        )
        yield* again
        const claimed = yield* (yield* Outbox).claim(10)
        assert.lengthOf(claimed, 1)
        assert.strictEqual(yield* whyOf(again), "Conflict")
        yield* sql`UPDATE webhook_endpoint SET status = 'disabled' WHERE id = ${endpoint.id}`
        assert.strictEqual(yield* whyOf(again), "Conflict")
      }).pipe(Effect.scoped)
    )

    it.effect("keep their scheduled attempts when deliveries are repeated on demand", () =>
      Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const webhooks = yield* Webhooks
        const hook = yield* receiver()
        hook.answerWith(status(500))
        const { endpoint } = yield* register(hook.url)
        yield* publish()
        yield* sendDue
        const [{ id: deliveryId } = { id: "" }] = yield* deliveries(endpoint.id)
        for (let by = 0; by < DELAYS_MS.length; by++) {
          yield* webhooks.redeliver({ accountId, id: endpoint.id, deliveryId, actor })
          yield* sendDue
        }
        const [delivery] = yield* deliveries(endpoint.id)
        assert.deepInclude(delivery, { status: "pending", attempts: DELAYS_MS.length + 1 })
        const waitMs = delivery!.next_at!.getTime() - delivery!.log.at(-1)!.started_at.getTime()
        assert.isAtMost(waitMs, 2 * DELAYS_MS[1]!, "it waits for as long as after the first attempt")
      }).pipe(Effect.scoped)
    )

    it.effect("resume pending deliveries when they are enabled, even at another address", () =>
      Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const [outbox, webhooks, sql] = [yield* Outbox, yield* Webhooks, yield* SqlClient.SqlClient]
        const hook = yield* receiver()
        const { endpoint, secret } = yield* register(closed)
        const { id } = endpoint
        const waiting = yield* publish()
        yield* sql`UPDATE webhook_endpoint SET failing_since = now() - interval '6 days', failed_at = now() WHERE id = ${id}`
        yield* webhooks.update({ accountId, id, actor, status: "disabled" })
        const never = yield* publish()
        yield* outbox.sweep
        assert.deepStrictEqual(yield* sendDue, [])
        yield* outbox.woken
        const changed = yield* webhooks.update({ accountId, id, actor, status: "enabled", url: hook.url })
        assert.deepStrictEqual(changed, { ...endpoint, url: hook.url })
        yield* outbox.woken
        hook.answerWith(status(500))
        yield* sendDue
        assert.strictEqual((yield* webhooks.find(accountId, id)).status, "enabled")
        hook.answerWith(status(200))
        yield* sql`UPDATE webhook_delivery SET due_at = now() WHERE endpoint_id = ${id}`
        yield* sendDue
        assert.deepStrictEqual(
          hook.received.map((message) => (verified(secret, message) as { readonly id: string }).id),
          [waiting, waiting]
        )
        const all = yield* deliveries(id)
        assert.deepStrictEqual(
          all.map(({ event_id, status }) => [event_id, status]),
          [[waiting, "delivered"]]
        )
        assert.notStrictEqual(never, waiting)
        const [enabled, disabled] = yield* (yield* Audit).list(accountId, 2)
        assert.deepInclude(enabled, { type: "webhook.updated", actor_type: "operator", resource_id: id })
        assert.deepStrictEqual(enabled?.changes, {
          status: { from: "disabled", to: "enabled" },
          origin: { from: new URL(endpoint.url).origin, to: new URL(hook.url).origin }
        })
        assert.deepStrictEqual(disabled?.changes, { status: { from: "enabled", to: "disabled" } })
      }).pipe(Effect.scoped)
    )

    it.effect("record only the changed fields in the audit log", () =>
      Effect.gen(function* () {
        const { accountId, register } = yield* webhookAccount
        const webhooks = yield* Webhooks
        const { endpoint } = yield* register(closed)
        const { id, url } = endpoint
        const events = ["video.completed"] as const
        yield* webhooks.update({ accountId, id, actor, status: "enabled", events })
        yield* webhooks.update({ accountId, id, actor, status: "enabled", url, events })
        yield* webhooks.update({ accountId, id, actor, url: `${url}/elsewhere` })
        const [moved, same, narrowed] = yield* (yield* Audit).list(accountId, 3)
        assert.deepStrictEqual(narrowed?.changes, { events: { from: endpoint.events, to: events } })
        assert.deepStrictEqual(same?.changes, {})
        const { origin } = new URL(url)
        assert.deepStrictEqual(moved?.changes, { origin: { from: origin, to: origin } })
      }).pipe(Effect.scoped)
    )

    it.effect("get pending deliveries as soon as they are enabled, however late those were scheduled", () =>
      Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const [webhooks, sql] = [yield* Webhooks, yield* SqlClient.SqlClient]
        const hook = yield* receiver()
        const { endpoint, secret } = yield* register(hook.url)
        const { id } = endpoint
        const waiting = yield* publish()
        yield* sql`UPDATE webhook_delivery SET step = 8, due_at = now() + interval '20 hours' WHERE endpoint_id = ${id}`
        // Changing an enabled endpoint hurries no delivery.
        yield* webhooks.update({ accountId, id, actor, status: "enabled" })
        assert.deepStrictEqual(yield* sendDue, [])
        yield* webhooks.update({ accountId, id, actor, status: "disabled" })
        yield* webhooks.update({ accountId, id, actor, status: "enabled" })
        yield* sendDue
        assert.deepStrictEqual(
          hook.received.map((message) => (verified(secret, message) as { readonly id: string }).id),
          [waiting]
        )
        assert.deepInclude((yield* deliveries(id))[0], { status: "delivered", attempts: 1 })
      }).pipe(Effect.scoped)
    )

    it.effect("have secrets that appear nowhere in plain text", () =>
      Effect.gen(function* () {
        const { accountId, register } = yield* webhookAccount
        const [webhooks, sql] = [yield* Webhooks, yield* SqlClient.SqlClient]
        const { endpoint, secret } = yield* register("https://1.1.1.1/hook?token=swordfish")
        yield* webhooks.rotateSecret({ accountId, id: endpoint.id, actor })
        const [row] = yield* sql<{ secret: Uint8Array; previous_secret: Uint8Array }>`
          SELECT secret, previous_secret FROM webhook_endpoint WHERE id = ${endpoint.id}`
        const raw = Buffer.from(Redacted.value(secret).slice("whsec_".length), "base64")
        for (const sealed of [row!.secret, row!.previous_secret]) {
          assert.isFalse(Buffer.from(sealed).includes(raw))
          assert.isFalse(Buffer.from(sealed).includes("whsec_"))
        }
        const events = JSON.stringify(yield* (yield* Audit).list(accountId, 9))
        assert.notInclude(events, "whsec_")
        assert.include(events, "https://1.1.1.1")
        assert.notInclude(events, "swordfish")
        assert.notInclude(JSON.stringify(yield* webhooks.find(accountId, endpoint.id)), "secret")
      })
    )
  })

  it.live("with a secret sealed by another key are left to the node that has it, and work again once rotated", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase()
      const hook = yield* receiver()
      const [first, second] = ["the key of the first node, long enough", "the key of the second node, long enough"]
      const node = (key: string) => Layer.build(webhookRooms({ key }).pipe(Layer.provideMerge(layerUrl(url))))
      const [here, there] = [yield* node(first), yield* node(second)]
      const { accountId, endpoint } = yield* Effect.gen(function* () {
        const account = yield* webhookAccount
        const { endpoint } = yield* account.register(hook.url)
        yield* account.publish()
        return { accountId: account.accountId, endpoint }
      }).pipe(Effect.provide(here))
      yield* Effect.gen(function* () {
        const [outbox, webhooks] = [yield* Outbox, yield* Webhooks]
        assert.strictEqual(yield* outbox.sealedElsewhere, 1)
        assert.deepStrictEqual(yield* sendDue, [])
        const tested = yield* webhooks.test(accountId, endpoint.id)
        assert.deepInclude(tested, { delivered: false, status: undefined })
        assert.match(tested.error ?? "", /another key/)
        const { secret } = yield* webhooks.rotateSecret({ accountId, id: endpoint.id, actor })
        assert.strictEqual(yield* outbox.sealedElsewhere, 0)
        assert.lengthOf(yield* sendDue, 1)
        verified(secret, hook.received[0]!)
      }).pipe(Effect.provide(there))
    }).pipe(Effect.scoped)
  )
})

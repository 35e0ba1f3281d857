import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../src/account/Audit.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { type ClaimedDelivery, MAX_PER_ENDPOINT, Outbox } from "../../src/webhooks/Outbox.ts"
import { DELAYS_MS, LONGEST_GAP_MS } from "../../src/webhooks/Schedule.ts"
import type { Attempt } from "../../src/webhooks/Sender.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { actor, webhookAccount, webhookRooms } from "../support/WebhookRooms.ts"
import { eventually } from "../support/Eventually.ts"

const closed = "http://127.0.0.1:9/"

const attempt = (status: number | undefined, more: Partial<Attempt> = {}): Attempt => ({
  startedAt: new Date(),
  durationMs: 5,
  status,
  error: status === undefined ? "no answer" : undefined,
  response: status === undefined ? undefined : "said",
  retryAfter: undefined,
  ...more
})

/** Every test has its own database, because a claim sees the deliveries of all accounts. */
const alone = <A, E>(
  body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof webhookRooms>> | SqlClient.SqlClient>,
  options: Parameters<typeof webhookRooms>[0] = {}
) =>
  Effect.flatMap(freshDatabase(), (url) =>
    Effect.flatMap(Layer.build(webhookRooms(options).pipe(Layer.provideMerge(layerUrl(url)))), (context) =>
      Effect.provide(body, context)
    )
  ).pipe(Effect.scoped)

const endpointsOf = (claimed: ReadonlyArray<ClaimedDelivery>) => claimed.map(({ endpointId }) => endpointId)

/** Returns the milliseconds until the next attempt, by the database's clock. */
const dueIn = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ ms: number }>`SELECT extract(epoch FROM due_at - now())::double precision * 1000 AS ms
    FROM webhook_delivery ORDER BY id LIMIT 1`
  return row!.ms
})

const statusOf = (accountId: string, id: string) =>
  Effect.map(
    Effect.flatMap(Webhooks, ({ find }) => find(accountId, id)),
    ({ status }) => status
  )

/** Inserts rows as if this many events had been published to an endpoint. */
const backlog = (endpointId: string, count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const event = `evt_${newResourceId()}`
    yield* sql`INSERT INTO webhook_event (id, account_id, type, body, created_at)
      SELECT ${event} || n, 'a', 'video.completed', '{}', now() FROM generate_series(1, ${count}) n`
    yield* sql`INSERT INTO webhook_delivery (id, endpoint_id, event_id, due_at)
      SELECT right(md5(${event} || n), 24), ${endpointId}, ${event} || n, now() - interval '1 hour'
      FROM generate_series(1, ${count}) n`
  })

describe("claims", () => {
  it.live("take one delivery of every endpoint before more of any, and respect each endpoint's limit", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const outbox = yield* Outbox
        const { endpoint: busy } = yield* register(closed, ["video.failed"])
        for (let sent = 0; sent < 10; sent++) yield* publish("video.failed")
        const { endpoint: first } = yield* register(closed, ["video.completed"])
        const { endpoint: second } = yield* register(closed, ["video.completed"])
        yield* publish("video.completed")
        assert.sameMembers(endpointsOf(yield* outbox.claim(3)), [busy.id, first.id, second.id])
        const more = yield* outbox.claim(100)
        assert.deepStrictEqual(
          endpointsOf(more),
          Array.from({ length: MAX_PER_ENDPOINT - 1 }, () => busy.id)
        )
        assert.deepStrictEqual(yield* outbox.claim(100), [])
        yield* outbox.note(more[0]!, attempt(200))
        assert.deepStrictEqual(endpointsOf(yield* outbox.claim(100)), [busy.id])
      })
    )
  )

  it.live("take one delivery at a time for a failing endpoint, until it answers", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const outbox = yield* Outbox
        yield* register(closed)
        for (let sent = 0; sent < 12; sent++) yield* publish()
        for (const one of yield* outbox.claim(100)) yield* outbox.note(one, attempt(500))
        const [probe, ...none] = yield* outbox.claim(100)
        assert.deepStrictEqual(none, [])
        yield* outbox.note(probe!, attempt(204))
        assert.lengthOf(yield* outbox.claim(100), MAX_PER_ENDPOINT)
      })
    )
  )

  it.live("leave the deliveries of a suspended account until it is active again", () =>
    alone(
      Effect.gen(function* () {
        const { accountId, publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        const { endpoint } = yield* register(closed)
        yield* publish()
        yield* sql`UPDATE account SET state = 'suspended' WHERE id = ${accountId}`
        assert.deepStrictEqual(yield* outbox.claim(100), [])
        yield* sql`UPDATE account SET state = 'active' WHERE id = ${accountId}`
        assert.deepStrictEqual(endpointsOf(yield* outbox.claim(100)), [endpoint.id])
      })
    )
  )

  it.live("are exclusive, however many nodes claim at once", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const outbox = yield* Outbox
        for (let made = 0; made < 20; made++) yield* register(closed)
        for (let sent = 0; sent < MAX_PER_ENDPOINT; sent++) yield* publish()
        const all = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => Effect.flatMap(outbox.claim(30), (some) => Effect.map(outbox.claim(30), (more) => [...some, ...more])),
          { concurrency: 8 }
        )
        const ids = all.flat().map(({ id }) => id)
        assert.lengthOf(new Set(ids), ids.length)
        const rest = yield* outbox.claim(100)
        assert.lengthOf([...ids, ...rest], 20 * MAX_PER_ENDPOINT)
      })
    )
  )

  it.live("end with their lease, and late results count as far as possible", () =>
    alone(
      Effect.gen(function* () {
        const { deliveries, publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        const { endpoint } = yield* register(closed)
        const event = yield* publish()
        const [lost] = yield* outbox.claim(1)
        assert.deepStrictEqual(yield* outbox.claim(1), [])
        assert.isAbove(yield* dueIn, 30_000)
        yield* sql`UPDATE webhook_delivery SET due_at = now()`
        const [taken] = yield* outbox.claim(1)
        assert.deepStrictEqual([taken?.message.eventId, taken?.step], [event, 0])
        yield* outbox.note(lost!, attempt(500))
        assert.deepInclude((yield* deliveries(endpoint.id))[0], { status: "pending", attempts: 0, next_at: null })
        yield* outbox.release(lost!)
        assert.deepStrictEqual(yield* outbox.claim(1), [])
        yield* outbox.note(lost!, attempt(200))
        yield* outbox.note(taken!, attempt(500))
        const [found] = yield* deliveries(endpoint.id)
        assert.deepInclude(found, { status: "delivered", attempts: 1 })
        assert.deepStrictEqual(
          found!.log.map(({ status_code }) => status_code),
          [500, 200, 500]
        )
      })
    )
  )

  it.live("can be returned, and claimed again at once", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const outbox = yield* Outbox
        yield* register(closed)
        yield* publish()
        const [one] = yield* outbox.claim(1)
        yield* outbox.release(one!)
        assert.strictEqual((yield* outbox.claim(1))[0]?.id, one?.id)
      })
    )
  )

  it.live("are announced while any delivery is pending, now or later", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const outbox = yield* Outbox
        yield* register(closed)
        assert.isFalse(yield* outbox.isPending)
        yield* publish()
        assert.isTrue(yield* outbox.isPending)
        const [one] = yield* outbox.claim(1)
        assert.isTrue(yield* outbox.isPending)
        yield* outbox.note(one!, attempt(200))
        assert.isFalse(yield* outbox.isPending)
      })
    )
  )

  it.live("read as many rows as there are endpoints, not deliveries", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        const { endpoint: hanging } = yield* register(closed, ["video.failed"])
        yield* backlog(hanging.id, 100_000)
        for (let made = 0; made < 19; made++) yield* register(closed, ["video.completed"])
        yield* publish("video.completed")
        // What is known of a table is asked for within a transaction, where nothing else counts.
        const read = Effect.map(
          sql<{ rows: bigint }>`SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables
            WHERE relname = 'webhook_delivery'`,
          ([row]) => Number(row?.rows)
        )
        const claims = Effect.gen(function* () {
          const before = yield* read
          const claimed = yield* outbox.claim(100)
          const after = yield* read
          return { claimed, rows: after - before }
        }).pipe(sql.withTransaction)
        const fresh = yield* claims
        assert.lengthOf(fresh.claimed, 19 + MAX_PER_ENDPOINT)
        assert.isAtLeast(fresh.rows, fresh.claimed.length)
        assert.isBelow(fresh.rows, 1_000)
        yield* sql`VACUUM ANALYZE webhook_delivery`
        const known = yield* claims
        assert.deepStrictEqual(known.claimed, [])
        assert.isBelow(known.rows, 1_000)
      })
    )
  )
})

describe("recorded attempts", () => {
  it.live("postpone a delivery by the schedule until no attempts are left", () =>
    alone(
      Effect.gen(function* () {
        const { deliveries, publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        const { endpoint } = yield* register(closed)
        const event = yield* publish()
        for (const delay of DELAYS_MS.slice(1)) {
          const [one] = yield* outbox.claim(1)
          assert.strictEqual(one?.message.eventId, event)
          yield* outbox.note(one!, attempt(undefined))
          const ms = yield* dueIn
          assert.isAbove(ms, delay - 2_000)
          assert.isAtMost(ms, delay * 1.1)
          yield* sql`UPDATE webhook_delivery SET due_at = now()`
        }
        const [last] = yield* outbox.claim(1)
        yield* outbox.note(last!, attempt(500))
        const [found] = yield* deliveries(endpoint.id)
        assert.deepInclude(found, { status: "failed", attempts: DELAYS_MS.length, next_at: null })
        assert.lengthOf(found!.log, DELAYS_MS.length)
        assert.deepInclude(found!.log[0], { status_code: null, error: "no answer", response: null })
      })
    )
  )

  it.live("wait as long as a receiver asks", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const outbox = yield* Outbox
        yield* register(closed)
        yield* publish()
        const [one] = yield* outbox.claim(1)
        yield* outbox.note(one!, attempt(429, { retryAfter: "3600" }))
        const ms = yield* dueIn
        assert.isAbove(ms, 3_590_000)
        assert.isAtMost(ms, 3_960_000)
      })
    )
  )

  it.live("disable an endpoint that answers 410, and record it in the audit log", () =>
    alone(
      Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const outbox = yield* Outbox
        const { endpoint } = yield* register(closed)
        const { endpoint: other } = yield* register(closed)
        yield* publish()
        yield* publish()
        const one = (yield* outbox.claim(100)).find(({ endpointId }) => endpointId === endpoint.id)
        yield* outbox.note(one!, attempt(410))
        assert.strictEqual(yield* statusOf(accountId, endpoint.id), "disabled")
        assert.strictEqual(yield* statusOf(accountId, other.id), "enabled")
        const [entry] = yield* (yield* Audit).list(accountId, 1)
        assert.deepInclude(entry, { type: "webhook.disabled", actor_type: "service", resource_id: endpoint.id })
        const sql = yield* SqlClient.SqlClient
        const notifications = yield* sql`SELECT kind, data FROM notice WHERE account_id = ${accountId}`
        const data = { url: endpoint.url, reason: "it answered 410" }
        assert.deepStrictEqual(notifications, [{ kind: "webhook_disabled", data }])
        assert.deepStrictEqual(entry?.changes, { reason: "it answered 410" })
        yield* publish()
        assert.lengthOf(yield* deliveries(endpoint.id), 2)
        assert.lengthOf(yield* deliveries(other.id), 3)
      })
    )
  )

  it.live("count no failure of an endpoint's old address against it", () =>
    alone(
      Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const [outbox, webhooks] = [yield* Outbox, yield* Webhooks]
        const { id } = (yield* register(closed)).endpoint
        for (let sent = 0; sent < 3; sent++) yield* publish()
        const [first, second, third] = yield* outbox.claim(3)
        yield* outbox.note(first!, attempt(410))
        assert.strictEqual(yield* statusOf(accountId, id), "disabled")
        yield* webhooks.update({ accountId, id, actor, status: "enabled", url: `${closed}new` })
        yield* outbox.note(second!, attempt(410))
        yield* outbox.note(third!, attempt(500))
        assert.strictEqual(yield* statusOf(accountId, id), "enabled")
        const states = new Map((yield* deliveries(id)).map((one) => [one.event_id, [one.status, one.attempts]]))
        assert.deepStrictEqual(states.get(first!.message.eventId), ["failed", 1])
        assert.deepStrictEqual(states.get(second!.message.eventId), ["pending", 1])
        // Nothing has failed at the new address, so that it is not sent one at a time.
        yield* publish()
        const next = yield* outbox.claim(100)
        assert.sameMembers(
          next.map(({ message }) => message.url),
          [`${closed}new`, `${closed}new`]
        )
        assert.include(
          next.map(({ message }) => message.eventId),
          second!.message.eventId
        )
        yield* outbox.note(next[0]!, attempt(410))
        assert.strictEqual(yield* statusOf(accountId, id), "disabled")
      })
    )
  )

  it.live("count no success of an endpoint's old address for it", () =>
    alone(
      Effect.gen(function* () {
        const { accountId, publish, register } = yield* webhookAccount
        const [outbox, webhooks] = [yield* Outbox, yield* Webhooks]
        const { id } = (yield* register(closed)).endpoint
        yield* publish()
        const [old] = yield* outbox.claim(1)
        yield* webhooks.update({ accountId, id, actor, url: `${closed}new` })
        yield* publish()
        const [failed] = yield* outbox.claim(1)
        yield* outbox.note(failed!, attempt(500))
        const sql = yield* SqlClient.SqlClient
        const fails = Effect.map(
          sql<{ fails: boolean }>`SELECT failing_since IS NOT NULL AS fails FROM webhook_endpoint WHERE id = ${id}`,
          (rows) => rows[0]?.fails
        )
        yield* outbox.note(old!, attempt(200))
        assert.isTrue(yield* fails)
        yield* publish()
        const [good] = yield* outbox.claim(1)
        assert.strictEqual(good?.message.url, `${closed}new`)
        yield* outbox.note(good!, attempt(200))
        assert.isFalse(yield* fails)
      })
    )
  )

  it.live("disable an endpoint that only failed for five days, but not one that answered meanwhile", () =>
    alone(
      Effect.gen(function* () {
        const { accountId, publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        const { endpoint } = yield* register(closed)
        const tell = (status: number) =>
          Effect.gen(function* () {
            yield* publish()
            const [one] = yield* outbox.claim(1)
            yield* outbox.note(one!, attempt(status))
          })
        const pass = (days: number) =>
          sql`UPDATE webhook_endpoint SET failing_since = failing_since - ${days} * interval '1 day'`
        yield* tell(500)
        yield* pass(4.9)
        yield* tell(200)
        yield* tell(500)
        yield* pass(4.9)
        yield* tell(500)
        assert.strictEqual(yield* statusOf(accountId, endpoint.id), "enabled")
        yield* pass(0.2)
        yield* tell(500)
        assert.strictEqual(yield* statusOf(accountId, endpoint.id), "disabled")
        const [entry] = yield* (yield* Audit).list(accountId, 1)
        assert.deepStrictEqual(entry?.changes, { reason: "it failed for 5 days" })
      })
    )
  )

  it.live("do not count time without attempts as failure", () =>
    alone(
      Effect.gen(function* () {
        const { accountId, publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        const { endpoint } = yield* register(closed)
        const fail = Effect.gen(function* () {
          yield* publish()
          const [one] = yield* outbox.claim(1)
          yield* outbox.note(one!, attempt(503))
          return yield* statusOf(accountId, endpoint.id)
        })
        const pass = (ms: number) =>
          sql`UPDATE webhook_endpoint SET failing_since = failing_since - ${ms} * interval '1 millisecond',
            failed_at = failed_at - ${ms} * interval '1 millisecond'`
        yield* fail
        yield* pass(30 * 24 * 3_600_000)
        assert.strictEqual(yield* fail, "enabled")
        for (let times = 0; times < 4; times++) {
          yield* pass(LONGEST_GAP_MS - 60_000)
          assert.strictEqual(yield* fail, "enabled")
        }
        yield* pass(LONGEST_GAP_MS)
        assert.strictEqual(yield* fail, "enabled")
        for (let times = 0; times < 4; times++) {
          yield* pass(LONGEST_GAP_MS - 60_000)
          assert.strictEqual(yield* fail, "enabled")
        }
        yield* pass(LONGEST_GAP_MS - 60_000)
        assert.strictEqual(yield* fail, "disabled")
      })
    )
  )
})

describe("a sweep", () => {
  it.live("ends unwanted deliveries, and deletes old ones with everything that belongs to them", () =>
    alone(
      Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const [outbox, sql, webhooks] = [yield* Outbox, yield* SqlClient.SqlClient, yield* Webhooks]
        const { endpoint } = yield* register(closed)
        const { endpoint: disabled } = yield* register(closed)
        const { endpoint: removed } = yield* register(closed)
        yield* publish()
        for (const one of yield* outbox.claim(100)) {
          yield* outbox.note(one, attempt(one.endpointId === endpoint.id ? 200 : 500))
        }
        yield* sql`UPDATE webhook_endpoint SET status = 'disabled' WHERE id = ${disabled.id}`
        yield* webhooks.remove({ accountId, id: removed.id, actor })
        yield* eventually(outbox.sweep, (done) => done === 0)
        assert.deepInclude((yield* deliveries(disabled.id))[0], { status: "pending" })
        yield* sql`UPDATE webhook_delivery SET due_at = due_at - interval '5 days 1 minute' WHERE status = 'pending'`
        yield* eventually(outbox.sweep, (done) => done === 0)
        const count = (table: string) =>
          Effect.map(sql<{ count: bigint }>`SELECT count(*) FROM ${sql(table)}`, ([row]) => Number(row?.count))
        const all = Effect.forEach(["webhook_endpoint", "webhook_delivery", "webhook_attempt", "webhook_event"], count)
        assert.deepStrictEqual(yield* all, [2, 2, 2, 1])
        assert.deepInclude((yield* deliveries(disabled.id))[0], { status: "failed" })
        yield* publish()
        yield* sql`UPDATE webhook_delivery SET ended_at = now() - interval '31 days' WHERE ended_at IS NOT NULL`
        yield* sql`UPDATE webhook_event SET created_at = now() - interval '31 days'`
        yield* eventually(outbox.sweep, (done) => done === 0)
        assert.deepStrictEqual(yield* all, [2, 1, 0, 1])
        assert.deepInclude((yield* deliveries(endpoint.id))[0], { status: "pending" })
      })
    )
  )
})

describe("ended deliveries and their events", () => {
  it.live("are stored for the retention period", () =>
    alone(
      Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        yield* register(closed)
        yield* publish()
        yield* publish()
        for (const one of yield* outbox.claim(2)) yield* outbox.note(one, attempt(200))
        yield* sql`UPDATE webhook_delivery SET ended_at = now() - interval '7 days' + interval '1 minute'`
        yield* sql`UPDATE webhook_event SET created_at = now() - interval '8 days'`
        assert.strictEqual(yield* outbox.sweep, 0)
        yield* sql`UPDATE webhook_delivery SET ended_at = now() - interval '7 days'
          WHERE id = (SELECT min(id) FROM webhook_delivery)`
        // The delivery and its event.
        assert.strictEqual(yield* outbox.sweep, 2)
        assert.lengthOf(yield* sql`SELECT 1 FROM webhook_event`, 1)
      }),
      { retention: Duration.days(7) }
    )
  )
})

/** Endpoints are created, changed and removed while their accounts publish and several nodes deliver. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../../src/platform/Ids.ts"
import { type ClaimedDelivery, Outbox } from "../../src/webhooks/Outbox.ts"
import type { Attempt } from "../../src/webhooks/Sender.ts"
import { type EventType, Webhooks } from "../../src/webhooks/Webhooks.ts"
import { Random, seeds } from "../ledger/Random.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { actor, webhookAccount, webhookRooms } from "../support/WebhookRooms.ts"
import { eventually } from "../support/Eventually.ts"

const closed = "http://127.0.0.1:9/"

const TYPES: ReadonlyArray<EventType> = ["video.completed", "video.failed"]

/** The steps that an account takes in a history. */
const STEPS = 60

/** Attempts that may fail at random: fewer than the schedule has, so that no delivery is given up. */
const MAX_FAILURES = 5

const attempt = (status: number | undefined): Attempt => ({
  startedAt: new Date(),
  durationMs: 1,
  status,
  error: status === undefined ? "no answer" : undefined,
  response: undefined,
  retryAfter: undefined
})

const node = (url: string) => Layer.build(webhookRooms().pipe(Layer.provideMerge(layerUrl(url, 6))))

/** What was told to whom, and what is being told at this moment. */
interface Notes {
  readonly told: Set<string>
  readonly underWay: Set<string>
  readonly twice: Array<string>
}

const pairOf = (endpointId: string, eventId: string) => `${endpointId} ${eventId}`

/** Sends one, or dies of it: before it was sent or before it was noted. */
const tell = (claimed: ClaimedDelivery, random: Random, { told, underWay }: Notes) =>
  Effect.gen(function* () {
    const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
    for (let turns = random.below(4); turns > 0; turns--) yield* Effect.yieldNow
    const fails = (claimed.again || claimed.step < MAX_FAILURES) && random.chance(0.35)
    const dies = random.chance(0.1)
    if (!fails) told.add(pairOf(claimed.endpointId, claimed.message.eventId))
    // From here on another may have it.
    underWay.delete(claimed.id)
    if (dies) {
      yield* sql`UPDATE webhook_delivery SET due_at = now() WHERE id = ${claimed.id} AND claim = ${claimed.claim}`
      return
    }
    if (random.chance(0.1)) return yield* outbox.release(claimed)
    yield* outbox.note(claimed, attempt(fails ? random.pick([500, 503, undefined]) : 200))
  })

/** One round of a node: claims, sends, and has time pass for what waits. */
const round = (random: Random, notes: Notes) =>
  Effect.gen(function* () {
    const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
    const claimed = yield* outbox.claim(1 + random.below(12))
    for (const { id } of claimed) {
      if (notes.underWay.has(id)) notes.twice.push(id)
      notes.underWay.add(id)
    }
    yield* Effect.forEach(claimed, (one) => tell(one, random, notes), { concurrency: 4 })
    if (random.chance(0.2)) yield* outbox.sweep
    yield* sql`UPDATE webhook_delivery SET due_at = now() WHERE id IN (
      SELECT id FROM webhook_delivery WHERE status = 'pending' AND claim IS NULL AND due_at > now() FOR UPDATE SKIP LOCKED)`
    return claimed.length
  })

interface Standing {
  readonly id: string
  readonly events: ReadonlyArray<EventType>
  readonly enabled: boolean
  readonly owed: ReadonlyArray<string>
}

/** What one account does, one thing after another; answers its endpoints with the events that each is owed. */
const accountLife = (random: Random) =>
  Effect.gen(function* () {
    const { accountId, deliveries, publish, register } = yield* webhookAccount
    const webhooks = yield* Webhooks
    let standing: ReadonlyArray<Standing> = []
    const replace = (one: Standing) => void (standing = standing.map((each) => (each.id === one.id ? one : each)))
    const add = Effect.gen(function* () {
      const events = random.chance(0.5) ? TYPES : [random.pick(TYPES)]
      const { endpoint } = yield* register(closed, events)
      standing = [...standing, { id: endpoint.id, events, enabled: true, owed: [] }]
    })
    const change = Effect.gen(function* () {
      const one = random.pick(standing)
      const doing = { accountId, id: one.id, actor }
      const what = random.below(5)
      if (what === 0) {
        yield* webhooks.remove(doing)
        standing = standing.filter(({ id }) => id !== one.id)
      } else if (what === 1) {
        yield* webhooks.update({ ...doing, status: one.enabled ? "disabled" : "enabled" })
        replace({ ...one, enabled: !one.enabled })
      } else if (what === 2) {
        yield* webhooks.update({ ...doing, events: TYPES })
        replace({ ...one, events: TYPES })
      } else if (what === 3) yield* webhooks.rotateSecret(doing)
      else {
        const [delivery] = yield* deliveries(one.id)
        // It may be under way, or its endpoint disabled.
        if (delivery !== undefined) yield* Effect.ignore(webhooks.redeliver({ ...doing, deliveryId: delivery.id }))
      }
    })
    for (let step = 0; step < STEPS; step++) {
      if (standing.length === 0 || (standing.length < 8 && random.chance(0.15))) yield* add
      else if (random.chance(0.4)) yield* change
      else {
        const type = random.pick(TYPES)
        const event = yield* publish(type)
        for (const one of standing) {
          if (one.enabled && one.events.includes(type)) replace({ ...one, owed: [...one.owed, event] })
        }
      }
    }
    for (const { enabled, id } of standing) {
      if (!enabled) yield* webhooks.update({ accountId, id, actor, status: "enabled" })
    }
    return standing
  })

const history = (seed: number) =>
  Effect.gen(function* () {
    const url = yield* freshDatabase()
    const nodes = [yield* node(url), yield* node(url)]
    const notes: Notes = { told: new Set(), underWay: new Set(), twice: [] }
    const over = yield* Ref.make(false)
    /** Rounds until all has been done and none is left. */
    const delivering = (random: Random): Effect.Effect<void, unknown, Outbox | SqlClient.SqlClient> =>
      Effect.gen(function* () {
        const last = yield* Ref.get(over)
        const [sql, outbox] = [yield* SqlClient.SqlClient, yield* Outbox]
        const claimed = yield* round(random, notes)
        const swept = yield* outbox.sweep
        const [left] = yield* sql<{ count: bigint }>`SELECT count(*) FROM webhook_delivery WHERE status = 'pending'`
        if (!last || claimed + swept > 0 || left!.count > 0n) yield* delivering(random)
      })
    const delivered = yield* Effect.forEach([0, 1, 2, 3], (n) =>
      Effect.forkChild(Effect.provide(delivering(new Random(seed + n)), nodes[n % 2]!))
    )
    const accounts = yield* Effect.forEach(
      [0, 1, 2],
      (n) => Effect.provide(accountLife(new Random(seed + 10 + n)), nodes[n % 2]!),
      { concurrency: 3 }
    )
    yield* Ref.set(over, true)
    yield* Effect.forEach(delivered, Fiber.join)
    const owed = accounts.flat().flatMap(({ id, owed: events }) => events.map((event) => pairOf(id, event)))
    const sql = yield* SqlClient.SqlClient.pipe(Effect.provide(nodes[0]!))
    const rows = yield* sql<{
      endpoint_id: string
      event_id: string
      status: string
    }>`SELECT endpoint_id, event_id, status FROM webhook_delivery`
    const [endpoints] = yield* sql<{ count: bigint }>`SELECT count(*) FROM webhook_endpoint`
    return { notes, owed, rows, endpoints: Number(endpoints?.count), standing: accounts.flat().length }
  })

describe("histories", () => {
  for (const seed of seeds(3)) {
    it.live(`deliver every event at least once to every endpoint subscribed to it, LEDGER_SEED=${seed}`, () =>
      Effect.gen(function* () {
        const { endpoints, notes, owed, rows, standing } = yield* history(seed)
        assert.isAbove(owed.length, 0)
        assert.deepStrictEqual(notes.twice, [])
        assert.deepStrictEqual(
          owed.filter((pair) => !notes.told.has(pair)),
          []
        )
        assert.sameMembers(
          rows.map(({ endpoint_id, event_id }) => pairOf(endpoint_id, event_id)),
          owed
        )
        assert.deepStrictEqual(new Set(rows.map(({ status }) => status)), new Set(["delivered"]))
        assert.strictEqual(endpoints, standing)
      }).pipe(Effect.scoped)
    )
  }
})

describe("publication", () => {
  it.live("does not wait for a concurrent change of an endpoint", () =>
    Effect.gen(function* () {
      const context = yield* node(yield* freshDatabase())
      yield* Effect.gen(function* () {
        const { accountId, deliveries, publish, register } = yield* webhookAccount
        const [sql, webhooks] = [yield* SqlClient.SqlClient, yield* Webhooks]
        const { endpoint } = yield* register(closed)
        const doing = { accountId, id: endpoint.id, actor }
        const changes = [
          webhooks.rotateSecret(doing),
          webhooks.update({ ...doing, url: "http://127.0.0.1:8/" }),
          webhooks.update({ ...doing, status: "disabled" }),
          webhooks.remove(doing)
        ]
        for (const change of changes) {
          const [changed, published] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const held = Effect.andThen(Deferred.succeed(changed, undefined), Deferred.await(published))
          const changing = yield* Effect.forkChild(
            sql
              .withTransaction(Effect.andThen(change, Effect.andThen(held, Effect.fail("not after all"))))
              .pipe(Effect.exit)
          )
          yield* Deferred.await(changed)
          yield* publish()
          yield* Deferred.succeed(published, undefined)
          yield* Fiber.join(changing)
        }
        assert.lengthOf(yield* deliveries(endpoint.id), changes.length)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("skips an endpoint that is removed and deleted at this moment", () =>
    Effect.gen(function* () {
      const context = yield* node(yield* freshDatabase())
      yield* Effect.gen(function* () {
        const { accountId, deliveries, register } = yield* webhookAccount
        const [outbox, sql, webhooks] = [yield* Outbox, yield* SqlClient.SqlClient, yield* Webhooks]
        const { endpoint: going } = yield* register(closed)
        const { endpoint: staying } = yield* register(closed)
        const event = {
          id: `evt_${newResourceId()}`,
          accountId,
          type: "video.failed",
          data: {},
          createdAt: new Date()
        } as const
        const [written, gone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // The same event, by one who changes their mind: publication has seen the endpoint, and waits for that.
        const other = yield* Effect.forkChild(
          Effect.gen(function* () {
            yield* sql`INSERT INTO webhook_event (id, account_id, type, body, created_at)
              VALUES (${event.id}, ${accountId}, 'video.failed', '{}', now())`
            yield* Deferred.succeed(written, undefined)
            yield* Deferred.await(gone)
            return yield* Effect.fail("not after all")
          }).pipe(sql.withTransaction, Effect.exit)
        )
        yield* Deferred.await(written)
        const publishing = yield* Effect.forkChild(sql.withTransaction(webhooks.publish(event)))
        yield* eventually(
          sql`SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%webhook_event%'`,
          ({ length }) => length === 1
        )
        yield* webhooks.remove({ accountId, id: going.id, actor })
        yield* eventually(outbox.sweep, (done) => done === 0)
        yield* Deferred.succeed(gone, undefined)
        yield* Fiber.join(other)
        yield* Fiber.join(publishing)
        assert.lengthOf(yield* deliveries(staying.id), 1)
        const rows = yield* sql`SELECT FROM webhook_endpoint WHERE id = ${going.id}`
        assert.lengthOf(rows, 0)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
})

describe("a lock on a delivery", () => {
  it.live("comes before the one on its endpoint, also when an attempt succeeds", () =>
    Effect.gen(function* () {
      const context = yield* node(yield* freshDatabase())
      yield* Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        const { endpoint } = yield* register(closed)
        yield* sql`UPDATE webhook_endpoint SET failing_since = now()`
        yield* publish()
        const [claimed] = yield* outbox.claim(1)
        const [locked, waiting] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const other = yield* Effect.forkChild(
          Effect.gen(function* () {
            yield* sql`SELECT FROM webhook_delivery WHERE id = ${claimed!.id} FOR UPDATE`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(waiting)
            yield* sql`UPDATE webhook_endpoint SET failed_at = now() WHERE id = ${endpoint.id}`
          }).pipe(sql.withTransaction)
        )
        yield* Deferred.await(locked)
        const noting = yield* Effect.forkChild(outbox.note(claimed!, attempt(200)))
        yield* eventually(
          sql`SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%webhook_delivery%'`,
          ({ length }) => length === 1
        )
        yield* Deferred.succeed(waiting, undefined)
        yield* Fiber.join(other)
        yield* Fiber.join(noting)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("does not hold up a sweep", () =>
    Effect.gen(function* () {
      const context = yield* node(yield* freshDatabase())
      yield* Effect.gen(function* () {
        const { publish, register } = yield* webhookAccount
        const [outbox, sql] = [yield* Outbox, yield* SqlClient.SqlClient]
        yield* register(closed)
        yield* publish()
        yield* publish()
        for (const one of yield* outbox.claim(2)) yield* outbox.note(one, attempt(200))
        yield* sql`UPDATE webhook_delivery SET ended_at = now() - interval '31 days'`
        yield* sql`UPDATE webhook_event SET created_at = now() - interval '31 days'`
        const [sweeping, swept] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const other = yield* Effect.forkChild(
          Effect.gen(function* () {
            yield* sql`SELECT FROM webhook_delivery ORDER BY id LIMIT 1 FOR UPDATE`
            yield* Deferred.succeed(sweeping, undefined)
            yield* Deferred.await(swept)
          }).pipe(sql.withTransaction)
        )
        yield* Deferred.await(sweeping)
        // One delivery and its event.
        assert.strictEqual(yield* outbox.sweep, 2)
        yield* Deferred.succeed(swept, undefined)
        yield* Fiber.join(other)
        assert.strictEqual(yield* outbox.sweep, 2)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )
})

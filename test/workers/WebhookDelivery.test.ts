import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { Outbox } from "../../src/webhooks/Outbox.ts"
import { Sender, TIMEOUT_MS } from "../../src/webhooks/Sender.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { layer as webhookDelivery } from "../../src/workers/WebhookDelivery.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { type Answer, receiver, silence, status } from "../support/Receiver.ts"
import { root } from "../support/Sources.ts"
import { actor, webhookAccount, webhookRooms } from "../support/WebhookRooms.ts"
import { eventually } from "../support/Eventually.ts"

/** A node on this database that delivers, until its scope closes. */
const node = (url: string) =>
  Layer.build(
    webhookDelivery({ sweepInterval: "1 hour" }).pipe(
      Layer.provideMerge(webhookRooms()),
      Layer.provideMerge(layerUrl(url, 6))
    )
  )

/** One that registers and publishes, and delivers nothing. */
const deps = (url: string) => Layer.build(webhookRooms().pipe(Layer.provideMerge(layerUrl(url, 6))))

const statuses = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ status: string; count: bigint }>`SELECT status, count(*) FROM webhook_delivery GROUP BY status`
)

const allAre = (wanted: string, count: number) =>
  eventually(statuses, (rows) => rows.length === 1 && rows[0]?.status === wanted && Number(rows[0].count) === count)

/** A node as a process of its own, and its end by force. */
const processNode = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [join(root, "test/webhooks/deliveringProcess.ts"), url], {
        stdio: "inherit"
      })
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      return { kill: Effect.promise(() => (child.kill("SIGKILL"), ended)) }
    }),
    ({ kill }) => kill
  )

describe("delivery", () => {
  it.live("starts when an event is published, and records every attempt", () =>
    Effect.gen(function* () {
      const context = yield* node(yield* freshDatabase())
      yield* Effect.gen(function* () {
        const { deliveries, publish, register } = yield* webhookAccount
        const hook = yield* receiver()
        const { endpoint } = yield* register(hook.url)
        const ids = [yield* publish(), yield* publish("video.failed")]
        yield* hook.have(2)
        assert.sameMembers(
          hook.received.map(({ headers }) => headers["webhook-id"]),
          ids
        )
        const done = yield* eventually(deliveries(endpoint.id), (all) => all.every((one) => one.status === "delivered"))
        assert.deepStrictEqual(
          done.map(({ attempts, log }) => [attempts, log[0]?.status_code]),
          [
            [1, 200],
            [1, 200]
          ]
        )
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("is retried after a failure, with the same id", () =>
    Effect.gen(function* () {
      const context = yield* node(yield* freshDatabase())
      yield* Effect.gen(function* () {
        const { deliveries, publish, register } = yield* webhookAccount
        const sql = yield* SqlClient.SqlClient
        const hook = yield* receiver(status(500, {}, "no"))
        const { endpoint } = yield* register(hook.url)
        const id = yield* publish()
        yield* eventually(deliveries(endpoint.id), ([one]) => one?.attempts === 1)
        hook.answerWith(status(200))
        yield* sql`UPDATE webhook_delivery SET due_at = now()`
        const [one] = yield* eventually(deliveries(endpoint.id), ([found]) => found?.status === "delivered")
        assert.deepStrictEqual(
          one?.log.map(({ response, status_code }) => [status_code, response]),
          [
            [500, "no"],
            [200, ""]
          ]
        )
        assert.deepStrictEqual(
          hook.received.map(({ headers }) => headers["webhook-id"]),
          [id, id]
        )
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("to a hundred endpoints is not delayed by one that hangs with a long queue", () =>
    Effect.gen(function* () {
      const context = yield* node(yield* freshDatabase())
      yield* Effect.gen(function* () {
        const hanging = yield* receiver(silence)
        const others = yield* receiver()
        const accounts = yield* Effect.forEach(Array.from({ length: 10 }), () => webhookAccount)
        yield* Effect.forEach(accounts, (account) =>
          Effect.forEach(Array.from({ length: 10 }), (_, index) =>
            account.register(account === accounts[0] && index === 0 ? hanging.url : others.url)
          )
        )
        const began = performance.now()
        yield* Effect.forEach(Array.from({ length: 6 }), () => Effect.forEach(accounts, ({ publish }) => publish()), {
          concurrency: 4
        })
        yield* others.have(6 * 99)
        assert.strictEqual(others.received.length, 6 * 99)
        hanging.answerWith(status(200))
        if (performance.now() - began >= TIMEOUT_MS) {
          return process.stdout.write(
            "this machine took longer than an attempt may hang: nothing is said of those that do\n"
          )
        }
        // None of those that hang had ended when all others were there.
        assert.strictEqual(hanging.received.length, 4)
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ attempts: bigint }>`SELECT count(*) AS attempts FROM webhook_attempt a
          JOIN webhook_delivery d ON d.id = a.delivery_id JOIN webhook_endpoint e ON e.id = d.endpoint_id
          WHERE e.url = ${hanging.url}`
        assert.strictEqual(row?.attempts, 0n)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("by two nodes happens once for each endpoint, however they divide the work", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase()
      const [here] = [yield* node(url), yield* node(url)]
      yield* Effect.gen(function* () {
        const hook = yield* receiver()
        const account = yield* webhookAccount
        yield* Effect.forEach(Array.from({ length: 5 }), () => account.register(hook.url))
        const ids = yield* Effect.forEach(Array.from({ length: 60 }), () => account.publish(), { concurrency: 4 })
        yield* allAre("delivered", 300)
        assert.lengthOf(hook.received, 300)
        const seen = hook.received.map(({ headers }) => headers["webhook-id"])
        for (const id of ids)
          assert.lengthOf(
            seen.filter((one) => one === id),
            5
          )
      }).pipe(Effect.provide(here))
    }).pipe(Effect.scoped)
  )

  it.live("is repeated by another node, with the same id, when one dies before it records the result", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase()
      const here = yield* deps(url)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const hook = yield* receiver(silence)
        const { deliveries, publish, register } = yield* webhookAccount
        const { endpoint } = yield* register(hook.url)
        const id = yield* publish()
        const dying = yield* processNode(url)
        yield* hook.have(1)
        yield* dying.kill
        const [left] = yield* deliveries(endpoint.id)
        assert.deepInclude(left, { status: "pending", attempts: 0, next_at: null })
        hook.answerWith(status(200))
        yield* Layer.build(webhookDelivery({ sweepInterval: "1 hour" }).pipe(Layer.provide(Layer.succeedContext(here))))
        // The lease is a minute; its end is brought about here.
        yield* sql`UPDATE webhook_delivery SET due_at = now()`
        const [done] = yield* eventually(deliveries(endpoint.id), ([one]) => one?.status === "delivered")
        assert.strictEqual(done?.attempts, 1)
        assert.deepStrictEqual(
          hook.received.map(({ headers }) => headers["webhook-id"]),
          [id, id]
        )
      }).pipe(Effect.provide(here))
    }).pipe(Effect.scoped)
  )

  it.live("is finished when a node stops, or returned when it cannot be finished", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase()
      const here = yield* deps(url)
      yield* Effect.gen(function* () {
        const answers: Array<() => void> = []
        const waiting: Answer = (_, response) => void answers.push(() => void response.writeHead(200).end())
        const [slow, hanging] = [yield* receiver(waiting), yield* receiver(silence)]
        const { deliveries, publish, register } = yield* webhookAccount
        const [first, second] = [yield* register(slow.url), yield* register(hanging.url)]
        const life = yield* Scope.make()
        yield* Effect.provideService(node(url), Scope.Scope, life)
        yield* publish()
        yield* Effect.all([slow.have(1), hanging.have(1)])
        const stopping = yield* Effect.forkChild(Scope.close(life, Exit.void))
        for (const answer of answers) answer()
        yield* Fiber.join(stopping)
        assert.deepInclude((yield* deliveries(first.endpoint.id))[0], { status: "delivered", attempts: 1 })
        const [given] = yield* deliveries(second.endpoint.id)
        assert.deepInclude(given, { status: "pending", attempts: 0 })
        assert.isNotNull(given?.next_at)
        assert.lengthOf(yield* (yield* Outbox).claim(9), 1)
      }).pipe(Effect.provide(here))
    }).pipe(Effect.scoped)
  )

  it.live("continues after an outage of the database", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase()
      const here = yield* deps(url)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const webhooks = yield* Webhooks
        const hook = yield* receiver()
        const { accountId, publish, register } = yield* webhookAccount
        const { endpoint } = yield* register(hook.url)
        yield* sql`ALTER TABLE webhook_delivery RENAME TO elsewhere`
        let failures = 0
        const outbox = yield* Outbox
        const watched = Outbox.of({
          ...outbox,
          claim: (limit) => Effect.tapCause(outbox.claim(limit), () => Effect.sync(() => void (failures += 1)))
        })
        yield* Layer.build(
          webhookDelivery({ sweepInterval: "1 hour" }).pipe(
            Layer.provide(Layer.mergeAll(Layer.succeed(Outbox, watched), Layer.succeed(Sender, yield* Sender)))
          )
        )
        yield* eventually(
          Effect.sync(() => failures),
          (count) => count > 0
        )
        yield* sql`ALTER TABLE elsewhere RENAME TO webhook_delivery`
        yield* publish()
        yield* hook.have(1)
        yield* webhooks.remove({ accountId, id: endpoint.id, actor })
      }).pipe(Effect.provide(here))
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
  )
})

import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { LOW_BALANCE } from "../../src/domain/Balance.ts"
import { Notifications } from "../../src/notifications/Notifications.ts"
import { insertNotification, rememberOrigin } from "../../src/notifications/NotificationsSql.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { type Email, Mail, MailError } from "../../src/platform/messaging/Mail.ts"
import { PublicUrl } from "../../src/platform/outbound/PublicUrl.ts"
import { close, customer, hold, run } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

const publicUrl = PublicUrl.layer.pipe(Layer.provide(Config.layerFrom({})))

/** A node with a mail server of its own, which may fail before or after it accepts an email. */
const node = (send: (email: Email, accept: () => void) => Effect.Effect<void, MailError>) =>
  Effect.gen(function* () {
    const accepted: Array<Email> = []
    const mail = Mail.of({ send: (email) => send(email, () => void accepted.push(email)) })
    const layer = Layer.fresh(Notifications.layer).pipe(
      Layer.provide(Layer.merge(Layer.succeed(Mail, mail), publicUrl))
    )
    return { accepted, notifications: Context.get(yield* Layer.build(layer), Notifications) }
  })

const accepting = node((_, accept) => Effect.sync(accept))

const failing = (reason: MailError["reason"]) => node(() => Effect.fail(new MailError({ reason, detail: "test" })))

const repeated = (step: Effect.Effect<number, unknown>): Effect.Effect<void, unknown> =>
  Effect.flatMap(step, (done) => (done === 0 ? Effect.void : repeated(step)))

const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM notice`
  yield* sql`DELETE FROM letter`
  const { accountId } = yield* customer(sql, 10_000_000_000n)
  const change = (name: string) =>
    insertNotification(sql, { accountId, kind: "key_change", data: { name, action: "created", actor: "owner" } })
  const emails = sql<{
    kind: string
    outcome: string | null
    attempts: number
  }>`SELECT kind, outcome, attempts FROM letter
    WHERE account_id = ${accountId} ORDER BY id`
  /** Lets the time until the next attempt pass. */
  const due = sql`UPDATE letter SET due_at = now()`
  const pass = sql`UPDATE letter SET created_at = created_at - interval '11 minutes'`
  return { sql, accountId, change, emails, due, pass }
})

describe("Notifications", () => {
  layer(database, { excludeTestServices: true })((it) => {
    it.effect("are sent as one email, however many nodes write and send at once", () =>
      Effect.gen(function* () {
        const { change, emails } = yield* scene
        for (let n = 0; n < 30; n++) yield* change(`key-${n}`)
        const nodes = [yield* accepting, yield* accepting, yield* accepting]
        yield* Effect.all(
          nodes.flatMap(({ notifications }) => [repeated(notifications.write), repeated(notifications.send)]),
          { concurrency: "unbounded" }
        )
        yield* repeated(nodes[0]!.notifications.send)
        const accepted = nodes.flatMap((one) => one.accepted)
        assert.deepStrictEqual(
          accepted.map(({ subject }) => subject),
          ["30 changes of your keys"]
        )
        assert.deepStrictEqual(yield* emails, [{ kind: "key_change", outcome: "sent", attempts: 1 }])
      })
    )

    it.effect("are sent in one email of a kind every ten minutes, and none is lost", () =>
      Effect.gen(function* () {
        const { change, pass } = yield* scene
        const { accepted, notifications } = yield* accepting
        const turn = Effect.andThen(repeated(notifications.write), repeated(notifications.send))
        yield* change("first")
        yield* turn
        yield* change("second")
        yield* change("third")
        yield* turn
        assert.deepStrictEqual(
          accepted.map(({ subject }) => subject),
          ["The key first was created"]
        )
        yield* pass
        yield* turn
        assert.deepStrictEqual(
          accepted.map(({ subject }) => subject),
          ["The key first was created", "2 changes of your keys"]
        )
      })
    )

    it.effect("are not recorded when the transaction fails or the owner declined them", () =>
      Effect.gen(function* () {
        const { accountId, change, sql } = yield* scene
        const { notifications } = yield* accepting
        yield* Effect.exit(sql.withTransaction(Effect.andThen(change("lost"), Effect.fail("no"))))
        const { after, before } = yield* notifications.choose(accountId, { key_change: false, sign_in: true })
        assert.deepStrictEqual([before.key_change, after.key_change, after.sign_in], [true, false, true])
        yield* change("declined")
        assert.deepStrictEqual(yield* sql`SELECT kind FROM notice`, [])
        yield* notifications.choose(accountId, { key_change: true })
        assert.deepStrictEqual(yield* notifications.choices(accountId), {
          low_balance: true,
          budget_alert: true,
          webhook_disabled: true,
          sign_in: true,
          key_change: true
        })
        yield* change("accepted")
        assert.lengthOf(yield* sql`SELECT kind FROM notice`, 1)
      })
    )

    it.effect("are sent again with the same text and ID after a failure, and dropped after a day", () =>
      Effect.gen(function* () {
        const { change, due, emails } = yield* scene
        const sent: Array<Email> = []
        const { notifications } = yield* node((email) => {
          sent.push(email)
          return Effect.fail(new MailError({ reason: "unreachable", detail: "test" }))
        })
        yield* change("first")
        yield* repeated(notifications.write)
        yield* repeated(notifications.send)
        assert.deepStrictEqual(yield* emails, [{ kind: "key_change", outcome: null, attempts: 1 }])
        for (let attempt = 2; attempt <= 8; attempt++) yield* Effect.andThen(due, repeated(notifications.send))
        assert.deepStrictEqual(yield* emails, [{ kind: "key_change", outcome: "given_up", attempts: 7 }])
        assert.strictEqual(new Set(sent.map((one) => JSON.stringify(one))).size, 1)
        assert.match(sent[0]?.id ?? "", /^[0-9a-f]{24}$/)
      })
    )

    it.effect("are dropped at once when the address accepts no mail", () =>
      Effect.gen(function* () {
        const { change, emails } = yield* scene
        const { notifications } = yield* failing("refused")
        yield* change("first")
        yield* Effect.andThen(repeated(notifications.write), repeated(notifications.send))
        assert.deepStrictEqual(yield* emails, [{ kind: "key_change", outcome: "refused", attempts: 1 }])
      })
    )

    it.effect("report once that a balance fell below five dollars, and not after a top-up meanwhile", () =>
      Effect.gen(function* () {
        const { accountId, sql } = yield* scene
        const { accepted, notifications } = yield* accepting
        const [owner] = yield* sql<{ key_id: string }>`SELECT id AS key_id FROM api_key WHERE account_id = ${accountId}`
        assert.strictEqual(LOW_BALANCE, 5_000_000_000n)
        const spend = (amount: bigint) =>
          Effect.gen(function* () {
            const opened = hold({ accountId, keyId: owner!.key_id }, amount)
            assert.strictEqual((yield* run(sql, opened))._tag, "Granted")
            yield* run(sql, close(opened, amount))
          })
        yield* spend(5_000_000_000n)
        assert.deepStrictEqual(yield* sql`SELECT kind FROM notice`, [])
        yield* spend(1n)
        yield* spend(1_000_000_000n)
        assert.lengthOf(yield* sql`SELECT kind FROM notice`, 1)
        yield* Effect.andThen(repeated(notifications.write), repeated(notifications.send))
        assert.deepStrictEqual(
          accepted.map(({ subject }) => subject),
          ["Your balance is $3.999999999"]
        )
        yield* sql`UPDATE letter SET created_at = created_at - interval '11 minutes'`
        yield* sql`UPDATE balance SET posted = 6000000000 WHERE account_id = ${accountId}`
        yield* spend(2_000_000_000n)
        yield* sql`UPDATE balance SET posted = 6000000000 WHERE account_id = ${accountId}`
        yield* repeated(notifications.write)
        assert.lengthOf(yield* sql`SELECT id FROM letter`, 1)
        assert.deepStrictEqual(yield* sql`SELECT kind FROM notice`, [])
      })
    )

    it.effect("treat an origin as known from its second use on, and delete old emails and origins", () =>
      Effect.gen(function* () {
        const { accountId, change, sql } = yield* scene
        const { notifications } = yield* accepting
        const known = yield* Effect.forEach(["a", "a", "b"], (origin) => rememberOrigin(sql, accountId, origin))
        assert.deepStrictEqual(known, [true, false, true])
        yield* change("first")
        yield* Effect.andThen(repeated(notifications.write), repeated(notifications.send))
        assert.strictEqual(yield* notifications.sweep, 0)
        yield* sql`UPDATE letter SET ended_at = now() - interval '31 days'`
        yield* sql`UPDATE known_origin SET seen_at = now() - interval '91 days' WHERE account_id = ${accountId}`
        assert.strictEqual(yield* notifications.sweep, 3)
        assert.isTrue(yield* rememberOrigin(sql, accountId, "a"))
      })
    )
  })
})

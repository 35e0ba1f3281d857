import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Codes } from "../../src/account/Codes.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Mutations } from "../../src/account/Mutations.ts"
import { OperatorEvents } from "../../src/account/OperatorEvents.ts"
import { OperatorSessions } from "../../src/account/OperatorSessions.ts"
import { OwnerSessions } from "../../src/account/OwnerSessions.ts"
import { Customers } from "../../src/billing/Customers.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { layer as sweeps } from "../../src/workers/Sweeps.ts"
import { layer as database } from "../support/Database.ts"

const owners = Layer.mergeAll(Codes.layer, OperatorSessions.layer, OwnerSessions.layer).pipe(
  Layer.provide(OperatorEvents.layer),
  Layer.provide(Secrets.layerFrom(Redacted.make("k".repeat(32))))
)

const rooms = Customers.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, Accounts.layer, Keys.layer, Mutations.layer, Requests.layer, owners)),
  Layer.provideMerge(Audit.layer),
  Layer.provideMerge(database)
)

describe("Sweeps", () => {
  it.live("end overdue holds and charges: progress is charged, the rest released, and up-front charges refunded", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(rooms)
      yield* Effect.gen(function* () {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const { account } = yield* (yield* Customers).open("sweep@example.com", 1_000n, { type: "operator", id: "t" })
        const [key] = yield* sql<{ id: string }>`SELECT id FROM api_key WHERE kind = 'inference'`
        const requestId = newRequestId()
        const common = { requestId, accountId: account.id }
        const held = {
          ...common,
          _tag: "Hold",
          keyId: key!.id,
          projectId: null,
          operation: "chat.completions",
          model: "m",
          atLeast: 600n,
          upTo: 600n,
          ttlMs: 60_000,
          budgets: [],
          budgetsEpoch: 0,
          opened: {},
          claim: undefined,
          charge: false
        } as const
        yield* ledger.commit(held)
        const charged = { ...held, requestId: newRequestId(), atLeast: 400n, charge: true }
        yield* ledger.commit(charged)
        yield* ledger.commit({ ...common, _tag: "Extend", held: 600n, more: 0n, progress: 250n, ttlMs: 60_000 })
        yield* sql`UPDATE request SET expires_at = now() - interval '1 second'`
        yield* Layer.build(sweeps(Duration.millis(5)))
        const swept: Effect.Effect<unknown, Unavailable> = Effect.flatMap(ledger.balance(account.id), (balance) =>
          balance?.posted === 750n ? Effect.succeed(balance) : swept
        )
        assert.deepStrictEqual(yield* swept, { posted: 750n, held: 0n })
        const rows = yield* sql<{
          state: string
          status: string
          expired: boolean
          cost: bigint
        }>`SELECT state, status, expired, settled - refunded AS cost FROM request ORDER BY id`
        const ended = { state: "settled", status: "failed", expired: true }
        assert.deepStrictEqual(rows, [
          { ...ended, cost: 250n },
          { ...ended, cost: 0n }
        ])
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("delete ended sessions and expired codes", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(rooms)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const codes = yield* Codes
        const sessions = yield* OwnerSessions
        const { account } = yield* (yield* Customers).open("sweep@example.com", 0n, { type: "operator", id: "t" })
        const [old, current] = [yield* sessions.begin(account.id), yield* sessions.begin(account.id)]
        yield* codes.issue("old")
        yield* sql`UPDATE owner_session SET seen_at = now() - interval '25 hours' WHERE id = ${old.id}`
        yield* sql`UPDATE verification_code SET expires_at = now() - interval '1 second'`
        yield* codes.issue("current")
        yield* Layer.build(sweeps(Duration.millis(5)))
        const left = sql<{ count: bigint }>`SELECT (SELECT count(*) FROM owner_session)
          + (SELECT count(*) FROM verification_code) AS count`
        const swept: Effect.Effect<unknown, unknown> = Effect.flatMap(left, ([row]) =>
          row?.count === 2n ? Effect.void : swept
        )
        yield* swept
        assert.isDefined(yield* sessions.find(current.token))
        assert.isDefined(yield* codes.attempt("current"))
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("delete records of replays after a day", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(rooms)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const requests = yield* Requests
        const { account } = yield* (yield* Customers).open("sweep@example.com", 0n, { type: "operator", id: "t" })
        const ids = [newRequestId(), newRequestId()] as const
        for (const id of ids) yield* requests.noteReplay({ id, accountId: account.id, requestId: newRequestId() })
        yield* sql`UPDATE replay SET created_at = now() - interval '25 hours' WHERE id = ${ids[0]}`
        yield* Layer.build(sweeps(Duration.millis(5)))
        const left = sql<{ id: string }>`SELECT id FROM replay`
        const swept: Effect.Effect<ReadonlyArray<string>, unknown> = Effect.flatMap(left, (rows) =>
          rows.length === 1 ? Effect.succeed(rows.map(({ id }) => id)) : swept
        )
        assert.deepStrictEqual(yield* swept, [ids[1]])
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("continue after a failed sweep", () =>
    Effect.gen(function* () {
      const third = yield* Deferred.make<void>()
      let tries = 0
      const expireOverdue = Effect.suspend(() => {
        tries++
        if (tries === 1) return Effect.die(new Error("a bug"))
        if (tries === 2) return Effect.fail(new Unavailable({ store: "database" }))
        return Effect.as(Deferred.succeed(third, undefined), 0)
      })
      const ledger = Layer.effect(
        Ledger,
        Effect.map(Ledger, (real) => ({ ...real, expireOverdue }))
      ).pipe(Layer.provide(Ledger.layer), Layer.provide(database))
      yield* Layer.build(
        sweeps(Duration.millis(1)).pipe(
          Layer.provide(
            Layer.mergeAll(
              ledger,
              Layer.mergeAll(Mutations.layer, Requests.layer, owners).pipe(
                Layer.provide(Audit.layer),
                Layer.provide(database)
              )
            )
          )
        )
      )
      yield* Deferred.await(third)
      assert.strictEqual(tries >= 3, true)
    }).pipe(Effect.scoped)
  )
})

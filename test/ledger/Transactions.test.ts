import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import type { Unavailable } from "../../src/platform/database/Sql.ts"
import * as Database from "../support/Database.ts"
import {
  balance,
  claim,
  close,
  conclusion,
  credit,
  customer,
  hold,
  lockBalance,
  lockWaiters,
  newLedger,
  request,
  twoNodes,
  wrongs
} from "./Fixture.ts"

const all = { concurrency: "unbounded" } as const

layer(Database.layer, { excludeTestServices: true })("within a transaction", (it) => {
  it.effect("a transfer is committed or rolled back with it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const sold = hold(owner, 40n, { charge: true })
      const selling = Effect.gen(function* () {
        assert.strictEqual((yield* ledger.within(sql, sold))._tag, "Granted")
        // Others do not see it yet.
        assert.deepStrictEqual(yield* balance(sql, owner), { posted: 60n, held: 0n })
      })
      const undone = yield* Effect.exit(sql.withTransaction(Effect.andThen(selling, Effect.fail("undone"))))
      assert.isTrue(Exit.isFailure(undone))
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
      assert.isUndefined(yield* request(sql, sold.requestId))
      yield* sql.withTransaction(selling)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 60n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  for (const way of ["moves money", "concludes a charge"] as const) {
    it.effect(`a node that ${way} and falls silent keeps the others waiting only for seconds`, () =>
      Effect.gen(function* () {
        const { nodes, sql } = yield* twoNodes
        const [hung, other] = [yield* customer(sql, 100n), yield* customer(sql, 100n)]
        const charge = hold(hung, 40n, { charge: true })
        yield* nodes[0].commit(charge)
        const silent = yield* Deferred.make<void>()
        const hanging = yield* Effect.forkChild(
          Effect.gen(function* () {
            if (way === "moves money") yield* nodes[0].within(sql, credit(hung, 5n, "payment"))
            else yield* nodes[0].conclude(sql, conclusion(charge, 7n))
            yield* Deferred.succeed(silent, undefined)
            return yield* Effect.never
          }).pipe(sql.withTransaction)
        )
        yield* Deferred.await(silent)
        const held = yield* Effect.forEach([hung, other], (owner) => nodes[1].commit(hold(owner, 50n)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          held.map(({ _tag }) => _tag),
          ["Granted", "Granted"]
        )
        // What it did is undone.
        assert.deepStrictEqual(yield* balance(sql, hung), { posted: 60n, held: 50n })
        yield* Fiber.interrupt(hanging)
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
    )
  }
})

layer(Database.layer, { excludeTestServices: true })("a ledger", (it) => {
  it.effect("fails only an impossible operation", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 1_000n)
      const { unlock } = yield* lockBalance(sql, owner)
      const first = yield* Effect.forkChild(ledger.commit(hold(owner, 1n)))
      yield* lockWaiters(sql, 1)
      // These gather into one group behind the first.
      const group = yield* Effect.forkChild(
        Effect.all(
          [
            Effect.exit(ledger.commit(hold(owner, 1n))),
            Effect.exit(ledger.commit(credit(owner, -5n))),
            Effect.exit(ledger.commit(hold(owner, 1n, { opened: { circle: 1n } }))),
            Effect.exit(ledger.commit(credit(owner, 5n)))
          ],
          all
        )
      )
      yield* Effect.yieldNow
      yield* unlock
      yield* Fiber.join(first)
      assert.deepStrictEqual(
        (yield* Fiber.join(group)).map((exit) => exit._tag),
        ["Success", "Failure", "Failure", "Success"]
      )
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_005n, held: 2n })
    })
  )

  it.effect("answers operations on different subjects in one group, and the rest after it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 1_000n)
      const opened = hold(owner, 10n)
      yield* ledger.commit(opened)
      yield* ledger.commit(hold(owner, 100n))
      const { unlock } = yield* lockBalance(sql, owner)
      const first = yield* Effect.forkChild(ledger.commit(hold(owner, 1n)))
      yield* lockWaiters(sql, 1)
      // Releases move no money, and others are held: neither a constraint nor a unique transfer would notice the second.
      const ends = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], () => ledger.commit(close(opened, undefined)), all)
      )
      const rivals = yield* Effect.forkChild(
        Effect.forEach([1, 2], () => ledger.commit(hold(owner, 1n, { claim: claim("rivals") })), all)
      )
      yield* Effect.yieldNow
      yield* unlock
      yield* Fiber.join(first)
      assert.deepStrictEqual(
        (yield* Fiber.join(ends)).map((result) => result._tag),
        ["Closed", "Gone", "Gone"]
      )
      assert.deepStrictEqual(
        (yield* Fiber.join(rivals)).map((result) => result._tag),
        ["Granted", "Claimed"]
      )
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 102n })
    })
  )

  it.effect("puts few long answers into one statement, and writes short ones first", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const [owner, other] = [yield* customer(sql, 1_000n), yield* customer(sql, 1_000n)]
      const opened = [1, 2, 3].map(() => hold(owner, 10n))
      for (const op of opened) yield* ledger.commit(op)
      const { unlock } = yield* lockBalance(sql, owner)
      const first = yield* Effect.forkChild(ledger.commit(hold(owner, 1n)))
      yield* lockWaiters(sql, 1)
      const answer = { _tag: "Answer", answer: "x".repeat(600_000) }
      const long = yield* Effect.forkChild(
        Effect.forEach(opened, (op) => ledger.commit(close(op, 10n, { answer })), all)
      )
      const short = hold(other, 1n)
      const held = yield* Effect.forkChild(ledger.commit(short))
      yield* Effect.yieldNow
      yield* unlock
      for (const fiber of [first, long, held]) yield* Fiber.join<unknown, Unavailable>(fiber)
      const ids = [...opened, short].map(({ requestId }) => requestId)
      const rows = yield* sql<{ id: string; statement: string }>`SELECT id, xmin::text AS statement FROM request
        WHERE id = ANY (${ids})`
      const statements = ids.map((id) => rows.find((row) => row.id === id)!.statement)
      assert.strictEqual(new Set(statements).size, 3)
      assert.strictEqual(statements[3], statements[0])
    })
  )

  it.effect("frees idempotency keys of requests that ended long ago, and forgets their answers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* newLedger(sql)
      const owner = yield* customer(sql, 100n)
      const [old, recent] = [hold(owner, 1n, { claim: claim("old") }), hold(owner, 1n, { claim: claim("recent") })]
      yield* commitGroup(sql, [old, recent])
      yield* commitGroup(sql, [close(old, 1n, { answer: { body: "x" } }), close(recent, 1n, { answer: { body: "y" } })])
      yield* sql`UPDATE request SET closed_at = now() - interval '1 hour' WHERE id = ${old.requestId}`
      yield* ledger.dropClaims(1_800_000)
      const rows = yield* sql`SELECT claim IS NULL AS free, answer IS NULL AS forgotten FROM request
        WHERE account_id = ${owner.accountId} ORDER BY closed_at`
      assert.deepStrictEqual(rows, [
        { free: true, forgotten: true },
        { free: false, forgotten: false }
      ])
      assert.strictEqual((yield* ledger.commit(hold(owner, 1n, { claim: claim("old") })))._tag, "Granted")
      assert.strictEqual((yield* ledger.commit(hold(owner, 1n, { claim: claim("recent") })))._tag, "Claimed")
    })
  )

  it.effect("leaves no caller waiting when it ends", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const { unlock } = yield* lockBalance(sql, owner)
      const [ledger, waiting] = yield* Effect.scoped(
        Effect.gen(function* () {
          const ledger = yield* newLedger(sql)
          const first = yield* Effect.forkDetach(Effect.flip(ledger.commit(hold(owner, 1n))))
          yield* lockWaiters(sql, 1)
          const second = yield* Effect.forkDetach(Effect.flip(ledger.commit(hold(owner, 1n))))
          yield* Effect.yieldNow
          return [ledger, [first, second]] as const
        })
      )
      yield* unlock
      for (const fiber of waiting) assert.strictEqual((yield* Fiber.join(fiber))._tag, "Unavailable")
      assert.strictEqual((yield* Effect.flip(ledger.commit(hold(owner, 1n))))._tag, "Unavailable")
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 0n })
    })
  )
})

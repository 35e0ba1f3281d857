import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import { verify } from "../../src/ledger/Verify.ts"
import * as Database from "../support/Database.ts"
import {
  addBudget,
  close,
  concludeAll,
  conclusion,
  credit,
  customer,
  extend,
  hold,
  onDay,
  refund,
  run
} from "./Fixture.ts"

const names = [
  "transfers_sum_to_zero",
  "balances_equal_transfers",
  "held_equals_open_holds",
  "budgets_equal_requests",
  "no_overdue_holds",
  "charges_are_concluded",
  "nothing_negative",
  "settled_within_held",
  "costs_have_one_transfer",
  "released_moved_nothing",
  "refunds_equal_transfers",
  "play_money_paid_doubles",
  "transfers_are_append_only"
]

/** Some of everything: open, settled, released, charged, refunded and expired requests, budgets and credits. */
const books = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* customer(sql, 1_000n)
  const day = onDay(yield* addBudget(sql, owner, "key", 500n))
  const paid = { budgets: [day] }
  const open = hold(owner, 50n, paid)
  const settled = hold(owner, 50n, paid)
  const released = hold(owner, 50n, paid)
  const overdue = hold(owner, 50n, paid)
  const charged = hold(owner, 40n, { charge: true, ...paid })
  yield* commitGroup(sql, [open, settled, released, overdue, charged])
  yield* commitGroup(sql, [
    close(settled, 30n),
    close(released, undefined),
    refund(charged, 10n),
    credit(owner, 5n, "x")
  ])
  yield* run(sql, { ...extend(overdue, 50n, 0n, 20n), ttlMs: -1 })
  yield* run(sql, close(overdue, undefined, { settle: { cost: null }, onlyIfExpired: true }))
  return { sql, owner, open, settled, released, charged }
})

type Books = Effect.Success<typeof books>

/** A database that lets anything be written, as one that was tampered with. */
const unguarded = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const checks = yield* sql<{ line: string }>`
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS line FROM pg_constraint
    WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conrelid <> 0`
  for (const { line } of checks) yield* sql.unsafe(line)
  yield* sql`DROP INDEX transfer_once`
  yield* sql`ALTER TABLE transfer DISABLE TRIGGER transfer_append_only`
})

/** Which checks fail when the books are so corrupted; the missing trigger, which allows it, is not counted. */
const failing = (corrupt: (books: Books) => Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    yield* unguarded
    yield* corrupt(yield* books)
    const sql = yield* SqlClient.SqlClient
    const { checks, ok } = yield* verify(sql)
    assert.isFalse(ok)
    for (const check of checks) if (!check.ok) assert.match(check.detail, /^\d+ of \d+ [a-z ]+; for one, ./)
    return checks.filter((check) => !check.ok && check.name !== "transfers_are_append_only").map((check) => check.name)
  }).pipe(Effect.provide(Database.layer, { local: true }))

layer(Database.layer, { excludeTestServices: true })("verification of the books", (it) => {
  it.effect("passes for an empty database and for one in use", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const empty = yield* verify(sql)
      assert.deepStrictEqual(
        empty.checks.map((check) => check.name),
        names
      )
      assert.isTrue(empty.ok)
      yield* books
      const used = yield* verify(sql)
      assert.deepStrictEqual(
        used.checks.filter((check) => !check.ok),
        []
      )
      assert.isTrue(used.ok)
      assert.deepStrictEqual(
        used.checks.find((check) => check.name === "costs_have_one_transfer"),
        { name: "costs_have_one_transfer", ok: true, detail: "3 paid requests" }
      )
    })
  )

  it.effect("reads one snapshot, whatever others write meanwhile", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 1_000_000n)
      const writer = yield* Effect.forkChild(
        Effect.forever(
          Effect.gen(function* () {
            const opened = hold(owner, 5n)
            yield* run(sql, opened)
            yield* run(sql, close(opened, 3n))
          })
        )
      )
      for (let round = 0; round < 20; round++) assert.isTrue((yield* verify(sql)).ok)
      assert.isUndefined(writer.pollUnsafe())
      yield* Fiber.interrupt(writer)
    })
  )

  it.effect("is read-only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { owner } = yield* books
      // Whatever a query of it did, the database would refuse: this one is made to write.
      yield* sql`CREATE FUNCTION pg_temp_writer() RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN DELETE FROM audit_event; RETURN true; END $$`
      yield* sql`ALTER TABLE request RENAME TO request_table`
      yield* sql`CREATE VIEW request AS SELECT * FROM request_table WHERE pg_temp_writer()`
      const error = yield* Effect.flip(verify(sql))
      assert.include(String(error.cause), "25006")
      assert.isString(owner.accountId)
    }).pipe(Effect.provide(Database.layer, { local: true }))
  )
})

layer(Database.layer, { excludeTestServices: true })("verification of the books fails", (it) => {
  it.effect("when a side of a transfer names no account", () =>
    Effect.gen(function* () {
      const found = yield* failing(
        ({ sql }) =>
          sql`INSERT INTO transfer (debit, credit, amount, kind) VALUES ('house:grants', 'nobody', 5, 'credit')`
      )
      assert.include(found, "transfers_sum_to_zero")
    })
  )

  it.effect("when a balance exceeds its transfers, or a transfer is missing", () =>
    Effect.gen(function* () {
      const raised = yield* failing(({ sql }) => sql`UPDATE balance SET posted = posted + 1`)
      assert.deepStrictEqual(raised, ["balances_equal_transfers"])
      const lost = yield* failing(({ sql }) => sql`DELETE FROM transfer WHERE kind = 'credit' AND amount = 5`)
      assert.deepStrictEqual(lost, ["balances_equal_transfers"])
    })
  )

  it.effect("when more or less is held than the open holds", () =>
    Effect.gen(function* () {
      const more = yield* failing(({ sql }) => sql`UPDATE balance SET held = held + 1`)
      assert.deepStrictEqual(more, ["held_equals_open_holds"])
      const without = yield* failing(({ open, sql }) => sql`DELETE FROM request WHERE id = ${open.requestId}`)
      assert.deepStrictEqual(without, ["held_equals_open_holds", "budgets_equal_requests"])
    })
  )

  it.effect("when a budget's figures differ from its requests", () =>
    Effect.gen(function* () {
      const spent = yield* failing(({ sql }) => sql`UPDATE budget_period SET spent = spent + 1`)
      assert.deepStrictEqual(spent, ["budgets_equal_requests"])
      const held = yield* failing(({ sql }) => sql`UPDATE budget_period SET held = held - 1`)
      assert.deepStrictEqual(held, ["budgets_equal_requests"])
      const gone = yield* failing(({ sql }) => sql`DELETE FROM budget_period`)
      assert.deepStrictEqual(gone, ["budgets_equal_requests"])
    })
  )

  it.effect("when a hold is open past its expiry and the grace for the sweep", () =>
    Effect.gen(function* () {
      const expire = (ago: string) => (it: Books) =>
        it.sql`UPDATE request SET expires_at = now() - ${ago}::interval WHERE id = ${it.open.requestId}`
      assert.deepStrictEqual(yield* failing(expire("61 seconds")), ["no_overdue_holds"])
      const sql = yield* SqlClient.SqlClient
      yield* expire("30 seconds")(yield* books)
      assert.isTrue((yield* verify(sql)).ok)
      const strict = yield* verify(sql, { graceMs: 10_000 })
      assert.deepStrictEqual(
        strict.checks.filter((check) => !check.ok).map((check) => check.name),
        ["no_overdue_holds"]
      )
    })
  )

  it.effect("when a charge stands past its expiry and the grace for the sweep", () =>
    Effect.gen(function* () {
      const expire = (ago: string) => (it: Books) =>
        it.sql`UPDATE request SET expires_at = now() - ${ago}::interval WHERE id = ${it.charged.requestId}`
      assert.deepStrictEqual(yield* failing(expire("61 seconds")), ["charges_are_concluded"])
      const sql = yield* SqlClient.SqlClient
      const sold = yield* books
      yield* expire("30 seconds")(sold)
      const within = (graceMs: number) =>
        Effect.map(
          verify(sql, { graceMs }),
          ({ checks }) => checks.find(({ name }) => name === "charges_are_concluded")?.ok
        )
      assert.isTrue(yield* within(60_000))
      assert.isFalse(yield* within(10_000))
      yield* concludeAll(sql, [conclusion(sold.charged, 0n)])
      assert.isTrue(yield* within(10_000))
    })
  )

  it.effect("when something is negative", () =>
    Effect.gen(function* () {
      const absorbed = yield* failing(({ sql }) => sql`UPDATE request SET absorbed = -1`)
      assert.deepStrictEqual(absorbed, ["nothing_negative"])
      const promised = yield* failing(({ owner, sql }) =>
        Effect.andThen(
          sql`UPDATE request SET held = 10000 WHERE state = 'open'`,
          sql`UPDATE balance SET held = 10000 WHERE account_id = ${owner.accountId}`
        )
      )
      assert.deepStrictEqual(promised, ["budgets_equal_requests", "nothing_negative"])
    })
  )

  it.effect("when more was settled than held", () =>
    Effect.gen(function* () {
      const held = yield* failing(
        ({ settled, sql }) => sql`UPDATE request SET held = 29 WHERE id = ${settled.requestId}`
      )
      assert.deepStrictEqual(held, ["settled_within_held"])
      const progress = yield* failing(({ sql }) => sql`UPDATE request SET progress = held + 1 WHERE state = 'open'`)
      assert.deepStrictEqual(progress, ["settled_within_held"])
    })
  )

  it.effect(
    "when a cost has no transfer, two, another account's or one of another amount, or a transfer has no request",
    () =>
      Effect.gen(function* () {
        const without = yield* failing(
          ({ settled, sql }) => sql`DELETE FROM transfer WHERE request_id = ${settled.requestId}`
        )
        assert.deepStrictEqual(without, ["balances_equal_transfers", "costs_have_one_transfer"])
        const parts = yield* failing(({ settled, sql }) =>
          Effect.andThen(
            sql`INSERT INTO transfer (debit, credit, amount, kind, request_id)
            SELECT debit, credit, 10, kind, request_id FROM transfer WHERE request_id = ${settled.requestId}`,
            sql`UPDATE transfer SET amount = 20 WHERE request_id = ${settled.requestId} AND amount = 30`
          )
        )
        assert.deepStrictEqual(parts, ["costs_have_one_transfer"])
        const another = yield* failing(({ settled, sql }) =>
          Effect.flatMap(customer(sql, 30n), ({ accountId }) =>
            Effect.all([
              sql`UPDATE transfer SET debit = ${accountId} WHERE request_id = ${settled.requestId}`,
              sql`UPDATE balance SET posted = 0 WHERE account_id = ${accountId}`,
              sql`UPDATE balance SET posted = posted + 30 WHERE account_id = ${settled.accountId}`
            ])
          )
        )
        assert.deepStrictEqual(another, ["costs_have_one_transfer"])
        const orphan = yield* failing(
          ({ settled, sql }) => sql`UPDATE transfer SET request_id = 'none' WHERE request_id = ${settled.requestId}`
        )
        assert.deepStrictEqual(orphan, ["costs_have_one_transfer"])
      })
  )

  it.effect("when a released request moved money", () =>
    Effect.gen(function* () {
      const moved = yield* failing(({ released, settled, sql }) =>
        Effect.andThen(
          sql`UPDATE transfer SET request_id = ${released.requestId} WHERE request_id = ${settled.requestId}`,
          sql`UPDATE request SET settled = 0 WHERE id = ${settled.requestId}`
        )
      )
      assert.include(moved, "released_moved_nothing")
    })
  )

  it.effect("when refunds differ from their transfers, or exceed what was settled", () =>
    Effect.gen(function* () {
      const other = yield* failing(
        ({ charged, sql }) => sql`UPDATE request SET refunded = 11 WHERE id = ${charged.requestId}`
      )
      assert.deepStrictEqual(other, ["budgets_equal_requests", "refunds_equal_transfers"])
      const beyond = yield* failing(({ charged, owner, sql }) =>
        Effect.all([
          sql`UPDATE request SET refunded = 41 WHERE id = ${charged.requestId}`,
          sql`UPDATE transfer SET amount = 41 WHERE kind = 'refund'`,
          sql`UPDATE balance SET posted = posted + 31 WHERE account_id = ${owner.accountId}`,
          sql`UPDATE budget_period SET spent = spent - 31`
        ])
      )
      assert.deepStrictEqual(beyond, ["refunds_equal_transfers"])
      const orphan = yield* failing(({ sql }) => sql`UPDATE transfer SET request_id = 'none' WHERE kind = 'refund'`)
      assert.deepStrictEqual(orphan, ["refunds_equal_transfers"])
    })
  )

  it.effect("when simulated money paid a real provider, or the books of the two kinds of money are mixed up", () =>
    Effect.gen(function* () {
      const played = (it: Books) =>
        Effect.gen(function* () {
          yield* run(it.sql, { ...credit(it.owner, 100n), source: "play" })
          const [held, paid] = [hold(it.owner, 10n, { simulated: true }), hold(it.owner, 10n, { simulated: true })]
          for (const op of [held, paid, close(paid, 7n)]) yield* run(it.sql, op)
          assert.isTrue(
            (yield* verify(it.sql)).checks.every(({ name, ok }) => ok || name === "transfers_are_append_only")
          )
          return { ...it, held, paid }
        })
      const broken = (how: (it: Effect.Success<ReturnType<typeof played>>) => Effect.Effect<unknown, unknown>) =>
        failing((it) => Effect.flatMap(played(it), how))
      assert.deepStrictEqual(
        yield* broken(
          ({ paid, sql }) => sql`UPDATE request SET closed = closed - 'simulated' WHERE id = ${paid.requestId}`
        ),
        ["play_money_paid_doubles"]
      )
      assert.deepStrictEqual(
        yield* broken(({ paid, sql }) => sql`UPDATE request SET play = NULL WHERE id = ${paid.requestId}`),
        ["costs_have_one_transfer"]
      )
      assert.deepStrictEqual(
        yield* broken(({ held, sql }) => sql`UPDATE request SET play = NULL WHERE id = ${held.requestId}`),
        ["held_equals_open_holds"]
      )
      assert.deepStrictEqual(
        yield* broken(({ sql }) => sql`UPDATE transfer SET credit = 'house:revenue' WHERE credit = 'house:play'`),
        ["balances_equal_transfers", "costs_have_one_transfer"]
      )
      assert.deepStrictEqual(yield* broken(({ sql }) => sql`UPDATE play_balance SET held = 200`), [
        "held_equals_open_holds",
        "nothing_negative"
      ])
    })
  )

  it.effect("when transfers can be changed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ok = Effect.map(
        verify(sql),
        ({ checks }) => checks.find(({ name }) => name === "transfers_are_append_only")?.ok
      )
      assert.isTrue(yield* ok)
      yield* sql`ALTER TABLE transfer DISABLE TRIGGER transfer_append_only`
      assert.isFalse(yield* ok)
      yield* sql`ALTER TABLE transfer ENABLE TRIGGER transfer_append_only`
      yield* sql`DROP TRIGGER transfer_append_only ON transfer`
      assert.isFalse(yield* ok)
      yield* sql`CREATE TRIGGER transfer_append_only BEFORE UPDATE ON transfer
        FOR EACH STATEMENT EXECUTE FUNCTION transfer_is_append_only()`
      assert.isFalse(yield* ok)
    })
  )
})

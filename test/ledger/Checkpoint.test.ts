import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { proveBooks, verifyBooks } from "../../src/billing/Books.ts"
import { prove, type ProveOptions } from "../../src/ledger/Checkpoint.ts"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import { verify } from "../../src/ledger/Verify.ts"
import * as Database from "../support/Database.ts"
import { addBudget, close, credit, customer, hold, onDay, refund, run } from "./Fixture.ts"

const proved = (sql: SqlClient.SqlClient, options: Partial<ProveOptions> = {}) =>
  prove(sql, (what) => verify(sql, what), { whole: false, ...options })

const failed = ({ checks }: { checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean }> }) =>
  checks.flatMap(({ name, ok }) => (ok || name === "transfers_are_append_only" ? [] : [name]))

/** A customer with a budget, and requests of one period of the books: settled, charged and refunded, released and open. */
const period = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const owner = yield* customer(sql, 1_000n)
    const day = onDay(yield* addBudget(sql, owner, "key", 500n))
    const paid = { budgets: [day] }
    const [settled, released, open] = [hold(owner, 50n, paid), hold(owner, 50n, paid), hold(owner, 50n, paid)]
    const charged = hold(owner, 40n, { charge: true, ...paid })
    yield* commitGroup(sql, [settled, released, open, charged])
    yield* commitGroup(sql, [close(settled, 30n), close(released, undefined), refund(charged, 10n)])
    return { owner, settled, released, open, charged }
  })

type Period = Effect.Success<ReturnType<typeof period>>

/** Lets anything be written, as a program with the owner's rights can. */
const unguarded = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const checks = yield* sql<{ line: string }>`
      SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS line FROM pg_constraint
      WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conrelid <> 0`
    for (const { line } of checks) yield* sql.unsafe(line)
    yield* sql`DROP INDEX transfer_once`
    yield* sql`ALTER TABLE transfer DISABLE TRIGGER transfer_append_only`
  })

interface Corruption {
  readonly what: string
  readonly how: (sql: SqlClient.SqlClient, of: Period) => Effect.Effect<unknown, unknown>
  /** What a verification from the checkpoint finds of it, in rows before the checkpoint. */
  readonly before: ReadonlyArray<string>
  /** The same in rows after it. */
  readonly after: ReadonlyArray<string>
  /** What only reading everything finds, in rows before it. */
  readonly whole: ReadonlyArray<string>
}

const corruptions: ReadonlyArray<Corruption> = [
  {
    what: "a balance is raised",
    how: (sql, { owner }) => sql`UPDATE balance SET posted = posted + 1 WHERE account_id = ${owner.accountId}`,
    before: ["balances_equal_transfers"],
    after: ["balances_equal_transfers"],
    whole: ["balances_equal_transfers"]
  },
  {
    what: "more is held than open holds",
    how: (sql, { owner }) => sql`UPDATE balance SET held = held + 1 WHERE account_id = ${owner.accountId}`,
    before: ["held_equals_open_holds"],
    after: ["held_equals_open_holds"],
    whole: ["held_equals_open_holds"]
  },
  {
    what: "a budget spent more than its requests",
    how: (sql, { settled }) =>
      sql`UPDATE budget_period SET spent = spent + 1 WHERE budget_id = ${settled.budgets[0]!.budgetId}`,
    before: ["budgets_equal_requests"],
    after: ["budgets_equal_requests"],
    whole: ["budgets_equal_requests"]
  },
  {
    what: "an open hold is lost",
    how: (sql, { open }) => sql`DELETE FROM request WHERE id = ${open.requestId}`,
    before: ["held_equals_open_holds", "budgets_equal_requests"],
    after: ["held_equals_open_holds", "budgets_equal_requests"],
    whole: ["held_equals_open_holds", "budgets_equal_requests"]
  },
  {
    what: "a transfer is lost",
    how: (sql, { settled }) => sql`DELETE FROM transfer WHERE request_id = ${settled.requestId}`,
    before: [],
    after: ["balances_equal_transfers", "budgets_equal_requests", "costs_have_one_transfer"],
    whole: ["balances_equal_transfers", "costs_have_one_transfer", "history_is_as_proved"]
  },
  {
    what: "a transfer and its balance are changed alike",
    how: (sql, { owner }) =>
      Effect.andThen(
        sql`UPDATE transfer SET amount = amount + 1 WHERE credit = ${owner.accountId} AND kind = 'credit'`,
        sql`UPDATE balance SET posted = posted + 1 WHERE account_id = ${owner.accountId}`
      ),
    before: ["balances_equal_transfers"],
    after: [],
    whole: ["history_is_as_proved"]
  },
  {
    what: "a transfer is dated back",
    how: (sql, { settled }) =>
      sql`UPDATE transfer SET at = at - interval '1 year' WHERE request_id = ${settled.requestId}`,
    before: [],
    after: [],
    whole: ["history_is_as_proved"]
  },
  {
    what: "a receipt's cost is changed",
    how: (sql, { settled }) => sql`UPDATE request SET settled = settled + 1 WHERE id = ${settled.requestId}`,
    before: [],
    after: ["costs_have_one_transfer"],
    whole: ["budgets_equal_requests", "costs_have_one_transfer"]
  },
  {
    what: "a receipt's refund is changed",
    how: (sql, { charged }) => sql`UPDATE request SET refunded = refunded + 1 WHERE id = ${charged.requestId}`,
    before: [],
    after: ["refunds_equal_transfers"],
    whole: ["budgets_equal_requests", "refunds_equal_transfers"]
  },
  {
    what: "a released request moved money",
    how: (sql, { released }) => sql`UPDATE request SET settled = 1 WHERE id = ${released.requestId}`,
    before: [],
    after: ["costs_have_one_transfer", "released_moved_nothing"],
    whole: ["budgets_equal_requests", "costs_have_one_transfer", "released_moved_nothing"]
  },
  {
    what: "more was settled than held",
    how: (sql, { settled }) => sql`UPDATE request SET held = 29 WHERE id = ${settled.requestId}`,
    before: [],
    after: ["settled_within_held"],
    whole: ["settled_within_held"]
  },
  {
    what: "the checkpoint's own sums are changed",
    how: (sql, { owner }) =>
      sql`UPDATE ledger_checkpoint_sum SET amount = amount + 1 WHERE account_id = ${owner.accountId} AND what = 'money'`,
    before: ["balances_equal_transfers", "checkpoint_is_as_written"],
    after: [],
    whole: ["checkpoint_is_as_written", "history_is_as_proved"]
  }
]

/** Requests are as old as a checkpoint takes for settled: without this they are all newer than its last half minute. */
const aged = (sql: SqlClient.SqlClient) =>
  sql`UPDATE ledger_checkpoint SET requests_from = (SELECT max(id) || '0' FROM request)`

const withBooks = <A, E>(body: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(SqlClient.SqlClient, body).pipe(Effect.provide(Database.layer, { local: true }))

describe("a checkpoint of the books", () => {
  for (const { after, before, how, what, whole } of corruptions) {
    it.live(
      `when ${what}: finds ${before.join(", ") || "nothing"} before it, ${after.join(", ") || "nothing"} after`,
      () =>
        Effect.gen(function* () {
          const old = yield* withBooks((sql) =>
            Effect.gen(function* () {
              const first = yield* period(sql)
              assert.isDefined((yield* proved(sql)).through)
              yield* aged(sql)
              yield* period(sql)
              yield* unguarded(sql)
              yield* how(sql, first)
              return { since: failed(yield* proved(sql)), all: failed(yield* proved(sql, { whole: true })) }
            })
          )
          assert.deepStrictEqual(old, { since: before, all: whole })
          const young = yield* withBooks((sql) =>
            Effect.gen(function* () {
              yield* period(sql)
              yield* proved(sql)
              yield* aged(sql)
              const second = yield* period(sql)
              yield* unguarded(sql)
              yield* how(sql, second)
              return failed(yield* proved(sql))
            })
          )
          assert.deepStrictEqual(young, after)
        })
    )
  }

  it.live("is written only by a verification without failures, and moves with each", () =>
    withBooks((sql) =>
      Effect.gen(function* () {
        const { owner } = yield* period(sql)
        const stored = sql`SELECT 1 FROM ledger_checkpoint`
        yield* sql`UPDATE balance SET posted = posted + 1 WHERE account_id = ${owner.accountId}`
        assert.isUndefined((yield* proved(sql)).through)
        assert.lengthOf(yield* stored, 0)
        yield* sql`UPDATE balance SET posted = posted - 1 WHERE account_id = ${owner.accountId}`
        const first = yield* proved(sql)
        assert.isUndefined(first.since)
        assert.lengthOf(yield* stored, 1)
        yield* period(sql)
        const second = yield* proved(sql)
        assert.strictEqual(second.since?.through, first.through)
        assert.isAbove(Number(second.through), Number(first.through))
        assert.deepStrictEqual(failed(yield* proved(sql, { whole: true })), [])
        assert.deepStrictEqual(failed(yield* proveBooks(sql, { whole: false })), [])
      })
    )
  )

  it.live("follows refunds, adjustments and budgets of requests that it covers", () =>
    withBooks((sql) =>
      Effect.gen(function* () {
        const { open, owner, settled } = yield* period(sql)
        yield* proved(sql)
        yield* aged(sql)
        yield* commitGroup(sql, [refund(settled, 7n, "late"), close(open, 20n), credit(owner, 5n, "more")])
        const { checks, ok, since } = yield* proved(sql)
        assert.isTrue(ok, JSON.stringify(checks.filter((check) => !check.ok)))
        assert.isDefined(since)
        assert.deepInclude(
          checks.find(({ name }) => name === "refunds_equal_transfers"),
          { detail: "1 refunded requests" }
        )
        assert.isTrue((yield* verifyBooks(sql)).ok)
      })
    )
  )

  it.live("stays before a transaction that is still writing, and later covers what it wrote", () =>
    withBooks((sql) =>
      Effect.gen(function* () {
        const { owner } = yield* period(sql)
        const other = yield* customer(sql, 100n)
        yield* proved(sql)
        const [written, proven] = [yield* Latch.make(), yield* Latch.make()]
        const slow = yield* Effect.forkChild(
          run(sql, credit(owner, 5n, "slow")).pipe(
            Effect.andThen(written.open),
            Effect.andThen(proven.await),
            sql.withTransaction
          )
        )
        yield* written.await
        // Another connection takes a later id and commits it at once.
        yield* run(sql, credit(other, 3n, "fast"))
        const during = [yield* proved(sql, { closingMs: 200 }), yield* proved(sql, { whole: true, closingMs: 200 })]
        yield* proven.open
        yield* Fiber.join(slow)
        for (const { ok, through } of during) assert.deepStrictEqual([ok, through], [true, undefined])
        const { checks, ok, through } = yield* proved(sql)
        assert.isTrue(ok, JSON.stringify(checks.filter((check) => !check.ok)))
        assert.isDefined(through)
        assert.deepStrictEqual(failed(yield* proved(sql, { whole: true })), [])
      })
    )
  )

  it.live("is not used for a database or table that was restored, emptied or set back", () =>
    withBooks((sql) =>
      Effect.gen(function* () {
        const { owner } = yield* period(sql)
        yield* proved(sql)
        // A table that was loaded again lies in another file.
        yield* sql`VACUUM FULL transfer`
        assert.isUndefined((yield* proved(sql)).since)
        assert.isDefined((yield* proved(sql)).since)
        yield* sql`UPDATE ledger_checkpoint SET origin = replace(origin, '/00000001/', '/00000002/')`
        assert.isUndefined((yield* proved(sql)).since)
        // The last transfers and what they moved are gone, and new ones took their ids.
        yield* run(sql, credit(owner, 9n, "gone"))
        assert.isDefined((yield* proved(sql)).through)
        yield* sql`ALTER TABLE transfer DISABLE TRIGGER transfer_append_only`
        const [last] = yield* sql<{ id: bigint }>`DELETE FROM transfer WHERE reference = 'gone' RETURNING id`
        yield* sql`UPDATE balance SET posted = posted - 9 WHERE account_id = ${owner.accountId}`
        yield* sql`SELECT setval(pg_get_serial_sequence('transfer', 'id'), ${last!.id}, false)`
        yield* run(sql, credit(owner, 9n, "new"))
        assert.deepStrictEqual(failed(yield* proved(sql)), ["checkpoint_is_as_written"])
        assert.include(failed(yield* proved(sql, { whole: true })), "history_is_as_proved")
        yield* sql`ALTER TABLE transfer ENABLE TRIGGER transfer_append_only`
        assert.deepStrictEqual(failed(yield* proved(sql, { whole: true, forget: true })), [])
        assert.deepStrictEqual(failed(yield* proved(sql)), [])
      })
    )
  )

  it.live("is correct beside writers and other verifications", () =>
    withBooks((sql) =>
      Effect.gen(function* () {
        const { owner } = yield* period(sql)
        yield* run(sql, credit(owner, 1_000_000n))
        const opened = Effect.suspend(() => Effect.succeed(hold(owner, 5n)))
        const writer = yield* Effect.forkChild(
          Effect.forever(
            Effect.flatMap(opened, (one) =>
              Effect.andThen(
                run(sql, one),
                Effect.andThen(run(sql, close(one, 3n)), run(sql, refund(one, 1n, one.requestId)))
              )
            )
          )
        )
        const verifier = Effect.forEach(Array.from({ length: 8 }), (_, round) =>
          proved(sql, { whole: round % 4 === 3 })
        )
        const all = (yield* Effect.all([verifier, verifier, verifier], { concurrency: 3 })).flat()
        assert.deepStrictEqual(
          all.flatMap(({ checks }) => checks.filter((check) => !check.ok)),
          []
        )
        assert.isTrue(all.some(({ through }) => through !== undefined))
        assert.isUndefined(writer.pollUnsafe())
        yield* Fiber.interrupt(writer)
        assert.deepStrictEqual(failed(yield* proved(sql, { whole: true })), [])
      })
    )
  )
})

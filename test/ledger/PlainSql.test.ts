import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import type { Operation } from "../../src/ledger/Operation.ts"
import { commitPlain } from "../../src/ledger/PlainSql.ts"
import {
  addBudget,
  addKey,
  balance,
  claim,
  close,
  customer,
  extend,
  hold,
  lockWaiters,
  makeOverdue,
  onDay,
  request,
  rowCounts,
  run,
  wrongs
} from "./Fixture.ts"
import { layer as database } from "../support/Database.ts"

const ENDED = "state = 'released', status = 'failed', closed_at = now(), settled = 0, absorbed = 0"

/** Rows of requests that this transaction has read so far, but for those read by their places. */
const rowsRead = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{
      read: bigint
    }>`SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relname = 'request'`,
    ([row]) => Number(row?.read ?? 0n)
  )

describe("plain groups", () => {
  it.effect(
    "read no more of an account's requests than they end, on a connection that planned before there were any",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const owner = yield* customer(sql, 1_000n)
        const [first, second, ...others] = Array.from({ length: 402 }, () => hold(owner, 1n))
        // A transaction keeps to one connection.
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* commitGroup(sql, [first!, second!])
            yield* commitGroup(sql, [close(first!, 1n), close(second!, 1n)])
            for (let from = 0; from < others.length; from += 100) {
              yield* commitGroup(sql, others.slice(from, from + 100))
            }
            const before = yield* rowsRead(sql)
            const ended = others.slice(0, 20).map((op) => close(op, 1n))
            const results = yield* commitGroup(sql, [...ended, hold(owner, 1n)])
            assert.deepStrictEqual(
              results.map(({ _tag }) => _tag),
              [...ended.map(() => "Closed"), "Granted"]
            )
            assert.isAtMost((yield* rowsRead(sql)) - before, ended.length)
          })
        )
      }).pipe(Effect.provide(database))
  )
})

layer(database, { excludeTestServices: true })("plain groups", (it) => {
  it.effect("have the effects and answers of judged groups, in any order of closes and holds", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const written = (ids: ReadonlyArray<string>) =>
        sql`SELECT r.operation, r.model, r.project_id, r.state, r.status, r.closed_at IS NULL AS closed_at,
            r.expires_at - r.created_at > interval '14 minutes' AS lasts, r.held, r.progress, r.settled, r.absorbed, r.budgets,
            r.resolved_model, r.provider, r.opened, r.closed, r.idempotency_key, r.claim, r.fingerprint, r.answer,
            t.credit, t.amount, t.kind
          FROM request r LEFT JOIN transfer t ON t.request_id = r.id WHERE r.id IN ${sql.in(ids)} ORDER BY array_position(${ids}, r.id)`
      const histories = yield* Effect.forEach(["plain", "judged"], (way) =>
        Effect.gen(function* () {
          const owner = yield* customer(sql, 1_000n)
          const other = { ...owner, keyId: yield* addKey(sql, owner.accountId) }
          const together = (operations: ReadonlyArray<Operation>) =>
            way === "plain"
              ? commitPlain(sql, operations)
              : Effect.map(commitGroup(sql, [...operations, hold(owner, 5_000n)]), (results) => results.slice(0, -1))
          const first = [
            hold(owner, 100n, { projectId: "0123456789abcdef01234567", opened: { prices: ["\u0000", '"\n{},'] } }),
            hold(other, 50n, { upTo: 70n, claim: claim('a "claim", \\ odd'), model: 'a "name", {odd} \\" \x1e' }),
            hold(owner, 0n, { model: "" }),
            hold(owner, 10n, { claim: claim("b") }),
            hold(other, 20n)
          ] as const
          const last = [hold(owner, 700n), hold(other, 45n)] as const
          const alone = hold(owner, 3n)
          const results = [
            yield* together(first),
            yield* run(sql, extend(first[4], 20n, 5n, 7n)),
            yield* together([
              close(first[0], 30n, { answer: { body: 1, posted: null } }),
              last[0],
              close(first[1], 90n, { answer: { body: '"\n{},', posted: null } }),
              close(first[2], 0n, { keepClaim: false, resolvedModel: "", provider: "" }),
              last[1],
              close(first[3], undefined),
              close(first[4], undefined, { settle: { cost: null }, resolvedModel: null, provider: null })
            ]),
            // One of each kind, with nothing in the columns that may be absent.
            yield* together([close(last[0], undefined, { resolvedModel: null, provider: null }), alone]),
            yield* together([close(last[1], 1n), close(alone, undefined)])
          ]
          const ids = [...first, ...last, alone].map((op) => op.requestId)
          return { results, books: yield* balance(sql, owner), rows: yield* written(ids) }
        })
      )
      assert.isTrue(histories[0]?.results.every((result) => result !== undefined))
      assert.deepStrictEqual(histories[0], histories[1])
      assert.deepStrictEqual(histories[0]?.books, { posted: 1_000n - 30n - 70n - 7n - 1n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("do nothing when they must be judged", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const other = yield* customer(sql, 100n)
      const budget = onDay(yield* addBudget(sql, owner, "key", 50n))
      const [counted, ended, open] = [
        hold(owner, 10n, { budgets: [budget] }),
        hold(owner, 5n, { claim: claim("taken") }),
        hold(owner, 5n)
      ]
      for (const op of [counted, ended, open, close(ended, 1n)]) yield* run(sql, op)
      const state = Effect.all([balance(sql, owner), balance(sql, other), rowCounts(sql)])
      const before = yield* state
      const isJudged = (operations: ReadonlyArray<Operation>) =>
        Effect.gen(function* () {
          assert.isUndefined(yield* commitPlain(sql, operations))
          assert.deepStrictEqual(yield* state, before)
        })
      const fine = hold(owner, 1n)
      yield* isJudged([close(open, 5n), close(counted, 1n)])
      yield* isJudged([close(open, 5n), close(ended, 2n)])
      yield* isJudged([close(open, 5n), close(hold(owner, 1n), 2n)])
      yield* isJudged([hold(other, 0n), close({ ...open, accountId: other.accountId }, 1n)])
      yield* isJudged([close(open, 0n), fine, hold(owner, 89n)])
      yield* isJudged([fine, hold({ ...owner, keyId: other.keyId }, 1n)])
      yield* isJudged([fine, hold(owner, 1n, { budgetsEpoch: 1 })])
      yield* isJudged([fine, hold(owner, 1n, { requestId: open.requestId })])
      yield* isJudged([fine, hold(owner, 1n, { claim: claim("taken") })])
      yield* isJudged([hold({ ...owner, accountId: owner.keyId }, 0n), hold({ ...owner, accountId: owner.keyId }, 0n)])
      yield* makeOverdue(sql, open.requestId)
      yield* isJudged([fine, hold(owner, 1n)])
      yield* sql`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = ${other.keyId}`
      yield* isJudged([hold(other, 1n), hold(other, 1n)])
      yield* sql`UPDATE api_key SET expires_at = NULL, revoked_at = now() WHERE id = ${other.keyId}`
      yield* isJudged([hold(other, 1n), hold(other, 1n)])
    })
  )

  it.effect("do not begin when an idempotency key is taken, so that nothing has to roll back", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const taken = { claim: claim("taken") }
      yield* run(sql, hold(owner, 1n, taken))
      const again = hold(owner, 1n, taken)
      for (const operations of [[again], [hold(owner, 1n), again]]) {
        const answered = Effect.zip(commitPlain(sql, operations), sql<{ still: number }>`SELECT 1 AS still`)
        // A statement that has failed fails those after it in its transaction.
        assert.deepStrictEqual(yield* sql.withTransaction(answered), [undefined, [{ still: 1 }]])
      }
      const other = yield* customer(sql, 100n)
      const elsewhere = [hold(other, 1n, taken), hold(other, 1n)]
      assert.deepStrictEqual(
        (yield* commitPlain(sql, elsewhere))?.map(({ _tag }) => _tag),
        ["Granted", "Granted"]
      )
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: 1n })
    })
  )

  it.effect("look for an idempotency key only in their own account, however many others have the same", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const same = { claim: claim("same") }
      yield* sql`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, held, opened, claim)
        SELECT 'same ' || n, 'other ' || n, 'k', 'chat.completions', 'm', 'open', 'open', now() + interval '1 hour', 0, '{}',
          ${same.claim.claim} FROM generate_series(1, 300) AS n`
      const owner = yield* customer(sql, 100n)
      const read = Effect.map(
        sql<{ rows: bigint }>`SELECT pg_stat_get_xact_tuples_returned('request_claim'::regclass) AS rows`,
        ([row]) => Number(row?.rows ?? 0n)
      )
      const first = hold(owner, 1n, same)
      const groups = [[first], [hold(owner, 1n, same)], [hold(owner, 1n, same), hold(owner, 1n)]]
      // A transaction keeps to one connection, and a plan is made at first, for which some of the index is read.
      const rows = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* commitPlain(sql, [hold(owner, 1n, { claim: claim("one") })])
          yield* commitPlain(sql, [hold(owner, 1n, { claim: claim("another") }), hold(owner, 1n)])
          return yield* Effect.forEach(groups, (operations) =>
            Effect.gen(function* () {
              const before = yield* read
              yield* commitPlain(sql, operations)
              return (yield* read) - before
            })
          )
        })
      )
      assert.deepStrictEqual(rows, [0, 1, 1])
      assert.deepStrictEqual((yield* request(sql, first.requestId))?.state, "open")
    })
  )

  it.effect("replace text that PostgreSQL cannot store, as judged ones do", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const odd = () => hold(owner, 1n, { claim: { ...claim("odd\u0000"), idempotencyKey: "\ud800" }, model: "\u0000" })
      const [alone, together] = [odd(), odd()]
      yield* commitGroup(sql, [alone])
      const [kept] = yield* sql`SELECT model, idempotency_key, claim FROM request WHERE id = ${alone.requestId}`
      assert.deepStrictEqual(kept, { model: "\ufffd", idempotency_key: "\ufffd", claim: "POST /x odd\ufffd" })
      assert.deepStrictEqual(yield* run(sql, together), { _tag: "Claimed", byRequestId: alone.requestId })
    })
  )

  it.effect("move no money when one of their requests has ended without its account's lock", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 1_000n)
      const [one, other] = [hold(owner, 100n), hold(owner, 10n)]
      yield* commitGroup(sql, [one, other])
      const session = yield* sql.reserve
      yield* session.executeRaw("BEGIN", [])
      yield* session.executeRaw(`UPDATE request SET ${ENDED} WHERE id = $1`, [other.requestId])
      const group = yield* Effect.forkScoped(Effect.flip(commitGroup(sql, [close(one, 100n), close(other, 10n)])), {
        startImmediately: true
      })
      yield* lockWaiters(sql, 1)
      yield* session.executeRaw("COMMIT", [])
      assert.include(
        String((yield* Fiber.join(group)).reason.cause),
        `request of account ${owner.accountId} has changed`
      )
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 110n })
      assert.deepStrictEqual((yield* request(sql, one.requestId))?.state, "open")
      assert.deepStrictEqual((yield* request(sql, other.requestId))?.state, "released")
    }).pipe(Effect.scoped)
  )

  it.effect("end a request that was only updated elsewhere without that lock, or move no money", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 1_000n)
      const [held, other] = [hold(owner, 100n), hold(owner, 10n)]
      yield* commitGroup(sql, [held, other])
      const session = yield* sql.reserve
      yield* session.executeRaw("BEGIN", [])
      yield* session.executeRaw("UPDATE request SET progress = 1 WHERE id = $1", [held.requestId])
      const group = yield* Effect.forkScoped(Effect.exit(commitGroup(sql, [close(held, 100n), close(other, 10n)])), {
        startImmediately: true
      })
      yield* lockWaiters(sql, 1)
      yield* session.executeRaw("COMMIT", [])
      const paid = Exit.isSuccess(yield* Fiber.join(group))
      assert.deepStrictEqual(
        yield* balance(sql, owner),
        paid ? { posted: 890n, held: 0n } : { posted: 1_000n, held: 110n }
      )
      assert.deepStrictEqual((yield* request(sql, held.requestId))?.state, paid ? "settled" : "open")
    }).pipe(Effect.scoped)
  )
})

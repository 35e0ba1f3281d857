import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { functionNamed } from "../../src/ledger/FunctionsSql.ts"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import type { CloseOperation, HoldOperation, Operation } from "../../src/ledger/Operation.ts"
import { commitPlain } from "../../src/ledger/PlainSql.ts"
import {
  addBudget,
  balance,
  claim,
  close,
  customer,
  extend,
  hold,
  lockBalance,
  lockWaiters,
  makeOverdue,
  onDay,
  request,
  rowCounts,
  run,
  wrongs
} from "./Fixture.ts"
import * as Database from "../support/Database.ts"

/** Carries out one operation without the statement in which all rules stand. */
const unjudged = (sql: SqlClient.SqlClient, operation: Operation) =>
  Effect.map(commitPlain(sql, [operation]), (results) => results?.[0])

const heldAlone = (sql: SqlClient.SqlClient, op: HoldOperation) =>
  Effect.map(
    sql<{
      granted: bigint | null
    }>`SELECT ${sql.literal(functionNamed("ledger_hold"))}(${op.accountId}, ${op.requestId}, ${op.keyId}, ${op.projectId},
      ${op.operation}, ${op.model}, ${op.upTo}, ${BigInt(op.ttlMs)}, ${op.budgetsEpoch}, '{}', NULL, ${op.claim?.claim ?? null}, NULL)
      AS granted`,
    ([row]) => row?.granted
  )

const closedAlone = (sql: SqlClient.SqlClient, op: CloseOperation) =>
  Effect.map(
    sql<{
      books: ReadonlyArray<bigint> | null
    }>`SELECT ${sql.literal(functionNamed("ledger_close"))}(${op.accountId}, ${op.requestId}, true,
      ${op.settle?.cost ?? null}, 'succeeded', NULL, NULL, '{}', false, NULL) AS books`,
    ([row]) => row?.books
  )

layer(Database.layer, { excludeTestServices: true })("a single operation", (it) => {
  it.effect("has the same effect and answer as in a group when it is plain", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const written = (ids: ReadonlyArray<string>) =>
        sql`SELECT r.operation, r.model, r.project_id, r.state, r.status, r.expires_at - r.created_at > interval '14 minutes' AS lasts,
            r.expires_at - r.created_at < interval '16 minutes' AS ends, r.closed_at IS NULL AS closed_at, r.expired, r.held,
            r.progress, r.settled, r.absorbed, r.refunded, r.budgets, r.resolved_model, r.provider, r.opened, r.closed,
            r.idempotency_key, r.claim, r.fingerprint, r.answer, t.credit, t.amount, t.kind
          FROM request r LEFT JOIN transfer t ON t.request_id = r.id WHERE r.id IN ${sql.in(ids)} ORDER BY array_position(${ids}, r.id)`
      const histories = yield* Effect.forEach(["short", "judged"], (way) =>
        Effect.gen(function* () {
          const owner = yield* customer(sql, 1_000n)
          const taken = { claim: claim("a") }
          const holds = [
            hold(owner, 100n, {
              projectId: "0123456789abcdef01234567",
              opened: { streamed: true, prices: ["\u0000"] }
            }),
            hold(owner, 50n, { upTo: 70n, ...taken }),
            hold(owner, 0n),
            hold(owner, 10n, { claim: claim("b") }),
            hold(owner, 20n)
          ]
          const one = (op: Operation) =>
            way === "short"
              ? unjudged(sql, op)
              : Effect.map(commitGroup(sql, [op, hold(owner, 5_000n)]), ([first]) => first)
          const results = [
            ...(yield* Effect.forEach(holds, one)),
            yield* run(sql, extend(holds[4]!, 20n, 5n, 7n)),
            yield* one(close(holds[0]!, 30n)),
            yield* one(close(holds[1]!, 90n, { answer: { body: "x", posted: null } })),
            yield* one(close(holds[2]!, 0n)),
            yield* one(close(holds[3]!, undefined)),
            yield* one(close(holds[4]!, undefined, { settle: { cost: null }, resolvedModel: null, provider: null }))
          ]
          return { results, books: yield* balance(sql, owner), rows: yield* written(holds.map((op) => op.requestId)) }
        })
      )
      assert.deepStrictEqual(histories[0], histories[1])
      assert.deepStrictEqual(histories[0]?.books, { posted: 1_000n - 30n - 70n - 7n, held: 0n })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    })
  )

  it.effect("changes nothing when it is not plain", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const other = yield* customer(sql, 100n)
      const budget = onDay(yield* addBudget(sql, owner, "key", 50n))
      const [counted, ended, open] = [hold(owner, 10n, { budgets: [budget] }), hold(owner, 5n), hold(owner, 5n)]
      for (const op of [counted, ended, open, close(ended, 1n)]) yield* run(sql, op)
      const before = {
        owner: yield* balance(sql, owner),
        other: yield* balance(sql, other),
        rows: yield* rowCounts(sql)
      }
      const stays = Effect.gen(function* () {
        const now = {
          owner: yield* balance(sql, owner),
          other: yield* balance(sql, other),
          rows: yield* rowCounts(sql)
        }
        assert.deepStrictEqual(now, before)
      })
      const holds = [
        hold(owner, 85n),
        hold({ ...owner, accountId: other.accountId }, 1n),
        hold(owner, 1n, { budgetsEpoch: 1 })
      ]
      for (const op of holds) assert.isNull(yield* heldAlone(sql, op))
      for (const op of [close(counted, 1n), close(ended, 2n), close({ ...open, accountId: other.accountId }, 1n)]) {
        assert.isNull(yield* closedAlone(sql, op))
      }
      yield* stays
      yield* makeOverdue(sql, open.requestId)
      assert.isNull(yield* heldAlone(sql, hold(owner, 1n)))
      yield* sql`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = ${other.keyId}`
      assert.isNull(yield* heldAlone(sql, hold(other, 1n)))
      yield* sql`UPDATE api_key SET expires_at = NULL, revoked_at = now() WHERE id = ${other.keyId}`
      assert.isNull(yield* heldAlone(sql, hold(other, 1n)))
      yield* stays
    })
  )

  it.effect("that waited for its account while its request was extended settles the extended hold", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 100n)
      const opened = hold(owner, 10n)
      yield* run(sql, opened)
      const session = yield* sql.reserve
      yield* session.executeRaw("BEGIN", [])
      yield* session.executeRaw("UPDATE balance SET held = held + 30 WHERE account_id = $1", [owner.accountId])
      yield* session.executeRaw("UPDATE request SET held = held + 30 WHERE id = $1", [opened.requestId])
      const closing = yield* Effect.forkScoped(run(sql, close(opened, 35n)), { startImmediately: true })
      yield* lockWaiters(sql, 1)
      yield* session.executeRaw("COMMIT", [])
      assert.deepStrictEqual(yield* Fiber.join(closing), {
        _tag: "Closed",
        settled: 35n,
        absorbed: 0n,
        posted: 65n,
        held: 0n
      })
      assert.deepStrictEqual(yield* wrongs(sql), [])
    }).pipe(Effect.scoped)
  )

  it.effect("that waited for its account while its request ended changes nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const others of [0n, 10n]) {
        const owner = yield* customer(sql, 100n)
        const opened = hold(owner, 10n)
        for (const op of [opened, hold(owner, others)]) yield* run(sql, op)
        const session = yield* sql.reserve
        yield* session.executeRaw("BEGIN", [])
        const away = "UPDATE balance SET held = held - 10 WHERE account_id = $1"
        yield* session.executeRaw(away, [owner.accountId])
        const end = "UPDATE request SET state = 'released', status = 'failed', closed_at = now() WHERE id = $1"
        yield* session.executeRaw(end, [opened.requestId])
        const closing = yield* Effect.forkScoped(run(sql, close(opened, 7n)), { startImmediately: true })
        yield* lockWaiters(sql, 1)
        yield* session.executeRaw("COMMIT", [])
        assert.deepStrictEqual(yield* Fiber.join(closing), { _tag: "Gone", settled: 0n })
        assert.deepStrictEqual(yield* balance(sql, owner), { posted: 100n, held: others })
        assert.deepStrictEqual((yield* request(sql, opened.requestId))?.state, "released")
      }
      assert.deepStrictEqual(yield* wrongs(sql), [])
    }).pipe(Effect.scoped)
  )

  it.effect("that waited for its account ends holds that expired meanwhile", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 10n)
      const late = hold(owner, 1n)
      yield* run(sql, late)
      const { unlock } = yield* lockBalance(sql, owner)
      const holding = yield* Effect.forkScoped(run(sql, hold(owner, 10n)), { startImmediately: true })
      yield* lockWaiters(sql, 1)
      yield* makeOverdue(sql, late.requestId)
      yield* unlock
      assert.deepStrictEqual(yield* Fiber.join(holding), { _tag: "Granted", granted: 10n })
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 10n, held: 10n })
      assert.deepStrictEqual((yield* request(sql, late.requestId))?.state, "settled")
    }).pipe(Effect.scoped)
  )
})

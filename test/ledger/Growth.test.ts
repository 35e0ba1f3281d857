import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prove } from "../../src/ledger/Checkpoint.ts"
import { functionNamed } from "../../src/ledger/FunctionsSql.ts"
import { commitGroup, expireOverdue } from "../../src/ledger/LedgerSql.ts"
import { verify } from "../../src/ledger/Verify.ts"
import { firstRequestIdAt, newRequestId } from "../../src/platform/Ids.ts"
import * as Database from "../support/Database.ts"
import { addBudget, close, customer, hold, onDay } from "./Fixture.ts"

layer(Database.layer, { excludeTestServices: true })("as tables grow", (it) => {
  it.effect("a sweep reads no more overdue holds than it ends, however many there are", () =>
    Effect.gen(function* () {
      const sql = yield* (yield* SqlClient.SqlClient).reserve
      const client = yield* SqlClient.SqlClient
      const owners = [yield* customer(client, 10_000n), yield* customer(client, 10_000n)]
      const holds = owners.flatMap((owner) => Array.from({ length: 1_500 }, () => hold(owner, 1n)))
      yield* commitGroup(client, holds)
      yield* client`UPDATE request SET expires_at = now() - random() * interval '1 hour'`
      yield* client`VACUUM ANALYZE request`
      const read = Effect.gen(function* () {
        yield* sql.executeRaw("SELECT pg_stat_force_next_flush()", [])
        yield* sql.executeRaw("SELECT 1", [])
        const [row] = yield* client<{ read: number }>`SELECT sum(idx_tup_read)::float8 AS read FROM pg_stat_user_indexes
          WHERE relname = 'request'`
        return row?.read ?? NaN
      })
      const sweep = Effect.provideService(expireOverdue(client, 100), client.transactionService, [sql, 0])
      const before = yield* read
      assert.strictEqual(yield* sweep, 100)
      assert.isBelow((yield* read) - before, 1_500)
    })
  )

  it.effect(
    "a verification from a checkpoint reads only new rows, even when the planner expects nearly all to be new",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const owner = yield* customer(sql, 100_000n)
        const paid = { budgets: [onDay(yield* addBudget(sql, owner, "key", 50_000n))] }
        const yesterday = firstRequestIdAt(Date.now() - 86_400_000)
        const old = Array.from({ length: 3_000 }, (_, number) =>
          hold(owner, 2n, { ...paid, requestId: `${yesterday.slice(0, -4)}${String(number).padStart(4, "0")}` })
        )
        const recent = Array.from({ length: 20 }, () => hold(owner, 2n, paid))
        yield* commitGroup(sql, old)
        yield* sql`VACUUM ANALYZE request`
        yield* commitGroup(
          sql,
          old.map((one) => close(one, 1n))
        )
        // What the planner knows of requests stays as it was when all of them were open.
        yield* sql`VACUUM request`
        yield* sql`VACUUM ANALYZE transfer`
        const verified = prove(sql, (options) => verify(sql, options), { whole: false })
        assert.isTrue((yield* verified).ok)
        yield* commitGroup(sql, recent)
        yield* commitGroup(
          sql,
          recent.map((one, number) => close(one, number % 2 === 0 ? 1n : undefined))
        )
        const read = Effect.gen(function* () {
          yield* sql`SELECT pg_stat_force_next_flush()`
          yield* sql`SELECT 1`
          const [row] = yield* sql<{ read: number }>`
          SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ('request', 'transfer'))::float8
            + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN ('request', 'transfer'))::float8 AS read`
          return row?.read ?? NaN
        })
        const before = yield* read
        const { ok, since } = yield* verified
        assert.isTrue(ok)
        assert.isDefined(since)
        assert.isBelow((yield* read) - before, 1_500)
        // Counts are complete for the session that asks, so all is done in one.
      }).pipe(Effect.provide(Layer.unwrap(Effect.map(Database.freshDatabase(), (url) => Database.layerUrl(url, 1)))))
  )

  it.effect("no statement reads whole tables, even with a plan from when they were tiny", () =>
    Effect.gen(function* () {
      // One session, whose plans stay as they were made, with the setting of those on which the ledger's statements run.
      const sql = yield* (yield* SqlClient.SqlClient).reserve
      yield* sql.executeRaw("SET plan_cache_mode = force_generic_plan", [])
      const client = yield* SqlClient.SqlClient
      const owner = yield* customer(client, 1_000_000n)
      const everyKind = (id: string) => {
        const name = { account_id: owner.accountId, request_id: id }
        return [
          [
            {
              ...name,
              kind: "hold",
              key_id: owner.keyId,
              operation: "o",
              model: "m",
              at_least: "9",
              up_to: "9",
              ttl_ms: 9_000,
              budgets: [],
              budgets_epoch: 0,
              opened: {},
              charge: false,
              claim: id
            }
          ],
          [{ ...name, kind: "extend", held: "9", more: "1", progress: "1", ttl_ms: 9_000 }],
          [
            {
              ...name,
              kind: "close",
              settle: true,
              cost: "5",
              only_if_expired: false,
              status: "succeeded",
              keep_claim: true,
              closed: {}
            }
          ],
          [{ ...name, kind: "refund", amount: "1", reference: id }],
          [{ kind: "credit", account_id: owner.accountId, amount: "1", source: "grants", reference: id }],
          [
            {
              ...name,
              kind: "hold",
              key_id: owner.keyId,
              request_id: `${id}x`,
              operation: "o",
              model: "m",
              at_least: "99999999",
              up_to: "99999999",
              ttl_ms: 9_000,
              budgets: [],
              opened: {},
              charge: false,
              claim: id
            }
          ]
        ]
      }
      const everyStatement = Effect.gen(function* () {
        for (const group of everyKind(newRequestId())) {
          yield* sql.executeValues(`SELECT * FROM ${functionNamed("ledger_commit")}($1::jsonb)`, [
            JSON.stringify(group)
          ])
        }
        const ids = [newRequestId(), newRequestId()]
        const [texts, whole] = [[ids.map(() => "x")], [ids.map(() => 9n)]] as const
        const nothing = [[], [], null, [], null, null, [], [], null]
        const none = [[], [], null, [], [], [], [], [], null, null, null, [], []]
        const ends = [
          ids,
          [true, true],
          ...whole,
          ["succeeded", "succeeded"],
          null,
          null,
          ["{}", "{}"],
          [true, true],
          null
        ]
        const keys = [owner.keyId, owner.keyId]
        const holds = [
          ids,
          keys,
          null,
          ...texts,
          ...texts,
          ...whole,
          [9_000n, 9_000n],
          ["{}", "{}"],
          null,
          ids,
          null,
          [owner.keyId],
          [0]
        ]
        for (const columns of [
          [...nothing, ...holds],
          [...ends, ...none]
        ]) {
          const places = Array.from({ length: 23 }, (_, index) => `$${index + 1}`)
          yield* sql.executeValues(`SELECT ${functionNamed("ledger_plain")}(${places.join(", ")})`, [
            owner.accountId,
            ...columns
          ])
        }
        const id = newRequestId()
        yield* sql.executeValues(
          `SELECT ${functionNamed("ledger_hold")}($1, $2, $3, NULL, 'o', 'm', 9, 9000, 0, '{}', $2, $2, NULL)`,
          [owner.accountId, id, owner.keyId]
        )
        yield* sql.executeValues(
          `SELECT ${functionNamed("ledger_close")}($1, $2, true, 5, 'succeeded', NULL, NULL, '{}', true, NULL)`,
          [owner.accountId, id]
        )
      })
      for (let round = 0; round < 3; round++) yield* everyStatement
      // A table of a page is planned to be read whole, unless that is forbidden.
      yield* client`VACUUM ANALYZE`
      yield* everyStatement
      yield* client`INSERT INTO account (id, email) SELECT lpad(to_hex(i), 24, '0'), i::text FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO balance (account_id) SELECT lpad(to_hex(i), 24, '0') FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4)
        SELECT lpad(to_hex(i), 24, '0'), lpad(to_hex(i), 24, '0'), 'inference', '', sha256(i::text::bytea), '', ''
        FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, closed_at, held, opened, claim)
        SELECT 'old' || i, CASE WHEN i % 2 = 0 THEN ${owner.accountId} ELSE lpad(to_hex(i), 24, '0') END, 'k', 'o', 'm',
          CASE WHEN i % 3 = 0 THEN 'open' ELSE 'released' END, 'failed', now() + interval '1 hour',
          CASE WHEN i % 3 > 0 THEN now() END, 1, '{}', 'claim' || i FROM generate_series(1, 5000) AS i`
      yield* client`INSERT INTO transfer (debit, credit, amount, kind, reference)
        SELECT 'house:grants', ${owner.accountId}, 1, 'credit', 'old' || i FROM generate_series(1, 5000) AS i`
      const read = Effect.gen(function* () {
        yield* sql.executeRaw("SELECT pg_stat_force_next_flush()", [])
        yield* sql.executeRaw("SELECT 1", [])
        const rows = yield* client<{ name: string; rows: bigint }>`
          SELECT relname AS name, seq_tup_read + COALESCE(idx_tup_fetch, 0) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i
            WHERE i.relid = t.relid) ::int8 AS rows
          FROM pg_stat_user_tables t WHERE relname IN ('request', 'transfer', 'api_key', 'balance')`
        return rows.reduce((sum, row) => sum + Number(row.rows), 0)
      })
      const before = yield* read
      for (let round = 0; round < 10; round++) yield* everyStatement
      const perStatement = ((yield* read) - before) / 100
      assert.isBelow(perStatement, 30)
    })
  )
})

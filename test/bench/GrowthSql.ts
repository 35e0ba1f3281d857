/** The data of a year of traffic: millions of receipts with their transfers, over thousands of accounts. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { closedFacts, idTime } from "./ReceiptsSql.ts"

type Sql = SqlClient.SqlClient

/** Accounts that the admin command opened, the largest first, each with its key. */
export interface OpenedAccounts {
  readonly accounts: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
}

export const keysOf = (sql: Sql, accounts: ReadonlyArray<string>): Effect.Effect<OpenedAccounts, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string; account_id: string }>`SELECT id, account_id FROM api_key WHERE kind = 'inference'`,
    (rows) => ({
      accounts,
      keys: accounts.map((account) => rows.find(({ account_id }) => account_id === account)?.id ?? "")
    })
  )

/** Adds accounts up to a number, each with a key and a balance. */
export const writeAccounts = (sql: Sql, opened: OpenedAccounts, most: number, balance: bigint) =>
  Effect.gen(function* () {
    const numbers = sql`generate_series(${opened.accounts.length}::int, ${most - 1}::int) AS k`
    const id = sql.literal("lpad(to_hex(k), 24, '0')")
    yield* sql`INSERT INTO account (id, email) SELECT ${id}, 'account-' || k || '@example.com' FROM ${numbers}`
    yield* sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4)
      SELECT ${id}, ${id}, 'inference', 'key', sha256(('growth ' || k)::bytea), 'svc_sk_ab', 'wxyz' FROM ${numbers}`
    yield* sql`INSERT INTO balance (account_id) SELECT ${id} FROM ${numbers}`
    yield* sql`INSERT INTO transfer (debit, credit, amount, kind)
      SELECT 'house:funding', ${id}, ${balance}, 'credit' FROM ${numbers}`
  })

/** The definitions of all indexes of the two large tables, with primary keys. */
const indexesOf = (sql: Sql) => sql<{ drop: string; create: string }>`
  SELECT CASE WHEN c.conname IS NULL THEN format('DROP INDEX %I', i.relname)
      ELSE format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname) END AS drop,
    CASE WHEN c.conname IS NULL THEN pg_get_indexdef(i.oid)
      ELSE format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid)) END AS create
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
  LEFT JOIN pg_constraint c ON c.conindid = i.oid
  WHERE t.oid IN ('request'::regclass, 'transfer'::regclass) ORDER BY i.relname`

/**
 * Runs `body` in one transaction on the two large tables without their indexes, and builds the indexes at the end. With
 * `wal_level=minimal`, tables that the transaction has truncated need no write-ahead log.
 */
export const rewriteTables = <A, E, R>(sql: Sql, body: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* sql`CREATE TEMPORARY TABLE saved_transfer AS SELECT * FROM transfer`
    yield* sql`TRUNCATE request, transfer`
    const indexes = yield* indexesOf(sql)
    for (const { drop } of indexes) yield* sql.unsafe(drop)
    yield* sql`INSERT INTO transfer OVERRIDING SYSTEM VALUE SELECT * FROM saved_transfer`
    const written = yield* body
    for (const { create } of indexes) yield* sql.unsafe(create)
    return written
  }).pipe(sql.withTransaction)

/** Details of receipts, written once, because generating them for each receipt takes most of the time. */
const DETAILS = 5_000

export const writeDetails = (sql: Sql) =>
  sql`CREATE TEMPORARY TABLE details AS SELECT n AS number, ${sql.literal(closedFacts)} AS details
    FROM generate_series(0, ${DETAILS - 1}::int) AS n CROSS JOIN (SELECT 0::bigint AS ms) AS moment`

/** A range of receipts, and their times. */
export interface Batch {
  readonly from: number
  readonly to: number
  readonly accounts: number
  readonly startMs: number
  readonly everyMs: number
}

/**
 * Every third receipt belongs to the largest account. Among the others, the k-th account has about 1/k as many as the first. Each account
 * uses two models of one provider each.
 */
export const writeGrowth = (sql: Sql, opened: OpenedAccounts, { accounts, everyMs, from, startMs, to }: Batch) => {
  const ofOpened = (ids: ReadonlyArray<string>) => sql`(${[...ids]}::text[])[k + 1]`
  return sql`WITH written AS (
    INSERT INTO request (id, account_id, key_id, operation, model, state, status, created_at, expires_at, closed_at, held, settled,
      resolved_model, provider, opened, closed)
    SELECT 'req_' || ${sql.literal(idTime("ms"))} || upper(lpad(to_hex(n), 16, '0')),
      CASE WHEN k < ${opened.accounts.length} THEN ${ofOpened(opened.accounts)} ELSE lpad(to_hex(k), 24, '0') END,
      CASE WHEN k < ${opened.keys.length} THEN ${ofOpened(opened.keys)} ELSE lpad(to_hex(k), 24, '0') END,
      'chat.completions', 'vendor/model-' || m, 'settled', 'succeeded', at, at + interval '15 minutes', at + interval '1 second',
      90000, 1000 + n % 5000, 'vendor/model-' || m, 'provider-' || m % 3,
      '{"streamed": false, "queueMs": 0, "traceId": null, "prices": []}', details || jsonb_build_object('endedAtMs', ms + 816)
    FROM generate_series(${from}::int, ${to - 1}::int) AS n JOIN details ON number = n % ${DETAILS}
    CROSS JOIN LATERAL (SELECT (${startMs}::float8 + n * ${everyMs}::float8)::bigint AS ms,
      CASE WHEN n % 3 = 0 THEN 0
        ELSE floor(power(${accounts}::float8, (hashint4(n) & 2147483647) / 2147483648.0::float8))::int END AS k) AS who
    CROSS JOIN LATERAL (SELECT to_timestamp(ms / 1000.0) AS at, (k * 7 + n / 3 % 2) % 20 AS m) AS what
    RETURNING id, account_id, settled, closed_at
  ) INSERT INTO transfer (at, debit, credit, amount, kind, request_id)
    SELECT closed_at, account_id, 'house:revenue', settled, 'settle', id FROM written`
}

/** Sets balances to the sums of their transfers. */
export const updateBalances = (sql: Sql) => sql`UPDATE balance b SET posted = m.amount FROM (
    SELECT account_id, sum(amount)::bigint AS amount FROM (
      SELECT credit AS account_id, amount FROM transfer UNION ALL SELECT debit, -amount FROM transfer
    ) AS side GROUP BY account_id
  ) AS m WHERE m.account_id = b.account_id`

/** Vacuums now, because autovacuum could start during a measurement, and writes everything to the disk. */
export const vacuum = (sql: Sql) =>
  Effect.gen(function* () {
    yield* sql`VACUUM (FREEZE, ANALYZE)`
    yield* sql`CHECKPOINT`
  })

/** The number of receipts, and the bytes of receipts and transfers with all indexes. */
export const sizeOf = (sql: Sql) =>
  Effect.map(
    sql<{
      bytes: bigint
      receipts: bigint
    }>`SELECT (pg_total_relation_size('request') + pg_total_relation_size('transfer'))::bigint
      AS bytes, (SELECT count(*) FROM request) AS receipts`,
    ([row]) => ({ bytes: Number(row?.bytes ?? 0n), receipts: Number(row?.receipts ?? 0n) })
  )

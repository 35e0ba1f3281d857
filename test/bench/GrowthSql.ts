/** A database as a year of traffic leaves it: millions of receipts with their transfers, over thousands of accounts. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { closed, time } from "./ReceiptsSql.ts"

type Sql = SqlClient.SqlClient

/** Accounts that were opened by the service's own command, the largest first, each with a key. */
export interface Opened {
  readonly accounts: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
}

export const keysOf = (sql: Sql, accounts: ReadonlyArray<string>): Effect.Effect<Opened, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string; account_id: string }>`SELECT id, account_id FROM api_key WHERE kind = 'inference'`,
    (rows) => ({
      accounts,
      keys: accounts.map((account) => rows.find(({ account_id }) => account_id === account)?.id ?? "")
    })
  )

/** The accounts beside the opened ones, up to a number, each with a key of its own and money. */
export const writeAccounts = (sql: Sql, opened: Opened, most: number, balance: bigint) =>
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

/** The definitions of the indexes of the two large tables, primary keys among them. */
const indexesOf = (sql: Sql) => sql<{ drop: string; create: string }>`
  SELECT CASE WHEN c.conname IS NULL THEN format('DROP INDEX %I', i.relname)
      ELSE format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname) END AS drop,
    CASE WHEN c.conname IS NULL THEN pg_get_indexdef(i.oid)
      ELSE format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid)) END AS create
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
  LEFT JOIN pg_constraint c ON c.conindid = i.oid
  WHERE t.oid IN ('request'::regclass, 'transfer'::regclass) ORDER BY i.relname`

/**
 * Writes the two large tables in one transaction, without their indexes, which are built at the end. Tables that the transaction has
 * emptied need no write-ahead log where `wal_level` is `minimal`.
 */
export const writingTables = <A, E, R>(sql: Sql, body: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* sql`CREATE TEMPORARY TABLE kept AS SELECT * FROM transfer`
    yield* sql`TRUNCATE request, transfer`
    const indexes = yield* indexesOf(sql)
    for (const { drop } of indexes) yield* sql.unsafe(drop)
    yield* sql`INSERT INTO transfer OVERRIDING SYSTEM VALUE SELECT * FROM kept`
    const written = yield* body
    for (const { create } of indexes) yield* sql.unsafe(create)
    return written
  }).pipe(sql.withTransaction)

/** Details of receipts, made once: making them for each receipt takes most of the time of writing it. */
const DETAILS = 5_000

export const writeDetails = (sql: Sql) =>
  sql`CREATE TEMPORARY TABLE details AS SELECT n AS number, ${sql.literal(closed)} AS details
    FROM generate_series(0, ${DETAILS - 1}::int) AS n CROSS JOIN (SELECT 0::bigint AS ms) AS moment`

/** Which receipts to write, and the moments of all of them. */
export interface Part {
  readonly from: number
  readonly to: number
  readonly accounts: number
  readonly startMs: number
  readonly everyMs: number
}

/**
 * Every third receipt is the largest account's. Of the others the k-th account has about a k-th of what the first has. An account uses
 * two models of one provider each.
 */
export const writeGrowth = (sql: Sql, opened: Opened, { accounts, everyMs, from, startMs, to }: Part) => {
  const ofOpened = (ids: ReadonlyArray<string>) => sql`(${[...ids]}::text[])[k + 1]`
  return sql`WITH written AS (
    INSERT INTO request (id, account_id, key_id, operation, model, state, status, created_at, expires_at, closed_at, held, settled,
      resolved_model, provider, opened, closed)
    SELECT 'req_' || ${sql.literal(time("ms"))} || upper(lpad(to_hex(n), 16, '0')),
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

/** Makes balances what the transfers come to. */
export const balance = (sql: Sql) => sql`UPDATE balance b SET posted = m.amount FROM (
    SELECT account_id, sum(amount)::bigint AS amount FROM (
      SELECT credit AS account_id, amount FROM transfer UNION ALL SELECT debit, -amount FROM transfer
    ) AS side GROUP BY account_id
  ) AS m WHERE m.account_id = b.account_id`

/** Does what autovacuum would do at a bad moment, then brings all of it to the files. */
export const settle = (sql: Sql) =>
  Effect.gen(function* () {
    yield* sql`VACUUM (FREEZE, ANALYZE)`
    yield* sql`CHECKPOINT`
  })

/** Bytes on disk of receipts and their transfers with all indexes, and how many receipts there are. */
export const sizeOf = (sql: Sql) =>
  Effect.map(
    sql<{
      bytes: bigint
      receipts: bigint
    }>`SELECT (pg_total_relation_size('request') + pg_total_relation_size('transfer'))::bigint
      AS bytes, (SELECT count(*) FROM request) AS receipts`,
    ([row]) => ({ bytes: Number(row?.bytes ?? 0n), receipts: Number(row?.receipts ?? 0n) })
  )

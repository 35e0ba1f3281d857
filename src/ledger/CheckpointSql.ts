/**
 * The checkpoint of the books: the sums of accounts and budgets at a transfer up to which nothing can change any more, and digests of
 * the transfers and the sums. Amounts are nano-USD.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Finding, Scope, CheckpointBounds } from "./VerifySql.ts"

type Sql = SqlClient.SqlClient

/** A point in the transfers before which no running transaction can add any. */
export interface ClosedPoint {
  /** The database and the files of its tables. It changes with a restore, a failover, and a table that was emptied or replaced. */
  readonly origin: string
  /** Every transfer with this id or a lower one is visible or will never exist. */
  readonly through: bigint
  /** An id of a request of about this moment. The few requests that are written late have lower ids. */
  readonly requestsFrom: string
}

export interface Checkpoint extends ClosedPoint, CheckpointBounds {
  readonly wholeAt: Date
}

/** An arbitrary number that no other advisory lock of this program uses. */
const lockKey = 6_801_143_213n

/** A number that identifies one transfer. The sum of these numbers is the digest of a set, independent of its order. */
const transferDigest = `hashtextextended(concat_ws('|', id, date_part('epoch', at), debit, credit, amount, kind,
  COALESCE(request_id, '-'), COALESCE(reference, '-')), 0)::numeric`

const sumDigest = "hashtextextended(concat_ws('|', account_id, what, amount), 0)::numeric"

const originOf = `concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8), (SELECT oid FROM pg_database WHERE datname = current_database()),
  pg_relation_filenode('transfer'), pg_relation_filenode('request'), pg_relation_filenode('balance'),
  pg_relation_filenode('ledger_checkpoint_sum'))`

/** Returns the current end of the transfers, and the transaction that must have ended before it is a closed point. */
export const currentPoint = (
  sql: Sql,
  requestsFrom: (sql: Sql) => string
): Effect.Effect<ClosedPoint & { readonly writer: string }, SqlError.SqlError> =>
  Effect.gen(function* () {
    // The number of this transaction is taken after the end was read. Every transaction that may still add a transfer before that end has a
    // lower number.
    const [end] = yield* sql<{ through: bigint; origin: string; requestsFrom: string }>`
      SELECT COALESCE(pg_sequence_last_value(pg_get_serial_sequence('transfer', 'id')::regclass), 0) AS through,
        ${sql.literal(originOf)} AS origin, ${sql.literal(requestsFrom(sql))} AS "requestsFrom"`
    const [own] = yield* sql<{ writer: string }>`SELECT pg_current_xact_id()::text AS writer`
    return { ...end!, writer: own!.writer }
  })

/** Returns whether every transaction up to this one has ended. */
export const haveEnded = (sql: Sql, writer: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ ended: boolean }>`SELECT pg_snapshot_xmin(pg_current_snapshot()) > ${writer}::xid8 AS ended`,
    ([row]) => row?.ended === true
  )

/** Returns the checkpoint, unless there is none or it was written about another database. */
export const readCheckpoint = (sql: Sql): Effect.Effect<Checkpoint | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<Checkpoint>`SELECT origin, through, requests_from AS "requestsFrom", proved_at AS "provedAt", whole_at AS "wholeAt"
      FROM ledger_checkpoint WHERE origin = ${sql.literal(originOf)}`,
    ([row]) => row
  )

/**
 * The rows that the checkpoint does not cover: later transfers, and the requests that they move, that are newer than the checkpoint
 * or that are still open. PostgreSQL looks them up by index, one request at a time. `OFFSET 0` keeps the planner from reading a whole table
 * instead, as it does when it overestimates how many rows are new.
 */
export const rowsAfter = (sql: Sql, since: CheckpointBounds): Scope => {
  const touched = sql`(
    SELECT id FROM request WHERE id >= ${since.requestsFrom}
    UNION SELECT id FROM request WHERE state = 'open'
    UNION SELECT request_id FROM transfer WHERE id > ${since.through} AND request_id IS NOT NULL
  ) AS touched`
  const requests = sql`(SELECT r.* FROM ${touched}
    CROSS JOIN LATERAL (SELECT * FROM request WHERE request.id = touched.id OFFSET 0) AS r) AS request`
  const transfersOf = (kinds: string) => sql`(SELECT t.* FROM ${touched} CROSS JOIN LATERAL (
    SELECT * FROM transfer WHERE request_id = touched.id AND ${sql.literal(kinds)} OFFSET 0) AS t) AS transfer`
  const isMoved = (kinds: string) =>
    sql`(SELECT true FROM transfer t WHERE t.request_id = request.id AND ${sql.literal(kinds)} LIMIT 1) IS TRUE`
  return {
    since,
    transfers: sql`(SELECT * FROM transfer WHERE id > ${since.through}) AS transfer`,
    requests,
    costs: transfersOf(IS_COST),
    refunds: transfersOf(IS_REFUND),
    unpaid: sql`(SELECT id, state, settled <> 0 OR refunded <> 0 OR ${isMoved(IS_COST)} OR ${isMoved(IS_REFUND)} AS moved
      FROM ${requests} WHERE state <> 'settled') AS unpaid`,
    sums: sql.literal("ledger_checkpoint_sum")
  }
}

/** The kinds of transfers of requests, as the indexes by request are limited to them. */
const IS_COST = "kind IN ('settle', 'charge')"
const IS_REFUND = "kind = 'refund'"

/** Checks that the checkpoint is as it was written, and that the last transfer that it covers is still there. */
export const checkpointIsAsWritten = (sql: Sql) => sql<Finding>`
  SELECT count(s.*) AS checked, CASE WHEN (SELECT count(*) FROM ledger_checkpoint) = 1
      AND COALESCE(sum(${sql.literal(sumDigest)}), 0) = (SELECT sums_digest FROM ledger_checkpoint)
      AND ${tipOf(sql, sql.literal("(SELECT through FROM ledger_checkpoint)"))} = (SELECT tip FROM ledger_checkpoint)
    THEN 0 ELSE 1 END::int8 AS failed, 'the checkpoint does not fit the database' AS example FROM ledger_checkpoint_sum s`

const tipOf = (sql: Sql, through: ReturnType<Sql["literal"]>) => sql`COALESCE((SELECT ${sql.literal(transferDigest)}
  FROM (SELECT * FROM transfer WHERE id <= ${through} ORDER BY id DESC LIMIT 1) AS last), 0)`

/** How much each account's transfers after `from` and up to `through` change its money, its simulated money and its budgets. */
const movedBetween = (sql: Sql, from: bigint, through: bigint) => sql`
  SELECT account_id, what, sum(amount)::bigint AS amount FROM (
    SELECT credit AS account_id, CASE debit WHEN 'house:play' THEN 'play' ELSE 'money' END AS what, amount
      FROM transfer WHERE id > ${from} AND id <= ${through} AND left(credit, 6) <> 'house:'
    UNION ALL SELECT debit, CASE credit WHEN 'house:play' THEN 'play' ELSE 'money' END, -amount
      FROM transfer WHERE id > ${from} AND id <= ${through} AND left(debit, 6) <> 'house:'
    UNION ALL SELECT r.account_id, 'budget ' || u.budget, CASE t.kind WHEN 'refund' THEN -t.amount ELSE t.amount END
      FROM transfer t ${from === 0n ? everyRequest(sql) : eachRequest(sql)} CROSS JOIN LATERAL unnest(r.budgets) AS u(budget)
      WHERE t.id > ${from} AND t.id <= ${through} AND t.kind IN ('settle', 'charge', 'refund')
  ) AS part GROUP BY account_id, what`

/** The request `r` of each transfer `t`, for all transfers: the planner reads both tables once. */
const everyRequest = (sql: Sql) => sql.literal("JOIN request r ON r.id = t.request_id")

/** The request `r` of each transfer `t`, for some transfers: the planner looks requests up by index, one at a time (`rowsAfter`). */
const eachRequest = (sql: Sql) =>
  sql.literal("CROSS JOIN LATERAL (SELECT * FROM request WHERE request.id = t.request_id OFFSET 0) AS r")

const transfersBetween = (sql: Sql, from: bigint, through: bigint) => sql`
  SELECT count(*) AS transfers, COALESCE(sum(${sql.literal(transferDigest)}), 0) AS digest
  FROM transfer WHERE id > ${from} AND id <= ${through}`

/** Checks that everything up to the checkpoint is as an earlier verification proved it, even where changes cancel each other out. */
export const historyIsAsProved = (sql: Sql, { through }: CheckpointBounds) => sql<Finding>`
  WITH compared AS (
    SELECT COALESCE(c.account_id, n.account_id) AS account_id, COALESCE(c.what, n.what) AS what, c.amount,
      n.amount AS now FROM ledger_checkpoint_sum c
    FULL JOIN (${movedBetween(sql, 0n, through)}) AS n ON n.account_id = c.account_id AND n.what = c.what
  ), wrong AS (
    SELECT format('account %s came to %s of %s, and its transfers now come to %s', account_id, COALESCE(amount, 0), what,
      COALESCE(now, 0)) AS example FROM compared WHERE amount IS DISTINCT FROM now
    UNION ALL SELECT format('%s transfers were proved, of which %s are there or have other contents', c.transfers, n.transfers)
      FROM ledger_checkpoint c, (${transfersBetween(sql, 0n, through)}) AS n
      WHERE c.transfers <> n.transfers OR c.transfers_digest <> n.digest
  )
  SELECT (SELECT transfers FROM ledger_checkpoint) AS checked, count(*) AS failed, min(example) AS example FROM wrong`

/**
 * Moves the checkpoint to a closed point; the transaction must be the caller's. Without `from` it is written anew from everything.
 * Otherwise only the rows in between are read. Returns false, and writes nothing, when another verification moved it meanwhile.
 */
export const writeCheckpoint = (
  sql: Sql,
  from: Checkpoint | undefined,
  { origin, requestsFrom, through }: ClosedPoint
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.gen(function* () {
    yield* sql`SELECT pg_advisory_xact_lock(${lockKey})`
    if (from === undefined) {
      yield* sql`DELETE FROM ledger_checkpoint`
      yield* sql`DELETE FROM ledger_checkpoint_sum`
    } else {
      const same =
        yield* sql`SELECT 1 FROM ledger_checkpoint WHERE origin = ${from.origin} AND through = ${from.through}
        AND whole_at = ${from.wholeAt} AND origin = ${origin}`
      if (same.length === 0) return false
    }
    const after = from?.through ?? 0n
    yield* sql`INSERT INTO ledger_checkpoint_sum AS known (account_id, what, amount) ${movedBetween(sql, after, through)}
      ON CONFLICT (account_id, what) DO UPDATE SET amount = known.amount + EXCLUDED.amount`
    yield* sql`INSERT INTO ledger_checkpoint AS known
        (origin, through, requests_from, tip, transfers, transfers_digest, sums_digest, proved_at, whole_at)
      SELECT ${origin}, ${through}, ${requestsFrom}, ${tipOf(sql, sql.literal(String(through)))}, n.transfers, n.digest,
        (SELECT COALESCE(sum(${sql.literal(sumDigest)}), 0) FROM ledger_checkpoint_sum),
        date_trunc('milliseconds', now()), date_trunc('milliseconds', now())
      FROM (${transfersBetween(sql, after, through)}) AS n
      ON CONFLICT (single) DO UPDATE SET through = EXCLUDED.through, requests_from = EXCLUDED.requests_from,
        tip = EXCLUDED.tip, transfers = known.transfers + EXCLUDED.transfers,
        transfers_digest = known.transfers_digest + EXCLUDED.transfers_digest, sums_digest = EXCLUDED.sums_digest,
        proved_at = EXCLUDED.proved_at`
    return true
  })

/** The outcome of the last verification of the books by any node. */
export interface LastVerification {
  readonly ageMs: number
  /** The time since a verification of everything succeeded; null when none has. */
  readonly wholeAgeMs: number | null
  readonly durationMs: number
  readonly failed: ReadonlyArray<string>
}

export const readLast = (sql: Sql): Effect.Effect<LastVerification | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<LastVerification>`SELECT date_part('epoch', now() - at) * 1000 AS "ageMs",
        date_part('epoch', now() - whole_at) * 1000 AS "wholeAgeMs", duration_ms AS "durationMs", failed
      FROM ledger_verification WHERE at IS NOT NULL`,
    ([row]) => row
  )

interface Outcome {
  readonly durationMs: number
  readonly failed: ReadonlyArray<string>
  /** Whether everything was read and in order. */
  readonly provedWhole: boolean
}

export const writeLast = (sql: Sql, { durationMs, failed, provedWhole }: Outcome) => sql`
  INSERT INTO ledger_verification AS known (begun_at, at, whole_at, duration_ms, failed)
  VALUES (now(), now(), CASE WHEN ${provedWhole} THEN now() END, ${Math.round(durationMs)}, ${[...failed]}::text[])
  ON CONFLICT (single) DO UPDATE SET at = EXCLUDED.at, whole_at = COALESCE(EXCLUDED.whole_at, known.whole_at),
    duration_ms = EXCLUDED.duration_ms, failed = EXCLUDED.failed`

/** Claims the next background verification. Returns false while the last one is more recent, or another node's is under way. */
export const claimVerification = (
  sql: Sql,
  { everyMs, takesMs }: { readonly everyMs: number; readonly takesMs: number }
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`INSERT INTO ledger_verification AS known (begun_at) VALUES (now())
      ON CONFLICT (single) DO UPDATE SET begun_at = now()
      WHERE COALESCE(known.at, '-infinity') < now() - ${everyMs} * interval '1 millisecond'
        AND (known.begun_at <= known.at OR known.begun_at < now() - ${takesMs} * interval '1 millisecond')
      RETURNING 1`,
    (rows) => rows.length === 1
  )

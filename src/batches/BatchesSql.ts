import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo, storable } from "../platform/database/Sql.ts"
import type { InputFault } from "./BatchInput.ts"

export type BatchStatus =
  | "validating"
  | "in_progress"
  | "finalizing"
  | "completed"
  | "failed"
  | "expired"
  | "cancelling"
  | "cancelled"

/** A row of the `batch` table. Times come from the database's clock. */
export interface BatchRow {
  readonly id: string
  readonly account_id: string
  readonly principal: unknown
  readonly endpoint: string
  readonly input_file_id: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly status: BatchStatus
  readonly errors: ReadonlyArray<InputFault> | null
  readonly total: number
  readonly completed: number
  readonly failed: number
  /** The total size of all finished lines in the output files, in bytes. */
  readonly output_bytes: bigint
  /** How long its files are kept, if the caller set it. */
  readonly output_ttl_seconds: number | null
  /** The idempotency claim, and the digest of the request. */
  readonly claim: string | null
  readonly fingerprint: string | null
  /** The worker that holds the lease. */
  readonly worker: string | null
  readonly output_file_id: string | null
  readonly error_file_id: string | null
  readonly created_at: Date
  readonly expires_at: Date
  readonly in_progress_at: Date | null
  readonly finalizing_at: Date | null
  readonly completed_at: Date | null
  readonly failed_at: Date | null
  readonly expired_at: Date | null
  readonly cancelling_at: Date | null
  readonly cancelled_at: Date | null
  /** By the database's clock. */
  readonly overdue: boolean
  /** Overdue for so long that the batch ends without its files if they cannot be written. */
  readonly forsaken: boolean
}

type Sql = SqlClient.SqlClient
type Query<A> = Effect.Effect<A, SqlError.SqlError>

/** The columns of a batch, with those computed from the database's clock. */
const columns = (sql: Sql) =>
  sql.literal("*, expires_at <= now() AS overdue, expires_at <= now() - interval '1 day' AS forsaken")

const open = (sql: Sql) => sql.literal("status IN ('validating', 'in_progress', 'finalizing', 'cancelling')")

const first = <A>(rows: ReadonlyArray<A>): A | undefined => rows[0]

export const insertBatch = (
  sql: Sql,
  batch: Pick<
    BatchRow,
    "id" | "account_id" | "endpoint" | "input_file_id" | "output_ttl_seconds" | "claim" | "fingerprint"
  > & {
    readonly principal: string
    readonly metadata: string | null
    readonly window_ms: number
  }
): Query<BatchRow> =>
  Effect.map(
    sql<BatchRow>`INSERT INTO batch (id, account_id, principal, endpoint, input_file_id, metadata, output_ttl_seconds, claim,
        fingerprint, status, expires_at)
      VALUES (${batch.id}, ${batch.account_id}, ${batch.principal}::jsonb, ${batch.endpoint}, ${batch.input_file_id},
        ${batch.metadata}::jsonb, ${batch.output_ttl_seconds}::int, ${batch.claim}, ${batch.fingerprint}, 'validating',
        now() + ${BigInt(batch.window_ms)} * interval '1 millisecond')
      RETURNING ${columns(sql)}`,
    (rows) => rows[0]!
  )

export const batchById = (sql: Sql, id: string): Query<BatchRow | undefined> =>
  Effect.map(sql<BatchRow>`SELECT ${columns(sql)} FROM batch WHERE id = ${id}`, first)

/** Locks an account, so that its batches are created one after the other. */
export const lockBatches = (sql: Sql, accountId: string): Query<unknown> =>
  sql`SELECT id FROM account WHERE id = ${accountId} FOR NO KEY UPDATE`

export const countOpen = (sql: Sql, accountId: string): Query<number> =>
  Effect.map(
    sql<{ count: bigint }>`SELECT count(*) FROM batch WHERE account_id = ${accountId} AND ${open(sql)}`,
    (rows) => Number(rows[0]!.count)
  )

/** The batch created under a claim. A claim ends a day after its batch. */
export const claimedBatch = (sql: Sql, accountId: string, claim: string): Query<BatchRow | undefined> =>
  Effect.andThen(
    sql`UPDATE batch SET claim = NULL WHERE account_id = ${accountId} AND claim = ${claim}
      AND GREATEST(completed_at, failed_at, expired_at, cancelled_at) <= now() - interval '1 day'`,
    Effect.map(
      sql<BatchRow>`SELECT ${columns(sql)} FROM batch WHERE account_id = ${accountId} AND claim = ${claim}`,
      first
    )
  )

/** A worker's lease on a batch, and how long it lasts unless it is renewed. */
export interface BatchLease {
  readonly id: string
  readonly worker: string
  readonly ms: number
}

const leaseEnd = (sql: Sql, { ms }: BatchLease) => sql`now() + ${BigInt(ms)} * interval '1 millisecond'`

/** Leases a batch that has not ended; undefined while another worker holds the lease. */
export const leaseBatch = (sql: Sql, lease: BatchLease): Query<BatchRow | undefined> =>
  Effect.map(
    sql<BatchRow>`UPDATE batch SET worker = ${lease.worker}, worker_until = ${leaseEnd(sql, lease)}
      WHERE id = ${lease.id} AND ${open(sql)} AND (worker IS NULL OR worker_until <= now())
      RETURNING ${columns(sql)}`,
    first
  )

export const renewBatch = (sql: Sql, lease: BatchLease): Query<unknown> =>
  sql`UPDATE batch SET worker_until = ${leaseEnd(sql, lease)} WHERE id = ${lease.id} AND worker = ${lease.worker}`

export const releaseBatch = (sql: Sql, { id, worker }: BatchLease): Query<unknown> =>
  sql`UPDATE batch SET worker = NULL, worker_until = NULL WHERE id = ${id} AND worker = ${worker}`

/** Whether a line may start: the batch is running, has time left, and is still leased to this worker. */
export const mayBeginLine = (sql: Sql, { id, worker }: Pick<BatchRow, "id" | "worker">): Query<boolean> =>
  Effect.map(
    sql`SELECT 1 FROM batch WHERE id = ${id} AND status = 'in_progress' AND expires_at > now()
      AND worker = ${worker} AND worker_until > now()`,
    (rows) => rows.length > 0
  )

/** Newest first. */
export const batchesOf = (
  sql: Sql,
  accountId: string,
  page: { readonly limit: number; readonly after: string | null }
): Query<ReadonlyArray<BatchRow>> =>
  sql<BatchRow>`SELECT ${columns(sql)} FROM batch
    WHERE account_id = ${accountId} ${page.after === null ? sql.literal("") : sql`AND id < ${page.after}`}
    ORDER BY id DESC ${limitTo(sql, page.limit)}`

/** Stops the batch from starting more lines; undefined when it has ended or is finalizing. */
export const cancelBatch = (sql: Sql, accountId: string, id: string): Query<BatchRow | undefined> =>
  Effect.map(
    sql<BatchRow>`UPDATE batch SET status = 'cancelling', cancelling_at = now()
      WHERE id = ${id} AND account_id = ${accountId} AND status IN ('validating', 'in_progress')
      RETURNING ${columns(sql)}`,
    first
  )

export const failBatch = (sql: Sql, id: string, errors: string): Query<unknown> =>
  sql`UPDATE batch SET status = 'failed', failed_at = now(), errors = ${storable(errors)}::jsonb
    WHERE id = ${id} AND status = 'validating'`

/** Ends a batch that cannot continue, without files. The results of its lines stay in the database. */
export const abandonBatch = (sql: Sql, id: string, status: "failed" | "expired", errors: string): Query<unknown> =>
  sql`UPDATE batch SET status = ${status}, errors = ${storable(errors)}::jsonb,
      failed_at = CASE WHEN ${status} = 'failed' THEN now() END,
      expired_at = CASE WHEN ${status} = 'expired' THEN now() END
    WHERE id = ${id} AND ${open(sql)}`

export const startBatch = (sql: Sql, id: string, total: number): Query<unknown> =>
  sql`UPDATE batch SET status = 'in_progress', in_progress_at = now(), total = ${total}::int
    WHERE id = ${id} AND status = 'validating'`

/** Ends the running phase: all lines have ended, or the batch's time is over. */
export const finalizeBatch = (sql: Sql, id: string): Query<unknown> =>
  sql`UPDATE batch SET status = 'finalizing', finalizing_at = now() WHERE id = ${id} AND status = 'in_progress'`

/** The indexes of the finished lines. */
export const endedLines = (sql: Sql, id: string): Query<ReadonlyArray<number>> =>
  Effect.map(sql<{ readonly index: number }>`SELECT index FROM batch_item WHERE batch_id = ${id}`, (rows) =>
    rows.map(({ index }) => index)
  )

/** The result of a line. If the output files would exceed `mostBytes` with it, a short error line takes its place. */
export interface LineEnd {
  readonly id: string
  readonly index: number
  readonly ok: boolean
  readonly line: string
  readonly instead: string
  readonly mostBytes: number
}

const bytesOf = (line: string): bigint => BigInt(Buffer.byteLength(line) + 1)

/**
 * Stores the result of a line, once, counts it, and returns the batch's new state. Undefined when the files are already being written.
 */
export const endLine = (sql: Sql, item: LineEnd): Query<Pick<BatchRow, "status" | "output_bytes"> | undefined> =>
  Effect.map(
    sql<Pick<BatchRow, "status" | "output_bytes">>`WITH open AS MATERIALIZED (
        SELECT id, output_bytes + ${bytesOf(item.line)}::bigint <= ${BigInt(item.mostBytes)}::bigint AS fits
        FROM batch WHERE id = ${item.id} AND status IN ('in_progress', 'cancelling') FOR UPDATE
      ), item AS (
        INSERT INTO batch_item (batch_id, index, ok, line)
        SELECT id, ${item.index}::int, ${item.ok}::boolean AND fits, CASE WHEN fits THEN ${item.line} ELSE ${item.instead} END
        FROM open ON CONFLICT DO NOTHING RETURNING ok, octet_length(line) + 1 AS bytes
      )
      UPDATE batch SET completed = completed + (SELECT count(*) FROM item WHERE ok)::int,
        failed = failed + (SELECT count(*) FROM item WHERE NOT ok)::int,
        output_bytes = output_bytes + coalesce((SELECT bytes FROM item), 0)
      WHERE id IN (SELECT id FROM open) RETURNING status, output_bytes`,
    first
  )

/**
 * The bytes of a line that are read at a time. The client accepts database messages up to 16 MiB, in which bytes may be hexadecimal.
 */
const PIECE_BYTES = 4 * 1_048_576

/** A piece of a line. The pieces of a line come in order. */
export interface LinePiece {
  readonly index: number
  readonly piece: Uint8Array
}

/** The succeeded or the failed lines after an index, in order: at least one, and further ones up to `bytes` in all. */
export const endedAfter = (
  sql: Sql,
  id: string,
  page: { readonly ok: boolean; readonly after: number; readonly limit: number; readonly bytes: number }
): Query<ReadonlyArray<LinePiece>> =>
  sql<LinePiece>`SELECT index, substring(convert_to(line, 'UTF8') FROM at FOR ${PIECE_BYTES}::int) AS piece FROM (
      SELECT index, line, sum(octet_length(line)) OVER (ORDER BY index) AS upto, row_number() OVER (ORDER BY index) AS place
      FROM (
        SELECT index, line FROM batch_item WHERE batch_id = ${id} AND ok = ${page.ok}::boolean AND index > ${page.after}::int
        ORDER BY index LIMIT ${page.limit}::int
      ) AS page
    ) AS counted, generate_series(1, GREATEST(octet_length(line), 1), ${PIECE_BYTES}::int) AS at
    WHERE upto <= ${BigInt(page.bytes)}::bigint OR place = 1 ORDER BY index, at`

/** Ends a batch after its files are written, once, and deletes the lines' results. Returns false when it had already ended. */
export const endBatch = (
  sql: Sql,
  ending: {
    readonly id: string
    readonly status: "completed" | "expired" | "cancelled"
    readonly failed: number
    readonly outputFileId: string | null
    readonly errorFileId: string | null
  }
): Query<boolean> =>
  Effect.map(
    sql`WITH ended AS (
        UPDATE batch SET status = ${ending.status}, failed = ${ending.failed}::int,
          output_file_id = ${ending.outputFileId}, error_file_id = ${ending.errorFileId},
          completed_at = CASE WHEN ${ending.status} = 'completed' THEN now() END,
          expired_at = CASE WHEN ${ending.status} = 'expired' THEN now() END,
          cancelled_at = CASE WHEN ${ending.status} = 'cancelled' THEN now() END
        WHERE id = ${ending.id} AND status IN ('finalizing', 'cancelling') RETURNING id
      ), dropped AS (DELETE FROM batch_item WHERE batch_id IN (SELECT id FROM ended))
      SELECT id FROM ended`,
    (rows) => rows.length > 0
  )

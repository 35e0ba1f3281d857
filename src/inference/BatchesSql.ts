import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
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

/** A batch as its row has it. Times are the database's. */
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
  readonly output_bytes: bigint
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
}

type Sql = SqlClient.SqlClient
type Found<A> = Effect.Effect<A, SqlError.SqlError>

const first = <A>(rows: ReadonlyArray<A>): A | undefined => rows[0]

export const insertBatch = (
  sql: Sql,
  batch: Pick<BatchRow, "id" | "account_id" | "endpoint" | "input_file_id"> & {
    readonly principal: string
    readonly metadata: string | null
    readonly window_ms: number
  }
): Found<BatchRow> =>
  Effect.map(
    sql<BatchRow>`INSERT INTO batch (id, account_id, principal, endpoint, input_file_id, metadata, status, expires_at)
      VALUES (${batch.id}, ${batch.account_id}, ${batch.principal}::jsonb, ${batch.endpoint}, ${batch.input_file_id},
        ${batch.metadata}::jsonb, 'validating', now() + ${BigInt(batch.window_ms)} * interval '1 millisecond')
      RETURNING *, false AS overdue`,
    (rows) => rows[0]!
  )

export const batchById = (sql: Sql, id: string): Found<BatchRow | undefined> =>
  Effect.map(sql<BatchRow>`SELECT *, expires_at <= now() AS overdue FROM batch WHERE id = ${id}`, first)

/** Newest first. */
export const batchesOf = (
  sql: Sql,
  accountId: string,
  page: { readonly limit: number; readonly after: string | null }
): Found<ReadonlyArray<BatchRow>> =>
  sql<BatchRow>`SELECT *, expires_at <= now() AS overdue FROM batch
    WHERE account_id = ${accountId} AND (${page.after}::text IS NULL OR id < ${page.after}::text)
    ORDER BY id DESC LIMIT ${page.limit}::int`

/** Has a batch begin no more lines; undefined where it has ended, or is about to. */
export const cancelBatch = (sql: Sql, accountId: string, id: string): Found<BatchRow | undefined> =>
  Effect.map(
    sql<BatchRow>`UPDATE batch SET status = 'cancelling', cancelling_at = now()
      WHERE id = ${id} AND account_id = ${accountId} AND status IN ('validating', 'in_progress')
      RETURNING *, expires_at <= now() AS overdue`,
    first
  )

export const failBatch = (sql: Sql, id: string, errors: string): Found<unknown> =>
  sql`UPDATE batch SET status = 'failed', failed_at = now(), errors = ${errors}::jsonb
    WHERE id = ${id} AND status = 'validating'`

export const startBatch = (sql: Sql, id: string, total: number): Found<unknown> =>
  sql`UPDATE batch SET status = 'in_progress', in_progress_at = now(), total = ${total}::int
    WHERE id = ${id} AND status = 'validating'`

/** Ends the running of lines: all of them have ended, or the time of the batch has. */
export const finalizeBatch = (sql: Sql, id: string): Found<unknown> =>
  sql`UPDATE batch SET status = 'finalizing', finalizing_at = now() WHERE id = ${id} AND status = 'in_progress'`

/** Which lines have ended. */
export const endedLines = (sql: Sql, id: string): Found<ReadonlyArray<number>> =>
  Effect.map(sql<{ readonly index: number }>`SELECT index FROM batch_item WHERE batch_id = ${id}`, (rows) =>
    rows.map(({ index }) => index)
  )

/**
 * Writes down how a line ended, once, and counts it; answers how the batch stands then. Undefined where its files are being
 * written already.
 */
export const endLine = (
  sql: Sql,
  item: { readonly id: string; readonly index: number; readonly ok: boolean; readonly line: string }
): Found<Pick<BatchRow, "status" | "output_bytes"> | undefined> =>
  Effect.map(
    sql<Pick<BatchRow, "status" | "output_bytes">>`WITH open AS MATERIALIZED (
        SELECT id FROM batch WHERE id = ${item.id} AND status IN ('in_progress', 'cancelling') FOR UPDATE
      ), item AS (
        INSERT INTO batch_item (batch_id, index, ok, line)
        SELECT id, ${item.index}::int, ${item.ok}::boolean, ${item.line} FROM open ON CONFLICT DO NOTHING RETURNING ok
      )
      UPDATE batch SET completed = completed + (SELECT count(*) FROM item WHERE ok)::int,
        failed = failed + (SELECT count(*) FROM item WHERE NOT ok)::int,
        output_bytes = output_bytes + CASE WHEN EXISTS (SELECT FROM item) THEN ${BigInt(item.line.length)}::bigint ELSE 0 END
      WHERE id IN (SELECT id FROM open) RETURNING status, output_bytes`,
    first
  )

/** Lines that ended well, or did not, in their order from behind an index. */
export const endedAfter = (
  sql: Sql,
  id: string,
  page: { readonly ok: boolean; readonly after: number; readonly limit: number }
): Found<ReadonlyArray<{ readonly index: number; readonly line: string }>> =>
  sql`SELECT index, line FROM batch_item WHERE batch_id = ${id} AND ok = ${page.ok}::boolean AND index > ${page.after}::int
    ORDER BY index LIMIT ${page.limit}::int`

/** Ends a batch whose files are written, once, and drops what they were made of; false where it had ended. */
export const endBatch = (
  sql: Sql,
  ending: {
    readonly id: string
    readonly status: "completed" | "expired" | "cancelled"
    readonly failed: number
    readonly outputFileId: string | null
    readonly errorFileId: string | null
  }
): Found<boolean> =>
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

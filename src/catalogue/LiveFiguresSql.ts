import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { StoredCounts } from "./Counts.ts"

/** One node's counts of a model at a provider in one minute, numbered from 1970 by that node's clock. */
export interface MinuteCounts extends StoredCounts {
  readonly minute: number
  readonly model: string
  readonly provider: string
}

export interface LiveFigureRow extends MinuteCounts {
  readonly node: string
  /** By the database's clock. */
  readonly writtenAt: Date
}

const encode = ({ minute, model, provider, samples, ok, streamed, durations, firstTokens }: MinuteCounts) => ({
  minute,
  model,
  provider,
  samples,
  ok,
  streamed,
  durations,
  first_tokens: firstTokens
})

/**
 * Writes a node's current counts. Rows hold absolute counts, and the counts of a minute only grow. So a repeated write, or a late
 * one from a lost connection, changes nothing.
 */
export const writeCounts = (
  sql: SqlClient.SqlClient,
  node: string,
  counts: ReadonlyArray<MinuteCounts>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`INSERT INTO live_figure AS known
      (node, minute, model, provider, samples, ok, streamed, durations, first_tokens)
    SELECT ${node}, minute, model, provider, samples, ok, streamed, durations, first_tokens
    FROM jsonb_to_recordset(${JSON.stringify(counts.map(encode))}::jsonb) AS counted (minute integer, model text,
      provider text, samples integer, ok integer, streamed integer, durations integer[], first_tokens integer[])
    ON CONFLICT (minute, node, model, provider) DO UPDATE SET samples = EXCLUDED.samples, ok = EXCLUDED.ok,
      streamed = EXCLUDED.streamed, durations = EXCLUDED.durations, first_tokens = EXCLUDED.first_tokens,
      written_at = EXCLUDED.written_at
    WHERE known.samples < EXCLUDED.samples`)

/** Returns the counts of other nodes, and of earlier runs of this one, for a range of minutes, written after `since`. */
export const countsOfOthers = (
  sql: SqlClient.SqlClient,
  { node, since, from, to }: { readonly node: string; readonly since: Date; readonly from: number; readonly to: number }
): Effect.Effect<ReadonlyArray<LiveFigureRow>, SqlError.SqlError> =>
  sql<LiveFigureRow>`SELECT node, minute, model, provider, samples, ok, streamed, durations,
      first_tokens AS "firstTokens", written_at AS "writtenAt"
    FROM live_figure WHERE node <> ${node} AND minute BETWEEN ${from} AND ${to} AND written_at > ${since}`

/** Deletes up to `limit` rows from before this minute. Returns how many it deleted. It skips rows that another node is deleting. */
export const deleteCounts = (
  sql: SqlClient.SqlClient,
  before: number,
  limit: number
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ deleted: number }>`WITH old AS (
        SELECT minute, node, model, provider FROM live_figure WHERE minute < ${before}
        ORDER BY minute LIMIT ${limit} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM live_figure USING old
        WHERE live_figure.minute = old.minute AND live_figure.node = old.node AND live_figure.model = old.model
          AND live_figure.provider = old.provider
        RETURNING 1
      ) SELECT count(*)::integer AS deleted FROM gone`,
    (rows) => rows[0]!.deleted
  )

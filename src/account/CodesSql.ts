import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * A code that accepts guesses. Exactly one of `digest` (the gateway's own code) and `reference` (a code that an external service
 * checks) is set.
 */
export interface CodeRow {
  readonly id: string
  readonly digest: Uint8Array | null
  readonly reference: string | null
}

/** Stores a code in place of the previous one. */
export const replaceCode = (
  sql: SqlClient.SqlClient,
  code: CodeRow & { readonly subject: Uint8Array; readonly lifeMs: number }
) =>
  sql`INSERT INTO verification_code (subject, id, digest, reference, expires_at)
    VALUES (${code.subject}, ${code.id}, ${code.digest}, ${code.reference}, now() + ${code.lifeMs} * interval '1 millisecond')
    ON CONFLICT (subject) DO UPDATE SET id = EXCLUDED.id, digest = EXCLUDED.digest, reference = EXCLUDED.reference,
      attempts = 0, expires_at = EXCLUDED.expires_at`

/**
 * Counts an attempt under the row's lock. However many attempts run at once, on any nodes, at most `attempts` of them get the row.
 */
export const countAttempt = (
  sql: SqlClient.SqlClient,
  subject: Uint8Array,
  attempts: number
): Effect.Effect<CodeRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<CodeRow>`UPDATE verification_code SET attempts = attempts + 1
      WHERE subject = ${subject} AND attempts < ${attempts} AND expires_at > now() RETURNING id, digest, reference`,
    (rows) => rows[0]
  )

/** Deletes a code. Returns false when it was used or replaced before. */
export const deleteCode = (
  sql: SqlClient.SqlClient,
  subject: Uint8Array,
  id: string
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM verification_code WHERE subject = ${subject} AND id = ${id} RETURNING 1`,
    (rows) => rows.length === 1
  )

/** Counts one code in the current window, or starts a window. Returns false when the window is full. */
export const countSend = (
  sql: SqlClient.SqlClient,
  bound: { readonly subject: Uint8Array; readonly sends: number; readonly windowMs: number }
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`INSERT INTO verification_sends AS s (subject, sends, ends_at)
      VALUES (${bound.subject}, 1, now() + ${bound.windowMs} * interval '1 millisecond')
      ON CONFLICT (subject) DO UPDATE SET sends = CASE WHEN s.ends_at > now() THEN s.sends + 1 ELSE 1 END,
        ends_at = CASE WHEN s.ends_at > now() THEN s.ends_at ELSE EXCLUDED.ends_at END
      WHERE s.ends_at <= now() OR s.sends < ${bound.sends} RETURNING 1`,
    (rows) => rows.length === 1
  )

/** Returns the whole seconds until a window ends, at least one. */
export const secondsLeft = (sql: SqlClient.SqlClient, subject: Uint8Array): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ seconds: number }>`SELECT GREATEST(1, ceil(extract(epoch FROM ends_at - now())))::int AS seconds
      FROM verification_sends WHERE subject = ${subject}`,
    (rows) => rows[0]?.seconds ?? 1
  )

/** Deletes expired codes and windows, a bounded number at a time. Returns how many it deleted. */
export const dropOver = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ count: number }>`WITH codes AS (
      DELETE FROM verification_code WHERE subject IN (
        SELECT subject FROM verification_code WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1
    ), windows AS (
      DELETE FROM verification_sends WHERE subject IN (
        SELECT subject FROM verification_sends WHERE ends_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING 1
    ) SELECT (SELECT count(*) FROM codes)::int + (SELECT count(*) FROM windows)::int AS count`,
    (rows) => rows[0]?.count ?? 0
  )

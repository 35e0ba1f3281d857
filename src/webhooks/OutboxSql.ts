import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { SealedSecrets } from "./WebhooksSql.ts"

type Sql = SqlClient.SqlClient

/** A delivery that this node has taken upon itself, with all that an attempt needs. */
export interface ClaimedRow extends SealedSecrets {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly step: number
  /** It arrived once, and is sent again on demand. */
  readonly again: boolean
  readonly body: string
  readonly url: string
}

/**
 * Takes deliveries that are due, at most `limit`, for as long as a lease. No endpoint has more than `each` under way, one that
 * fails no more than one; and each has its first before any has its second, the one that has waited longest before others. So a
 * claim costs a step in the index for each endpoint that has something pending, whatever there is for any of them.
 */
export const claimDue = (
  sql: Sql,
  options: {
    readonly claim: string
    readonly limit: number
    readonly each: number
    readonly leaseMs: number
    readonly sealedWith: string
  }
): Effect.Effect<ReadonlyArray<ClaimedRow>, SqlError.SqlError> =>
  sql<ClaimedRow>`WITH RECURSIVE head AS (
      (SELECT endpoint_id, due_at FROM webhook_delivery WHERE status = 'pending' ORDER BY endpoint_id, due_at LIMIT 1)
      UNION ALL
      SELECT next.endpoint_id, next.due_at FROM head CROSS JOIN LATERAL (
        SELECT endpoint_id, due_at FROM webhook_delivery WHERE status = 'pending' AND endpoint_id > head.endpoint_id
        ORDER BY endpoint_id, due_at LIMIT 1
      ) next
    ), lane AS (
      SELECT e.id, CASE WHEN e.failing_since IS NULL THEN ${options.each}::int ELSE 1 END - (
          SELECT count(*) FROM webhook_delivery c WHERE c.endpoint_id = e.id AND c.claim IS NOT NULL AND c.due_at > now()
        ) AS room
      FROM head JOIN webhook_endpoint e ON e.id = head.endpoint_id
      WHERE head.due_at <= now() AND e.status = 'enabled' AND e.sealed_with = ${options.sealedWith}
    ), due AS (
      SELECT d.id FROM lane CROSS JOIN LATERAL (
        SELECT id, due_at, row_number() OVER (ORDER BY due_at) AS place FROM (
          SELECT id, due_at FROM webhook_delivery
          WHERE endpoint_id = lane.id AND status = 'pending' AND due_at <= now()
          ORDER BY due_at LIMIT greatest(lane.room, 0)
        ) first
      ) d ORDER BY d.place, d.due_at LIMIT ${options.limit}
    ), taken AS (
      SELECT w.id FROM webhook_delivery w JOIN due ON due.id = w.id
      WHERE w.status = 'pending' AND w.due_at <= now() FOR UPDATE OF w SKIP LOCKED
    )
    UPDATE webhook_delivery d SET claim = ${options.claim},
      due_at = now() + ${options.leaseMs}::double precision * interval '1 millisecond'
    FROM taken, webhook_endpoint e, webhook_event v
    WHERE d.id = taken.id AND e.id = d.endpoint_id AND v.id = d.event_id
    RETURNING d.id, d.endpoint_id, d.event_id, d.step, d.delivered_at IS NOT NULL AS again, v.body, e.url, e.secret,
      CASE WHEN e.previous_until > now() THEN e.previous_secret END AS previous_secret`

/** Whether anything is still to be delivered, now or later: one step in an index. */
export const anyPending = (sql: Sql): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ pending: boolean }>`SELECT EXISTS (SELECT FROM webhook_delivery WHERE status = 'pending') AS pending`,
    (rows) => rows[0]?.pending === true
  )

/** Gives back what was claimed and not tried to its end. */
export const releaseClaim = (sql: Sql, id: string, claim: string) =>
  sql`UPDATE webhook_delivery SET claim = NULL, due_at = now() WHERE id = ${id} AND claim = ${claim}`

/** An attempt as it is written down. */
export interface AttemptNote {
  readonly deliveryId: string
  readonly startedAt: Date
  readonly durationMs: number
  readonly statusCode: number | null
  readonly error: string | null
  readonly response: string | null
}

/** Writes an attempt down, unless its delivery is gone. */
export const insertAttempt = (sql: Sql, attempt: AttemptNote) =>
  sql`INSERT INTO webhook_attempt (delivery_id, started_at, duration_ms, status_code, error, response)
    SELECT id, ${attempt.startedAt}, ${attempt.durationMs}::int, ${attempt.statusCode}::int, ${attempt.error}::text,
      ${attempt.response}::text
    FROM webhook_delivery WHERE id = ${attempt.deliveryId} FOR KEY SHARE`

/**
 * Writes an attempt down that arrived, and ends its delivery, whoever has claimed it since; the endpoint fails no longer, where
 * that is still its address. One statement, because this is what happens to nearly all of them.
 */
export const deliver = (sql: Sql, to: { readonly endpointId: string; readonly url: string }, attempt: AttemptNote) =>
  sql`WITH ended AS (
      UPDATE webhook_delivery SET status = 'delivered', attempts = attempts + 1, claim = NULL, ended_at = now(),
        delivered_at = coalesce(delivered_at, now())
      WHERE id = ${attempt.deliveryId} AND status = 'pending'
    ), answers AS (
      UPDATE webhook_endpoint SET failing_since = NULL
      WHERE id = ${to.endpointId} AND url = ${to.url} AND failing_since IS NOT NULL
    )
    INSERT INTO webhook_attempt (delivery_id, started_at, duration_ms, status_code, error, response)
    SELECT id, ${attempt.startedAt}, ${attempt.durationMs}::int, ${attempt.statusCode}::int, ${attempt.error}::text,
      ${attempt.response}::text
    FROM webhook_delivery WHERE id = ${attempt.deliveryId}`

/** Has a delivery tried again after so long, unless the claim has ended. */
export const postpone = (sql: Sql, id: string, claim: string, afterMs: number) =>
  sql`UPDATE webhook_delivery SET step = step + 1, attempts = attempts + 1, claim = NULL,
      due_at = now() + ${afterMs}::double precision * interval '1 millisecond'
    WHERE id = ${id} AND claim = ${claim}`

/** What a delivery is that is not tried any more: one that arrived before has been delivered, whatever came of it later. */
const given = (sql: Sql) => sql.literal(`CASE WHEN delivered_at IS NULL THEN 'failed' ELSE 'delivered' END`)

/** Gives a delivery up, unless the claim has ended. */
export const giveUp = (sql: Sql, id: string, claim: string) =>
  sql`UPDATE webhook_delivery SET status = ${given(sql)}, attempts = attempts + 1, claim = NULL, ended_at = now()
    WHERE id = ${id} AND claim = ${claim}`

/** Notes that an endpoint fails at this address: since now, where it has not failed for longer than the gap, for that shows nothing of between. */
export const endpointFails = (sql: Sql, id: string, url: string, longestGapMs: number) =>
  sql`UPDATE webhook_endpoint SET failed_at = now(), failing_since = coalesce(
      CASE WHEN failed_at > now() - ${longestGapMs}::double precision * interval '1 millisecond' THEN failing_since END, now()
    ) WHERE id = ${id} AND url = ${url}`

/** Whether an endpoint has another address by now: what its old one answers says nothing of that. */
export const hasMoved = (sql: Sql, id: string, url: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(sql`SELECT 1 FROM webhook_endpoint WHERE id = ${id} AND url <> ${url}`, (rows) => rows.length > 0)

/** Disables an endpoint that has done nothing but fail at this address for so long; answers whose it was where that is so. */
export const disableEndpoint = (
  sql: Sql,
  id: string,
  url: string,
  failedForMs: number
): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ account_id: string }>`UPDATE webhook_endpoint SET status = 'disabled'
      WHERE id = ${id} AND url = ${url} AND status = 'enabled'
        AND failing_since <= now() - ${failedForMs}::double precision * interval '1 millisecond'
      RETURNING account_id`,
    (rows) => rows[0]?.account_id
  )

/**
 * Gives up what is pending for endpoints that were removed, and what has waited for so long for one that is disabled, so many at
 * most; answers how many.
 */
export const giveUpUnwanted = (sql: Sql, waitedMs: number, most: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`WITH unwanted AS (
        SELECT d.id FROM webhook_endpoint e JOIN webhook_delivery d ON d.endpoint_id = e.id AND d.status = 'pending'
        WHERE (e.status = 'removed' OR (e.status = 'disabled'
            AND d.due_at <= now() - ${waitedMs}::double precision * interval '1 millisecond'))
          AND (d.claim IS NULL OR d.due_at <= now()) LIMIT ${most} FOR UPDATE OF d SKIP LOCKED
      )
      UPDATE webhook_delivery d SET status = ${given(sql)}, claim = NULL, ended_at = now() FROM unwanted
      WHERE d.id = unwanted.id RETURNING d.id`,
    (rows) => rows.length
  )

/** Forgets deliveries that ended so long ago and those of endpoints that were removed, so many at most; answers how many. */
export const forgetDeliveries = (sql: Sql, endedMs: number, most: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM webhook_delivery WHERE id IN (
        (SELECT id FROM webhook_delivery
          WHERE ended_at <= now() - ${endedMs}::double precision * interval '1 millisecond' LIMIT ${most})
        UNION ALL
        (SELECT d.id FROM webhook_endpoint e JOIN webhook_delivery d ON d.endpoint_id = e.id
          WHERE e.status = 'removed' AND d.ended_at IS NOT NULL LIMIT ${most})
      ) RETURNING id`,
    (rows) => rows.length
  )

/** Forgets events that old of which nothing is left to tell, so many at most; answers how many. */
export const forgetEvents = (sql: Sql, createdMs: number, most: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM webhook_event WHERE id IN (
        SELECT v.id FROM webhook_event v
        WHERE v.created_at <= now() - ${createdMs}::double precision * interval '1 millisecond'
          AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.event_id = v.id)
        ORDER BY v.created_at LIMIT ${most}
      ) RETURNING id`,
    (rows) => rows.length
  )

/** Forgets endpoints that were removed and have no deliveries left. */
export const forgetEndpoints = (sql: Sql): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM webhook_endpoint e WHERE e.status = 'removed'
        AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.endpoint_id = e.id) RETURNING id`,
    (rows) => rows.length
  )

/** How many enabled endpoints were sealed with a key that this node does not have. */
export const countSealedElsewhere = (sql: Sql, keyId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ count: bigint }>`SELECT count(*) FROM webhook_endpoint WHERE status = 'enabled' AND sealed_with <> ${keyId}`,
    (rows) => Number(rows[0]?.count ?? 0n)
  )

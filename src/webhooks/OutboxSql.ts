import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { SealedSecrets } from "./WebhooksSql.ts"

type Sql = SqlClient.SqlClient

/** A delivery claimed by this node, with everything that an attempt needs. */
export interface ClaimedRow extends SealedSecrets {
  readonly id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly step: number
  /** Whether the delivery succeeded before and was requested again. */
  readonly again: boolean
  readonly body: string
  readonly url: string
}

/**
 * Claims at most `limit` due deliveries for the length of a lease. An endpoint has at most `each` running attempts, or one if it is
 * failing. Deliveries of an account that is not active wait. Every endpoint gets its first attempt before any gets a second, and the
 * longest waiting goes first. The cost is one index step per endpoint with pending deliveries, however many each has.
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
      FROM head JOIN webhook_endpoint e ON e.id = head.endpoint_id JOIN account a ON a.id = e.account_id
      WHERE head.due_at <= now() AND e.status = 'enabled' AND e.sealed_with = ${options.sealedWith} AND a.state = 'active'
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

/** Reports whether any delivery is pending, now or later. It costs one index step. */
export const anyPending = (sql: Sql): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ pending: boolean }>`SELECT EXISTS (SELECT FROM webhook_delivery WHERE status = 'pending') AS pending`,
    (rows) => rows[0]?.pending === true
  )

/** Gives back a claim without a finished attempt. */
export const releaseClaim = (sql: Sql, id: string, claim: string) =>
  sql`UPDATE webhook_delivery SET claim = NULL, due_at = now() WHERE id = ${id} AND claim = ${claim}`

/** The stored form of an attempt. */
export interface AttemptNote {
  readonly deliveryId: string
  readonly startedAt: Date
  readonly durationMs: number
  readonly statusCode: number | null
  readonly error: string | null
  readonly response: string | null
}

/** Inserts an attempt, unless its delivery no longer exists. */
export const insertAttempt = (sql: Sql, attempt: AttemptNote) =>
  sql`INSERT INTO webhook_attempt (delivery_id, started_at, duration_ms, status_code, error, response)
    SELECT id, ${attempt.startedAt}, ${attempt.durationMs}::int, ${attempt.statusCode}::int, ${attempt.error}::text,
      ${attempt.response}::text
    FROM webhook_delivery WHERE id = ${attempt.deliveryId} FOR KEY SHARE`

/**
 * Records a successful attempt and ends its delivery, even if another node has claimed it since. It clears the endpoint's failure
 * record if the endpoint still has this address. A single statement, because nearly all attempts end this way. Its subquery makes it
 * lock the delivery before the endpoint, as a failed attempt does.
 */
export const deliver = (sql: Sql, to: { readonly endpointId: string; readonly url: string }, attempt: AttemptNote) =>
  sql`WITH ended AS (
      UPDATE webhook_delivery SET status = 'delivered', attempts = attempts + 1, claim = NULL, ended_at = now(),
        delivered_at = coalesce(delivered_at, now())
      WHERE id = ${attempt.deliveryId} AND status = 'pending' RETURNING id
    ), answers AS (
      UPDATE webhook_endpoint SET failing_since = NULL
      WHERE (SELECT count(*) FROM ended) >= 0 AND id = ${to.endpointId} AND url = ${to.url} AND failing_since IS NOT NULL
    )
    INSERT INTO webhook_attempt (delivery_id, started_at, duration_ms, status_code, error, response)
    SELECT id, ${attempt.startedAt}, ${attempt.durationMs}::int, ${attempt.statusCode}::int, ${attempt.error}::text,
      ${attempt.response}::text
    FROM webhook_delivery WHERE id = ${attempt.deliveryId}`

/** Schedules the next attempt after a delay, unless the claim has ended. */
export const postpone = (sql: Sql, id: string, claim: string, afterMs: number) =>
  sql`UPDATE webhook_delivery SET step = step + 1, attempts = attempts + 1, claim = NULL,
      due_at = now() + ${afterMs}::double precision * interval '1 millisecond'
    WHERE id = ${id} AND claim = ${claim}`

/**
 * The final status of a delivery without further attempts. A delivery that succeeded once stays `delivered`, whatever happened
 * later.
 */
const finalStatus = (sql: Sql) => sql.literal(`CASE WHEN delivered_at IS NULL THEN 'failed' ELSE 'delivered' END`)

/** Ends a delivery without success, unless the claim has ended. */
export const giveUp = (sql: Sql, id: string, claim: string) =>
  sql`UPDATE webhook_delivery SET status = ${finalStatus(sql)}, attempts = attempts + 1, claim = NULL, ended_at = now()
    WHERE id = ${id} AND claim = ${claim}`

/**
 * Records that an endpoint fails at this address. If its last failure is older than the longest gap between attempts, the failing
 * period starts now, because nothing is known about the time between.
 */
export const endpointFails = (sql: Sql, id: string, url: string, longestGapMs: number) =>
  sql`UPDATE webhook_endpoint SET failed_at = now(), failing_since = coalesce(
      CASE WHEN failed_at > now() - ${longestGapMs}::double precision * interval '1 millisecond' THEN failing_since END, now()
    ) WHERE id = ${id} AND url = ${url}`

/** Reports whether an endpoint has a new address. A response from its old one says nothing about the new one. */
export const hasMoved = (sql: Sql, id: string, url: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(sql`SELECT 1 FROM webhook_endpoint WHERE id = ${id} AND url <> ${url}`, (rows) => rows.length > 0)

/**
 * Disables an endpoint that has only failed at this address for this long. Returns its account, or undefined when nothing changed.
 */
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
 * Ends pending deliveries of removed endpoints, and those that have waited too long for a disabled one, at most `most`. Returns how
 * many there were.
 */
export const giveUpUnwanted = (sql: Sql, waitedMs: number, most: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`WITH unwanted AS (
        SELECT d.id FROM webhook_endpoint e JOIN webhook_delivery d ON d.endpoint_id = e.id AND d.status = 'pending'
        WHERE (e.status = 'removed' OR (e.status = 'disabled'
            AND d.due_at <= now() - ${waitedMs}::double precision * interval '1 millisecond'))
          AND (d.claim IS NULL OR d.due_at <= now()) LIMIT ${most} FOR UPDATE OF d SKIP LOCKED
      )
      UPDATE webhook_delivery d SET status = ${finalStatus(sql)}, claim = NULL, ended_at = now() FROM unwanted
      WHERE d.id = unwanted.id RETURNING d.id`,
    (rows) => rows.length
  )

/**
 * Deletes deliveries that ended this long ago and those of removed endpoints, at most `most` of each, and skips those that another
 * node has locked. Returns how many there were.
 */
export const forgetDeliveries = (sql: Sql, endedMs: number, most: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`WITH old AS (
        SELECT id FROM webhook_delivery
        WHERE ended_at <= now() - ${endedMs}::double precision * interval '1 millisecond' LIMIT ${most} FOR UPDATE SKIP LOCKED
      ), ownerless AS (
        SELECT d.id FROM webhook_endpoint e JOIN webhook_delivery d ON d.endpoint_id = e.id
        WHERE e.status = 'removed' AND d.ended_at IS NOT NULL LIMIT ${most} FOR UPDATE OF d SKIP LOCKED
      )
      DELETE FROM webhook_delivery WHERE id IN (SELECT id FROM old UNION ALL SELECT id FROM ownerless) RETURNING id`,
    (rows) => rows.length
  )

/**
 * Deletes events this old without deliveries, at most `most`, and skips those that another node has locked. Returns how many there
 * were.
 */
export const forgetEvents = (sql: Sql, createdMs: number, most: number): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM webhook_event WHERE id IN (
        SELECT v.id FROM webhook_event v
        WHERE v.created_at <= now() - ${createdMs}::double precision * interval '1 millisecond'
          AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.event_id = v.id)
        ORDER BY v.created_at LIMIT ${most} FOR UPDATE OF v SKIP LOCKED
      ) RETURNING id`,
    (rows) => rows.length
  )

/**
 * Deletes removed endpoints that have no deliveries left. Skips those that another node has locked, or an event that is being
 * published.
 */
export const forgetEndpoints = (sql: Sql): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`DELETE FROM webhook_endpoint WHERE id IN (
        SELECT e.id FROM webhook_endpoint e
        WHERE e.status = 'removed' AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.endpoint_id = e.id)
        FOR UPDATE OF e SKIP LOCKED
      ) RETURNING id`,
    (rows) => rows.length
  )

/** Counts enabled endpoints with secrets sealed by a key that this node does not have. */
export const countSealedElsewhere = (sql: Sql, keyId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ count: bigint }>`SELECT count(*) FROM webhook_endpoint WHERE status = 'enabled' AND sealed_with <> ${keyId}`,
    (rows) => Number(rows[0]?.count ?? 0n)
  )

/** The deliveries of all nodes that are due, and the endpoints they wait for. */
export interface OutboxBacklog {
  /** At most 1,000 of each endpoint. */
  readonly waiting: bigint
  /** How long the oldest of them has been due, in seconds. Zero when there is none. */
  readonly age: number
  /** Enabled endpoints with pending deliveries whose last attempt failed. */
  readonly failing: bigint
}

/** Returns the backlog of enabled endpoints of active accounts. It costs one index step per endpoint, and one per delivery that is due. */
export const outboxBacklog = (sql: Sql): Effect.Effect<OutboxBacklog, SqlError.SqlError> =>
  Effect.map(
    sql<OutboxBacklog>`WITH RECURSIVE head AS (
        (SELECT endpoint_id, due_at FROM webhook_delivery WHERE status = 'pending' ORDER BY endpoint_id, due_at LIMIT 1)
        UNION ALL
        SELECT next.endpoint_id, next.due_at FROM head CROSS JOIN LATERAL (
          SELECT endpoint_id, due_at FROM webhook_delivery WHERE status = 'pending' AND endpoint_id > head.endpoint_id
          ORDER BY endpoint_id, due_at LIMIT 1
        ) next
      ), lane AS (
        SELECT e.id, e.failing_since, head.due_at FROM head JOIN webhook_endpoint e ON e.id = head.endpoint_id
        JOIN account a ON a.id = e.account_id WHERE e.status = 'enabled' AND a.state = 'active'
      )
      SELECT COALESCE(sum((SELECT count(*) FROM (SELECT FROM webhook_delivery d
          WHERE d.endpoint_id = lane.id AND d.status = 'pending' AND d.due_at <= now() LIMIT 1000) due)), 0)::int8 AS waiting,
        GREATEST(COALESCE(extract(epoch FROM now() - min(due_at)), 0), 0)::float8 AS age,
        count(*) FILTER (WHERE failing_since IS NOT NULL) AS failing FROM lane`,
    (rows) => rows[0] ?? { waiting: 0n, age: 0, failing: 0n }
  )

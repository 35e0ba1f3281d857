import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/database/Sql.ts"

type Sql = SqlClient.SqlClient

export interface EndpointRow {
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly status: "enabled" | "disabled"
  readonly created_at: Date
}

/** The sealed secrets that sign an endpoint's messages. */
export interface SealedSecrets {
  readonly secret: Uint8Array
  /** Null or undefined once it no longer signs. */
  readonly previous_secret: Uint8Array | null
}

/** A delivery and the result of its last attempt. */
export interface DeliveryRow {
  readonly id: string
  readonly event_id: string
  readonly type: string
  readonly status: "pending" | "delivered" | "failed"
  /** The time of the next attempt; null when the delivery has ended or an attempt is running. */
  readonly next_at: Date | null
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly attempts: number
}

/** One attempt. `response` is the beginning of the receiver's response. */
export interface AttemptRow {
  readonly delivery_id: string
  readonly started_at: Date
  readonly duration_ms: number
  readonly status_code: number | null
  readonly error: string | null
  readonly response: string | null
}

/**
 * Inserts an event, unless one with this ID exists, and a delivery for each subscribed endpoint. Returns the number of deliveries.
 * It does not wait for concurrent endpoint changes, and skips endpoints deleted meanwhile.
 */
export const insertEvent = (
  sql: Sql,
  event: {
    readonly id: string
    readonly accountId: string
    readonly type: string
    readonly body: string
    readonly createdAt: Date
  }
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql`WITH event AS (
        INSERT INTO webhook_event (id, account_id, type, body, created_at)
        VALUES (${event.id}, ${event.accountId}, ${event.type}, ${event.body}, ${event.createdAt})
        ON CONFLICT (id) DO NOTHING RETURNING id
      )
      INSERT INTO webhook_delivery (id, endpoint_id, event_id)
      SELECT lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
          || right(gen_random_uuid()::text, 12), e.id, event.id
      FROM event, webhook_endpoint e
      WHERE e.account_id = ${event.accountId} AND e.status = 'enabled' AND ${event.type} = ANY (e.events)
      FOR KEY SHARE OF e
      RETURNING id`,
    (rows) => rows.length
  )

export const countEndpoints = (sql: Sql, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{
      count: bigint
    }>`SELECT count(*) FROM webhook_endpoint WHERE account_id = ${accountId} AND status <> 'removed'`,
    (rows) => Number(rows[0]?.count ?? 0n)
  )

export const insertEndpoint = (
  sql: Sql,
  endpoint: {
    readonly id: string
    readonly accountId: string
    readonly url: string
    readonly events: ReadonlyArray<string>
    readonly secret: Uint8Array
    readonly sealedWith: string
  }
): Effect.Effect<EndpointRow, SqlError.SqlError> =>
  Effect.map(
    sql<EndpointRow>`INSERT INTO webhook_endpoint (id, account_id, url, events, secret, sealed_with)
      VALUES (${endpoint.id}, ${endpoint.accountId}, ${endpoint.url}, ${[...endpoint.events]}::text[], ${endpoint.secret},
        ${endpoint.sealedWith})
      RETURNING id, url, events, status, created_at`,
    (rows) => rows[0]!
  )

/** Returns endpoints, newest first, that come after the cursor. */
export const endpointsOf = (
  sql: Sql,
  accountId: string,
  page: { readonly limit: number; readonly cursor: string | null }
): Effect.Effect<ReadonlyArray<EndpointRow>, SqlError.SqlError> =>
  sql<EndpointRow>`SELECT id, url, events, status, created_at FROM webhook_endpoint
    WHERE account_id = ${accountId} AND status <> 'removed' AND id COLLATE "C" < COALESCE(${page.cursor}::text, 'g')
    ORDER BY id COLLATE "C" DESC ${limitTo(sql, page.limit)}`

const readEndpoint =
  (locking: "" | "FOR NO KEY UPDATE") =>
  (sql: Sql, accountId: string, id: string): Effect.Effect<EndpointRow | undefined, SqlError.SqlError> =>
    Effect.map(
      sql<EndpointRow>`SELECT id, url, events, status, created_at FROM webhook_endpoint
        WHERE id = ${id} AND account_id = ${accountId} AND status <> 'removed' ${sql.literal(locking)}`,
      (rows) => rows[0]
    )

export const endpointById = readEndpoint("")

/** Returns an endpoint and locks it until the caller's transaction ends. */
export const lockEndpoint = readEndpoint("FOR NO KEY UPDATE")

/** Returns the current secrets of an endpoint; undefined when another key sealed them. */
export const secretsOf = (
  sql: Sql,
  id: string,
  sealedWith: string
): Effect.Effect<SealedSecrets | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<SealedSecrets>`SELECT secret, CASE WHEN previous_until > now() THEN previous_secret END AS previous_secret
      FROM webhook_endpoint WHERE id = ${id} AND status <> 'removed' AND sealed_with = ${sealedWith}`,
    (rows) => rows[0]
  )

/**
 * Removes an endpoint permanently, with its secrets. Returns false when there is none. A sweep deletes its rows later, so that the
 * request does not wait for them.
 */
export const removeEndpoint = (sql: Sql, accountId: string, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE webhook_endpoint SET status = 'removed', secret = NULL, previous_secret = NULL, sealed_with = NULL
      WHERE id = ${id} AND account_id = ${accountId} AND status <> 'removed' RETURNING id`,
    (rows) => rows.length === 1
  )

/** Changes the given fields of an endpoint. Enabling it or changing its URL clears its failure record. */
export const updateEndpoint = (
  sql: Sql,
  {
    accountId,
    events,
    id,
    status,
    url
  }: {
    readonly accountId: string
    readonly id: string
    readonly status?: "enabled" | "disabled" | undefined
    readonly url?: string | undefined
    readonly events?: ReadonlyArray<string> | undefined
  }
): Effect.Effect<EndpointRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<EndpointRow>`UPDATE webhook_endpoint SET url = coalesce(${url ?? null}::text, url),
        events = coalesce(${events === undefined ? null : [...events]}::text[], events),
        status = coalesce(${status ?? null}::text, status),
        failing_since = CASE WHEN ${status === "enabled" || url !== undefined}::boolean THEN NULL ELSE failing_since END
      WHERE id = ${id} AND account_id = ${accountId} AND status <> 'removed'
      RETURNING id, url, events, status, created_at`,
    (rows) => rows[0]
  )

/**
 * Replaces the secret. The previous one also signs for `overlapMs`, unless this node cannot open it. Returns undefined when there
 * is no such endpoint.
 */
export const replaceSecret = (
  sql: Sql,
  change: {
    readonly accountId: string
    readonly id: string
    readonly secret: Uint8Array
    readonly sealedWith: string
    readonly overlapMs: number
  }
): Effect.Effect<EndpointRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<EndpointRow>`UPDATE webhook_endpoint SET secret = ${change.secret}, sealed_with = ${change.sealedWith},
        previous_secret = CASE WHEN sealed_with = ${change.sealedWith} THEN secret END,
        previous_until = now() + ${change.overlapMs}::double precision * interval '1 millisecond'
      WHERE id = ${change.id} AND account_id = ${change.accountId} AND status <> 'removed'
      RETURNING id, url, events, status, created_at`,
    (rows) => rows[0]
  )

/** Makes all pending deliveries of an endpoint due now. Like a manual attempt, this uses up none of their scheduled attempts. */
export const makeDueNow = (sql: Sql, endpointId: string) =>
  sql`UPDATE webhook_delivery SET step = greatest(step - 1, 0), due_at = now()
    WHERE id IN (
      SELECT id FROM webhook_delivery
      WHERE endpoint_id = ${endpointId} AND status = 'pending' AND claim IS NULL AND due_at > now()
      ORDER BY id FOR NO KEY UPDATE
    )`

/** Returns deliveries, newest first, that come after the cursor. */
export const deliveriesOf = (
  sql: Sql,
  endpointId: string,
  page: { readonly limit: number; readonly cursor: string | null }
): Effect.Effect<ReadonlyArray<DeliveryRow>, SqlError.SqlError> =>
  sql<DeliveryRow>`SELECT d.id, d.event_id, v.type, d.status, d.created_at, d.ended_at, d.attempts,
      CASE WHEN d.status = 'pending' AND (d.claim IS NULL OR d.due_at <= now()) THEN d.due_at END AS next_at
    FROM webhook_delivery d JOIN webhook_event v ON v.id = d.event_id
    WHERE d.endpoint_id = ${endpointId} AND d.id COLLATE "C" < COALESCE(${page.cursor}::text, 'g')
    ORDER BY d.id COLLATE "C" DESC ${limitTo(sql, page.limit)}`

export const deliveryById = (
  sql: Sql,
  endpointId: string,
  id: string
): Effect.Effect<DeliveryRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<DeliveryRow>`SELECT d.id, d.event_id, v.type, d.status, d.created_at, d.ended_at, d.attempts,
      CASE WHEN d.status = 'pending' AND (d.claim IS NULL OR d.due_at <= now()) THEN d.due_at END AS next_at
      FROM webhook_delivery d JOIN webhook_event v ON v.id = d.event_id
      WHERE d.id = ${id} AND d.endpoint_id = ${endpointId}`,
    (rows) => rows[0]
  )

/** Returns the last attempts of each delivery, at most `most`, oldest first. */
export const attemptsOf = (
  sql: Sql,
  deliveryIds: ReadonlyArray<string>,
  most: number
): Effect.Effect<ReadonlyArray<AttemptRow>, SqlError.SqlError> =>
  sql<AttemptRow>`SELECT a.delivery_id, a.started_at, a.duration_ms, a.status_code, a.error, a.response
    FROM unnest(${[...deliveryIds]}::text[]) AS of (id) CROSS JOIN LATERAL (
      SELECT * FROM webhook_attempt WHERE delivery_id = of.id ORDER BY id DESC LIMIT ${most}
    ) a ORDER BY a.id`

/**
 * Makes a delivery due now. A delivery that has ended restarts at this step of the schedule. A delivery waiting for a later attempt
 * goes back one step, so that a manual attempt uses up none of its scheduled ones. Returns false while an attempt is running.
 */
export const reopen = (sql: Sql, id: string, step: number): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE webhook_delivery SET step = CASE WHEN status <> 'pending' THEN ${step}
          WHEN due_at > now() THEN greatest(step - 1, 0) ELSE step END,
        status = 'pending', due_at = now(), claim = NULL, ended_at = NULL
      WHERE id = ${id} AND (claim IS NULL OR due_at <= now()) RETURNING id`,
    (rows) => rows.length === 1
  )

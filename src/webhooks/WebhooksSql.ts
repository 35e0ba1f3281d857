import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../platform/Sql.ts"

type Sql = SqlClient.SqlClient

/** An endpoint, without its secrets. */
export interface EndpointRow {
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly status: "enabled" | "disabled"
  readonly created_at: Date
}

/** What an endpoint's messages are signed with, sealed. */
export interface SealedSecrets {
  readonly secret: Uint8Array
  /** Undefined or null unless it still signs. */
  readonly previous_secret: Uint8Array | null
}

/** A delivery, with what happened at its last attempt. */
export interface DeliveryRow {
  readonly id: string
  readonly event_id: string
  readonly type: string
  readonly status: "pending" | "delivered" | "failed"
  /** When it is tried next; null once it has ended, and while it is being tried. */
  readonly next_at: Date | null
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly attempts: number
}

/** One attempt. `response` is the beginning of what was answered. */
export interface AttemptRow {
  readonly delivery_id: string
  readonly started_at: Date
  readonly duration_ms: number
  readonly status_code: number | null
  readonly error: string | null
  readonly response: string | null
}

/**
 * Writes an event, unless there is one with this id, and a delivery to each endpoint that is to be told; answers to how many. An
 * endpoint that is changed meanwhile is not waited for; one that is gone by the time it is told is left out.
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

/** Newest first, from below the cursor. */
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

/** An endpoint as it stays until the caller's transaction has ended. */
export const lockEndpoint = readEndpoint("FOR NO KEY UPDATE")

/** What signs for an endpoint at present; undefined where it was sealed with another key. */
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
 * Takes an endpoint out of use for good, with its secrets; false where there is none. Its rows go later, so that nobody waits for
 * them.
 */
export const removeEndpoint = (sql: Sql, accountId: string, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE webhook_endpoint SET status = 'removed', secret = NULL, previous_secret = NULL, sealed_with = NULL
      WHERE id = ${id} AND account_id = ${accountId} AND status <> 'removed' RETURNING id`,
    (rows) => rows.length === 1
  )

/** Changes what is given of an endpoint. What failed before it was enabled or led elsewhere is not held against it. */
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
 * Puts another secret in place, and has the one before sign as well for so long, unless this node cannot open it. Undefined where
 * there is no such endpoint.
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

/** Has all that is to be tried later for an endpoint tried now, as each by hand: that takes none of their attempts. */
export const hasten = (sql: Sql, endpointId: string) =>
  sql`UPDATE webhook_delivery SET step = greatest(step - 1, 0), due_at = now()
    WHERE endpoint_id = ${endpointId} AND status = 'pending' AND claim IS NULL AND due_at > now()`

/** Newest first, from below the cursor. */
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

/** The last attempts of these deliveries, at most so many of each, in the order in which they were made. */
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
 * Has a delivery tried now, and where it had ended at this step of the schedule; false where it is being tried. One that was to be
 * tried later goes back a step, so that what is tried by hand takes none of its attempts.
 */
export const reopen = (sql: Sql, id: string, step: number): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`UPDATE webhook_delivery SET step = CASE WHEN status <> 'pending' THEN ${step}
          WHEN due_at > now() THEN greatest(step - 1, 0) ELSE step END,
        status = 'pending', due_at = now(), claim = NULL, ended_at = NULL
      WHERE id = ${id} AND (claim IS NULL OR due_at <= now()) RETURNING id`,
    (rows) => rows.length === 1
  )

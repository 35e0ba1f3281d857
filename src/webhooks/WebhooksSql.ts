import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

type Sql = SqlClient.SqlClient

/**
 * Writes an event, unless there is one with this id, and a delivery to each endpoint that is to be told; answers to how many. An
 * endpoint that is changed meanwhile is not waited for.
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
      RETURNING id`,
    (rows) => rows.length
  )

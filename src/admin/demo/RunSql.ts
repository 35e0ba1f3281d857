import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** The tables in which the demo writes rows, with the columns of their times. */
const dated = [
  ["request", "created_at", "account_id"],
  ["request", "closed_at", "account_id"],
  ["transfer", "at", "account_id"],
  ["top_up", "created_at", "account_id"],
  ["top_up", "paid_at", "account_id"],
  ["api_key", "created_at", "account_id"],
  ["project", "created_at", "account_id"],
  ["video_job", "created_at", "account_id"],
  ["video_job", "completed_at", "account_id"],
  ["file", "created_at", "account_id"],
  ["batch", "created_at", "account_id"],
  ["batch", "in_progress_at", "account_id"],
  ["batch", "finalizing_at", "account_id"],
  ["batch", "completed_at", "account_id"],
  ["webhook_endpoint", "created_at", "account_id"],
  ["webhook_endpoint", "failed_at", "account_id"],
  ["webhook_delivery", "created_at", "endpoint_id"],
  ["webhook_delivery", "delivered_at", "endpoint_id"],
  ["webhook_delivery", "ended_at", "endpoint_id"]
] as const

/** Whether a row belongs to the demo's account. A delivery knows its endpoint only. */
const isOwn = (table: string, accountId: string): string => {
  if (table === "transfer") return `NEW.debit = '${accountId}' OR NEW.credit = '${accountId}'`
  return table === "webhook_delivery"
    ? `EXISTS (SELECT FROM webhook_endpoint e WHERE e.id = NEW.endpoint_id AND e.account_id = '${accountId}')`
    : `NEW.account_id = '${accountId}'`
}

/**
 * The one place where the demo back-dates anything. The database has its own clock, which cannot run behind. So while the demo runs,
 * triggers move the times that the database writes into rows of the demo's account back by as much as the service's clock runs behind.
 * Everything else about these rows is as the service writes it. Holds keep their real expiry.
 */
export const followClock = (sql: SqlClient.SqlClient, accountId: string): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    yield* forgetClock(sql)
    yield* sql`CREATE SCHEMA demo`
    yield* sql`CREATE TABLE demo.clock (behind interval NOT NULL)`
    yield* sql`INSERT INTO demo.clock VALUES ('0')`
    for (const [table, column] of dated) {
      const name = `demo_${table}_${column}`
      yield* sql.unsafe(`CREATE FUNCTION demo.${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF ${isOwn(table, accountId)} THEN
          NEW.${column} := NEW.${column} - (SELECT behind FROM demo.clock);
        END IF;
        RETURN NEW;
      END $$`)
      const some = `NEW.${column} IS NOT NULL`
      const trigger = (event: string, moment: string, when: string) =>
        sql.unsafe(`CREATE TRIGGER ${name}_${event} BEFORE ${moment} ON ${table} FOR EACH ROW
          WHEN (${when}) EXECUTE FUNCTION demo.${name}()`)
      yield* trigger("insert", "INSERT", some)
      // Work that is charged up front is closed from the start, and closed again when it ends.
      yield* trigger("update", `UPDATE OF ${column}`, `${some} AND OLD.${column} IS DISTINCT FROM NEW.${column}`)
    }
  })

/** From now on, moves these times back by this much. */
export const setClockBack = (sql: SqlClient.SqlClient, ms: number) =>
  sql`UPDATE demo.clock SET behind = ${ms}::float8 * interval '1 millisecond'`

/**
 * Returns how many requests of an account have not ended, videos included, which are charged before they are made, and how many of its
 * batches, of the messages to its webhooks and of the budget thresholds that become such messages.
 */
export const countOpen = (sql: SqlClient.SqlClient, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ open: number }>`SELECT (
        (SELECT count(*) FROM request WHERE account_id = ${accountId} AND closed IS NULL)
        + (SELECT count(*) FROM video_job WHERE account_id = ${accountId} AND completed_at IS NULL)
        + (SELECT count(*) FROM batch WHERE account_id = ${accountId}
            AND status IN ('validating', 'in_progress', 'finalizing', 'cancelling'))
        + (SELECT count(*) FROM webhook_delivery d JOIN webhook_endpoint e ON e.id = d.endpoint_id
            WHERE e.account_id = ${accountId} AND e.status = 'enabled' AND d.status = 'pending')
        + (SELECT count(*) FROM budget_crossing c JOIN budget b ON b.id = c.budget_id
            WHERE b.account_id = ${accountId} AND c.told_at IS NULL)
      )::int AS open`,
    ([row]) => row?.open ?? 0
  )

/** Removes the triggers. */
export const forgetClock = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`DROP SCHEMA IF EXISTS demo CASCADE`)

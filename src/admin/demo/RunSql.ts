import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** The tables whose rows the demo makes, with the columns that have their times. */
const dated = [
  ["request", "created_at", "account_id"],
  ["request", "closed_at", "account_id"],
  ["transfer", "at", "account_id"],
  ["top_up", "created_at", "account_id"],
  ["top_up", "paid_at", "account_id"],
  ["api_key", "created_at", "account_id"],
  ["project", "created_at", "account_id"]
] as const

const isOwn = (table: string, accountId: string): string =>
  table === "transfer" ? `NEW.debit = '${accountId}' OR NEW.credit = '${accountId}'` : `NEW.account_id = '${accountId}'`

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
        NEW.${column} := NEW.${column} - (SELECT behind FROM demo.clock);
        RETURN NEW;
      END $$`)
      const own = `(${isOwn(table, accountId)}) AND NEW.${column} IS NOT NULL`
      const trigger = (event: string, moment: string, when: string) =>
        sql.unsafe(`CREATE TRIGGER ${name}_${event} BEFORE ${moment} ON ${table} FOR EACH ROW
          WHEN (${when}) EXECUTE FUNCTION demo.${name}()`)
      yield* trigger("insert", "INSERT", own)
      // Work that is charged up front is closed from the start, and closed again when it ends.
      yield* trigger("update", `UPDATE OF ${column}`, `${own} AND OLD.${column} IS DISTINCT FROM NEW.${column}`)
    }
  })

/** Lets these times lie so far back from now on. */
export const setClockBack = (sql: SqlClient.SqlClient, ms: number) =>
  sql`UPDATE demo.clock SET behind = ${ms}::float8 * interval '1 millisecond'`

/** Returns how many requests of an account have not ended, videos included, which are charged before they are made. */
export const countOpen = (sql: SqlClient.SqlClient, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ open: number }>`SELECT count(*)::int AS open FROM request WHERE account_id = ${accountId} AND closed IS NULL`,
    ([row]) => row?.open ?? 0
  )

/** Takes the triggers away. */
export const forgetClock = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`DROP SCHEMA IF EXISTS demo CASCADE`)

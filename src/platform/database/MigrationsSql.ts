import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { RanMigration } from "./BackupSql.ts"
import { createJobTable } from "./JobTableSql.ts"
import { readSql, statementsIn } from "./SqlFiles.ts"

const directory = new URL("./baseline/", import.meta.url)

/** The files of the baseline, in an order in which each refers only to tables of those before it. */
const files = [
  ...["accounts", "budgets", "projects", "keys", "audit", "ledger", "usage", "presets", "figures", "files", "videos"],
  ...["webhooks", "sessions", "batches", "owners", "payments", "health"]
]

const baseline = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const file of files)
    for (const statement of statementsIn(readSql(directory, `${file}.sql`))) yield* sql.unsafe(statement)
  yield* createJobTable
})

/** The last migration before the baseline took the place of all earlier ones. A database with it has the baseline's tables. */
export const beforeBaseline: RanMigration = { id: 47, name: "ledger_versions" }

/** Migrations in the order they run. Never edit one that has landed; add a new entry instead. */
export const migrations: Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>> = {
  "0001_baseline": baseline
}

import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { DataPolicy } from "../domain/Plan.ts"
import type { RoutingPolicy } from "../../schemas/Routing.ts"

type Sql = SqlClient.SqlClient

/** A project, with what its budget allows in a period. */
export interface ProjectRow {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly budget_id: string | null
  /** The limit of its budget in nano-USD; null without one. */
  readonly budget_limit: bigint | null
  readonly budget_period: "daily" | "weekly" | "monthly" | "lifetime" | null
  readonly routing: RoutingPolicy | null
  readonly data_policy: DataPolicy
  readonly created_at: Date
  readonly updated_at: Date
  /** Set once and for all. */
  readonly archived_at: Date | null
}

/**
 * Whether the account has this project and it is not archived, which it will not be before the caller's transaction has ended.
 * For whoever makes a key in it, after the lock on the account.
 */
export const lockActiveProject = (sql: Sql, accountId: string, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM project WHERE id = ${id} AND account_id = ${accountId} AND archived_at IS NULL FOR SHARE`,
    (rows) => rows.length === 1
  )

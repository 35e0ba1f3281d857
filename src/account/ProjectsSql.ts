import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { RoutingPolicy } from "../../schemas/Routing.ts"
import type { DataPolicy } from "../domain/Plan.ts"
import { limitTo } from "../platform/database/Sql.ts"

type Sql = SqlClient.SqlClient

export interface ProjectRow {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly budget_id: string | null
  readonly routing: RoutingPolicy | null
  readonly data_policy: DataPolicy
  readonly created_at: Date
  readonly updated_at: Date
  /** Set once; never cleared. */
  readonly archived_at: Date | null
}

/** The writable columns of a project. `routing` is JSON text. */
interface ProjectColumns {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly slug: string
  readonly budgetId: string | null
  readonly routing: string | null
  readonly dataPolicy: DataPolicy
}

/**
 * Reports whether the account has this project and it is not archived. The row lock keeps it from being archived until the caller's
 * transaction ends. Callers that create a key in it lock the account first.
 */
export const lockActiveProject = (sql: Sql, accountId: string, id: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM project WHERE id = ${id} AND account_id = ${accountId} AND archived_at IS NULL FOR SHARE`,
    (rows) => rows.length === 1
  )

export const countProjects = (sql: Sql, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(sql<{ count: bigint }>`SELECT count(*) FROM project WHERE account_id = ${accountId}`, (rows) =>
    Number(rows[0]?.count ?? 0n)
  )

/** Returns the account's slugs that start with `beginning`. */
export const slugsFrom = (
  sql: Sql,
  accountId: string,
  beginning: string
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ slug: string }>`SELECT slug FROM project WHERE account_id = ${accountId} AND starts_with(slug, ${beginning})`,
    (rows) => rows.map(({ slug }) => slug)
  )

/** Reports whether another project of the account has the slug. */
export const isSlugTaken = (
  sql: Sql,
  { accountId, id, slug }: Pick<ProjectColumns, "accountId" | "id" | "slug">
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM project WHERE account_id = ${accountId} AND slug = ${slug} AND id <> ${id}`,
    (rows) => rows.length > 0
  )

export const insertProject = (sql: Sql, project: ProjectColumns) =>
  sql`INSERT INTO project (id, account_id, name, slug, budget_id, routing, data_policy) VALUES (${project.id},
    ${project.accountId}, ${project.name}, ${project.slug}, ${project.budgetId}, ${project.routing}::json,
    ${project.dataPolicy})`

export const updateProject = (sql: Sql, project: ProjectColumns) =>
  sql`UPDATE project SET name = ${project.name}, slug = ${project.slug}, budget_id = ${project.budgetId},
      routing = ${project.routing}::json, data_policy = ${project.dataPolicy}, updated_at = now()
    WHERE id = ${project.id} AND account_id = ${project.accountId} AND archived_at IS NULL`

export const archiveProject = (sql: Sql, accountId: string, id: string) =>
  sql`UPDATE project SET archived_at = now(), updated_at = now()
    WHERE id = ${id} AND account_id = ${accountId} AND archived_at IS NULL`

/**
 * Revokes the keys of a project and returns their IDs. It locks the keys in order of ID, as the ledger does, so that neither can
 * deadlock with the other.
 */
export const revokeKeysOf = (
  sql: Sql,
  accountId: string,
  projectId: string
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string }>`WITH found AS MATERIALIZED (
      SELECT id FROM api_key WHERE account_id = ${accountId} AND project_id = ${projectId} AND revoked_at IS NULL
      ORDER BY id FOR UPDATE
    ) UPDATE api_key SET revoked_at = now() FROM found WHERE api_key.id = found.id RETURNING api_key.id`,
    (rows) => rows.map(({ id }) => id)
  )

const columns = (sql: Sql) =>
  sql.literal("id, name, slug, budget_id, routing, data_policy, created_at, updated_at, archived_at")

export const projectById = (
  sql: Sql,
  accountId: string,
  id: string
): Effect.Effect<ProjectRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<ProjectRow>`SELECT ${columns(sql)} FROM project WHERE id = ${id} AND account_id = ${accountId}`,
    (rows) => rows[0]
  )

export const projectsOf = (
  sql: Sql,
  accountId: string,
  { cursor, limit }: { readonly cursor: string | null; readonly limit: number }
) =>
  sql<ProjectRow>`SELECT ${columns(sql)} FROM project WHERE account_id = ${accountId}
    AND id COLLATE "C" < COALESCE(${cursor}::text, 'g') ORDER BY id COLLATE "C" DESC ${limitTo(sql, limit)}`

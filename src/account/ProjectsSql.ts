import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { RoutingPolicy } from "../../schemas/Routing.ts"
import type { DataPolicy } from "../domain/Plan.ts"
import { limitTo } from "../platform/Sql.ts"

type Sql = SqlClient.SqlClient

/** A project. */
export interface ProjectRow {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly budget_id: string | null
  readonly routing: RoutingPolicy | null
  readonly data_policy: DataPolicy
  readonly created_at: Date
  readonly updated_at: Date
  /** Set once and for all. */
  readonly archived_at: Date | null
}

/** What of a project can be written; `routing` is JSON. */
interface Written {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly slug: string
  readonly budgetId: string | null
  readonly routing: string | null
  readonly dataPolicy: DataPolicy
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

export const countProjects = (sql: Sql, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(sql<{ count: bigint }>`SELECT count(*) FROM project WHERE account_id = ${accountId}`, (rows) =>
    Number(rows[0]?.count ?? 0n)
  )

/** Slugs of the account that begin so. */
export const slugsFrom = (
  sql: Sql,
  accountId: string,
  beginning: string
): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ slug: string }>`SELECT slug FROM project WHERE account_id = ${accountId} AND starts_with(slug, ${beginning})`,
    (rows) => rows.map(({ slug }) => slug)
  )

/** Whether another project of the account has the slug. */
export const isSlugTaken = (
  sql: Sql,
  { accountId, id, slug }: Pick<Written, "accountId" | "id" | "slug">
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM project WHERE account_id = ${accountId} AND slug = ${slug} AND id <> ${id}`,
    (rows) => rows.length > 0
  )

export const insertProject = (sql: Sql, project: Written) =>
  sql`INSERT INTO project (id, account_id, name, slug, budget_id, routing, data_policy) VALUES (${project.id},
    ${project.accountId}, ${project.name}, ${project.slug}, ${project.budgetId}, ${project.routing}::json,
    ${project.dataPolicy})`

export const updateProject = (sql: Sql, project: Written) =>
  sql`UPDATE project SET name = ${project.name}, slug = ${project.slug}, budget_id = ${project.budgetId},
      routing = ${project.routing}::json, data_policy = ${project.dataPolicy}, updated_at = now()
    WHERE id = ${project.id} AND account_id = ${project.accountId} AND archived_at IS NULL`

export const archiveProject = (sql: Sql, accountId: string, id: string) =>
  sql`UPDATE project SET archived_at = now(), updated_at = now()
    WHERE id = ${id} AND account_id = ${accountId} AND archived_at IS NULL`

/** Revokes the keys of a project; answers which. In order of id, as the ledger locks keys, so that neither waits for the other. */
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

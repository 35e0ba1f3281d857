import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { PresetConfig } from "../../schemas/management/Presets.ts"
import { limitTo } from "../platform/database/Sql.ts"

export interface PresetRow {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly active_version: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** A preset with the configuration of its active version. */
export interface ActivePresetRow extends PresetRow {
  readonly config: PresetConfig
}

/** One version of a preset. */
export interface VersionRow {
  readonly version: number
  readonly config: PresetConfig
  readonly created_at: Date
}

type Sql = SqlClient.SqlClient

export const countPresets = (sql: Sql, accountId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(sql<{ count: bigint }>`SELECT count(*) FROM preset WHERE account_id = ${accountId}`, (rows) =>
    Number(rows[0]?.count ?? 0n)
  )

export const insertPreset = (
  sql: Sql,
  preset: {
    readonly id: string
    readonly accountId: string
    readonly slug: string
    readonly name: string
    readonly description: string | null
  }
) =>
  sql`INSERT INTO preset (id, account_id, slug, name, description, active_version)
    VALUES (${preset.id}, ${preset.accountId}, ${preset.slug}, ${preset.name}, ${preset.description}, 1)`

/** `config` is JSON text in the form that the gateway wrote. */
export const insertVersion = (sql: Sql, presetId: string, version: number, config: string) =>
  sql`INSERT INTO preset_version (preset_id, version, config) VALUES (${presetId}, ${version}::int, ${config}::json)`

export const presetBySlug = (
  sql: Sql,
  accountId: string,
  slug: string
): Effect.Effect<ActivePresetRow | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<ActivePresetRow>`SELECT p.id, p.slug, p.name, p.description, p.active_version, p.created_at, p.updated_at, v.config
      FROM preset p JOIN preset_version v ON v.preset_id = p.id AND v.version = p.active_version
      WHERE p.account_id = ${accountId} AND p.slug = ${slug}`,
    (rows) => rows[0]
  )

/** Locks a preset, so that changes to it run one after another. */
export const lockPreset = (sql: Sql, accountId: string, slug: string) =>
  sql`SELECT id FROM preset WHERE account_id = ${accountId} AND slug = ${slug} FOR UPDATE`

export const newestVersion = (sql: Sql, presetId: string): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(
    sql<{ newest: number }>`SELECT max(version) AS newest FROM preset_version WHERE preset_id = ${presetId}`,
    (rows) => rows[0]?.newest ?? 0
  )

export const hasVersion = (sql: Sql, presetId: string, version: number): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM preset_version WHERE preset_id = ${presetId} AND version = ${version}::int`,
    (rows) => rows.length > 0
  )

export const updatePreset = (sql: Sql, preset: Pick<PresetRow, "id" | "name" | "description" | "active_version">) =>
  sql`UPDATE preset SET name = ${preset.name}, description = ${preset.description},
      active_version = ${preset.active_version}::int, updated_at = now()
    WHERE id = ${preset.id}`

/** Deletes a preset with its versions. Returns its ID, or undefined when there is none. */
export const deletePreset = (
  sql: Sql,
  accountId: string,
  slug: string
): Effect.Effect<string | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ id: string }>`DELETE FROM preset WHERE account_id = ${accountId} AND slug = ${slug} RETURNING id`,
    (rows) => rows[0]?.id
  )

export const presetsOf = (
  sql: Sql,
  accountId: string,
  { cursor, limit }: { readonly cursor: string | null; readonly limit: number }
) =>
  sql<PresetRow>`SELECT id, slug, name, description, active_version, created_at, updated_at FROM preset
    WHERE account_id = ${accountId} AND id COLLATE "C" < COALESCE(${cursor}::text, 'g')
    ORDER BY id COLLATE "C" DESC ${limitTo(sql, limit)}`

export const versionsOf = (
  sql: Sql,
  accountId: string,
  slug: string,
  { before, limit }: { readonly before: number | null; readonly limit: number }
) =>
  sql<VersionRow>`SELECT v.version, v.config, v.created_at
    FROM (SELECT id FROM preset WHERE account_id = ${accountId} AND slug = ${slug}) p CROSS JOIN LATERAL (
      SELECT version, config, created_at FROM preset_version
      WHERE preset_id = p.id AND version < COALESCE(${before}::int, 2147483647)
      ORDER BY version DESC ${limitTo(sql, limit)}
    ) v ORDER BY v.version DESC`

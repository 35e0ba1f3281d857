import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { limitTo } from "../database/Sql.ts"

/** The purpose of a file. */
export type FilePurpose = "image" | "video" | "batch_input" | "batch_output"

/** Oldest first, or newest first. */
export type FileOrder = "asc" | "desc"

/** A row of the `file` table. */
export interface FileRow {
  readonly id: string
  readonly account_id: string
  readonly purpose: FilePurpose
  readonly content_type: string
  readonly name: string | null
  readonly bytes: bigint
  readonly created_at: Date
  readonly expires_at: Date | null
}

type Sql = SqlClient.SqlClient

type Query<A> = Effect.Effect<A, SqlError.SqlError>

const columns = (sql: Sql) => sql.literal("id, account_id, purpose, content_type, name, bytes, created_at, expires_at")

/** The condition for a readable file: complete and not expired. */
const there = (sql: Sql) => sql.literal("state = 'stored' AND (expires_at IS NULL OR expires_at > now())")

/** Inserts the row of a file before its bytes are stored. */
export const insertFile = (sql: Sql, file: Omit<FileRow, "created_at">) =>
  sql`INSERT INTO file (id, account_id, purpose, content_type, name, bytes, expires_at)
    VALUES (${file.id}, ${file.account_id}, ${file.purpose}, ${file.content_type}, ${file.name}, ${file.bytes},
      ${file.expires_at}::timestamptz)`

/** The maximum number of files of one purpose that an account may have, and their total size in bytes. */
export interface FileQuota {
  readonly files: number
  readonly bytes: number
}

/**
 * Inserts a file's row like `insertFile`, or returns false when the account would exceed its quota. Files that are still being stored
 * count as well. A lock runs an account's uploads one after the other here, so two of them cannot both take the last free space.
 */
export const insertFileWithin = (sql: Sql, file: Omit<FileRow, "created_at">, quota: FileQuota): Query<boolean> =>
  Effect.gen(function* () {
    yield* sql`SELECT id FROM account WHERE id = ${file.account_id} FOR NO KEY UPDATE`
    // The purpose is part of the statement's text: an index on the files of one purpose does not help a plan that is cached for any
    // purpose.
    const [kept] = yield* sql<{
      files: bigint
      bytes: bigint
    }>`SELECT count(*) AS files, coalesce(sum(bytes), 0)::bigint AS bytes
      FROM file WHERE account_id = ${file.account_id} AND purpose = ${sql.literal(`'${file.purpose}'`)}
        AND (state = 'storing' OR ${there(sql)})`
    if (Number(kept!.files) >= quota.files || Number(kept!.bytes + file.bytes) > quota.bytes) return false
    yield* insertFile(sql, file)
    return true
  }).pipe(sql.withTransaction)

/** Makes a file visible once its bytes are stored; undefined when it was given up in the meantime. */
export const showFile = (sql: Sql, id: string): Query<FileRow | undefined> =>
  Effect.map(
    sql<FileRow>`UPDATE file SET state = 'stored', state_at = now() WHERE id = ${id} AND state = 'storing'
      RETURNING ${columns(sql)}`,
    (rows) => rows[0]
  )

/** Hides a file after its bytes could not be stored. A sweep removes any leftover bytes. */
export const hideUnstored = (sql: Sql, id: string) =>
  sql`UPDATE file SET state = 'removing', state_at = now() WHERE id = ${id} AND state = 'storing'`

export const fileById = (sql: Sql, id: string): Query<FileRow | undefined> =>
  Effect.map(sql<FileRow>`SELECT ${columns(sql)} FROM file WHERE id = ${id} AND ${there(sql)}`, (rows) => rows[0])

/** Files after the cursor in order of their ids, which is the order of creation. Absent purposes mean all. */
export const filesOf = (
  sql: Sql,
  accountId: string,
  page: {
    readonly purposes: ReadonlyArray<FilePurpose> | null
    readonly limit: number
    readonly cursor: string | null
    readonly order: FileOrder
  }
): Query<ReadonlyArray<FileRow>> => {
  const [behind, direction] = page.order === "asc" ? (["id >", "ASC"] as const) : (["id <", "DESC"] as const)
  const all = sql.literal("")
  return sql<FileRow>`SELECT ${columns(sql)} FROM file
    WHERE account_id = ${accountId} AND ${there(sql)}
      ${page.purposes === null ? all : sql`AND purpose = ANY (${[...page.purposes]}::text[])`}
      ${page.cursor === null ? all : sql`AND ${sql.literal(behind)} ${page.cursor}`}
    ORDER BY id ${sql.literal(direction)} ${limitTo(sql, page.limit)}`
}

/** Hides a file for good. Returns false when the account has no such file. */
export const hideFile = (sql: Sql, accountId: string, id: string): Query<boolean> =>
  Effect.map(
    sql`UPDATE file SET state = 'removing', state_at = now()
      WHERE id = ${id} AND account_id = ${accountId} AND ${there(sql)} RETURNING id`,
    (rows) => rows.length > 0
  )

/**
 * Hides files that have expired, or were stored or removed only in part, and returns their ids. Skips files that another node is
 * working on.
 */
export const hideRemovable = (sql: Sql, limit: number): Query<ReadonlyArray<string>> =>
  Effect.map(
    sql<{ id: string }>`UPDATE file SET state = 'removing', state_at = now() WHERE id IN (
      SELECT id FROM file
      WHERE (state = 'stored' AND expires_at <= now())
        OR (state = 'storing' AND state_at <= now() - interval '1 hour')
        OR (state = 'removing' AND state_at <= now() - interval '5 minutes')
      LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
    ) RETURNING id`,
    (rows) => rows.map(({ id }) => id)
  )

/** Deletes the rows of files without bytes. */
export const forgetFiles = (sql: Sql, ids: ReadonlyArray<string>): Query<void> =>
  ids.length === 0
    ? Effect.void
    : Effect.asVoid(sql`DELETE FROM file WHERE state = 'removing' AND ${sql.in("id", ids)}`)

/** Returns the ids that have no row. */
export const unknownFiles = (sql: Sql, ids: ReadonlyArray<string>): Query<ReadonlyArray<string>> =>
  ids.length === 0
    ? Effect.succeed([])
    : Effect.map(sql<{ id: string }>`SELECT id FROM file WHERE id = ANY (${ids as Array<string>})`, (rows) => {
        const known = new Set(rows.map(({ id }) => id))
        return ids.filter((id) => !known.has(id))
      })

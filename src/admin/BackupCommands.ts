/** The commands that back up the database of a running gateway and restore it into an empty one. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { DAY_MS } from "../domain/Day.ts"
import { verifyBooks } from "../billing/Books.ts"
import {
  type BackupContents,
  backUp,
  proveBackup,
  type ProvedBackup,
  restoreProved
} from "../platform/database/Backup.ts"
import { Config } from "../platform/config/Config.ts"
import { DataDirectory } from "../platform/database/DataDirectory.ts"
import { migrations } from "../platform/database/MigrationsSql.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import { bareDatabase, newBareDatabase } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print, CommandRefused } from "./Output.ts"

const sumOf = ({ manifest: { parts } }: BackupContents, kind: "table" | "file") => {
  const found = parts.filter((part) => part.kind === kind)
  return { parts: found.length, count: found.reduce((sum, { count }) => sum + count, 0) }
}

const jsonOf = (file: string, backedUp: BackupContents) => {
  const { header, manifest } = backedUp
  return {
    file,
    version: header.version,
    created_at: header.created_at,
    migrations: header.migrations.length,
    tables: Object.fromEntries(
      manifest.parts.filter(({ kind }) => kind === "table").map(({ count, name }) => [name, count])
    ),
    rows: sumOf(backedUp, "table").count,
    files: manifest.parts.filter(({ kind }) => kind === "file").map(({ name }) => name)
  }
}

/** Where the files and the secrets key are that the backup does not contain. */
const elsewhere = (backedUp: BackupContents, withFiles: boolean) =>
  Effect.gen(function* () {
    const { files, secretsKey } = yield* Config
    const { path } = yield* DataDirectory
    const included = backedUp.manifest.parts.some(({ name }) => name === "secrets.key")
    return [
      files.s3 !== undefined
        ? "Not included: the files of accounts, which are in the bucket."
        : withFiles
          ? `Included: ${sumOf(backedUp, "file").parts} files of ${path}.`
          : `Not included: the files of accounts in ${path}/files.`,
      included
        ? "Included: the secrets key. Keep the backup as secret as that key."
        : secretsKey === undefined
          ? `Not included: the secrets key, ${path}/secrets.key.`
          : "Not included: the secrets key, which is SECRETS_KEY."
    ]
  })

export const backup = Command.make(
  "backup",
  { file: Flags.backupFile, withFiles: Flags.withFiles },
  Effect.fn("backup")(function* ({ file, withFiles }) {
    const { path } = yield* DataDirectory
    const done = yield* storeErrors(backUp(file, withFiles ? path : undefined))
    const { count, parts } = sumOf(done, "table")
    yield* print({
      json: jsonOf(file, done),
      text: [
        `Backed up ${count} rows of ${parts} tables to ${file}, as they were at ${done.header.created_at}.`,
        ...(yield* elsewhere(done, withFiles))
      ].join("\n")
    })
  })
).pipe(
  Command.withDescription("Back up the database into one file, while the gateway runs"),
  Command.withExamples([
    { command: "npm run admin -- backup /backups/tollgate.gz" },
    { command: "npm run admin -- backup /backups/tollgate.gz --with-files" }
  ]),
  Command.provide(bareDatabase)
)

/** Holds that were open at the backup are overdue when it is restored later. The gateway ends them at its first start. */
const OLDEST_MS = 10 * 365 * DAY_MS

const restoreInto = Effect.fnUntraced(function* (file: string, done: ProvedBackup) {
  const { path } = yield* DataDirectory
  yield* storeErrors(restoreProved(done, path))
  const { checks, ok } = yield* verifyBooks(yield* SqlClient.SqlClient, { graceMs: OLDEST_MS })
  const { count, parts } = sumOf(done, "table")
  yield* print({
    json: { ...jsonOf(file, done), ok, checks },
    text: [
      `Restored ${count} rows of ${parts} tables, as they were at ${done.header.created_at}.`,
      `${checks.length} checks of the ledger: ${ok ? "all ok" : "FAILED"}.`
    ].join("\n")
  })
  if (ok) return
  const failed = checks.filter((check) => !check.ok).map(({ detail, name }) => `${name} (${detail})`)
  return yield* new CommandRefused({ message: `The restored ledger has errors: ${failed.join(", ")}.` })
})

export const restore = Command.make(
  "restore",
  { file: Flags.backupFile },
  Effect.fn("restore")(function* ({ file }) {
    // A file that cannot be restored must not start or create a database.
    const done = yield* proveBackup(file, migrations)
    yield* Effect.provide(restoreInto(file, done), newBareDatabase)
  })
).pipe(
  Command.withDescription("Restore a backup into an empty database and verify the ledger; stop the gateway first"),
  Command.withExamples([{ command: "npm run admin -- restore /backups/tollgate.gz" }])
)

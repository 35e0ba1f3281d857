/** Backs up the database of a running gateway into one file, and restores it into an empty database. */
import { Data, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { mkdir, open, readdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import {
  type BackupHeader,
  BackupFileError,
  type BackupManifest,
  type BackupWriter,
  headerOf,
  readBackup,
  writeBackup
} from "./BackupFile.ts"
import {
  allowBackupTime,
  analyze,
  beginBackup,
  closeRows,
  fetchRows,
  insertRows,
  loadWithoutRules,
  openRows,
  ranMigrations,
  sequences,
  setSequence,
  tableNames,
  tablesToBackUp
} from "./BackupSql.ts"
import { migrate, type MigrationRecord } from "./Migrations.ts"
import { beforeBaseline } from "./MigrationsSql.ts"
import { StatementTimeout } from "./StatementTimeout.ts"
import { VERSION } from "../config/Version.ts"

/** Rows per statement. A row takes about a kilobyte, and one with a stored answer up to some megabytes. */
const ROWS = 200

/** Bytes of a file per line. A multiple of three, so that Base64 needs no padding within a file. */
const PIECE_BYTES = 192 * 1024

/** The database or the file does not allow what was asked. */
export class BackupRefused extends Data.TaggedError("BackupRefused")<{ readonly message: string }> {}

/** What a backup contains, or what was restored from it. */
export interface BackupContents {
  readonly header: BackupHeader
  readonly manifest: BackupManifest
}

const backUpTable = (sql: SqlClient.SqlClient, writer: BackupWriter, table: string) =>
  Effect.gen(function* () {
    yield* writer.begin("table", table)
    yield* openRows(sql, table)
    while (true) {
      const rows = yield* fetchRows(sql, ROWS)
      yield* writer.add(rows)
      if (rows.length < ROWS) break
    }
    yield* closeRows(sql)
    yield* writer.end
  })

const attempt = <A>(what: string, body: () => Promise<A>) =>
  Effect.tryPromise({
    try: body,
    catch: (error) =>
      new BackupFileError({ message: `${what}: ${error instanceof Error ? error.message : String(error)}` })
  })

/** Where a data directory keeps the files of accounts, and the key that encrypts secrets. */
const FILES = "files"
const SECRETS_KEY = "secrets.key"

const backUpFile = (writer: BackupWriter, directory: string, name: string) =>
  Effect.gen(function* () {
    const path = join(directory, name)
    // An account may delete a file meanwhile.
    if (!existsSync(path)) return
    yield* writer.begin("file", name)
    const handle = yield* attempt(`The file ${name} cannot be read`, () => open(path, "r"))
    yield* Effect.gen(function* () {
      while (true) {
        const { buffer, bytesRead } = yield* attempt(`The file ${name} cannot be read`, () =>
          handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES)
        )
        if (bytesRead === 0) break
        yield* writer.add([buffer.subarray(0, bytesRead).toString("base64")])
      }
    }).pipe(Effect.ensuring(Effect.promise(() => handle.close())))
    yield* writer.end
  })

const filesIn = (directory: string) =>
  attempt("The directory of files cannot be read", async () => {
    const path = join(directory, FILES)
    const names = existsSync(path) ? await readdir(path) : []
    return names.filter((name) => !name.includes(".")).map((name) => `${FILES}/${name}`)
  })

/**
 * Writes a backup of one moment of the database while the gateway runs. With a data directory, the backup includes the files and the
 * secrets key that are there.
 */
export const backUp = (path: string, dataDirectory: string | undefined) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* tableNames(sql)).includes("schema_migration")) {
      return yield* new BackupRefused({ message: "The database is empty; there is nothing to back up" })
    }
    const work = Effect.gen(function* () {
      yield* allowBackupTime(sql)
      const migrations = yield* ranMigrations(sql)
      const header = headerOf({ version: VERSION, created_at: new Date().toISOString(), migrations })
      const writer = yield* writeBackup(path, header)
      for (const table of yield* tablesToBackUp(sql)) yield* backUpTable(sql, writer, table)
      if (dataDirectory !== undefined) {
        for (const name of [SECRETS_KEY, ...(yield* filesIn(dataDirectory))]) {
          yield* backUpFile(writer, dataDirectory, name)
        }
      }
      const values = yield* sequences(sql)
      const manifest = yield* writer.finish(
        values.map(({ name, value }) => ({ name, value: value === null ? null : String(value) }))
      )
      return { header, manifest } satisfies BackupContents
    })
    return yield* work.pipe(
      sql.withTransaction,
      Effect.provideService(SqlClient.BeginTransaction, beginBackup),
      Effect.provideService(StatementTimeout, Infinity)
    )
  }).pipe(Effect.scoped)

/** Returns the migrations that the backup's database had run; of a database with the tables of the baseline, the baseline alone. */
const migrationsOf = ({ migrations: all, version }: BackupHeader, known: MigrationRecord) =>
  Effect.gen(function* () {
    const last = all.at(-1)
    const asBaseline = last?.id === beforeBaseline.id && last.name === beforeBaseline.name
    const ran = asBaseline ? [{ id: 1, name: "baseline" }] : all
    const newest = ran.at(-1)?.id ?? 0
    const own = Object.keys(known).filter((key) => Number.parseInt(key, 10) <= newest)
    const theirs = ran.map(({ id, name }) => `${String(id).padStart(4, "0")}_${name}`)
    if (own.join() !== theirs.join()) {
      const message =
        ran[0]?.name === "accounts_and_keys"
          ? `The backup is of a schema before the one that this version can restore. Start the last version with migration ` +
            `${beforeBaseline.id} (${beforeBaseline.name}) on that database once, and back it up again`
          : `The backup was made by tollgate ${version}, whose schema this version does not have; use that version`
      return yield* new BackupRefused({ message })
    }
    return Object.fromEntries(own.map((key) => [key, known[key]!])) satisfies MigrationRecord
  })

/** Checks that restoring would not overwrite a file with other contents. */
const checkFiles = (directory: string, { parts }: BackupManifest) =>
  Effect.gen(function* () {
    const there = parts.find(({ kind, name }) => kind === "file" && existsSync(join(directory, name)))
    if (there === undefined) return
    const message = `The file ${join(directory, there.name)} exists; restore into a new data directory`
    return yield* new BackupRefused({ message })
  })

/** A name in a backup must not lead out of the data directory. */
const pathOf = (directory: string, name: string): string => {
  if (name !== SECRETS_KEY && !/^files\/[A-Za-z0-9_-]+$/.test(name))
    throw new Error(`the file name ${name} is not allowed`)
  return join(directory, name)
}

/** Inserts the rows and writes the files of a backup. */
const load = (sql: SqlClient.SqlClient, path: string, directory: string) =>
  Effect.gen(function* () {
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    let kind: "table" | "file" = "table"
    let name = ""
    let rows: Array<string> = []
    const createdFiles: Array<string> = []
    const flush = async () => {
      const full = rows
      rows = []
      if (full.length > 0) await run(insertRows(sql, name, full))
    }
    return yield* readBackup(path, {
      begin: async (nextKind, nextName) => {
        kind = nextKind
        name = nextName
        if (kind === "table") return
        const file = pathOf(directory, name)
        await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        await writeFile(file, "", { flag: "wx", mode: 0o600 })
        createdFiles.push(file)
      },
      add: async (text) => {
        if (kind === "file") return writeFile(pathOf(directory, name), Buffer.from(text, "base64"), { flag: "a" })
        rows.push(text)
        if (rows.length >= ROWS) await flush()
      },
      end: () => (kind === "table" ? flush() : Promise.resolve())
    }).pipe(
      // The rows are undone with the transaction, and the next try must not find these.
      Effect.onError(() => Effect.promise(() => Promise.all(createdFiles.map((file) => rm(file, { force: true })))))
    )
  })

/** A backup that was read as a whole and proved, and the migrations that its database had run. */
export interface ProvedBackup extends BackupContents {
  readonly path: string
  readonly known: MigrationRecord
  readonly migrations: MigrationRecord
}

/** Reads a whole backup, proves its checksums, and checks that this version can restore it. Needs no database. */
export const proveBackup = (path: string, known: MigrationRecord) =>
  Effect.gen(function* () {
    const contents = yield* readBackup(path)
    return { ...contents, path, known, migrations: yield* migrationsOf(contents.header, known) } satisfies ProvedBackup
  })

/**
 * Restores a proved backup into an empty database, and its files into the data directory. Schema and rows commit together. A backup of an
 * earlier version is brought up to date.
 */
export const restoreProved = ({ known, manifest, migrations, path }: ProvedBackup, dataDirectory: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* checkFiles(dataDirectory, manifest)
    const before = yield* tableNames(sql)
    if (before.length > 0) {
      const message = `The database is not empty: it has ${before.length} tables. Restore into a new database.`
      return yield* new BackupRefused({ message })
    }
    const work = Effect.gen(function* () {
      yield* allowBackupTime(sql)
      yield* migrate(migrations)
      yield* loadWithoutRules(sql, yield* tablesToBackUp(sql), load(sql, path, dataDirectory))
      for (const { name, value } of manifest.sequences) {
        if (value !== null) yield* setSequence(sql, { name, value: BigInt(value) })
      }
      yield* migrate(known)
    })
    yield* Effect.provideService(sql.withTransaction(work), StatementTimeout, Infinity)
    yield* Effect.provideService(analyze(sql), StatementTimeout, Infinity)
  })

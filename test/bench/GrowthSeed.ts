/** Fills a database with receipts, at PostgreSQL's full speed. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { statfsSync } from "node:fs"
import { NANO_PER_USD } from "../../src/domain/Money.ts"
import { prepareDataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { startPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { StatementTimeout } from "../../src/platform/database/StatementTimeout.ts"
import { firstRequestIdAt } from "../../src/platform/Ids.ts"
import { rollUp } from "../../src/usage/RollupsSql.ts"
import { BenchError } from "./BenchError.ts"
import { connectionTo } from "./Database.ts"
import { keysOf, rewriteTables, updateBalances, vacuum, writeAccounts, writeDetails, writeGrowth } from "./GrowthSql.ts"
import { progress } from "./Measure.ts"
import { setBulkSettings } from "./ManagementSql.ts"
import { type Account, BALANCE_USD, openAccount } from "./Testbed.ts"

/** Receipts in one statement. */
const BATCH = 250_000
const ACCOUNTS = 2_000
const DAYS_MS = 30 * 86_400_000

/** Newer requests are not in the rollups, as in a live service. */
const UNROLLED_MS = 120_000

/** Accounts that send the load. The first is the largest of the database. */
const CALLERS = 8

/** Disk space of one receipt with its transfer, indexes and share of the rollups; and the space for writing them all. */
const BYTES = 2_600
const SPARE_BYTES = 6 * 1_024 ** 3

/** A crash of the bench makes the data worthless, so the server needs no durability until the database is full. */
const BULK_SETTINGS = [
  "max_connections=20",
  "wal_level=minimal",
  "max_wal_senders=0",
  "fsync=off",
  "full_page_writes=off",
  "synchronous_commit=off",
  "autovacuum=off",
  "max_wal_size=8GB",
  "checkpoint_timeout=1h",
  "shared_buffers=1GB",
  "work_mem=256MB"
]

/** A database, and the accounts in it that send the load. */
export interface SeededDatabase {
  readonly databaseUrl: string
  readonly callers: ReadonlyArray<Account>
}

export const openCallers = Effect.fnUntraced(function* (location: {
  readonly databaseUrl: string
  readonly directory: string
}) {
  const callers: Array<Account> = []
  for (let number = 1; number <= CALLERS; number++) callers.push(yield* openAccount(location, `caller-${number}`))
  return callers
})

const requireSpace = (directory: string, receipts: number) => {
  const { bavail, bsize } = statfsSync(directory)
  const [needed, free] = [receipts * BYTES + SPARE_BYTES, bavail * bsize]
  if (free >= needed) return Effect.void
  const gigabytes = (bytes: number) => `${Math.ceil(bytes / 1e9)} GB`
  return new BenchError({
    message: `growth: ${directory} must have ${gigabytes(needed)} free; it has ${gigabytes(free)}`
  })
}

/** Rolls receipts up like the service, in larger steps. */
const rollUpAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, receipts: number) {
  const before = firstRequestIdAt(Date.now() - UNROLLED_MS)
  let done = 0
  let full = true
  while (full) {
    // The pool replaces a connection after half an hour, and the new one has the default timeout.
    yield* sql`SET statement_timeout = 0`
    const step = yield* rollUp(sql, { before, limit: BATCH })
    ;({ full } = step)
    done += step.rows
    yield* progress(`growth: ${done} of ${receipts} receipts rolled up`)
  }
})

const fill = Effect.fnUntraced(function* (callers: ReadonlyArray<Account>, receipts: number) {
  const sql = yield* SqlClient.SqlClient
  yield* setBulkSettings(sql)
  const opened = yield* keysOf(
    sql,
    callers.map(({ id }) => id)
  )
  const [startMs, everyMs] = [Date.now() - DAYS_MS, DAYS_MS / receipts]
  const write = Effect.gen(function* () {
    yield* writeAccounts(sql, opened, ACCOUNTS, BigInt(BALANCE_USD) * NANO_PER_USD)
    yield* writeDetails(sql)
    for (let from = 0; from < receipts; from += BATCH) {
      const to = Math.min(receipts, from + BATCH)
      yield* writeGrowth(sql, opened, { from, to, accounts: ACCOUNTS, startMs, everyMs })
      yield* progress(`growth: ${to} of ${receipts} receipts`)
    }
    yield* updateBalances(sql)
    yield* progress("growth: indexes")
  })
  yield* rewriteTables(sql, write)
  // The rollup tables have triggers, which fill further tables.
  yield* sql`SET session_replication_role = origin`
  yield* rollUpAll(sql, receipts)
  yield* progress("growth: vacuum")
  yield* sql`SET statement_timeout = 0`
  yield* vacuum(sql)
})

/** Writes a data directory with this many receipts and stops its server. */
export const seed = Effect.fnUntraced(function* (directory: string, receipts: number) {
  yield* requireSpace(directory, receipts)
  const dataDirectory = yield* prepareDataDirectory({ directory, explicit: true, embedded: true })
  const { url } = yield* startPostgres({ dataDirectory, settings: BULK_SETTINGS })
  const databaseUrl = Redacted.value(url)
  const callers = yield* openCallers({ databaseUrl, directory })
  yield* fill(callers, receipts).pipe(
    Effect.provide(connectionTo(databaseUrl)),
    // Without a timeout, because an index of millions of rows takes minutes.
    Effect.provideService(StatementTimeout, Infinity)
  )
  return callers
}, Effect.scoped)

/** Flushes what a server without `fsync` left in the page cache. */
export const syncDisks = Effect.sync(() => void execFileSync("sync", { stdio: "ignore" }))

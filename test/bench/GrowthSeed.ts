/** Fills a database with receipts, as fast as PostgreSQL takes them. */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { statfsSync } from "node:fs"
import { NANO_PER_USD } from "../../src/domain/Money.ts"
import { prepareDataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { startPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { connect } from "../../src/platform/database/Sql.ts"
import { StatementTimeout } from "../../src/platform/database/StatementTimeout.ts"
import { firstRequestIdAt } from "../../src/platform/Ids.ts"
import { rollUp } from "../../src/usage/RollupsSql.ts"
import { BenchError } from "./BenchError.ts"
import { balance, keysOf, settle, writeAccounts, writeDetails, writeGrowth, writingTables } from "./GrowthSql.ts"
import { progress } from "./Measure.ts"
import { forBulk } from "./ManagementSql.ts"
import { BALANCE_USD, type Customer, openAccount } from "./Stage.ts"

/** In one statement. */
const PART = 250_000
const ACCOUNTS = 2_000
const DAYS_MS = 30 * 86_400_000

/** Younger requests are in no rollup, as in a service that runs. */
const UNROLLED_MS = 120_000

/** Accounts that the load comes from; the first is the largest of the database. */
const CALLERS = 8

/** Of a receipt with its transfer, its indexes and its part of the rollups, and what writing them takes beside it. */
const BYTES = 2_600
const SPARE_BYTES = 6 * 1_024 ** 3

/** Nothing here outlives a crash of the bench, so the server need not care for one until the database is full. */
const hurried = [
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

/** A database by itself, and accounts in it that a load may come from. */
export interface Seeded {
  readonly databaseUrl: string
  readonly callers: ReadonlyArray<Customer>
}

export const onDatabase = (url: string) =>
  Layer.effect(SqlClient.SqlClient, connect({ url: Redacted.make(url), poolSize: 1, called: "The bench's database" }))

export const openCallers = Effect.fnUntraced(function* (place: {
  readonly databaseUrl: string
  readonly directory: string
}) {
  const callers: Array<Customer> = []
  for (let number = 1; number <= CALLERS; number++) callers.push(yield* openAccount(place, `caller-${number}`))
  return callers
})

const roomFor = (directory: string, receipts: number) => {
  const { bavail, bsize } = statfsSync(directory)
  const [needed, free] = [receipts * BYTES + SPARE_BYTES, bavail * bsize]
  if (free >= needed) return Effect.void
  const gigabytes = (bytes: number) => `${Math.ceil(bytes / 1e9)} GB`
  return new BenchError({
    message: `growth: ${directory} must have ${gigabytes(needed)} free; it has ${gigabytes(free)}`
  })
}

/** Sums receipts as the service does, in larger steps. */
const rollAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, receipts: number) {
  const before = firstRequestIdAt(Date.now() - UNROLLED_MS)
  let done = 0
  let full = true
  while (full) {
    // The pool replaces a connection after half an hour, and a new one has the service's limit.
    yield* sql`SET statement_timeout = 0`
    const step = yield* rollUp(sql, { before, limit: PART })
    ;({ full } = step)
    done += step.rows
    yield* progress(`growth: ${done} of ${receipts} receipts rolled up`)
  }
})

const fill = Effect.fnUntraced(function* (callers: ReadonlyArray<Customer>, receipts: number) {
  const sql = yield* SqlClient.SqlClient
  yield* forBulk(sql)
  const opened = yield* keysOf(
    sql,
    callers.map(({ id }) => id)
  )
  const [startMs, everyMs] = [Date.now() - DAYS_MS, DAYS_MS / receipts]
  const write = Effect.gen(function* () {
    yield* writeAccounts(sql, opened, ACCOUNTS, BigInt(BALANCE_USD) * NANO_PER_USD)
    yield* writeDetails(sql)
    for (let from = 0; from < receipts; from += PART) {
      const to = Math.min(receipts, from + PART)
      yield* writeGrowth(sql, opened, { from, to, accounts: ACCOUNTS, startMs, everyMs })
      yield* progress(`growth: ${to} of ${receipts} receipts`)
    }
    yield* balance(sql)
    yield* progress("growth: indexes")
  })
  yield* writingTables(sql, write)
  // The tables behind the rollups have triggers, which fill more tables.
  yield* sql`SET session_replication_role = origin`
  yield* rollAll(sql, receipts)
  yield* progress("growth: vacuum")
  yield* sql`SET statement_timeout = 0`
  yield* settle(sql)
})

/** Writes a data directory with so many receipts in its database, without a server on it. */
export const seed = Effect.fnUntraced(function* (directory: string, receipts: number) {
  yield* roomFor(directory, receipts)
  const dataDirectory = yield* prepareDataDirectory({ directory, explicit: true, embedded: true })
  const { url } = yield* startPostgres({ dataDirectory, settings: hurried })
  const databaseUrl = Redacted.value(url)
  const callers = yield* openCallers({ databaseUrl, directory })
  yield* fill(callers, receipts).pipe(
    Effect.provide(onDatabase(databaseUrl)),
    // An index of millions of rows takes minutes.
    Effect.provideService(StatementTimeout, Infinity)
  )
  return callers
}, Effect.scoped)

/** Brings to the disk what a server without `fsync` has left to the system. */
export const synced = Effect.sync(() => void execFileSync("sync", { stdio: "ignore" }))

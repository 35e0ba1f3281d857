/** The cost of millions of receipts for later requests: a full database beside an empty one, on one server, loaded in turn. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { prepareDataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { startPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { StatementTimeout } from "../../src/platform/database/StatementTimeout.ts"
import { connectionTo, urlOfDatabase } from "./Database.ts"
import { ledgerErrors } from "./LedgerCheck.ts"
import { percentile } from "./Figures.ts"
import { openCallers, seed, type SeededDatabase, syncDisks } from "./GrowthSeed.ts"
import { sizeOf } from "./GrowthSql.ts"
import { fixedRate } from "./Load.ts"
import { type Failures, fullLoad, progress, type Samples } from "./Measure.ts"
import { createDatabase, dropDatabase, withBulkSettings } from "./ReceiptsSql.ts"
import { atLeast, atMost, milliseconds, type Must, perSecond, type Row, spread } from "./Report.ts"
import { admin, type Target, type Testbed } from "./Testbed.ts"

const CONCURRENCY = 64
/** A moderate rate, which an idle machine with two cores serves without a queue. */
const PER_SECOND = 100
/** The pause between two turns, for commit groups and garbage collections to end. */
const TURN_PAUSE = "2 seconds"
/** The largest difference between the full and the empty database. */
const MAX_DIFFERENCE = 0.1

interface Side extends SeededDatabase {
  readonly name: "full" | "empty"
  readonly target: Target
}

const startSide = Effect.fnUntraced(function* (testbed: Testbed, name: Side["name"], database: SeededDatabase) {
  const target = yield* testbed.freshGateway({ DATABASE_URL: database.databaseUrl })
  const keys = database.callers.map(({ key }) => key)
  return { ...database, name, target: { ...target, endpoint: { ...target.endpoint, keys } } } satisfies Side
})

/** Measures the command `ledger verify`, with its start, in seconds. */
const verifySeconds = (testbed: Testbed, { databaseUrl }: SeededDatabase, ...words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* admin({ ...testbed, databaseUrl }, "ledger", "verify", ...words)
    return (performance.now() - began) / 1_000
  })

/** Without a statement timeout, because reading millions of rows takes minutes. */
const inDatabase = <A, E>({ databaseUrl }: SeededDatabase, body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => withBulkSettings(sql, body)).pipe(
    Effect.provide(connectionTo(databaseUrl)),
    Effect.provideService(StatementTimeout, Infinity)
  )

const bytesPerReceipt = (database: SeededDatabase) =>
  Effect.map(
    inDatabase(database, Effect.flatMap(SqlClient.SqlClient, sizeOf)),
    ({ bytes, receipts }) => `${(bytes / receipts / 1_000).toFixed(2)} kB`
  )

/** Measures one side once. */
const turn = (testbed: Testbed, { name, target }: Side, samples: Samples, failures: Failures) =>
  Effect.gen(function* () {
    const { seconds, warmSeconds } = testbed.options
    yield* Effect.sleep(TURN_PAUSE)
    yield* fullLoad(testbed, target, CONCURRENCY, warmSeconds)
    const full = yield* fullLoad(testbed, target, CONCURRENCY, seconds)
    failures.add(`growth, ${name}, concurrency ${CONCURRENCY}`, full)
    const rate = full.completed / full.seconds
    samples.add(`growth requests/s, ${name}`, rate)
    yield* Effect.sleep(TURN_PAUSE)
    const load = { perSecond: PER_SECOND, seconds, streamed: false }
    const moderate = yield* Effect.promise(() => fixedRate(target.endpoint, load))
    failures.add(`growth, ${name}, ${PER_SECOND}/s`, moderate)
    const [p50, p99] = [percentile(moderate.latencies, 0.5), percentile(moderate.latencies, 0.99)]
    samples.add(`growth p50, ${name}`, p50)
    samples.add(`growth p99, ${name}`, p99)
    // A run takes an hour or more, so progress shows each figure in case the run ends early.
    yield* progress(`growth: ${name}: ${perSecond(rate)}, p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`)
  })

/** One figure of both sides, and their ratios by round. */
const compareSides = (
  samples: Samples,
  label: string,
  figure: { readonly name: string; readonly written: (value: number) => string },
  must?: (ratio: number) => Must
): ReadonlyArray<Row> => {
  const of = (side: Side["name"]) => samples.median(`growth ${figure.name}, ${side}`)
  const ratio = of("full") / of("empty")
  return [
    {
      label,
      baseline: figure.written(of("empty")),
      gateway: figure.written(of("full")),
      ratio,
      ...(must === undefined ? {} : { must: must(ratio) })
    },
    {
      label: "– over the empty one's, by round",
      gateway: spread(samples.ratios(`growth ${figure.name}, full`, `growth ${figure.name}, empty`))
    }
  ]
}

const rowsOf = (receipts: number, samples: Samples): ReadonlyArray<Row> => [
  ...compareSides(
    samples,
    `Requests at concurrency ${CONCURRENCY}, ${receipts} receipts beside none; within 10 %`,
    { name: "requests/s", written: perSecond },
    (ratio) => atLeast(ratio, 1 - MAX_DIFFERENCE, " ×")
  ),
  ...compareSides(
    samples,
    `p50 at ${PER_SECOND} requests/s; within 10 %`,
    { name: "p50", written: milliseconds },
    (ratio) => atMost(ratio, 1 + MAX_DIFFERENCE, " ×")
  ),
  ...compareSides(samples, `p99 at ${PER_SECOND} requests/s`, { name: "p99", written: milliseconds })
]

/** The callers of the full database in a directory. Writes the database unless an earlier run left it there complete. */
const callersIn = Effect.fnUntraced(function* (directory: string, receipts: number) {
  const file = join(directory, "callers.json")
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as SeededDatabase["callers"]
  yield* Effect.sync(() => mkdirSync(directory, { mode: 0o711, recursive: true }))
  const callers = yield* seed(directory, receipts)
  yield* syncDisks
  yield* Effect.sync(() => writeFileSync(file, JSON.stringify(callers), { mode: 0o600 }))
  return callers
})

/** Starts a server for the full database, with an empty database beside it. */
const databases = Effect.fnUntraced(function* (testbed: Testbed) {
  const directory = testbed.options.keep ?? join(testbed.directory, "growth")
  const callers = yield* callersIn(directory, testbed.options.growthReceipts)
  const dataDirectory = yield* prepareDataDirectory({ directory, explicit: true, embedded: true })
  const { url } = yield* startPostgres({ dataDirectory, settings: ["max_connections=120"] })
  const full: SeededDatabase = { databaseUrl: Redacted.value(url), callers }
  const emptyUrl = urlOfDatabase(full.databaseUrl, "bench_empty")
  yield* inDatabase(
    full,
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(dropDatabase(sql, "bench_empty"), createDatabase(sql, "bench_empty"))
    )
  )
  const empty: SeededDatabase = {
    databaseUrl: emptyUrl,
    callers: yield* openCallers({ databaseUrl: emptyUrl, directory })
  }
  return { full, empty }
})

export const growth = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const began = performance.now()
  const { empty, full } = yield* databases(testbed)
  const minutes = (performance.now() - began) / 60_000
  const size = yield* bytesPerReceipt(full)
  yield* progress(`growth: seeded in ${minutes.toFixed(1)} minutes, ${size} a receipt; verifying the ledger`)
  // The first verification writes a checkpoint. Otherwise the gateway would verify the whole ledger during the measurement.
  const wholeSeconds = yield* verifySeconds(testbed, full, "--whole")
  const sides = [yield* startSide(testbed, "empty", empty), yield* startSide(testbed, "full", full)]
  for (const { target } of sides) yield* fullLoad(testbed, target, CONCURRENCY, testbed.options.startSeconds)
  for (let round = 1; round <= testbed.options.rounds; round++) {
    yield* progress(`growth: round ${round} of ${testbed.options.rounds}`)
    for (const side of round % 2 === 0 ? sides.toReversed() : sides) yield* turn(testbed, side, samples, failures)
  }
  const found = { full: yield* inDatabase(full, ledgerErrors), empty: yield* inDatabase(empty, ledgerErrors) }
  for (const [name, of] of Object.entries(found))
    for (const example of of) failures.add(`growth, ledger, ${name}`, { completed: 0, failed: 1, example })
  const incrementalSeconds = yield* verifySeconds(testbed, full)
  yield* verifySeconds(testbed, empty)
  const rows: ReadonlyArray<Row> = [
    ...rowsOf(testbed.options.growthReceipts, samples),
    {
      label: "Disk space of a receipt with its transfer and all indexes; baseline: of live traffic",
      baseline: yield* bytesPerReceipt(empty),
      gateway: size
    },
    { label: "`ledger verify --whole`", gateway: `${wholeSeconds.toFixed(1)} s` },
    { label: "`ledger verify` after the rounds", gateway: `${incrementalSeconds.toFixed(1)} s` }
  ]
  return rows
}, Effect.scoped)

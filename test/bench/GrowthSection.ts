/** What millions of receipts cost the requests that follow: a full database beside an empty one, on one server, loaded in turn. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { prepareDataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { startPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { StatementTimeout } from "../../src/platform/database/StatementTimeout.ts"
import { wrongs } from "./Books.ts"
import { percentile } from "./Figures.ts"
import { onDatabase, openCallers, seed, type Seeded, synced } from "./GrowthSeed.ts"
import { sizeOf } from "./GrowthSql.ts"
import { fixedRate } from "./Load.ts"
import { type Faults, flood, progress, type Samples } from "./Measure.ts"
import { createDatabase, dropDatabase, hurriedly } from "./ReceiptsSql.ts"
import { atLeast, atMost, milliseconds, type Must, perSecond, type Row, spread } from "./Report.ts"
import { admin, type Stage, type Target } from "./Stage.ts"

const CONCURRENCY = 64
/** A moderate rate, which an idle machine with two cores answers without a queue. */
const PER_SECOND = 100
/** Between two turns: groups are committed by then, and a collection that is due has run. */
const PAUSE = "2 seconds"
/** How far the full database may be from the empty one. */
const WITHIN = 0.1

interface Side extends Seeded {
  readonly name: "full" | "empty"
  readonly target: Target
}

const begun = Effect.fnUntraced(function* (stage: Stage, name: Side["name"], seeded: Seeded) {
  const target = yield* stage.freshGateway({ DATABASE_URL: seeded.databaseUrl })
  const keys = seeded.callers.map(({ key }) => key)
  return { ...seeded, name, target: { ...target, endpoint: { ...target.endpoint, keys } } } satisfies Side
})

/** Seconds that a proof of the books takes as the command does it, its start included. */
const proved = (stage: Stage, { databaseUrl }: Seeded, ...words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* admin({ ...stage, databaseUrl }, "ledger", "verify", ...words)
    return (performance.now() - began) / 1_000
  })

/** Millions of rows take minutes to read. */
const inDatabase = <A, E>({ databaseUrl }: Seeded, body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => hurriedly(sql, body)).pipe(
    Effect.provide(onDatabase(databaseUrl)),
    Effect.provideService(StatementTimeout, Infinity)
  )

const bytesPerReceipt = (seeded: Seeded) =>
  Effect.map(
    inDatabase(seeded, Effect.flatMap(SqlClient.SqlClient, sizeOf)),
    ({ bytes, receipts }) => `${(bytes / receipts / 1_000).toFixed(2)} kB`
  )

/** One turn of one side. */
const turn = (stage: Stage, { name, target }: Side, samples: Samples, faults: Faults) =>
  Effect.gen(function* () {
    const { seconds, warmSeconds } = stage.options
    yield* Effect.sleep(PAUSE)
    yield* flood(stage, target, CONCURRENCY, warmSeconds)
    const full = yield* flood(stage, target, CONCURRENCY, seconds)
    faults.add(`growth, ${name}, concurrency ${CONCURRENCY}`, full)
    const rate = full.completed / full.seconds
    samples.add(`growth requests/s, ${name}`, rate)
    yield* Effect.sleep(PAUSE)
    const load = { perSecond: PER_SECOND, seconds, streamed: false }
    const moderate = yield* Effect.promise(() => fixedRate(target.endpoint, load))
    faults.add(`growth, ${name}, ${PER_SECOND}/s`, moderate)
    const [p50, p99] = [percentile(moderate.latencies, 0.5), percentile(moderate.latencies, 0.99)]
    samples.add(`growth p50, ${name}`, p50)
    samples.add(`growth p99, ${name}`, p99)
    // A run takes an hour or more. What ends it early must not lose what it has measured.
    yield* progress(`growth: ${name}: ${perSecond(rate)}, p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`)
  })

/** A figure of both sides, and their ratio by round. */
const compared = (
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
      label: "– in parts of the empty one's, by round",
      gateway: spread(samples.ratios(`growth ${figure.name}, full`, `growth ${figure.name}, empty`))
    }
  ]
}

const rowsOf = (receipts: number, samples: Samples): ReadonlyArray<Row> => [
  ...compared(
    samples,
    `Requests at concurrency ${CONCURRENCY}, ${receipts} receipts beside none; within 10 %`,
    { name: "requests/s", written: perSecond },
    (ratio) => atLeast(ratio, 1 - WITHIN, " ×")
  ),
  ...compared(
    samples,
    `p50 at ${PER_SECOND} requests/s; within 10 %`,
    { name: "p50", written: milliseconds },
    (ratio) => atMost(ratio, 1 + WITHIN, " ×")
  ),
  ...compared(samples, `p99 at ${PER_SECOND} requests/s`, { name: "p99", written: milliseconds })
]

/** The callers of the full database in a directory. It is written unless an earlier run has kept it there whole. */
const callersIn = Effect.fnUntraced(function* (directory: string, receipts: number) {
  const file = join(directory, "callers.json")
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Seeded["callers"]
  yield* Effect.sync(() => mkdirSync(directory, { mode: 0o711, recursive: true }))
  const callers = yield* seed(directory, receipts)
  yield* synced
  yield* Effect.sync(() => writeFileSync(file, JSON.stringify(callers), { mode: 0o600 }))
  return callers
})

/** The full database, and a server of its own with it and an empty one as the service starts it. */
const databases = Effect.fnUntraced(function* (stage: Stage) {
  const directory = stage.options.keep ?? join(stage.directory, "growth")
  const callers = yield* callersIn(directory, stage.options.growthReceipts)
  const dataDirectory = yield* prepareDataDirectory({ directory, explicit: true, embedded: true })
  const { url } = yield* startPostgres({ dataDirectory, settings: ["max_connections=120"] })
  const full: Seeded = { databaseUrl: Redacted.value(url), callers }
  const other = new URL(full.databaseUrl)
  other.pathname = "/bench_empty"
  yield* inDatabase(
    full,
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(dropDatabase(sql, "bench_empty"), createDatabase(sql, "bench_empty"))
    )
  )
  const empty: Seeded = { databaseUrl: other.href, callers: yield* openCallers({ databaseUrl: other.href, directory }) }
  return { full, empty }
})

export const growth = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const began = performance.now()
  const { empty, full } = yield* databases(stage)
  const minutes = (performance.now() - began) / 60_000
  const size = yield* bytesPerReceipt(full)
  yield* progress(`growth: seeded in ${minutes.toFixed(1)} minutes, ${size} a receipt; proving the whole`)
  // Otherwise the gateway would prove the whole while it is measured: no checkpoint is there yet.
  const whole = yield* proved(stage, full, "--whole")
  const sides = [yield* begun(stage, "empty", empty), yield* begun(stage, "full", full)]
  for (const { target } of sides) yield* flood(stage, target, CONCURRENCY, stage.options.startSeconds)
  for (let round = 1; round <= stage.options.rounds; round++) {
    yield* progress(`growth: round ${round} of ${stage.options.rounds}`)
    for (const side of round % 2 === 0 ? sides.toReversed() : sides) yield* turn(stage, side, samples, faults)
  }
  const found = { full: yield* inDatabase(full, wrongs), empty: yield* inDatabase(empty, wrongs) }
  for (const [name, of] of Object.entries(found))
    for (const example of of) faults.add(`growth, books, ${name}`, { completed: 0, failed: 1, example })
  const incremental = yield* proved(stage, full)
  yield* proved(stage, empty)
  const rows: ReadonlyArray<Row> = [
    ...rowsOf(stage.options.growthReceipts, samples),
    {
      label: "On disk for a receipt with its transfer and all indexes; baseline: left by live traffic",
      baseline: yield* bytesPerReceipt(empty),
      gateway: size
    },
    { label: "`ledger verify --whole` of them", gateway: `${whole.toFixed(1)} s` },
    { label: "`ledger verify` after the rounds", gateway: `${incremental.toFixed(1)} s` }
  ]
  return rows
}, Effect.scoped)

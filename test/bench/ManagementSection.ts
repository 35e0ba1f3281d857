/**
 * Reads of the management API for an account with a million keys, 9,000 usage sums and ten million audit lines. A bare server answers the
 * same number of bytes in turn, which shows the machine's own share. When the host takes the processors away for four milliseconds, every
 * percentile of so few requests shows it. So the bench repeats seconds with stolen time, and reports the figures with and without them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { setTimeout as sleep } from "node:timers/promises"
import { connectionTo, createSeparateDatabase } from "./Database.ts"
import { StatementTimeout } from "../../src/platform/database/StatementTimeout.ts"
import { ConnectionPool } from "./Connection.ts"
import { percentile } from "./Figures.ts"
import {
  auditValues,
  middleKey,
  setBulkSettings,
  vacuum,
  withoutIndexes,
  writeAudit,
  writeKeys,
  writeProjects,
  writeUsage
} from "./ManagementSql.ts"
import { type Failures, progress, type Samples } from "./Measure.ts"
import { node, startServer, stolenSeconds } from "./Processes.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"
import { admin, fileOf, type Testbed } from "./Testbed.ts"

const DATABASE = "bench_management"
const PROJECTS = 1_000
/** Rows in one statement. */
const BATCH = 500_000
/** The age of the oldest key and audit line. */
const SPAN_MS = 365 * 86_400_000

/** The rate of the open loop. */
const PER_SECOND = 25
const CONCURRENCY = 4
/** The length of one slice of a measurement, for each server. */
const SLICE_MS = 1_000
/** Slices of a closed loop. A caller gets hundreds of answers in each, and only a few in a slice at a fixed rate. */
const CLOSED_SECONDS = 8
/** The most slices measured for each one that counts. */
const MAX_SLICES = 5
const MAX_MS = 5
/** Warm-up requests for each page. */
const WARM = 1_000
/** Connections kept from one slice to the next. More would be idle until they close. */
const KEPT = CONCURRENCY

const spread = (to: number) => ({ from: 0, to, startMs: Date.now() - SPAN_MS, everyMs: Math.floor(SPAN_MS / to) })

const inParts = <E, R>(
  what: string,
  whole: ReturnType<typeof spread>,
  write: (part: ReturnType<typeof spread>) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    for (let from = 0; from < whole.to; from += BATCH) {
      const to = Math.min(whole.to, from + BATCH)
      yield* write({ ...whole, from, to })
      yield* progress(`management: ${to} of ${whole.to} ${what}`)
    }
  })

const generate = Effect.fnUntraced(
  function* (accountId: string, { audit, keys }: Testbed["options"]) {
    const sql = yield* SqlClient.SqlClient
    const ofKeys = spread(keys)
    yield* setBulkSettings(sql)
    yield* inParts("keys", ofKeys, (part) => writeKeys(sql, accountId, part))
    yield* writeProjects(sql, accountId, spread(PROJECTS))
    yield* writeUsage(sql, accountId)
    yield* withoutIndexes(
      sql,
      inParts("lines of the audit log", spread(audit), (part) => writeAudit(sql, accountId, part))
    )
    yield* vacuum(sql)
    return yield* middleKey(sql, ofKeys)
  },
  Effect.provideService(StatementTimeout, Infinity)
)

const pathsOf = (key: string): Readonly<Record<string, string>> => {
  const { commonType, one, other, otherType, preset, rareActor, rareType } = auditValues
  const log = (query: string) => `/management/audit?${query}`
  const middle = Math.floor((Date.now() - SPAN_MS / 2) / 1_000)
  return {
    "keys, first page": "/management/keys?limit=100",
    "keys, from the middle": `/management/keys?limit=100&cursor=${key}`,
    projects: "/management/projects?limit=100",
    balance: "/management/balance",
    usage: "/management/usage?period=30d&group_by=key&group_by=model",
    audit: log("limit=100"),
    "audit, from the middle": log(`limit=100&effective_at[lte]=${middle}`),
    "audit, a day": log(`effective_at[gte]=${middle}&effective_at[lt]=${middle + 86_400}`),
    "audit, a common type": log(`event_types[]=${commonType}`),
    "audit, a rare type": log(`event_types[]=${rareType}`),
    "audit, no such type": log("event_types[]=nothing.done"),
    "audit, four types": log(
      `event_types[]=${commonType}&event_types[]=${rareType}&event_types[]=key.created&event_types[]=x`
    ),
    "audit, a rare actor": log(`actor_ids[]=${rareActor}`),
    "audit, a key": log(`resource_ids[]=${"12".padStart(24, "0")}`),
    "audit, the preset": log(`resource_ids[]=${preset}`),
    "audit, type and actor": log(`event_types[]=${otherType}&actor_ids[]=${one}`),
    "audit, type and resource": log(`event_types[]=key.created&resource_ids[]=${preset}`),
    "audit, actor and resource": log(`actor_ids[]=${rareActor}&resource_ids[]=${preset}`),
    "audit, all three": log(`event_types[]=${commonType}&actor_ids[]=${other}&resource_ids[]=${preset}`),
    "audit, 16 combinations": log(
      `event_types[]=${commonType}&event_types[]=${otherType}&event_types[]=${rareType}&event_types[]=key.created&` +
        `actor_ids[]=${one}&actor_ids[]=${other}&resource_ids[]=${preset}&resource_ids[]=${"12".padStart(24, "0")}`
    )
  }
}

/** A client of one page on one server. */
class PageClient {
  readonly #pool: ConnectionPool
  readonly #request: Buffer
  /** The length of the last body. */
  length = 0

  constructor(port: number, key: string, path: string) {
    this.#pool = new ConnectionPool(port)
    const head = [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, `authorization: Bearer ${key}`]
    this.#request = Buffer.from(`${head.join("\r\n")}\r\n\r\n`)
  }

  /** Sends one request on an idle connection. */
  async load(timings: Timings): Promise<void> {
    const connection = this.#pool.take()
    const since = performance.now()
    const answer = await connection.exchange(this.#request).catch((error: unknown) => String(error))
    timings.times.push(performance.now() - since)
    if (typeof answer === "string") return timings.fail(answer)
    this.#pool.give(connection)
    this.length = answer.body.length
    if (answer.status !== 200) timings.fail(`status ${answer.status}: ${answer.body.slice(0, 200)}`)
  }

  close(kept = 0): void {
    this.#pool.close(kept)
  }
}

class Timings {
  readonly times: Array<number> = []
  failed = 0
  example: string | undefined

  fail(example: string): void {
    this.failed++
    this.example ??= example
  }
}

/** Two of a kind: for the measured gateway and for the bare server beside it. */
interface Pair<A> {
  readonly bare: A
  readonly gateway: A
}

/** Sends requests to both servers for one slice. */
type Slice = (clients: Pair<PageClient>) => Promise<Pair<Timings>>

/** Sends at a fixed rate, alternating between the servers. */
const atRate: Slice = async (clients) => {
  const began = performance.now()
  const send = async (one: PageClient, part: number) => {
    const timings = new Timings()
    const sent: Array<Promise<void>> = []
    for (let index = 0; index < (PER_SECOND * SLICE_MS) / 1_000; index++) {
      const due = began + ((index + part) * 1_000) / PER_SECOND
      await sleep(Math.max(0, due - performance.now()))
      sent.push(one.load(timings))
    }
    await Promise.all(sent)
    one.close(KEPT)
    return timings
  }
  const [bare, gateway] = await Promise.all([send(clients.bare, 0), send(clients.gateway, 0.5)])
  return { bare, gateway }
}

/** Runs several callers in a closed loop, on one server and then on the other. */
const atOnce =
  (callers: number): Slice =>
  async (clients) => {
    const loadRepeatedly = async (one: PageClient) => {
      const timings = new Timings()
      const end = performance.now() + SLICE_MS / 2
      const call = async () => {
        while (performance.now() < end) await one.load(timings)
      }
      await Promise.all(Array.from({ length: callers }, call))
      return timings
    }
    return { bare: await loadRepeatedly(clients.bare), gateway: await loadRepeatedly(clients.gateway) }
  }

/** A way to load a page, with the results of all pages. */
interface LoadKind {
  readonly how: string
  readonly slice: Slice
  /** The slices that count for each page. */
  readonly wanted: number
  readonly slices: Array<Pair<Timings>>
  /** The slices beyond those. */
  readonly disturbed: Array<Pair<Timings>>
}

/** Measures until enough slices have no stolen time. Sorts them by stolen time. */
const leastDisturbed = async (
  clients: Pair<PageClient>,
  slice: Slice,
  wanted: number
): Promise<ReadonlyArray<Pair<Timings>>> => {
  const slices: Array<{ readonly stolen: number; readonly timings: Pair<Timings> }> = []
  for (let calm = 0; calm < wanted && slices.length < MAX_SLICES * wanted;) {
    const before = stolenSeconds()
    const timings = await slice(clients)
    const stolen = stolenSeconds() - before
    slices.push({ stolen, timings })
    if (stolen === 0) calm++
  }
  return slices.toSorted((one, other) => one.stolen - other.stolen).map(({ timings }) => timings)
}

const merge = (parts: ReadonlyArray<Timings>): Timings => {
  const all = new Timings()
  for (const { example, failed, times } of parts) {
    all.times.push(...times)
    all.failed += failed
    all.example ??= example
  }
  return all
}

/** Loads a page until its code is compiled; returns the length of its body. */
const warmUpPage = async (client: PageClient, times: number): Promise<number> => {
  const timings = new Timings()
  for (let index = 0; index < times; index++) await client.load(timings)
  return client.length
}

/** The lines of the report for one page and one kind of load. */
const rowsOf = (called: string, slices: ReadonlyArray<Pair<Timings>>, wanted: number): ReadonlyArray<Row> => {
  const at = (which: keyof Pair<Timings>, share: number, of: number) =>
    percentile(merge(slices.slice(0, of).map((pair) => pair[which])).times, share)
  const row = (label: string, share: number, of: number) => ({
    label,
    baseline: milliseconds(at("bare", share, of)),
    gateway: milliseconds(at("gateway", share, of))
  })
  const tail = (label: string, of: number) => ({
    ...row(label, 0.99, of),
    must: atMost(at("gateway", 0.99, of), MAX_MS, " ms")
  })
  const rows: ReadonlyArray<Row> = [row(called, 0.5, wanted), tail("– p99", wanted)]
  return slices.length === wanted
    ? rows
    : [...rows, tail(`– p99 of all ${slices.length} s, with stolen time`, slices.length)]
}

export const management = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const databaseUrl = yield* createSeparateDatabase(testbed.databaseUrl, DATABASE)
  const words = ["account", "create", "--email", "management@example.com", "--balance-usd", "100"]
  const opened = (yield* admin({ ...testbed, databaseUrl }, ...words)) as { account_id: string; management_key: string }
  const middle = yield* Effect.provide(generate(opened.account_id, testbed.options), connectionTo(databaseUrl))
  const gateway = yield* testbed.freshGateway({ DATABASE_URL: databaseUrl })
  const cores = testbed.machine.pinning?.measured
  const bare = yield* startServer({ name: "the bare server", ...node(fileOf("bareServer")), cores })
  const rows: Array<Row> = []
  const { managementRequests: count } = testbed.options
  const seconds = Math.ceil(count / PER_SECOND)
  const pages: Array<readonly [string, Pair<PageClient>]> = []
  const loadKind = (how: string, slice: Slice, wanted: number): LoadKind => ({
    how,
    slice,
    wanted,
    slices: [],
    disturbed: []
  })
  const loadKinds: ReadonlyArray<LoadKind> = [
    loadKind("one caller", atOnce(1), Math.min(seconds, CLOSED_SECONDS)),
    loadKind(`${CONCURRENCY} callers`, atOnce(CONCURRENCY), Math.min(seconds, CLOSED_SECONDS)),
    // The fixed rate comes last: V8 compiles hot code on the core that the gateway is pinned to, and a request that waits for it waits for
    // a scheduler tick of that core.
    loadKind(`${PER_SECOND}/s`, atRate, seconds)
  ]
  // Warms all pages up before the first measurement, because they share code.
  for (const [name, path] of Object.entries(pathsOf(middle))) {
    const measured = new PageClient(gateway.endpoint.port, opened.management_key, `/api/v1${path}`)
    const length = yield* Effect.promise(() => warmUpPage(measured, Math.min(WARM, 5 * count)))
    pages.push([name, { gateway: measured, bare: new PageClient(bare.port, "none", `/${length}`) }])
  }
  for (const [name, clients] of pages) {
    yield* Effect.promise(() => warmUpPage(clients.gateway, count))
    yield* Effect.promise(() => warmUpPage(clients.bare, count))
    for (const { how, disturbed, slice, slices: ofAll, wanted } of loadKinds) {
      const slices = yield* Effect.promise(() => leastDisturbed(clients, slice, wanted))
      ofAll.push(...slices.slice(0, wanted))
      disturbed.push(...slices.slice(wanted))
      for (const which of ["bare", "gateway"] as const) {
        const { example, failed, times } = merge(slices.map((pair) => pair[which]))
        const where = which === "bare" ? "management, the bare server" : `management, ${name}`
        failures.add(where, { completed: times.length - failed, failed, example })
      }
      const { times } = merge(slices.slice(0, wanted).map((pair) => pair.gateway))
      samples.add(`management ${name}, ${how} p50 ms`, percentile(times, 0.5))
      samples.add(`management ${name}, ${how} p99 ms`, percentile(times, 0.99))
      rows.push(...rowsOf(`GET ${name}, ${how}, p50`, slices, wanted))
    }
    clients.gateway.close()
    clients.bare.close()
    yield* progress(`management: ${name}`)
  }
  const ofAll = loadKinds.flatMap(({ how, disturbed, slices }) =>
    rowsOf(`GET all pages, ${how}, p50`, [...slices, ...disturbed], slices.length)
  )
  return [...rows, ...ofAll]
}, Effect.scoped)

/**
 * What reads of the management API take for an account with a million keys, 9,000 sums of usage and ten million lines in its audit
 * log. Each is asked for in turn with a server that has as many bytes ready, whose figures are what the machine itself makes of it.
 * A host that gives the processors to others for four milliseconds shows in every figure of so few; so seconds in which it says it
 * did are measured anew, and a figure with them stands beside that without.
 */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "../../src/platform/database/Sql.ts"
import { StatementTimeout } from "../../src/platform/database/StatementTimeout.ts"
import { Connection } from "./Connection.ts"
import { percentile } from "./Figures.ts"
import {
  audited,
  forBulk,
  middleKey,
  settle,
  withoutIndexes,
  writeAudit,
  writeKeys,
  writeProjects,
  writeUsage
} from "./ManagementSql.ts"
import { type Faults, progress, type Samples } from "./Measure.ts"
import { listen, node, stolenSeconds } from "./Processes.ts"
import { createDatabase } from "./ReceiptsSql.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"
import { admin, fileOf, type Stage } from "./Stage.ts"

const DATABASE = "bench_management"
const PROJECTS = 1_000
/** In one statement. */
const PART = 500_000
/** The log and the keys are of so long until now. */
const SPAN_MS = 365 * 86_400_000

/** Requests a second where they do not wait for one another. */
const PER_SECOND = 25
const CONCURRENCY = 4
/** What is measured at a time, of each server. */
const SLICE_MS = 1_000
/** Seconds in which callers ask again when they are answered: each has hundreds of answers, a second at a rate but a few. */
const CLOSED_SECONDS = 8
/** So many seconds are measured at most for each that counts. */
const PATIENCE = 5
const MOST_MS = 5
/** Before each page is measured. */
const WARM = 1_000
/** Connections that are kept from one second to the next; others might be closed while nobody needs them. */
const KEPT = CONCURRENCY

const onDatabase = (url: string) =>
  Layer.effect(SqlClient.SqlClient, connect({ url: Redacted.make(url), poolSize: 1, called: "The bench's database" }))

const spread = (to: number) => ({ from: 0, to, startMs: Date.now() - SPAN_MS, everyMs: Math.floor(SPAN_MS / to) })

const inParts = <E, R>(
  what: string,
  whole: ReturnType<typeof spread>,
  write: (part: ReturnType<typeof spread>) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    for (let from = 0; from < whole.to; from += PART) {
      const to = Math.min(whole.to, from + PART)
      yield* write({ ...whole, from, to })
      yield* progress(`management: ${to} of ${whole.to} ${what}`)
    }
  })

const generate = Effect.fnUntraced(
  function* (accountId: string, { audit, keys }: Stage["options"]) {
    const sql = yield* SqlClient.SqlClient
    const ofKeys = spread(keys)
    yield* forBulk(sql)
    yield* inParts("keys", ofKeys, (part) => writeKeys(sql, accountId, part))
    yield* writeProjects(sql, accountId, spread(PROJECTS))
    yield* writeUsage(sql, accountId)
    yield* withoutIndexes(
      sql,
      inParts("lines of the audit log", spread(audit), (part) => writeAudit(sql, accountId, part))
    )
    yield* settle(sql)
    return yield* middleKey(sql, ofKeys)
  },
  Effect.provideService(StatementTimeout, Infinity)
)

const pathsOf = (key: string): Readonly<Record<string, string>> => {
  const { commonType, one, other, otherType, preset, rareActor, rareType } = audited
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

/** A server, and what it is asked for again and again. */
class Asked {
  readonly #port: number
  readonly #request: Buffer
  readonly #idle: Array<Connection> = []
  /** Of the last body. */
  length = 0

  constructor(port: number, key: string, path: string) {
    this.#port = port
    const head = [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, `authorization: Bearer ${key}`]
    this.#request = Buffer.from(`${head.join("\r\n")}\r\n\r\n`)
  }

  /** Asks once, on a connection that is free. */
  async ask(timed: Timed): Promise<void> {
    let connection = this.#idle.pop()
    while (connection?.isFresh() === false) connection = this.#idle.pop()
    connection ??= new Connection(this.#port)
    const since = performance.now()
    const answer = await connection.exchange(this.#request).catch((error: unknown) => String(error))
    timed.times.push(performance.now() - since)
    if (typeof answer === "string") return timed.fail(answer)
    this.#idle.push(connection)
    this.length = answer.body.length
    if (answer.status !== 200) timed.fail(`status ${answer.status}: ${answer.body.slice(0, 200)}`)
  }

  close(left = 0): void {
    for (const connection of this.#idle.splice(0, this.#idle.length - left)) connection.close()
  }
}

class Timed {
  readonly times: Array<number> = []
  failed = 0
  example: string | undefined

  fail(example: string): void {
    this.failed++
    this.example ??= example
  }
}

/** What is measured, and what is beside it. */
interface Pair<A> {
  readonly bare: A
  readonly gateway: A
}

/** A second of questions to both. */
type Slice = (asked: Pair<Asked>) => Promise<Pair<Timed>>

/** Sent in turn when they are due. */
const atRate: Slice = async (asked) => {
  const began = performance.now()
  const send = async (one: Asked, part: number) => {
    const timed = new Timed()
    const sent: Array<Promise<void>> = []
    for (let index = 0; index < (PER_SECOND * SLICE_MS) / 1_000; index++) {
      const due = began + ((index + part) * 1_000) / PER_SECOND
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      sent.push(one.ask(timed))
    }
    await Promise.all(sent)
    one.close(KEPT)
    return timed
  }
  const [bare, gateway] = await Promise.all([send(asked.bare, 0), send(asked.gateway, 0.5)])
  return { bare, gateway }
}

/** Each of several callers asks again when it is answered, one server and then the other. */
const atOnce =
  (callers: number): Slice =>
  async (asked) => {
    const ask = async (one: Asked) => {
      const timed = new Timed()
      const end = performance.now() + SLICE_MS / 2
      const call = async () => {
        while (performance.now() < end) await one.ask(timed)
      }
      await Promise.all(Array.from({ length: callers }, call))
      return timed
    }
    return { bare: await ask(asked.bare), gateway: await ask(asked.gateway) }
  }

/** A way to ask for a page, and what came of it for all pages. */
interface Way {
  readonly how: string
  readonly slice: Slice
  /** Of each page, those that the host disturbed apart. */
  readonly wanted: number
  readonly slices: Array<Pair<Timed>>
  readonly others: Array<Pair<Timed>>
}

/** Seconds of a measurement, those first in which the host took least of the processors' time for others. */
const calmest = async (asked: Pair<Asked>, slice: Slice, wanted: number): Promise<ReadonlyArray<Pair<Timed>>> => {
  const slices: Array<{ readonly stolen: number; readonly timed: Pair<Timed> }> = []
  for (let calm = 0; calm < wanted && slices.length < PATIENCE * wanted;) {
    const before = stolenSeconds()
    const timed = await slice(asked)
    const stolen = stolenSeconds() - before
    slices.push({ stolen, timed })
    if (stolen === 0) calm++
  }
  return slices.toSorted((one, other) => one.stolen - other.stolen).map(({ timed }) => timed)
}

const together = (parts: ReadonlyArray<Timed>): Timed => {
  const all = new Timed()
  for (const { example, failed, times } of parts) {
    all.times.push(...times)
    all.failed += failed
    all.example ??= example
  }
  return all
}

/** Asks for the page until its way is compiled; answers how long its body is. */
const warmed = async (asked: Asked, times: number): Promise<number> => {
  const timed = new Timed()
  for (let index = 0; index < times; index++) await asked.ask(timed)
  return asked.length
}

/** A line of the report for each figure of a way to ask for a page. */
const rowsOf = (called: string, slices: ReadonlyArray<Pair<Timed>>, wanted: number): ReadonlyArray<Row> => {
  const at = (which: keyof Pair<Timed>, share: number, of: number) =>
    percentile(together(slices.slice(0, of).map((pair) => pair[which])).times, share)
  const row = (label: string, share: number, of: number) => ({
    label,
    baseline: milliseconds(at("bare", share, of)),
    gateway: milliseconds(at("gateway", share, of))
  })
  const tail = (label: string, of: number) => ({
    ...row(label, 0.99, of),
    must: atMost(at("gateway", 0.99, of), MOST_MS, " ms")
  })
  const rows: ReadonlyArray<Row> = [row(called, 0.5, wanted), tail("– p99", wanted)]
  return slices.length === wanted
    ? rows
    : [...rows, tail(`– p99 of all ${slices.length} s, with those that the host disturbed`, slices.length)]
}

export const management = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  yield* Effect.provide(
    Effect.flatMap(SqlClient.SqlClient, (sql) => createDatabase(sql, DATABASE)),
    onDatabase(stage.databaseUrl)
  )
  const url = new URL(stage.databaseUrl)
  url.pathname = `/${DATABASE}`
  const databaseUrl = url.href
  const words = ["account", "create", "--email", "management@example.com", "--balance-usd", "100"]
  const opened = (yield* admin({ ...stage, databaseUrl }, ...words)) as { account_id: string; management_key: string }
  const middle = yield* Effect.provide(generate(opened.account_id, stage.options), onDatabase(databaseUrl))
  const gateway = yield* stage.freshGateway({ DATABASE_URL: databaseUrl })
  const cores = stage.machine.pinning?.measured
  const bare = yield* listen({ name: "the bare server", ...node(fileOf("bareServer")), cores })
  const rows: Array<Row> = []
  const { managementRequests: count } = stage.options
  const seconds = Math.ceil(count / PER_SECOND)
  const pages: Array<readonly [string, Pair<Asked>]> = []
  const way = (how: string, slice: Slice, wanted: number): Way => ({ how, slice, wanted, slices: [], others: [] })
  const ways: ReadonlyArray<Way> = [
    way("one by one", atOnce(1), Math.min(seconds, CLOSED_SECONDS)),
    way(`${CONCURRENCY} at once`, atOnce(CONCURRENCY), Math.min(seconds, CLOSED_SECONDS)),
    // What is sent at a rate comes last: V8 compiles what has become hot on the core that the gateway is bound to, and a read that
    // meets it waits for a tick of that core's scheduler.
    way(`${PER_SECOND}/s`, atRate, seconds)
  ]
  // Every page before the first is measured: what one of them shares with the others is compiled for all of them.
  for (const [name, path] of Object.entries(pathsOf(middle))) {
    const measured = new Asked(gateway.endpoint.port, opened.management_key, `/api/v1${path}`)
    const length = yield* Effect.promise(() => warmed(measured, Math.min(WARM, 5 * count)))
    pages.push([name, { gateway: measured, bare: new Asked(bare.port, "none", `/${length}`) }])
  }
  for (const [name, asked] of pages) {
    yield* Effect.promise(() => warmed(asked.gateway, count))
    yield* Effect.promise(() => warmed(asked.bare, count))
    for (const { how, others, slice, slices: ofAll, wanted } of ways) {
      const slices = yield* Effect.promise(() => calmest(asked, slice, wanted))
      ofAll.push(...slices.slice(0, wanted))
      others.push(...slices.slice(wanted))
      for (const which of ["bare", "gateway"] as const) {
        const { example, failed, times } = together(slices.map((pair) => pair[which]))
        const where = which === "bare" ? "management, the bare server" : `management, ${name}`
        faults.add(where, { completed: times.length - failed, failed, example })
      }
      const { times } = together(slices.slice(0, wanted).map((pair) => pair.gateway))
      samples.add(`management ${name}, ${how} p50 ms`, percentile(times, 0.5))
      samples.add(`management ${name}, ${how} p99 ms`, percentile(times, 0.99))
      rows.push(...rowsOf(`GET ${name}, ${how}, p50`, slices, wanted))
    }
    asked.gateway.close()
    asked.bare.close()
    yield* progress(`management: ${name}`)
  }
  const ofAll = ways.flatMap(({ how, others, slices }) =>
    rowsOf(`GET all of them, ${how}, p50`, [...slices, ...others], slices.length)
  )
  return [...rows, ...ofAll]
}, Effect.scoped)

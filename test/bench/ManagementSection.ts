/**
 * What reads of the management API take for an account with a million keys, 9,000 sums of usage and ten million lines in its audit
 * log. Each is asked for in turn with a server that has as many bytes ready, whose figures are what the machine itself makes of it.
 */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "../../src/platform/Sql.ts"
import { StatementTimeout } from "../../src/platform/StatementTimeout.ts"
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
import { listen, node } from "./Processes.ts"
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
/** In which those who ask at once go from one server to the other. */
const TURNS = 10
const MOST_MS = 5
/** Before each page is measured. */
const WARM = 1_000

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

interface Target {
  readonly port: number
  readonly request: Buffer
}

/** What is measured, and what is beside it. */
interface Pair<A> {
  readonly bare: A
  readonly gateway: A
}

const targetOf = (port: number, key: string, path: string): Target => {
  const head = [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, `authorization: Bearer ${key}`]
  return { port, request: Buffer.from(`${head.join("\r\n")}\r\n\r\n`) }
}

class Timed {
  readonly times: Array<number> = []
  failed = 0
  /** Of the last body. */
  length = 0
  example: string | undefined

  async ask(connection: Connection, { request }: Target, since: number): Promise<void> {
    const answer = await connection.exchange(request).catch((error: unknown) => String(error))
    this.times.push(performance.now() - since)
    if (typeof answer === "string") {
      this.failed++
      this.example ??= answer
      return
    }
    const { body, status } = answer
    this.length = body.length
    if (status === 200) return
    this.failed++
    this.example ??= `status ${status}: ${body.slice(0, 200)}`
  }
}

/** So many of each, sent in turn when they are due, on connections that are free. */
const atRate = async (targets: Pair<Target>, count: number): Promise<Pair<Timed>> => {
  const began = performance.now()
  const send = async (target: Target, part: number) => {
    const timed = new Timed()
    const idle: Array<Connection> = []
    const sent: Array<Promise<void>> = []
    for (let index = 0; index < count; index++) {
      const due = began + ((index + part) * 1_000) / PER_SECOND
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      const connection = idle.pop() ?? new Connection(target.port)
      sent.push(timed.ask(connection, target, performance.now()).then(() => void idle.push(connection)))
    }
    await Promise.all(sent)
    for (const connection of idle) connection.close()
    return timed
  }
  const [bare, gateway] = await Promise.all([send(targets.bare, 0), send(targets.gateway, 0.5)])
  return { bare, gateway }
}

/** Several callers, each of whom asks again when it is answered. */
class Callers {
  readonly timed = new Timed()
  readonly #target: Target
  readonly #connections: ReadonlyArray<Connection>

  constructor(target: Target) {
    this.#target = target
    this.#connections = Array.from({ length: CONCURRENCY }, () => new Connection(target.port))
  }

  async ask(count: number): Promise<void> {
    let left = count
    const call = async (connection: Connection) => {
      while (left-- > 0) await this.timed.ask(connection, this.#target, performance.now())
    }
    await Promise.all(this.#connections.map(call))
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

const atOnce = async (target: Target, count: number): Promise<Timed> => {
  const callers = new Callers(target)
  await callers.ask(count)
  callers.close()
  return callers.timed
}

/** The same of each, a part of them at a time. */
const inTurns = async (targets: Pair<Target>, count: number): Promise<Pair<Timed>> => {
  const [bare, gateway] = [new Callers(targets.bare), new Callers(targets.gateway)]
  const part = Math.max(CONCURRENCY, Math.ceil(count / TURNS))
  for (let asked = 0; asked < count; asked += part) {
    await bare.ask(part)
    await gateway.ask(part)
  }
  bare.close()
  gateway.close()
  return { bare: bare.timed, gateway: gateway.timed }
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
  for (const [name, path] of Object.entries(pathsOf(middle))) {
    const measured = targetOf(gateway.endpoint.port, opened.management_key, `/api/v1${path}`)
    const warm = yield* Effect.promise(() => atOnce(measured, Math.min(WARM, 5 * count)))
    const targets = { gateway: measured, bare: targetOf(bare.port, "none", `/${warm.length}`) }
    yield* Effect.promise(() => atOnce(targets.bare, count))
    for (const [how, load] of [
      [`${PER_SECOND}/s`, atRate],
      [`${CONCURRENCY} at once`, inTurns]
    ] as const) {
      const timed = yield* Effect.promise(() => load(targets, count))
      const { example, failed, times } = timed.gateway
      const { failed: missed, times: all } = timed.bare
      faults.add("management, the bare server", {
        completed: all.length - missed,
        failed: missed,
        example: timed.bare.example
      })
      const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
      samples.add(`management ${name}, ${how} p50 ms`, p50)
      samples.add(`management ${name}, ${how} p99 ms`, p99)
      faults.add(`management, ${name}`, { completed: times.length - failed, failed, example })
      const baseline = (at: number) => milliseconds(percentile(timed.bare.times, at))
      rows.push(
        { label: `GET ${name}, ${how}, p50`, baseline: baseline(0.5), gateway: milliseconds(p50) },
        { label: "– p99", baseline: baseline(0.99), gateway: milliseconds(p99), must: atMost(p99, MOST_MS, " ms") }
      )
    }
    yield* progress(`management: ${name}`)
  }
  return rows
}, Effect.scoped)

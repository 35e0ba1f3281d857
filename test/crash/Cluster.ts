/** The system under test: a database, a scripted upstream, gateways and accounts, and what the auditor reads of them. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Logger, Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RequestReceipt } from "../../schemas/account/Requests.ts"
import { layer as administration } from "../../src/admin/Database.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { nanoFromUsd } from "../../src/domain/Money.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { usageOf } from "../../src/usage/UsageSql.ts"
import { makeClock } from "../support/Clock.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { startRelay } from "../support/Relay.ts"
import { type DatabaseNeeds, type DatabaseServer, startDatabase } from "./DatabaseServer.ts"
import { startVideoHost, type VideoHost } from "./VideoLoad.ts"
import { environment, type Gateway, makeGateway, program } from "./Gateway.ts"
import { type AccountState, HOLD_TTL_MS, hosts, type Receipt, SHUTDOWN_DELAY_MS, SWEEP_MS } from "./Evidence.ts"
import { startUpstream, type Upstream } from "./Upstream.ts"
import { models } from "./Workload.ts"

const settings = (directory: string, { origin }: VideoHost) => ({
  DATA_DIR: directory,
  PROVIDERS_FILE: join(directory, "providers.json"),
  FAL_API_KEY: "k",
  FAL_BASE_URL: origin,
  OUTBOUND_ALLOW_LOOPBACK: "1",
  SANDBOX: "off",
  HOLD_TTL: `${HOLD_TTL_MS} millis`,
  SWEEP_INTERVAL: `${SWEEP_MS} millis`,
  CLIENT_DRAIN: "1 second",
  UPSTREAM_FIRST_TOKEN_TIMEOUT: "3 seconds",
  UPSTREAM_IDLE_TIMEOUT: "3 seconds",
  UPSTREAM_TOTAL_TIMEOUT: "25 seconds",
  SHUTDOWN_DELAY: `${SHUTDOWN_DELAY_MS} millis`,
  SHUTDOWN_GRACE: "30 seconds",
  RATE_LIMIT_SCALE: "1000000"
})

export interface Account {
  readonly name: string
  readonly id: string
  readonly key: string
  /** The opening credit in nano-USD. */
  readonly credited: bigint
}

export interface Cluster {
  readonly database: DatabaseServer
  readonly upstream: Upstream
  readonly videoHost: VideoHost
  readonly gateways: ReadonlyArray<Gateway>
  /** Opens an account with a credit in nano-USD. */
  readonly open: (name: string, credit: bigint) => Effect.Effect<Account>
  /** Revokes a key by its id; returns whether the key was active. */
  readonly revoke: (id: string) => Effect.Effect<boolean>
  /** The failed checks of `ledger verify`. */
  readonly failedChecks: Effect.Effect<ReadonlyArray<string>>
  /** The harness's own connection. */
  readonly sql: Effect.Effect<PgClient.PgClient, unknown, Scope.Scope>
  readonly receipts: (account: Account) => Effect.Effect<ReadonlyArray<Receipt>>
  readonly accountState: (account: Account) => Effect.Effect<AccountState>
  /** The number of open holds, plus the budget thresholds that have no event yet. */
  readonly openHolds: Effect.Effect<number>
}

const writeProviders = (directory: string, upstream: Upstream) =>
  Effect.sync(() => {
    const entries = hosts.map((id) => ({
      id,
      base_url: upstream.addressOf(id),
      models: Object.fromEntries(models.map((model) => [model, model]))
    }))
    writeFileSync(join(directory, "providers.json"), JSON.stringify(entries))
  })

const pico = (usd: number) => BigInt(Math.round(usd * 1e12))
const nano = (usd: number) => nanoFromUsd(usd) ?? 0n

/** The columns of a request's row that the API does not show. */
type RowFields = Pick<Receipt, "closedAt" | "expiresAt" | "progress">

const receiptOf = (account: string, receipt: RequestReceipt): Omit<Receipt, keyof RowFields> => ({
  id: receipt.id,
  account,
  traceId: receipt.trace_id ?? undefined,
  idempotencyKey: receipt.idempotency_key ?? undefined,
  status: receipt.status,
  basis: receipt.usage_basis,
  errorCode: receipt.error?.code,
  held: nano(receipt.held_usd),
  settled: nano(receipt.settled_usd),
  absorbed: nano(receipt.absorbed_usd),
  refunded: nano(receipt.refunded_usd),
  price:
    receipt.price?.unit !== "token"
      ? undefined
      : { input: pico(receipt.price.input), output: pico(receipt.price.output) }
})

/** Reads all receipts of an account from the API, page by page. */
const readReceipts = (port: number, account: Account) =>
  Effect.promise(async () => {
    const all: Array<Omit<Receipt, keyof RowFields>> = []
    let cursor: string | null = ""
    while (cursor !== null) {
      const query = cursor === "" ? "limit=100" : `limit=100&cursor=${cursor}`
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/requests?${query}`, {
        headers: { authorization: `Bearer ${account.key}` }
      })
      if (!response.ok) throw new Error(`receipts of ${account.name}: ${response.status} ${await response.text()}`)
      const page = (await response.json()) as { data: ReadonlyArray<RequestReceipt>; next_cursor: string | null }
      all.push(...page.data.map((one) => receiptOf(account.name, one)))
      cursor = page.next_cursor
    }
    return all
  })

/** Runs an admin command and returns the JSON that it prints. */
const runAdmin = (databaseUrl: string, directory: string, words: ReadonlyArray<string>) =>
  Effect.callback<unknown>((resume) => {
    const env = environment({ DATABASE_URL: databaseUrl, DATA_DIR: directory })
    const child = execFile(process.execPath, [program("admin.ts"), ...words, "--json"], { env }, (_, stdout, stderr) =>
      resume(
        stdout === ""
          ? Effect.die(new Error(`admin ${words.join(" ")}: ${stderr}`))
          : Effect.sync((): unknown => JSON.parse(stdout))
      )
    )
    return Effect.sync(() => child.kill("SIGTERM"))
  })

const failedChecksIn = (report: unknown): ReadonlyArray<string> =>
  (report as { checks: ReadonlyArray<{ name: string; ok: boolean; detail: string }> }).checks
    .filter(({ ok }) => !ok)
    .map(({ detail, name }) => `${name}: ${detail}`)

type Administration = Layer.Success<typeof administration>

/** Does the work of an admin command in this process. */
const administer = <A, E>(
  databaseUrl: string,
  directory: string,
  body: Effect.Effect<A, E, Administration>
): Effect.Effect<A> =>
  body.pipe(
    Effect.provide(
      administration.pipe(
        Layer.provide(Config.layerFrom({ DATABASE_URL: databaseUrl, DATA_DIR: directory, DATABASE_POOL_SIZE: "2" })),
        Layer.provide(Logger.layer([]))
      )
    ),
    Effect.orDie
  )

/** Gives the key a budget of the account's whole credit, so that budgets count every request and refuse none that the balance allows. */
const addBudget = (sql: SqlClient.SqlClient, accountId: string, limit: bigint) =>
  sql`WITH made AS (
      INSERT INTO budget (id, account_id, scope, limit_nano, period)
      VALUES (${newResourceId()}, ${accountId}, 'key', ${limit}, 'lifetime') RETURNING id
    ) UPDATE api_key SET budget_id = made.id FROM made WHERE account_id = ${accountId} AND kind = 'inference'`

const openAccount = (name: string, credited: bigint) =>
  Effect.gen(function* () {
    const { account, inferenceKey } = yield* (yield* Customers).open(`${name}@example.com`, credited, OPERATOR)
    yield* addBudget(yield* SqlClient.SqlClient, account.id, credited)
    return { name, id: account.id, key: inferenceKey, credited }
  })

const revokeKey = (id: string) => Effect.flatMap(Keys, (keys) => keys.revoke(id, OPERATOR))

const accountStateOf = (sql: SqlClient.SqlClient, account: Account) =>
  Effect.gen(function* () {
    const [row] = yield* sql<{ posted: bigint; held: bigint; open: bigint }>`SELECT posted, held,
        (SELECT count(*) FROM request r WHERE r.account_id = b.account_id AND r.closed IS NULL) AS open
      FROM balance b WHERE account_id = ${account.id}`
    const [budget] = yield* sql<{
      spent: bigint
      limit_nano: bigint
    }>`SELECT COALESCE(p.spent, 0) AS spent, b.limit_nano
      FROM budget b LEFT JOIN budget_period p ON p.budget_id = b.id WHERE b.account_id = ${account.id}`
    const events = yield* sql<{ percent: number }>`SELECT (body::json -> 'data' ->> 'threshold_percent')::int AS percent
      FROM webhook_event WHERE account_id = ${account.id} AND type = 'budget.threshold'`
    const usage = yield* usageOf(sql, account.id, { since: new Date(0), width: "day" })
    return {
      name: account.name,
      credited: account.credited,
      posted: row?.posted ?? 0n,
      held: row?.held ?? 0n,
      open: Number(row?.open ?? 0n),
      budget: {
        spent: budget?.spent ?? 0n,
        limit: budget?.limit_nano ?? 0n,
        notified: events.map(({ percent }) => percent)
      },
      usage: {
        requests: usage.reduce((sum, { requests }) => sum + Number(requests), 0),
        cost: usage.reduce((sum, { cost }) => sum + cost, 0n)
      }
    } satisfies AccountState
  })

/** Makes the usage rollup take requests that are half a second old, so that it also runs during kills. A request that closes later adds its usage itself. */
const rollUpSoon = (sql: SqlClient.SqlClient) =>
  sql`CREATE OR REPLACE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 500::bigint'`

const rowsOf = (sql: SqlClient.SqlClient, account: Account) =>
  Effect.map(
    sql<{ id: string; progress: bigint; expires_at: Date | null; closed_at: Date | null }>`SELECT id, progress,
      expires_at, closed_at FROM request WHERE account_id = ${account.id}`,
    (rows) =>
      new Map(
        rows.map(({ closed_at, expires_at, id, progress }): [string, RowFields] => [
          id,
          { progress, expiresAt: expires_at?.getTime(), closedAt: closed_at?.getTime() }
        ])
      )
  )

const NO_ROW: RowFields = { progress: 0n, expiresAt: undefined, closedAt: undefined }

/** The faults that a cluster must support. */
export interface ClusterNeeds extends DatabaseNeeds {
  readonly gateways: number
  /** Partitions between a gateway and the database. */
  readonly partitions: boolean
  /** Steps of a gateway's clock. */
  readonly steps: boolean
}

/** The needs of kills, pauses and deploys of gateways, and of restarts of the database. */
export const gatewaysOnly = (gateways: number): ClusterNeeds => ({
  gateways,
  partitions: false,
  steps: false,
  standby: false,
  smallDisk: false
})

const environmentOf = (needs: ClusterNeeds, database: DatabaseServer) =>
  Effect.gen(function* () {
    const relays = needs.partitions ? yield* Effect.forEach(database.ports, startRelay) : []
    const clock = needs.steps ? yield* makeClock : undefined
    const url = needs.partitions ? database.urlThrough(relays.map(({ port }) => port)) : database.url
    return { url, faultTools: { relays, clock } }
  })

/** Starts a cluster, which ends with the scope. */
export const startCluster = (needs: ClusterNeeds): Effect.Effect<Cluster, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const upstream = yield* startUpstream
    const videoHost = yield* startVideoHost
    yield* writeProviders(directory, upstream)
    const database = yield* startDatabase(needs)
    const makeOne = Effect.flatMap(environmentOf(needs, database), ({ faultTools, url }) =>
      makeGateway({ ...settings(directory, videoHost), DATABASE_URL: url }, faultTools)
    )
    const gateways = yield* Effect.all(Array.from({ length: needs.gateways }, () => makeOne))
    yield* Effect.forEach(gateways, (gateway) => gateway.start, { concurrency: "unbounded", discard: true })
    const sql = Effect.suspend(() =>
      PgClient.make({ url: Redacted.make(database.writerUrl()), maxConnections: 1 })
    ).pipe(Effect.provide(Reactivity.layer))
    const query = <A>(body: (client: PgClient.PgClient) => Effect.Effect<A, unknown>): Effect.Effect<A> =>
      Effect.scoped(Effect.flatMap(sql, body)).pipe(Effect.orDie)
    yield* query(rollUpSoon)
    const port = gateways[0]?.port ?? 0
    return {
      database,
      upstream,
      videoHost,
      gateways,
      open: (name, credit) => administer(database.url, directory, openAccount(name, credit)),
      revoke: (id) => administer(database.url, directory, revokeKey(id)),
      failedChecks: Effect.map(runAdmin(database.url, directory, ["ledger", "verify"]), failedChecksIn),
      sql,
      receipts: (account) =>
        Effect.gen(function* () {
          const rows = yield* query((client) => rowsOf(client, account))
          const receipts = yield* readReceipts(port, account)
          return receipts.map((receipt) => ({ ...receipt, ...(rows.get(receipt.id) ?? NO_ROW) }))
        }),
      accountState: (account) => query((client) => accountStateOf(client, account)),
      openHolds: query((client) =>
        Effect.map(
          client<{ open: bigint }>`SELECT (SELECT count(*) FROM request WHERE closed IS NULL)
            + (SELECT count(*) FROM budget_crossing WHERE told_at IS NULL) AS open`,
          ([row]) => Number(row?.open ?? 0n)
        )
      )
    }
  })

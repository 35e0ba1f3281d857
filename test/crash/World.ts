/** Everything of a run: a database, a scripted upstream, gateways, accounts; and what is to be read of them afterwards. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Logger, Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
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
import { startRelay } from "../support/Relay.ts"
import { type DatabaseNeeds, type DatabaseServer, startDatabase } from "./DatabaseServer.ts"
import { startVideoHost, type VideoHost } from "./VideoLoad.ts"
import { environment, type Gateway, makeGateway, program } from "./Gateway.ts"
import { type Books, HOLD_TTL_MS, hosts, type Receipt, SHUTDOWN_DELAY_MS, SWEEP_MS } from "./Notes.ts"
import { startUpstream, type Upstream } from "./Upstream.ts"

/**
 * Models the scripted hosts serve. Each has a breaker of its own at each host: with a few, hosts that fail as often as these would rest
 * most of the time, and a gateway would refuse most requests without asking any host.
 */
export const models = [
  ...["gpt-4o-mini", "gpt-4.1-nano", "gpt-4.1-mini", "gpt-4o", "gpt-4.1"],
  ...["mistral-large-2512", "mistral-small-3.2", "ministral-8b-2512", "codestral-2508", "mistral-nemo"],
  ...["nova-micro", "nova-lite", "nova-pro", "command-a"],
  ...["meta-llama/llama-3.3-70b-instruct", "meta-llama/llama-3.1-8b-instruct", "qwen/qwen3-coder"]
] as const

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

/** An account of the run. */
export interface Account {
  readonly name: string
  readonly id: string
  readonly key: string
  /** nano-USD it was opened with. */
  readonly credited: bigint
}

export interface World {
  readonly database: DatabaseServer
  readonly upstream: Upstream
  readonly videoHost: VideoHost
  readonly gateways: ReadonlyArray<Gateway>
  /** Opens an account with so many nano-USD. */
  readonly open: (name: string, credit: bigint) => Effect.Effect<Account>
  /** Revokes a key by its id; answers whether it was active. */
  readonly revoke: (id: string) => Effect.Effect<boolean>
  /** Names of the checks of `ledger verify` that fail. */
  readonly faults: Effect.Effect<ReadonlyArray<string>>
  /** A connection of the harness's own. */
  readonly sql: Effect.Effect<PgClient.PgClient, unknown, Scope.Scope>
  readonly receipts: (account: Account) => Effect.Effect<ReadonlyArray<Receipt>>
  readonly books: (account: Account) => Effect.Effect<Books>
  /** Requests whose hold is open, and thresholds of budgets that are still to be told. */
  readonly openHolds: Effect.Effect<number>
}

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-gateways-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
)

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

/** What only the row of a request says of it. */
type OfRow = Pick<Receipt, "closedAt" | "expiresAt" | "progress">

const receiptOf = (account: string, found: RequestReceipt): Omit<Receipt, keyof OfRow> => ({
  id: found.id,
  account,
  traceId: found.trace_id ?? undefined,
  idempotencyKey: found.idempotency_key ?? undefined,
  status: found.status,
  basis: found.usage_basis,
  errorCode: found.error?.code,
  held: nano(found.held_usd),
  settled: nano(found.settled_usd),
  absorbed: nano(found.absorbed_usd),
  refunded: nano(found.refunded_usd),
  price:
    found.price?.unit !== "token" ? undefined : { input: pico(found.price.input), output: pico(found.price.output) }
})

/** All receipts of an account, page by page, as its owner reads them. */
const readReceipts = (port: number, account: Account) =>
  Effect.promise(async () => {
    const all: Array<Omit<Receipt, keyof OfRow>> = []
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

/** Runs a command line of the operator's to its end and answers the JSON it prints. */
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

const failedChecks = (verified: unknown): ReadonlyArray<string> =>
  (verified as { checks: ReadonlyArray<{ name: string; ok: boolean; detail: string }> }).checks
    .filter(({ ok }) => !ok)
    .map(({ detail, name }) => `${name}: ${detail}`)

type Administration = Layer.Success<typeof administration>

/** Does what an operator's command does, without the start of a process. */
const administering = <A, E>(
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

/** Gives the key a budget of all that its account has, so that it is counted in everywhere and refuses nothing of its own. */
const likeItsBalance = (sql: SqlClient.SqlClient, accountId: string, limit: bigint) =>
  sql`WITH made AS (
      INSERT INTO budget (id, account_id, scope, limit_nano, period)
      VALUES (${newResourceId()}, ${accountId}, 'key', ${limit}, 'lifetime') RETURNING id
    ) UPDATE api_key SET budget_id = made.id FROM made WHERE account_id = ${accountId} AND kind = 'inference'`

const openAccount = (name: string, credited: bigint) =>
  Effect.gen(function* () {
    const { account, inferenceKey } = yield* (yield* Customers).open(`${name}@example.com`, credited, OPERATOR)
    yield* likeItsBalance(yield* SqlClient.SqlClient, account.id, credited)
    return { name, id: account.id, key: inferenceKey, credited }
  })

const revokeKey = (id: string) => Effect.flatMap(Keys, (keys) => keys.revoke(id, OPERATOR))

const booksOf = (sql: SqlClient.SqlClient, account: Account) =>
  Effect.gen(function* () {
    const [row] = yield* sql<{ posted: bigint; held: bigint; open: bigint }>`SELECT posted, held,
        (SELECT count(*) FROM request r WHERE r.account_id = b.account_id AND r.closed IS NULL) AS open
      FROM balance b WHERE account_id = ${account.id}`
    const [budget] = yield* sql<{
      spent: bigint
      limit_nano: bigint
    }>`SELECT COALESCE(p.spent, 0) AS spent, b.limit_nano
      FROM budget b LEFT JOIN budget_period p ON p.budget_id = b.id WHERE b.account_id = ${account.id}`
    const told = yield* sql<{ percent: number }>`SELECT (body::json -> 'data' ->> 'threshold_percent')::int AS percent
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
        told: told.map(({ percent }) => percent)
      },
      used: {
        requests: usage.reduce((sum, { requests }) => sum + Number(requests), 0),
        cost: usage.reduce((sum, { cost }) => sum + cost, 0n)
      }
    } satisfies Books
  })

/** Usage is rolled up of what is seconds old, and so while gateways die; what comes late for that notes itself. */
const rollUpSoon = (sql: SqlClient.SqlClient) =>
  sql`CREATE OR REPLACE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 500::bigint'`

const rowsOf = (sql: SqlClient.SqlClient, account: Account) =>
  Effect.map(
    sql<{ id: string; progress: bigint; expires_at: Date | null; closed_at: Date | null }>`SELECT id, progress,
      expires_at, closed_at FROM request WHERE account_id = ${account.id}`,
    (rows) =>
      new Map(
        rows.map(({ closed_at, expires_at, id, progress }): [string, OfRow] => [
          id,
          { progress, expiresAt: expires_at?.getTime(), closedAt: closed_at?.getTime() }
        ])
      )
  )

const NO_ROW: OfRow = { progress: 0n, expiresAt: undefined, closedAt: undefined }

/** What a run must be able to break. */
export interface WorldNeeds extends DatabaseNeeds {
  readonly gateways: number
  /** Whether gateways are cut off from the database. */
  readonly partitions: boolean
  /** Whether the clocks of gateways are stepped. */
  readonly steps: boolean
}

/** So many gateways, and nothing else than they and the database can be ended. */
export const plain = (gateways: number): WorldNeeds => ({
  gateways,
  partitions: false,
  steps: false,
  standby: false,
  smallDisk: false
})

const surroundingsOf = (needs: WorldNeeds, database: DatabaseServer) =>
  Effect.gen(function* () {
    const relays = needs.partitions ? yield* Effect.forEach(database.ports, startRelay) : []
    const clock = needs.steps ? yield* makeClock : undefined
    const url = needs.partitions ? database.urlThrough(relays.map(({ port }) => port)) : database.url
    return { url, around: { relays, clock } }
  })

/** Starts everything; all of it ends with the scope. */
export const startWorld = (needs: WorldNeeds): Effect.Effect<World, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const upstream = yield* startUpstream
    const videoHost = yield* startVideoHost
    yield* writeProviders(directory, upstream)
    const database = yield* startDatabase(needs)
    const makeOne = Effect.flatMap(surroundingsOf(needs, database), ({ around, url }) =>
      makeGateway({ ...settings(directory, videoHost), DATABASE_URL: url }, around)
    )
    const gateways = yield* Effect.all(Array.from({ length: needs.gateways }, () => makeOne))
    yield* Effect.forEach(gateways, (gateway) => gateway.start, { concurrency: "unbounded", discard: true })
    const sql = Effect.suspend(() =>
      PgClient.make({ url: Redacted.make(database.writerUrl()), maxConnections: 1 })
    ).pipe(Effect.provide(Reactivity.layer))
    const asked = <A>(body: (client: PgClient.PgClient) => Effect.Effect<A, unknown>): Effect.Effect<A> =>
      Effect.scoped(Effect.flatMap(sql, body)).pipe(Effect.orDie)
    yield* asked(rollUpSoon)
    const port = gateways[0]?.port ?? 0
    return {
      database,
      upstream,
      videoHost,
      gateways,
      open: (name, credit) => administering(database.url, directory, openAccount(name, credit)),
      revoke: (id) => administering(database.url, directory, revokeKey(id)),
      faults: Effect.map(runAdmin(database.url, directory, ["ledger", "verify"]), failedChecks),
      sql,
      receipts: (account) =>
        Effect.gen(function* () {
          const rows = yield* asked((client) => rowsOf(client, account))
          const found = yield* readReceipts(port, account)
          return found.map((one) => ({ ...one, ...(rows.get(one.id) ?? NO_ROW) }))
        }),
      books: (account) => asked((client) => booksOf(client, account)),
      openHolds: asked((client) =>
        Effect.map(
          client<{ open: bigint }>`SELECT (SELECT count(*) FROM request WHERE closed IS NULL)
            + (SELECT count(*) FROM budget_crossing WHERE told_at IS NULL) AS open`,
          ([row]) => Number(row?.open ?? 0n)
        )
      )
    }
  })

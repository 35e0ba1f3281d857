/** Several nodes of the service as processes, on one database and one Redis, behind HAProxy. */
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Keys } from "../../src/account/Keys.ts"
import { layer as administration } from "../../src/admin/Database.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { verifyBooks } from "../../src/billing/Books.ts"
import { NANO_PER_USD } from "../../src/domain/Money.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { until } from "./Until.ts"
import { freePort } from "./FreePort.ts"
import { freshDatabase } from "./Database.ts"
import { missing as noHaProxy, startHaProxy } from "./HaProxy.ts"
import { start } from "./Process.ts"
import { missing as noRedis, RedisServer } from "./Redis.ts"
import { temporaryDirectory } from "./Directories.ts"

/** Why tests with nodes, HAProxy and Redis cannot run on this machine; undefined when they can. */
export const missing: string | undefined = noHaProxy ?? noRedis

/** Whether `TEST_FULL` asks for the longer variants of tests. */
export const isFull = process.env["TEST_FULL"] === "1"

/** One node. A test can end it and start it again at the same ports. */
interface TopologyNode {
  readonly name: string
  readonly origin: string
  /** The base URL of its API. */
  readonly api: string
  /** Whether its `/readyz` answers 200. */
  readonly isReady: Effect.Effect<boolean>
  readonly start: Effect.Effect<void>
  /** Ends the node at once, with SIGKILL. */
  readonly kill: Effect.Effect<void>
}

/** An account that uses the nodes. */
export interface Account {
  readonly id: string
  readonly keyId: string
  /** Its inference key. */
  readonly key: string
  readonly managementKey: string
  /** The money that the account was opened with, in nano-USD. */
  readonly credited: bigint
}

/** The nodes, what they share, and what a test reads of it. */
export interface Topology {
  readonly nodes: ReadonlyArray<TopologyNode>
  /** The origin of HAProxy, which passes requests on to all nodes. */
  readonly origin: string
  readonly redis: RedisServer["Service"]
  /** A client of the database that goes through no relay. */
  readonly sql: SqlClient.SqlClient
  readonly accounts: Accounts["Service"]
  readonly keys: Keys["Service"]
  /** Opens an account with a balance in nano-USD. Default: 100 USD. */
  readonly open: (credited?: bigint) => Effect.Effect<Account>
  /** The money of an account in nano-USD, and the number of its open requests. */
  readonly accountState: (account: Pick<Account, "id">) => Effect.Effect<{
    readonly posted: bigint
    readonly held: bigint
    readonly running: number
  }>
  /** Waits until no hold is open. */
  readonly untilNoHold: Effect.Effect<void>
  /** The checks of `ledger verify` that fail. */
  readonly failedChecks: Effect.Effect<ReadonlyArray<string>>
}

interface TopologyOptions {
  /** The number of nodes. Default: 3. */
  readonly count?: number
  /** Settings of all nodes. */
  readonly settings?: Readonly<Record<string, string>>
  /** Settings of one node, which override the others. */
  readonly settingsOf?: (index: number) => Readonly<Record<string, string>>
  /** The database of all nodes. Default: a new one on the run's server. */
  readonly databaseUrl?: string
}

const usual = {
  SANDBOX: "on",
  SECRETS_KEY: "a-key-that-all-nodes-of-these-tests-share",
  // Short enough that tests see the holds of a dead node end, and long enough that a busy node renews its own in time.
  HOLD_TTL: "15 seconds",
  SWEEP_INTERVAL: "1 second",
  OUTBOUND_ALLOW_LOOPBACK: "1"
}

const makeNode = (index: number, settings: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const [port, opsPort] = [yield* freePort, yield* freePort]
    const outer = yield* Effect.scope
    const name = `node${index}`
    let life: Scope.Closeable | undefined
    const launch = start({ ...settings, PORT: String(port), OPS_PORT: String(opsPort) }).pipe(
      // SIGTERM would let the node drain first.
      Effect.tap(({ end }) => Effect.addFinalizer(() => end("SIGKILL")))
    )
    const isReady = Effect.promise(() =>
      fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
        (response) => response.ok,
        () => false
      )
    )
    const node: TopologyNode = {
      name,
      origin: `http://127.0.0.1:${port}`,
      api: `http://127.0.0.1:${port}/api/v1`,
      isReady,
      start: Effect.gen(function* () {
        life = yield* Scope.fork(outer)
        yield* Scope.provide(launch, life)
        yield* until(`${name} is ready`, isReady)
      }),
      kill: Effect.suspend(() => (life === undefined ? Effect.void : Scope.close(life, Exit.void)))
    }
    return { node, address: { name, port, opsPort } }
  })

const administering = (databaseUrl: string, directory: string) =>
  Layer.build(
    administration.pipe(
      Layer.provide(Config.layerFrom({ DATABASE_URL: databaseUrl, DATA_DIR: directory, DATABASE_POOL_SIZE: "3" })),
      Layer.provide(Logger.layer([]))
    )
  )

const accountStateOf = (sql: SqlClient.SqlClient) =>
  Effect.fn("accountStateOf")(function* ({ id }: Pick<Account, "id">) {
    const [row] = yield* sql<{ posted: bigint; held: bigint; running: number }>`SELECT posted, held,
        (SELECT count(*)::int FROM request r WHERE r.account_id = b.account_id AND r.closed IS NULL) AS running
      FROM balance b WHERE account_id = ${id}`
    return row!
  }, Effect.orDie)

/** Starts the nodes, Redis and HAProxy, which end when the scope closes. */
export const startTopology = ({ count = 3, databaseUrl, settings = {}, settingsOf }: TopologyOptions = {}) =>
  Effect.gen(function* () {
    const url = databaseUrl ?? (yield* freshDatabase("topology"))
    const directory = yield* temporaryDirectory
    const redis = Context.get(yield* Layer.build(RedisServer.layer), RedisServer)
    const shared = { ...usual, DATABASE_URL: url, DATA_DIR: directory, REDIS_URL: `redis://127.0.0.1:${redis.port}` }
    const made = yield* Effect.forEach(Array.from({ length: count }).keys(), (index) =>
      makeNode(index, { ...shared, ...settings, ...settingsOf?.(index) })
    )
    const nodes = made.map(({ node }) => node)
    yield* Effect.all(
      nodes.map((node) => node.start),
      { concurrency: "unbounded" }
    )
    const context = yield* administering(url, directory)
    const origin = yield* startHaProxy(
      made.map(({ address }) => address),
      true
    )
    const sql = Context.get(context, SqlClient.SqlClient)
    const customers = Context.get(context, Customers)
    let opened = 0
    const open = Effect.fn("open")(function* (credited: bigint = 100n * NANO_PER_USD) {
      const { account, inferenceKey, managementKey } = yield* customers.open(
        `caller-${opened++}@example.com`,
        credited,
        OPERATOR
      )
      const [row] = yield* sql<{ id: string }>`SELECT id FROM api_key
        WHERE account_id = ${account.id} AND kind = 'inference'`
      return { id: account.id, keyId: row!.id, key: inferenceKey, managementKey, credited }
    }, Effect.orDie)
    const untilNoHold = until(
      "no hold is open",
      sql`SELECT FROM request WHERE closed IS NULL LIMIT 1`.pipe(
        Effect.map((rows) => rows.length === 0),
        // The database may still be restarting.
        Effect.catch(() => Effect.succeed(false))
      )
    )
    return {
      nodes,
      origin,
      redis,
      sql,
      accounts: Context.get(context, Accounts),
      keys: Context.get(context, Keys),
      open,
      accountState: accountStateOf(sql),
      untilNoHold,
      failedChecks: Effect.map(Effect.orDie(verifyBooks(sql)), ({ checks }) =>
        checks.filter(({ ok }) => !ok).map(({ detail, name }) => `${name}: ${detail}`)
      )
    } satisfies Topology
  })

/** A topology that the tests of a file share. */
export class Nodes extends Context.Service<Nodes, Topology>()("tollgate/test/Nodes") {
  static readonly layer = (options: TopologyOptions = {}) => Layer.effect(Nodes, startTopology(options))
}

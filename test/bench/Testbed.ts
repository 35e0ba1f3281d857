/** The system under test: a database, a mock upstream, and the servers between the load and the upstream. */
import { Effect, Redacted, type Scope } from "effect"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { prepareDataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { startPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { root } from "../support/Sources.ts"
import type { BenchError } from "./BenchError.ts"
import { dialects } from "./Dialects.ts"
import { type Machine, pinOthers } from "./Machine.ts"
import type { Options } from "./Options.ts"
import { node, runToEnd, type ServerProcess, startServer } from "./Processes.ts"
import { type Endpoint, MODEL } from "./Traffic.ts"

export interface Account {
  readonly id: string
  readonly key: string
  readonly managementKey: string
}

/** A server for a load. */
export interface Target {
  readonly name: "upstream" | "bare proxy" | "gateway" | "money off" | "Portkey"
  readonly pid: number
  readonly endpoint: Endpoint
}

export interface Testbed {
  readonly options: Options
  readonly machine: Machine
  /** A directory for files of the run, removed at its end. */
  readonly directory: string
  readonly databaseUrl: string
  readonly upstream: Target
  readonly proxy: Target
  readonly moneyOff: Target
  readonly gateway: Target
  readonly account: Account
  /** Starts another gateway with no traffic yet. Its settings override the defaults. */
  readonly freshGateway: (settings: Readonly<Record<string, string>>) => Effect.Effect<Target, BenchError, Scope.Scope>
  /** Starts another gateway with these hosts for one model instead of its provider, by port. The first host comes first. */
  readonly gatewayTo: (
    hosts: Readonly<Record<string, number>>,
    model?: string
  ) => Effect.Effect<Target, BenchError, Scope.Scope>
}

/** More than a run can spend, in whole dollars. */
export const BALANCE_USD = 1_000_000

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "tollgate-bench-"))
    // Root runs PostgreSQL as another user, which must reach its directory below.
    chmodSync(path, 0o711)
    return path
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The embedded server with its own settings, and more connections for several processes. */
const database = Effect.fnUntraced(function* (directory: string) {
  const dataDirectory = yield* prepareDataDirectory({ directory, explicit: true, embedded: true })
  const { url } = yield* startPostgres({ dataDirectory, settings: ["max_connections=120"] })
  return Redacted.value(url)
})

export const fileOf = (name: string) => `test/bench/${name}.ts`

/** Where admin commands find the database of the run. */
type DatabaseLocation = Pick<Testbed, "databaseUrl" | "directory">

/** Runs an admin command and returns the object that it prints. */
export const admin = ({ databaseUrl, directory }: DatabaseLocation, ...words: ReadonlyArray<string>) =>
  Effect.map(
    runToEnd({
      name: `admin ${words.join(" ")}`,
      ...node("src/admin.ts", ...words, "--json"),
      env: { DATABASE_URL: databaseUrl, DATA_DIR: directory }
    }),
    (text): unknown => JSON.parse(text)
  )

/** Opens an account with more than a run can spend. */
export const openAccount = Effect.fnUntraced(function* (location: DatabaseLocation, name: string) {
  const words = ["account", "create", "--email", `${name}@example.com`, "--balance-usd", String(BALANCE_USD), "--yes"]
  const opened = yield* admin(location, ...words)
  const {
    account_id: id,
    inference_key: key,
    management_key: managementKey
  } = opened as Readonly<Record<string, string>>
  return { id: id!, key: key!, managementKey: managementKey! } satisfies Account
})

const settingsOf = (databaseUrl: string, upstream: ServerProcess, directory: string) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: directory,
  HOST: "127.0.0.1",
  PORT: "0",
  OPS_PORT: "0",
  SHUTDOWN_DELAY: "0",
  SANDBOX: "off",
  OPENAI_API_KEY: "sk-bench",
  OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
  RATE_LIMIT_SCALE: "1000000",
  LOG_LEVEL: "none",
  LOG_FORMAT: "json"
})

const hostsFile = (hosts: Readonly<Record<string, number>>, model: string): string =>
  JSON.stringify(
    Object.entries(hosts).map(([id, port]) => ({
      id,
      base_url: `http://127.0.0.1:${port}/v1`,
      models: { [model]: model }
    }))
  )

/** The arguments of `npm start` for Node. */
const nodeArguments = (
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } }
).scripts.start
  .split(" ")
  .slice(2)

/** Starts a testbed, which ends with the scope. */
export const startTestbed = Effect.fn("startTestbed")(function* (options: Options, machine: Machine) {
  const cores = machine.pinning?.measured
  if (machine.pinning !== undefined) pinOthers(machine.pinning)
  const directory = yield* temporaryDirectory
  const databaseUrl = yield* database(join(directory, "data"))
  const account = yield* openAccount({ databaseUrl, directory }, "bench")
  const target = (name: Target["name"], path: string, { pid, port }: ServerProcess): Target => ({
    name,
    pid,
    endpoint: { port, path, key: account.key }
  })
  const [direct, paid] = ["/v1/chat/completions", dialects.chat.path]
  const upstream = yield* startServer({ name: "the mock upstream", ...node(fileOf("mockUpstream")) })
  const origin = `http://127.0.0.1:${upstream.port}`
  const proxy = yield* startServer({ name: "the bare proxy", ...node(fileOf("bareProxy"), origin), cores })
  const env = settingsOf(databaseUrl, upstream, directory)
  const moneyOff = yield* startServer({
    name: "the gateway without money",
    program: process.execPath,
    args: [...nodeArguments.filter((word) => word.startsWith("--")), fileOf("moneyOff")],
    env,
    cores
  })
  const profiling = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`]
  const freshGateway = (settings: Readonly<Record<string, string>>) =>
    Effect.map(
      startServer({
        name: "the gateway",
        program: process.execPath,
        args: [...profiling, ...nodeArguments],
        env: { ...env, ...settings },
        cores
      }),
      (listening) => target("gateway", paid, listening)
    )
  const gatewayTo: Testbed["gatewayTo"] = (hosts, model = MODEL) =>
    Effect.suspend(() => {
      const file = join(directory, `${Object.keys(hosts).join("-")}.json`)
      writeFileSync(file, hostsFile(hosts, model))
      return freshGateway({ OPENAI_API_KEY: "", PROVIDERS_FILE: file })
    })
  const testbed: Testbed = {
    options,
    machine,
    directory,
    databaseUrl,
    account,
    upstream: target("upstream", direct, upstream),
    proxy: target("bare proxy", direct, proxy),
    moneyOff: target("money off", paid, moneyOff),
    gateway: yield* freshGateway({}),
    freshGateway,
    gatewayTo
  }
  return testbed
})

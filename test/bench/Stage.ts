/** What a run is measured on: a database, a mock upstream, and what stands between it and the load. */
import { Effect, Redacted, type Scope } from "effect"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { prepareDataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { startPostgres } from "../../src/platform/database/EmbeddedPostgres.ts"
import { root } from "../support/Sources.ts"
import type { BenchError } from "./BenchError.ts"
import { dialects } from "./Dialects.ts"
import { type Machine, stepAside } from "./Machine.ts"
import type { Options } from "./Options.ts"
import { type Listening, listen, node, output } from "./Processes.ts"
import { type Endpoint, MODEL } from "./Traffic.ts"

/** An account, as it is before a load. */
export interface Customer {
  readonly id: string
  readonly key: string
  readonly managementKey: string
}

/** Something that a load can be sent to. */
export interface Target {
  readonly name: "upstream" | "bare proxy" | "gateway" | "money off" | "Portkey"
  readonly pid: number
  readonly endpoint: Endpoint
}

export interface Stage {
  readonly options: Options
  readonly machine: Machine
  /** For files of the run; removed with it. */
  readonly directory: string
  readonly databaseUrl: string
  readonly upstream: Target
  readonly proxy: Target
  readonly moneyOff: Target
  readonly gateway: Target
  readonly customer: Customer
  /** Another gateway, with nothing behind it yet; these settings go before those of the others. */
  readonly freshGateway: (settings: Readonly<Record<string, string>>) => Effect.Effect<Target, BenchError, Scope.Scope>
  /** The same with these hosts of one model in the place of its provider, each given by its port, the first tried first. */
  readonly gatewayTo: (
    hosts: Readonly<Record<string, number>>,
    model?: string
  ) => Effect.Effect<Target, BenchError, Scope.Scope>
}

/** More than a run can spend, and in whole dollars. */
export const BALANCE_USD = 1_000_000

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "tollgate-bench-"))
    // Root's PostgreSQL runs as a user who has to pass.
    chmodSync(path, 0o711)
    return path
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The service's own server with its own settings, but for room for the connections of several processes. */
const database = Effect.fnUntraced(function* (directory: string) {
  const dataDirectory = yield* prepareDataDirectory({ directory, explicit: true, embedded: true })
  const { url } = yield* startPostgres({ dataDirectory, settings: ["max_connections=120"] })
  return Redacted.value(url)
})

export const fileOf = (name: string) => `test/bench/${name}.ts`

/** Where the service's commands find the database of the run. */
type Place = Pick<Stage, "databaseUrl" | "directory">

/** One of the service's commands, and the object that it prints. */
export const admin = ({ databaseUrl, directory }: Place, ...words: ReadonlyArray<string>) =>
  Effect.map(
    output({
      name: `admin ${words.join(" ")}`,
      ...node("src/admin.ts", ...words, "--json"),
      env: { DATABASE_URL: databaseUrl, DATA_DIR: directory }
    }),
    (text): unknown => JSON.parse(text)
  )

/** A new account with more than a run can spend. */
export const openAccount = Effect.fnUntraced(function* (place: Place, name: string) {
  const words = ["account", "create", "--email", `${name}@example.com`, "--balance-usd", String(BALANCE_USD), "--yes"]
  const opened = yield* admin(place, ...words)
  const {
    account_id: id,
    inference_key: key,
    management_key: managementKey
  } = opened as Readonly<Record<string, string>>
  return { id: id!, key: key!, managementKey: managementKey! } satisfies Customer
})

const settingsOf = (databaseUrl: string, upstream: Listening, directory: string) => ({
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

/** The gateway's arguments as `npm start` gives them to Node. */
const started = (
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } }
).scripts.start
  .split(" ")
  .slice(2)

/** Starts all of it; everything ends with the scope. */
export const setUp = Effect.fn("setUp")(function* (options: Options, machine: Machine) {
  const cores = machine.pinning?.measured
  if (machine.pinning !== undefined) stepAside(machine.pinning)
  const directory = yield* temporaryDirectory
  const databaseUrl = yield* database(join(directory, "data"))
  const customer = yield* openAccount({ databaseUrl, directory }, "bench")
  const target = (name: Target["name"], path: string, { pid, port }: Listening): Target => ({
    name,
    pid,
    endpoint: { port, path, key: customer.key }
  })
  const [direct, paid] = ["/v1/chat/completions", dialects.chat.path]
  const upstream = yield* listen({ name: "the mock upstream", ...node(fileOf("mockUpstream")) })
  const origin = `http://127.0.0.1:${upstream.port}`
  const proxy = yield* listen({ name: "the bare proxy", ...node(fileOf("bareProxy"), origin), cores })
  const env = settingsOf(databaseUrl, upstream, directory)
  const moneyOff = yield* listen({
    name: "the gateway without money",
    program: process.execPath,
    args: [...started.filter((word) => word.startsWith("--")), fileOf("moneyOff")],
    env,
    cores
  })
  const profiling = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`]
  const freshGateway = (settings: Readonly<Record<string, string>>) =>
    Effect.map(
      listen({
        name: "the gateway",
        program: process.execPath,
        args: [...profiling, ...started],
        env: { ...env, ...settings },
        cores
      }),
      (listening) => target("gateway", paid, listening)
    )
  const gatewayTo: Stage["gatewayTo"] = (hosts, model = MODEL) =>
    Effect.suspend(() => {
      const file = join(directory, `${Object.keys(hosts).join("-")}.json`)
      writeFileSync(file, hostsFile(hosts, model))
      return freshGateway({ OPENAI_API_KEY: "", PROVIDERS_FILE: file })
    })
  const stage: Stage = {
    options,
    machine,
    directory,
    databaseUrl,
    customer,
    upstream: target("upstream", direct, upstream),
    proxy: target("bare proxy", direct, proxy),
    moneyOff: target("money off", paid, moneyOff),
    gateway: yield* freshGateway({}),
    freshGateway,
    gatewayTo
  }
  return stage
})

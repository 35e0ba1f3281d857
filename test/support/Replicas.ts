/** A PostgreSQL 15 with a standby that follows it synchronously, for failovers there and back. */
import { Effect, Exit, Schedule, type Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { once } from "node:events"
import { join } from "node:path"
import { freePort } from "./FreePort.ts"
import { temporaryDirectory } from "./Directories.ts"

const programs = "/usr/lib/postgresql/15/bin"
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const options = { ...account, cwd: "/", env: { LC_ALL: "C" } }

/** Runs a program to its end without blocking the relays, clients and scripted hosts of this process. */
const run = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.callback<string>((resume) => {
    const child = execFile(join(programs, program), args, options, (error, stdout, stderr) =>
      resume(error === null ? Effect.succeed(stdout.trim()) : Effect.die(new Error(`${program}: ${stderr}`)))
    )
    return Effect.sync(() => child.kill())
  })

/** Why tests with a standby cannot run on this machine; undefined when they can. */
export const missing: string | undefined = existsSync(join(programs, "pg_basebackup"))
  ? undefined
  : "PostgreSQL 15 is not installed (Debian: apt-get install postgresql-15)"

type Part = "primary" | "standby"

export interface Replicas {
  /** A URL with both hosts. */
  readonly url: string
  /** The ports of both hosts. */
  readonly ports: ReadonlyArray<number>
  /** The server that takes writes, or took the last ones. */
  readonly writer: () => {
    readonly port: number
    readonly pid: number
    readonly data: string
    readonly isRunning: boolean
  }
  /** Ends the server that takes writes, without a checkpoint. */
  readonly crash: Effect.Effect<void>
  /** Starts the server that took the last writes. Returns when it accepts connections. */
  readonly start: Effect.Effect<void>
  /** `crash`, then `start`. */
  readonly restart: Effect.Effect<void>
  /** Ends the server that takes writes, and promotes the other one. */
  readonly failOver: Effect.Effect<void>
  /** After a failover, starts the ended server as the synchronous standby of the promoted one. */
  readonly rejoin: Effect.Effect<void>
}

/** The settings of a pair of servers. */
export interface ReplicasOptions {
  /** The data directory of a server, which is created when it is missing. Default: a temporary one. */
  readonly dataOf?: (server: string) => Effect.Effect<string, never, Scope.Scope>
  /** More settings of both servers. */
  readonly settings?: ReadonlyArray<string>
  /** More settings of one server, which override the others. */
  readonly settingsOf?: (server: string) => ReadonlyArray<string>
  /** Whether a crash of the machine may lose the cluster. Default: true. */
  readonly volatile?: boolean
}

const statement = (port: number, text: string) =>
  run("psql", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-Atc", text)

/** A directory that the servers' own user can read. */
const sharedDirectory = Effect.tap(temporaryDirectory, (path) => Effect.sync(() => chmodSync(path, 0o755)))

const ended = (child: ChildProcess | undefined) =>
  child === undefined || child.exitCode !== null || child.signalCode !== null

interface Server {
  readonly data: string
  readonly port: number
  readonly settings: ReadonlyArray<string>
  child: ChildProcess | undefined
}

const kill = (server: Server) =>
  Effect.promise(async () => {
    const { child } = server
    if (child === undefined || ended(child)) return
    const exit = once(child, "exit")
    child.kill("SIGQUIT")
    await exit
  })

const launch = (server: Server, more: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { data, port } = server
    const settings = [
      `port=${port}`,
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=200",
      // A standby looks for its primary again without a pause.
      "wal_retrieve_retry_interval=200ms",
      ...more,
      ...server.settings
    ]
    const args = ["-D", data, ...settings.flatMap((one) => ["-c", one])]
    server.child = spawn(join(programs, "postgres"), args, { ...options, stdio: "ignore" })
    yield* Effect.exit(run("pg_isready", "-q", "-h", "127.0.0.1", "-p", String(port))).pipe(
      Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: Exit.isSuccess }),
      Effect.timeoutOrElse({
        duration: "60 seconds",
        orElse: () => Effect.die(new Error(`the server at port ${port} does not start`))
      })
    )
  })

/** Copies a running server and starts the copy as its standby. From then on, commits wait for the standby. */
const follow = (standby: Server, primary: Server, settings: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    // The directory itself may be a mount point, so only its content is removed.
    for (const name of readdirSync(standby.data)) rmSync(join(standby.data, name), { recursive: true })
    const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"]
    yield* run("pg_basebackup", "-D", standby.data, "-R", "-X", "stream", "-c", "fast", ...from)
    // The copy's own setting applies once it is promoted: then it has no standby.
    appendFileSync(join(standby.data, "postgresql.auto.conf"), "synchronous_standby_names = ''\n")
    yield* launch(standby, settings)
    // The standby has every commit, so a failover loses none.
    yield* statement(primary.port, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    yield* statement(primary.port, "SELECT pg_reload_conf()")
  })

/** Starts both servers, which end when the scope closes. */
export const startReplicasWith = ({
  dataOf,
  settings = [],
  settingsOf = () => [],
  volatile = true
}: ReplicasOptions): Effect.Effect<Replicas, never, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* sharedDirectory
    const make = (name: string) =>
      Effect.gen(function* () {
        const data = dataOf === undefined ? join(directory, name) : yield* dataOf(name)
        mkdirSync(data, { recursive: true, mode: 0o700 })
        if (account.uid !== undefined && account.gid !== undefined) chownSync(data, account.uid, account.gid)
        const server: Server = { data, port: yield* freePort, settings: settingsOf(name), child: undefined }
        const sweep = () => void server.child?.kill("SIGQUIT")
        process.once("exit", sweep)
        yield* Effect.addFinalizer(() =>
          Effect.andThen(
            kill(server),
            Effect.sync(() => process.off("exit", sweep))
          )
        )
        return server
      })
    const servers: Record<Part, Server> = { primary: yield* make("one"), standby: yield* make("two") }
    const [one, two] = [servers.primary.port, servers.standby.port]
    const cluster = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
    yield* run("initdb", "-D", servers.primary.data, ...cluster, ...(volatile ? ["--no-sync"] : []))
    yield* launch(servers.primary, settings)
    yield* follow(servers.standby, servers.primary, settings)
    const crash = Effect.suspend(() => kill(servers.primary))
    const start = Effect.suspend(() => launch(servers.primary, settings))
    return {
      url: `postgres://postgres@127.0.0.1:${one},127.0.0.1:${two}/postgres?target_session_attrs=read-write`,
      ports: [one, two],
      writer: () => {
        const { child, data, port } = servers.primary
        return { port, data, pid: child?.pid ?? 0, isRunning: !ended(child) }
      },
      crash,
      start,
      restart: Effect.andThen(crash, start),
      failOver: Effect.gen(function* () {
        yield* crash
        yield* statement(servers.standby.port, "SELECT pg_promote()")
        const { primary, standby } = servers
        Object.assign(servers, { primary: standby, standby: primary })
      }),
      rejoin: Effect.suspend(() => follow(servers.standby, servers.primary, settings))
    }
  })

/** Starts both servers with the usual settings. They end when the scope closes. */
export const startReplicas: Effect.Effect<Replicas, never, Scope.Scope> = startReplicasWith({})

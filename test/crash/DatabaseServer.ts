/** The harness's own PostgreSQL, with default durability. Tests can crash it, fail it over, and fill or slow down its disk. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted, type Scope } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, mkdirSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { type Account, prepareDataDirectory, serverAccount } from "../../src/platform/database/DataDirectory.ts"
import { findBinaries } from "../../src/platform/database/PostgresBinaries.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { type Replicas, startReplicasWith } from "../support/Replicas.ts"
import { mountSmallDisk, slowDown, type SmallDisk } from "./Disk.ts"
import type { Outage } from "./Evidence.ts"
import { OutageLog } from "./OutageLog.ts"
import { until } from "../support/Until.ts"
import { freePort } from "../support/FreePort.ts"

export interface DatabaseServer {
  readonly url: string
  /** The URL of the primary alone. */
  readonly writerUrl: () => string
  /** The port of each server. */
  readonly ports: ReadonlyArray<number>
  /** The URL through relays at these ports, one for each server. */
  readonly urlThrough: (ports: ReadonlyArray<number>) => string
  /** Stops the server without a checkpoint, as `pg_ctl -m immediate` does; returns when it has ended. */
  readonly crash: Effect.Effect<void>
  /** Starts the server at the same address; returns when it has recovered and commits. */
  readonly start: Effect.Effect<void>
  /** Stops the primary for good and promotes its standby, which then gets a new standby. */
  readonly failOver: Effect.Effect<void>
  /** Fills the disk for a time in milliseconds; returns when the database commits again. */
  readonly fill: (ms: number) => Effect.Effect<void>
  /** Delays each flush to the disk by `delayMs`, for `ms` milliseconds. */
  readonly slow: (delayMs: number, ms: number) => Effect.Effect<void>
  /** From each stop or full disk until the database commits again. */
  readonly outages: () => ReadonlyArray<Outage>
  /** When the disk was slow. */
  readonly slows: () => ReadonlyArray<Outage>
}

/** The faults that a database must support beyond crashes. */
export interface DatabaseNeeds {
  readonly standby: boolean
  readonly smallDisk: boolean
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const end = (child: ChildProcess | undefined, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (child === undefined || hasEnded(child)) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/** Whether the server at this port accepts connections. A server that is starting up answers with an error. */
const ready = (port: number): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    const done = (answer: boolean) => {
      socket.destroy()
      resume(Effect.succeed(answer))
    }
    socket.once("error", () => done(false))
    // The answer to the startup packet begins with "R" (authentication) or "E" (an error, during recovery).
    socket.once("data", (data) => done(data[0] === 0x52))
    socket.once("close", () => done(false))
    socket.once("connect", () => {
      const text = Buffer.from("user\0postgres\0database\0postgres\0\0", "latin1")
      const head = Buffer.alloc(8)
      head.writeInt32BE(8 + text.length, 0)
      head.writeInt32BE(196_608, 4)
      socket.write(Buffer.concat([head, text]))
    })
  })

/** One server, or a primary with a standby, without the log of its outages. */
interface Engine {
  readonly url: string
  readonly ports: ReadonlyArray<number>
  readonly writer: Replicas["writer"]
  readonly crash: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  readonly failOver: Effect.Effect<void>
  readonly rejoin: Effect.Effect<void>
}

const urlAt = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`

const SETTINGS = ["shared_buffers=64MB", "jit=off"]

/** On a small disk the write-ahead log must leave room for the tables. */
const settingsOn = (smallDisk: boolean) => [...SETTINGS, ...(smallDisk ? ["max_wal_size=128MB"] : [])]

type MountAt = (path: string, account: Account) => Effect.Effect<void, never, Scope.Scope>

const single = (mountAt: MountAt, more: ReadonlyArray<string>): Effect.Effect<Engine, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const dataDirectory = yield* prepareDataDirectory({
      directory: yield* temporaryDirectory,
      explicit: true,
      embedded: true
    })
    const data = join(dataDirectory, "cluster")
    const account = serverAccount(data)
    const { initdb, postgres } = yield* findBinaries(dataDirectory, account)
    mkdirSync(data, { mode: 0o700 })
    yield* mountAt(data, account)
    if (account.uid !== undefined && account.gid !== undefined) chownSync(data, account.uid, account.gid)
    const options = { ...account, cwd: "/", env: { LC_ALL: "C" }, stdio: "ignore" as const }
    execFileSync(initdb, ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"], options)
    const port = yield* freePort
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", ...more]
    let child: ChildProcess | undefined
    // For an exit of this process that closes no scopes.
    const stopAtExit = () => child?.kill("SIGQUIT")
    process.once("exit", stopAtExit)
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Effect.suspend(() => end(child, "SIGQUIT")),
        Effect.sync(() => process.off("exit", stopAtExit))
      )
    )
    const start = Effect.gen(function* () {
      child = spawn(postgres, ["-D", data, ...settings.flatMap((each) => ["-c", each])], options)
      yield* until("the database accepts connections", ready(port))
    })
    yield* start
    return {
      url: urlAt(port),
      ports: [port],
      writer: () => ({ port, data, pid: child?.pid ?? 0, isRunning: child !== undefined && !hasEnded(child) }),
      crash: Effect.suspend(() => end(child, "SIGQUIT")),
      start,
      failOver: Effect.die(new Error("This database has no standby.")),
      rejoin: Effect.void
    }
  })

/** Uses Debian's PostgreSQL, because the embedded one lacks `pg_basebackup`. */
const pair = (mountAt: MountAt, settings: ReadonlyArray<string>): Effect.Effect<Engine, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    chmodSync(directory, 0o755)
    const dataOf = (name: string) => {
      const path = join(directory, name)
      mkdirSync(path, { mode: 0o700 })
      return Effect.as(mountAt(path, serverAccount(path)), path)
    }
    return yield* startReplicasWith({ dataOf, settings, volatile: false })
  })

/**
 * Commits a write, which waits for a synchronous standby. Returns the error, or undefined. The cast to text is there because the driver
 * cannot decode the position in the log that the function returns.
 */
const commitError = (port: number): Effect.Effect<string | undefined> =>
  PgConnection.make({
    url: Redacted.make(urlAt(port)),
    connectTimeout: "1 second"
  }).pipe(
    Effect.flatMap((connection) => connection.query("SELECT pg_logical_emit_message(true, 'harness', '')::text")),
    Effect.scoped,
    Effect.timeout("2 seconds"),
    Effect.match({ onSuccess: () => undefined, onFailure: (error) => `${error.message} ${String(error.cause)}` })
  )

/** Starts a database, which ends with the scope. */
export const startDatabase = ({
  smallDisk,
  standby
}: DatabaseNeeds): Effect.Effect<DatabaseServer, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const disks = new Map<string, SmallDisk>()
    const mountAt: MountAt = (path, account) =>
      smallDisk ? Effect.map(mountSmallDisk(path, account), (disk) => void disks.set(path, disk)) : Effect.void
    const engine = yield* (standby ? pair : single)(mountAt, settingsOn(smallDisk))
    const [outages, slows] = [new OutageLog<Pick<Outage, "commits">>(), new OutageLog()]
    let error: string | undefined
    const committing = until(
      () => `the database commits (${error})`,
      Effect.gen(function* () {
        const { isRunning, port } = engine.writer()
        error = isRunning ? yield* commitError(port) : "its process has ended"
        // A server that cannot write its log, or read it, ends by itself.
        if (!isRunning) yield* engine.start
        return error === undefined
      })
    )
    const back = Effect.andThen(
      committing,
      Effect.sync(() => outages.end())
    )
    yield* committing
    return {
      url: engine.url,
      writerUrl: () => urlAt(engine.writer().port),
      ports: engine.ports,
      urlThrough: (ports) =>
        engine.ports.reduce((url, port, index) => url.replace(`:${port}`, `:${ports[index]}`), engine.url),
      crash: Effect.suspend(() => {
        outages.begin({})
        return engine.crash
      }),
      start: Effect.andThen(engine.start, back),
      failOver: Effect.gen(function* () {
        outages.begin({})
        yield* Effect.andThen(engine.failOver, back)
        // The primary commits while its new standby starts, except at the moment when commits begin to wait for it.
        yield* slows.during(Effect.andThen(engine.rejoin, committing), {})
      }),
      fill: (ms) =>
        Effect.gen(function* () {
          const disk = disks.get(engine.writer().data)
          if (disk === undefined) return yield* Effect.die(new Error("This database has no small disk."))
          outages.begin({ commits: true })
          yield* disk.fill
          yield* Effect.sleep(ms)
          yield* disk.free
          yield* back
        }),
      slow: (delayMs, ms) =>
        slows.during(
          Effect.suspend(() => slowDown(engine.writer().pid, delayMs, ms)),
          {}
        ),
      outages: () => outages.all,
      slows: () => slows.all
    }
  })

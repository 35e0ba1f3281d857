/** A PostgreSQL of the harness's own, with the durability it has by default, that can be killed and started again. */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted, type Scope } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Account, prepareDataDirectory, serverAccount } from "../../src/platform/database/DataDirectory.ts"
import { findBinaries } from "../../src/platform/database/PostgresBinaries.ts"
import { type Replicas, startReplicasWith } from "../support/Replicas.ts"
import { mountSmallDisk, slowDown, type SmallDisk } from "./Disk.ts"
import type { Outage } from "./Notes.ts"
import { Outages } from "./Outages.ts"
import { until } from "./Patience.ts"
import { freePort } from "./Ports.ts"

export interface DatabaseServer {
  /** As the harness itself reaches it. */
  readonly url: string
  /** The same, by the server that takes writes. */
  readonly writerUrl: () => string
  /** Where its servers listen. */
  readonly ports: ReadonlyArray<number>
  /** The same database through relays at these ports, one for each server. */
  readonly urlThrough: (ports: ReadonlyArray<number>) => string
  /** Ends the server without a checkpoint, as `pg_ctl -m immediate` does; returns when it is gone. */
  readonly crash: Effect.Effect<void>
  /** Starts it at the same address; returns when it has recovered and commits. */
  readonly start: Effect.Effect<void>
  /** Ends the server for good; its standby takes its place, and has another one afterwards. */
  readonly failOver: Effect.Effect<void>
  /** Leaves no space on its disk for so many milliseconds; returns when it commits again. */
  readonly fill: (ms: number) => Effect.Effect<void>
  /** Delays what it flushes to its disk by `delayMs`, for so many milliseconds. */
  readonly slow: (delayMs: number, ms: number) => Effect.Effect<void>
  /** From each end, or each filled disk, to the moment it committed again. */
  readonly outages: () => ReadonlyArray<Outage>
  /** When its disk was slow. */
  readonly slows: () => ReadonlyArray<Outage>
}

/** What a run does to its database beyond ending it. */
export interface DatabaseNeeds {
  readonly standby: boolean
  readonly smallDisk: boolean
}

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-crash-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
)

const ended = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const end = (child: ChildProcess | undefined, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (child === undefined || ended(child)) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/** Whether a server answers at this port at all; one that is starting up answers too, with a refusal. */
const ready = (port: number): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    const done = (answer: boolean) => {
      socket.destroy()
      resume(Effect.succeed(answer))
    }
    socket.once("error", () => done(false))
    // A start-up packet for the maintenance database: "R" asks for no password, "E" says not yet.
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

/** A server, or a pair of them, without what is noted of it. */
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

/** On a small disk the log must leave room for the tables. */
const settingsOn = (smallDisk: boolean) => [...SETTINGS, ...(smallDisk ? ["max_wal_size=128MB"] : [])]

type MountAt = (path: string, account: Account) => Effect.Effect<void, never, Scope.Scope>

const one = (mountAt: MountAt, more: ReadonlyArray<string>): Effect.Effect<Engine, unknown, Scope.Scope> =>
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
    // A harness that ends without closing its scopes leaves no server behind.
    const sweep = () => child?.kill("SIGQUIT")
    process.once("exit", sweep)
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Effect.suspend(() => end(child, "SIGQUIT")),
        Effect.sync(() => process.off("exit", sweep))
      )
    )
    const start = Effect.gen(function* () {
      child = spawn(postgres, ["-D", data, ...settings.flatMap((each) => ["-c", each])], options)
      yield* until("the database takes connections", ready(port))
    })
    yield* start
    return {
      url: urlAt(port),
      ports: [port],
      writer: () => ({ port, data, pid: child?.pid ?? 0, isRunning: child !== undefined && !ended(child) }),
      crash: Effect.suspend(() => end(child, "SIGQUIT")),
      start,
      failOver: Effect.die(new Error("this database has no standby")),
      rejoin: Effect.void
    }
  })

/** Debian's: the embedded server comes without the program that copies a running one. */
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
 * Why no transaction that writes commits; undefined when one did. It commits only where a standby that must have it does. The driver
 * cannot decode a position of the log, which the function returns: it takes its bytes for text, and most are not.
 */
const obstacle = (port: number): Effect.Effect<string | undefined> =>
  PgConnection.make({
    url: Redacted.make(urlAt(port)),
    connectTimeout: "1 second"
  }).pipe(
    Effect.flatMap((connection) => connection.query("SELECT pg_logical_emit_message(true, 'harness', '')::text")),
    Effect.scoped,
    Effect.timeout("2 seconds"),
    Effect.match({ onSuccess: () => undefined, onFailure: (error) => `${error.message} ${String(error.cause)}` })
  )

/** Starts one; it ends with the scope, and its directory goes. */
export const startDatabase = ({
  smallDisk,
  standby
}: DatabaseNeeds): Effect.Effect<DatabaseServer, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const disks = new Map<string, SmallDisk>()
    const mountAt: MountAt = (path, account) =>
      smallDisk ? Effect.map(mountSmallDisk(path, account), (disk) => void disks.set(path, disk)) : Effect.void
    const engine = yield* (standby ? pair : one)(mountAt, settingsOn(smallDisk))
    const [outages, slows] = [new Outages<Pick<Outage, "commits">>(), new Outages()]
    let seen: string | undefined
    const committing = until(
      () => `the database commits (${seen})`,
      Effect.gen(function* () {
        const { isRunning, port } = engine.writer()
        seen = isRunning ? yield* obstacle(port) : "its process has ended"
        // A server that could not write its log, or not read it, has ended itself.
        if (!isRunning) yield* engine.start
        return seen === undefined
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
        // It commits while its standby is made, but for the moment in which commits begin to wait for that one.
        yield* slows.during(Effect.andThen(engine.rejoin, committing), {})
      }),
      fill: (ms) =>
        Effect.gen(function* () {
          const disk = disks.get(engine.writer().data)
          if (disk === undefined) return yield* Effect.die(new Error("this database has no small disk"))
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

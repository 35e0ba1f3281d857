/** A PostgreSQL of the harness's own, with the durability it has by default, that can be killed and started again. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { prepareDataDirectory, serverAccount } from "../../src/platform/database/DataDirectory.ts"
import { findBinaries } from "../../src/platform/database/PostgresBinaries.ts"
import type { Outage } from "./Notes.ts"
import { Outages } from "./Outages.ts"
import { until } from "./Patience.ts"
import { freePort } from "./Ports.ts"

export interface DatabaseServer {
  readonly url: string
  /** Ends it without a checkpoint, as `pg_ctl -m immediate` does; returns when it is gone. */
  readonly crash: Effect.Effect<void>
  /** Starts it at the same address; returns when it has recovered and takes connections. */
  readonly start: Effect.Effect<void>
  /** From each end to the moment it took connections again. */
  readonly outages: () => ReadonlyArray<Outage>
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

/** Starts one; it ends with the scope, and its directory goes. */
export const startDatabase: Effect.Effect<DatabaseServer, unknown, Scope.Scope> = Effect.gen(function* () {
  const dataDirectory = yield* prepareDataDirectory({
    directory: yield* temporaryDirectory,
    explicit: true,
    embedded: true
  })
  const data = join(dataDirectory, "cluster")
  const account = serverAccount(data)
  const { initdb, postgres } = yield* findBinaries(dataDirectory, account)
  mkdirSync(data, { mode: 0o700 })
  if (account.uid !== undefined && account.gid !== undefined) chownSync(data, account.uid, account.gid)
  const options = { ...account, cwd: "/", env: { LC_ALL: "C" }, stdio: "ignore" as const }
  execFileSync(initdb, ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"], options)
  const port = yield* freePort
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "shared_buffers=64MB",
    "jit=off"
  ]
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
  const outages = new Outages()
  const start = Effect.gen(function* () {
    child = spawn(postgres, ["-D", data, ...settings.flatMap((one) => ["-c", one])], options)
    yield* until("the database takes connections", ready(port))
    outages.end()
  })
  yield* start
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    crash: Effect.suspend(() => {
      outages.begin()
      return end(child, "SIGQUIT")
    }),
    start,
    outages: () => outages.all
  }
})

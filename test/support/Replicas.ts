/** A PostgreSQL 15 with a standby that follows it synchronously, for failovers. */
import { Effect, Schedule, type Scope } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../crash/Ports.ts"

const programs = "/usr/lib/postgresql/15/bin"
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const options = { ...account, cwd: "/", env: { LC_ALL: "C" } }

const run = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.sync(() =>
    execFileSync(join(programs, program), args, { ...options, stdio: "pipe" })
      .toString()
      .trim()
  )

export interface Replicas {
  /** With both hosts. */
  readonly url: string
  /** Ends the primary without a checkpoint and starts it again. */
  readonly restart: Effect.Effect<void>
  /** Ends the primary for good and lets the standby take its place. */
  readonly failOver: Effect.Effect<void>
}

const statement = (port: number, text: string) =>
  run("psql", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-Atc", text)

/** Starts both; they end with the scope. */
export const startReplicas: Effect.Effect<Replicas, never, Scope.Scope> = Effect.gen(function* () {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-replicas-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  )
  chmodSync(directory, 0o755)
  const children = new Map<string, ChildProcess>()
  const kill = (name: string) =>
    Effect.promise(async () => {
      const child = children.get(name)
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGQUIT")
      await ended
    })
  const launch = (name: string, port: number) =>
    Effect.gen(function* () {
      const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"]
      const args = ["-D", join(directory, name), ...settings.flatMap((one) => ["-c", one])]
      children.set(name, spawn(join(programs, "postgres"), args, { ...options, stdio: "ignore" }))
      yield* Effect.try(() =>
        execFileSync(join(programs, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)])
      ).pipe(Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))), Effect.orDie)
    })
  yield* Effect.addFinalizer(() => Effect.all([kill("standby"), kill("primary")], { discard: true }))
  const [one, two] = [yield* freePort, yield* freePort]
  for (const name of ["primary", "standby"]) {
    mkdirSync(join(directory, name), { mode: 0o700 })
    if (account.uid !== undefined && account.gid !== undefined) {
      chownSync(join(directory, name), account.uid, account.gid)
    }
  }
  const cluster = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
  yield* run("initdb", "-D", join(directory, "primary"), ...cluster)
  yield* launch("primary", one)
  const from = ["-h", "127.0.0.1", "-p", String(one), "-U", "postgres"]
  yield* run("pg_basebackup", "-D", join(directory, "standby"), "-R", "-X", "stream", "-c", "fast", ...from)
  yield* launch("standby", two)
  // Nothing is committed that the standby does not have, so a failover loses nothing.
  yield* statement(one, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  yield* statement(one, "SELECT pg_reload_conf()")
  return {
    url: `postgres://postgres@127.0.0.1:${one},127.0.0.1:${two}/postgres?target_session_attrs=read-write`,
    restart: Effect.andThen(kill("primary"), launch("primary", one)),
    failOver: Effect.andThen(kill("primary"), Effect.asVoid(statement(two, "SELECT pg_promote()")))
  }
})

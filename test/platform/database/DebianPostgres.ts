import { Effect, Schedule } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const programs = "/usr/lib/postgresql/15/bin"

/** Whether Debian's package of the oldest supported PostgreSQL is installed. */
export const debianPostgres = existsSync(join(programs, "postgres"))

const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const options = { ...account, cwd: "/", env: { LC_ALL: "C" } }

const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** Runs PostgreSQL 15 without durability until the scope closes, and returns its URL. */
export const startDebianPostgres = Effect.gen(function* () {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-debian-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const data = join(directory, "data")
  chmodSync(directory, 0o755)
  mkdirSync(data, { mode: 0o700 })
  if (account.uid !== undefined && account.gid !== undefined) chownSync(data, account.uid, account.gid)
  const init = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
  execFileSync(join(programs, "initdb"), init, { ...options, stdio: "ignore" })
  const port = yield* freePort
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(join(programs, "postgres"), ["-D", data, ...settings.flatMap((one) => ["-c", one])], {
        ...options,
        stdio: "ignore"
      })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGINT")
      })
  )
  yield* Effect.try(() =>
    execFileSync(join(programs, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)])
  ).pipe(Effect.retry({ schedule: Schedule.spaced("20 millis"), while: () => server.exitCode === null }))
  return `postgres://postgres@127.0.0.1:${port}/postgres`
})

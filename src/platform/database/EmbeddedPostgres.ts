import { Effect, Redacted, Schedule, type Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { basename, join } from "node:path"
import { type Account, own, serverAccount, tryOwn } from "./DataDirectory.ts"
import { type Binaries, findBinaries } from "./PostgresBinaries.ts"
import { StartError } from "../config/Variables.ts"

/** The major version of the bundled server. A data directory works with one major version only. */
const majorVersion = "18"

/** A running embedded server. */
export interface Embeddings {
  readonly port: number
  /** The URL of the server's one database, with its owner's credentials. */
  readonly url: Redacted.Redacted
}

interface Cluster {
  readonly dataDirectory: string
  readonly directory: string
  readonly account: Account
  readonly log: string
}

const clusterOf = (dataDirectory: string): Cluster => {
  const directory = join(dataDirectory, "postgres")
  return { dataDirectory, directory, account: serverAccount(directory), log: join(dataDirectory, "postgres.log") }
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))

const failure = (message: string) => new StartError({ message: `The embedded PostgreSQL ${message}` })

const attempt = <A>(doing: string, body: () => A): Effect.Effect<A, StartError> =>
  Effect.try({ try: body, catch: (error) => failure(`cannot ${doing}: ${describe(error)}`) })

/** The server cannot run in a directory that its account cannot read, so `cwd` is the root. */
const spawnOptions = (account: Account) => ({ ...account, cwd: "/", env: { LC_ALL: "C", TZ: "UTC" } })

// ---- files of the cluster

const passwordFile = (directory: string) => join(directory, "tollgate.password")

const fsyncDirectory = (path: string) => {
  const descriptor = openSync(path, "r")
  fsyncSync(descriptor)
  closeSync(descriptor)
}

const runInitdb = (binaries: Binaries, account: Account, directory: string, pwfile: string) =>
  Effect.callback<void, StartError>((resume) => {
    // The built-in locale exists on every platform. scram is needed because any user of the machine can reach a loopback port.
    const child = execFile(
      binaries.initdb,
      ["-D", directory, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${pwfile}`, "-E", "UTF8"].concat([
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--no-instructions"
      ]),
      spawnOptions(account),
      (error, _stdout, stderr) =>
        resume(
          error === null
            ? Effect.void
            : Effect.fail(failure(`cannot make its data directory: ${stderr.trim() || error.message}`))
        )
    )
    return Effect.sync(() => child.kill("SIGTERM"))
  })

/** Creates the cluster next to its final place and renames it once. So a cluster in its final place is complete, password included. */
const initialise = Effect.fn("initialise")(function* (cluster: Cluster, binaries: Binaries) {
  const { account, dataDirectory, directory } = cluster
  // The name is always new: an initdb without a parent may still be writing below the previous one.
  const partial = `${directory}.new-${randomBytes(6).toString("hex")}`
  const pwfile = `${partial}.password`
  yield* attempt("make its data directory", () => {
    if (existsSync(directory)) rmdirSync(directory)
    mkdirSync(partial, { mode: 0o700 })
    writeFileSync(pwfile, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 })
    if (account.uid !== undefined && account.gid !== undefined) {
      for (const path of [partial, pwfile]) chownSync(path, account.uid, account.gid)
    }
  })
  yield* runInitdb(binaries, account, partial, pwfile)
  yield* attempt("make its data directory", () => {
    renameSync(pwfile, passwordFile(partial))
    fsyncDirectory(partial)
    renameSync(partial, directory)
    fsyncDirectory(dataDirectory)
  })
})

/** Retries when a directory fills up while it is being emptied, because an initdb with a killed parent may still be writing. */
const removeLeftovers = (cluster: Cluster) =>
  attempt("clear its data directory", () => {
    const prefix = `${basename(cluster.directory)}.new-`
    for (const name of readdirSync(cluster.dataDirectory)) {
      if (name.startsWith(prefix)) rmSync(join(cluster.dataDirectory, name), { recursive: true, force: true })
    }
  }).pipe(Effect.retry({ times: 20, schedule: Schedule.spaced("50 millis") }))

/** Whether a cluster exists. Fails when the directory holds data that this version or account cannot use. */
const checkCluster = (cluster: Cluster) =>
  Effect.gen(function* () {
    const { directory, account } = cluster
    const owner = statSync(directory, { throwIfNoEntry: false })?.uid
    if (owner === undefined) return false
    if (account.uid === undefined && owner !== process.getuid?.()) {
      return yield* failure(
        `data in ${directory} belongs to another user (uid ${owner}); start as that user, or as root`
      )
    }
    const version = yield* attempt("read its data directory", () => {
      const file = join(directory, "PG_VERSION")
      return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined
    })
    if (version === majorVersion) return true
    if (version !== undefined) {
      return yield* failure(
        `is version ${majorVersion}, the data in ${directory} is of version ${version}: dump it with that version first`
      )
    }
    const empty = yield* attempt("read its data directory", () => readdirSync(directory).length === 0)
    return empty ? false : yield* failure(`finds files in ${directory} that are not PostgreSQL data; move them away`)
  })

const embeddedAt = (cluster: Cluster, port: number) =>
  attempt("read its password", () => {
    const password = readFileSync(passwordFile(cluster.directory), "utf8").trim()
    return {
      port,
      url: Redacted.make(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`)
    } satisfies Embeddings
  })

// ---- processes

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const commandLine = (pid: number) =>
  Effect.callback<string>((resume) => {
    const file = `/proc/${pid}/cmdline`
    if (existsSync("/proc/self/cmdline")) {
      return resume(
        Effect.orElseSucceed(
          Effect.try(() => readFileSync(file, "utf8").replaceAll("\0", " ")),
          () => ""
        )
      )
    }
    execFile("ps", ["-o", "command=", "-p", String(pid)], (error, stdout) =>
      resume(Effect.succeed(error === null ? stdout : ""))
    )
  })

interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

/** Reads the server's own lock file. Its line numbers are fixed: 1 is the process id, 4 the port, 8 the state. */
const readPostmaster = (cluster: Cluster): Postmaster | undefined => {
  const file = join(cluster.directory, "postmaster.pid")
  if (!existsSync(file)) return undefined
  const lines = readFileSync(file, "utf8").split("\n")
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.startsWith("ready") === true }
}

/** The data directory may have been given by another path, so this compares the two as files. */
const isServing = (cluster: Cluster, pid: number) =>
  Effect.map(alive(pid) ? commandLine(pid) : Effect.succeed(""), (line) => {
    const [, directory] = /postgres -D (.+?) -c /.exec(line) ?? []
    const theirs = directory === undefined ? undefined : statSync(directory, { throwIfNoEntry: false })
    const ours = statSync(cluster.directory)
    return theirs !== undefined && theirs.ino === ours.ino && theirs.dev === ours.dev
  })

const signal = (pid: number, name: NodeJS.Signals) =>
  Effect.sync(() => {
    if (alive(pid)) process.kill(pid, name)
  })

/** Waits until the condition holds, or `patience` has passed. Returns whether the condition held. */
const waitUntil = <E>(condition: Effect.Effect<boolean, E>, patience: "5 seconds" | "20 seconds") =>
  condition.pipe(
    Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (holds) => holds }),
    Effect.timeoutOption(patience),
    Effect.map((done) => done._tag === "Some")
  )

/**
 * Stops a server that outlived its killed owner. The caller owns the data directory, so a server that still runs on it is an orphan. A lock
 * file that names another program is removed, because the system reuses process ids and PostgreSQL would refuse to start.
 */
const endOrphan = Effect.fn("endOrphan")(function* (cluster: Cluster) {
  const found = yield* attempt("read its lock file", () => readPostmaster(cluster))
  if (found === undefined || !alive(found.pid)) return
  if (!(yield* isServing(cluster, found.pid))) {
    // If the process is some PostgreSQL, it decides for itself whether the lock is still valid.
    if (/^(\S*\/)?postgres[: ]/.test(yield* commandLine(found.pid))) return
    return yield* attempt("remove a stale lock file", () => rmSync(join(cluster.directory, "postmaster.pid")))
  }
  yield* Effect.logInfo(`Taking over the database from a killed tollgate (server process ${found.pid})`)
  const stopped = Effect.map(isServing(cluster, found.pid), (serving) => !serving)
  yield* signal(found.pid, "SIGINT")
  if (yield* waitUntil(stopped, "20 seconds")) return
  yield* signal(found.pid, "SIGQUIT")
  if (!(yield* waitUntil(stopped, "5 seconds"))) {
    return yield* failure(`left by a killed tollgate (process ${found.pid}) does not end; end it by hand`)
  }
})

const freePort = Effect.callback<number, StartError>((resume) => {
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(failure(`finds no free port: ${error.message}`))))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const settings = (port: number): ReadonlyArray<string> =>
  [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    // The only way in is TCP with a password. The path of a socket would also have to fit into 107 bytes.
    "unix_socket_directories=",
    "shared_buffers=64MB",
    "max_connections=60",
    "jit=off",
    // The gateway logs failed statements where it makes them. The server's log would put callers' values into a file.
    "log_min_messages=log",
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_checkpoints=off"
  ].flatMap((setting) => ["-c", setting])

const spawnServer = (cluster: Cluster, binaries: Binaries, port: number, extra: ReadonlyArray<string>) =>
  attempt("start", () => {
    const log = openSync(cluster.log, "w", 0o600)
    // Detached, because Ctrl-C reaches the whole foreground process group and the server must outlive the last settlement.
    const child = spawn(
      binaries.postgres,
      ["-D", cluster.directory, ...settings(port), ...extra.flatMap((one) => ["-c", one])],
      { ...spawnOptions(cluster.account), detached: true, stdio: ["ignore", log, log] }
    )
    closeSync(log)
    return child
  })

const hasEnded = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null || child.pid === undefined

const untilEnded = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (hasEnded(child)) return resume(Effect.void)
    const done = () => resume(Effect.void)
    child.once("exit", done)
    return Effect.sync(() => child.off("exit", done))
  })

/**
 * Stops the server. A fast shutdown ends sessions, writes a checkpoint and exits. If that takes too long, an immediate shutdown
 * follows, after which the next start runs recovery.
 */
const stop = (child: ChildProcess) =>
  Effect.gen(function* () {
    if (hasEnded(child)) return
    child.kill("SIGINT")
    if ((yield* Effect.timeoutOption(untilEnded(child), "20 seconds"))._tag === "Some") return
    child.kill("SIGQUIT")
    yield* untilEnded(child)
  })

const lastWords = (cluster: Cluster) => {
  const lines = existsSync(cluster.log) ? readFileSync(cluster.log, "utf8").trim().split("\n") : []
  return lines.findLast((line) => line.includes("FATAL")) ?? lines.at(-1) ?? "no reason given"
}

/** Returns when the server accepts connections. Recovery after a crash has no time limit. */
const untilReady = (cluster: Cluster, child: ChildProcess) =>
  Effect.suspend(() => {
    if (hasEnded(child)) return Effect.fail(failure(`did not start: ${lastWords(cluster)}`))
    const found = readPostmaster(cluster)
    return Effect.succeed(found?.pid === child.pid && found?.ready === true)
  }).pipe(Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (ready) => ready }))

// ---- the server

export interface StartOptions {
  /** The path that `prepareDataDirectory` returned. */
  readonly dataDirectory: string
  /** Additional server settings, each `name=value`. */
  readonly settings?: ReadonlyArray<string>
}

/** Runs the server until the scope closes. When the server ends by itself, starts it again on the same port. */
const serve = Effect.fn("serve")(function* (cluster: Cluster, binaries: Binaries, options: StartOptions) {
  let current: ChildProcess | undefined
  const abandon = () => void current?.kill("SIGINT")
  process.once("exit", abandon)
  yield* Effect.addFinalizer(() => {
    process.off("exit", abandon)
    return current === undefined ? Effect.void : stop(current)
  })
  const launch = (port: number) =>
    Effect.gen(function* () {
      current = yield* spawnServer(cluster, binaries, port, options.settings ?? [])
      // Without a listener, a program that cannot be started would end this process.
      current.on("error", () => {})
      yield* untilReady(cluster, current)
    })
  const port = yield* freePort.pipe(
    Effect.tap(launch),
    // Another program may take the port between the check and the start.
    Effect.retry({ times: 3, while: () => lastWords(cluster).includes("could not create any TCP/IP sockets") })
  )
  const again = Effect.gen(function* () {
    if (current !== undefined) yield* untilEnded(current)
    yield* Effect.logError(`The embedded PostgreSQL ended unexpectedly; starting it again: ${lastWords(cluster)}`)
    yield* launch(port).pipe(Effect.retry(Schedule.spaced("500 millis")))
  })
  yield* Effect.forkScoped(Effect.forever(again))
  return yield* embeddedAt(cluster, port)
})

/** Starts the server. The caller owns the data directory. */
const startOwned = Effect.fn("startOwned")(function* (options: StartOptions) {
  const before = clusterOf(options.dataDirectory)
  yield* removeLeftovers(before)
  const exists = yield* checkCluster(before)
  const binaries = yield* findBinaries(options.dataDirectory, before.account)
  if (exists) yield* endOrphan(before)
  else {
    yield* initialise(before, binaries)
    // Removes what an initdb without a parent has written meanwhile. It disturbs nothing, so the next start removes what is left.
    yield* Effect.ignore(removeLeftovers(before))
  }
  return yield* serve(clusterOf(options.dataDirectory), binaries, options)
})

/**
 * Runs the embedded server on the data directory until the scope closes. The first start creates the database; a later start takes it
 * over from a process that was killed. Fails when another process owns the directory.
 */
export const startPostgres = (options: StartOptions): Effect.Effect<Embeddings, StartError, Scope.Scope> =>
  Effect.andThen(own(options.dataDirectory), startOwned(options))

/**
 * For a command: uses the server of the service that runs on the data directory. If no service runs, starts a server of its own until
 * the scope closes. Waits for a service that is starting or stopping, and for another command.
 */
export const connectEmbedded = (options: StartOptions): Effect.Effect<Embeddings, StartError, Scope.Scope> =>
  tryOwn(options.dataDirectory, "command").pipe(
    Effect.andThen(startOwned(options)),
    Effect.catchTag("DirectoryInUse", (busy) =>
      Effect.gen(function* () {
        const cluster = clusterOf(options.dataDirectory)
        const found =
          busy.owner?.role === "service" ? yield* attempt("be found", () => readPostmaster(cluster)) : undefined
        if (found?.ready !== true || !(yield* isServing(cluster, found.pid))) return yield* busy
        return yield* embeddedAt(cluster, found.port)
      })
    ),
    Effect.retry({
      schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "1 minute" })),
      while: (error) => error._tag === "DirectoryInUse"
    }),
    Effect.catchTag("DirectoryInUse", () =>
      failure(`in ${options.dataDirectory} belongs to another tollgate and did not become ready within a minute`)
    )
  )

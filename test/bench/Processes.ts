/** The processes of a run, which end with the scope. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { root } from "../support/Sources.ts"
import { BenchError } from "./BenchError.ts"

export interface Launch {
  /** The name in messages. */
  readonly name: string
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** The cores that the process may use; by default, those of this process. */
  readonly cores?: string | undefined
}

/** A process with a listening port. */
export interface ServerProcess {
  readonly pid: number
  readonly port: number
}

const STOP_WITHIN_MS = 30_000

/** Starts a process with PATH and its own settings alone. */
const spawnPinned = ({ args, cores, env, program }: Launch) => {
  const [command, words] = cores === undefined ? [program, [...args]] : ["taskset", ["-c", cores, program, ...args]]
  return spawn(command, words, {
    cwd: root,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "pipe"]
  })
}

const hasEnded = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null || child.pid === undefined

const stop = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (hasEnded(child)) return resume(Effect.void)
    const kill = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS)
    child.once("exit", () => {
      clearTimeout(kill)
      resume(Effect.void)
    })
    child.kill("SIGTERM")
  })

/** Starts a process, which ends with the scope. */
export const spawnScoped = (launch: Launch) =>
  Effect.acquireRelease(
    Effect.sync(() => spawnPinned(launch)),
    stop
  )

/** Starts a server and waits for the line with its address. */
export const startServer = (launch: Launch): Effect.Effect<ServerProcess, BenchError, Scope.Scope> =>
  Effect.flatMap(spawnScoped(launch), (child) =>
    Effect.callback<ServerProcess, BenchError>((resume) => {
      let errors = ""
      child.stderr.on("data", (text) => (errors = `${errors}${text}`.slice(-2_000)))
      child.once("error", (error) => (errors += error.message))
      child.once("close", () =>
        resume(Effect.fail(new BenchError({ message: `${launch.name} ended before it was ready: ${errors.trim()}` })))
      )
      createInterface({ input: child.stdout }).on("line", (line) => {
        const port = /\bready at http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]
        if (port !== undefined) resume(Effect.succeed({ pid: child.pid ?? 0, port: Number(port) }))
      })
    })
  )

/** Runs a process to its end and returns its standard output. Fails when it exits with an error. */
export const runToEnd = (launch: Launch): Effect.Effect<string, BenchError> =>
  Effect.scoped(
    Effect.flatMap(spawnScoped(launch), (child) =>
      Effect.callback<string, BenchError>((resume) => {
        let [printed, errors] = ["", ""]
        child.stdout.on("data", (text) => (printed += text))
        child.stderr.on("data", (text) => (errors += text))
        child.once("error", (error) => (errors += error.message))
        child.once("close", (code) =>
          resume(
            code === 0
              ? Effect.succeed(printed)
              : Effect.fail(new BenchError({ message: `${launch.name} failed: ${errors.trim() || printed.trim()}` }))
          )
        )
      })
    )
  )

/** The command that runs a TypeScript file. */
export const node = (file: string, ...args: ReadonlyArray<string>) => ({
  program: process.execPath,
  args: [file, ...args]
})

// Linux reports processor time in hundredths of a second on every platform that Node supports.
const TICKS_PER_SECOND = 100

/** The field after user, nice, system, idle, iowait, irq and softirq. */
const STEAL = 7

/** The processor time of a process in seconds; undefined where the system does not report it. */
export const cpuSeconds = (pid: number): number | undefined => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  } catch {
    return undefined
  }
}

/** The processor time in seconds that the hypervisor gave to other machines (steal); 0 where the system does not report it. */
export const stolenSeconds = (): number => {
  try {
    const [, ...ticks] = readFileSync("/proc/stat", "latin1").split("\n", 1)[0]?.split(/ +/) ?? []
    return Number(ticks[STEAL] ?? 0) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

/** The memory of a process and its peak, in MiB; undefined where the system does not report them. */
export const memoryMiB = (pid: number): { readonly now: number; readonly peak: number } | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024
    return { now: of("VmRSS"), peak: of("VmHWM") }
  } catch {
    return undefined
  }
}

import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export interface Child {
  readonly process: ChildProcess
  /** The next line of its standard output; fails with its standard error if the process ends instead. */
  readonly line: Effect.Effect<string, string>
  /** How the process ended. */
  readonly exit: Effect.Effect<{
    readonly code: number | null
    readonly signal: NodeJS.Signals | null
    readonly stderr: string
  }>
}

/** Runs one of the scripts next to this file as a process, until the scope closes. */
export const runScript = (
  script: string,
  args: ReadonlyArray<string>,
  options: { readonly uid?: number; readonly gid?: number; readonly cwd?: string } = {}
) =>
  Effect.acquireRelease(
    Effect.sync((): Child => {
      const path = script.startsWith("/") ? script : fileURLToPath(new URL(script, import.meta.url))
      const child = spawn(process.execPath, [path, ...args], { ...options, stdio: ["pipe", "pipe", "pipe"] })
      let stderr = ""
      child.stderr.on("data", (chunk) => (stderr += String(chunk)))
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>((resolve) =>
        child.once("close", (code, signal) => resolve({ code, signal, stderr }))
      )
      return {
        process: child,
        line: Effect.flatMap(
          Effect.promise(() => lines.next()),
          (next) => (next.done === true ? Effect.fail(stderr) : Effect.succeed(next.value))
        ),
        exit: Effect.promise(() => exit)
      }
    }),
    (child) =>
      Effect.suspend(() => {
        child.process.kill("SIGTERM")
        return child.exit
      })
  )

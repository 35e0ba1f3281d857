/** Starts the service as a process. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** The path of a program of the service. */
export const program = (name: string) => fileURLToPath(new URL(`../../src/${name}`, import.meta.url))

/** The environment of a child process. It inherits no settings of this process. */
export const environment = (settings: Record<string, string>) => ({
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  HOST: "127.0.0.1",
  RATE_LIMIT_SCALE: "1000",
  OPS_PORT: "0",
  SHUTDOWN_DELAY: "0",
  LOG_LEVEL: "warn",
  ...settings
})

/** A service as a process. */
export interface Process {
  readonly child: ChildProcess
  /** The standard output until the service was ready. */
  readonly greeting: string
  readonly api: string
  readonly port: number
  /** The origin of the ops port, with `/readyz` and `/metrics`. */
  readonly ops: string
  /** Sends a signal, and returns the exit code or the signal that ended the process. */
  readonly end: (signal: NodeJS.Signals) => Effect.Effect<number | NodeJS.Signals | null>
}

/** Starts a service with these settings, and returns when it is ready. The process ends when the scope closes. */
export const start = (settings: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<Process> => {
      const child = spawn(process.execPath, [program("main.ts")], {
        env: environment({ PORT: "0", ...settings }),
        stdio: ["ignore", "pipe", "pipe"]
      })
      const exit = new Promise<number | NodeJS.Signals | null>((resolve) =>
        child.once("close", (code, signal) => resolve(code ?? signal))
      )
      let stderr = ""
      child.stderr.on("data", (chunk) => (stderr += String(chunk)))
      const lines: Array<string> = []
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line)
        if (/\btollgate is (not )?ready/.test(line)) break
      }
      const [, api = "", port] = /(http:\/\/127\.0\.0\.1:(\d+)\/api\/v1)/.exec(lines.at(-1) ?? "") ?? []
      if (port === undefined) throw new Error(`the service did not become ready: ${lines.join("\n")}\n${stderr}`)
      // Later output must not fill the pipe.
      child.stdout.resume()
      const end = (signal: NodeJS.Signals) =>
        Effect.promise(() => {
          child.kill(signal)
          return exit
        })
      const [ops = ""] = /http:\/\/127\.0\.0\.1:\d+(?=",| \(\/healthz)/.exec(lines.join("\n")) ?? []
      return { child, greeting: lines.join("\n"), api, port: Number(port), ops, end }
    }),
    ({ end }) => end("SIGTERM")
  )

/** The keys that a sandbox prints at its first start. */
export const keysOf = (greeting: string) => ({
  inference: /inference key +(svc_sk_\S+)/.exec(greeting)?.[1] ?? "",
  management: /management key +(svc_mk_\S+)/.exec(greeting)?.[1] ?? ""
})

/** The service as a process that can be killed and started again at the same address. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Outage } from "./Notes.ts"
import { Outages } from "./Outages.ts"
import { freePort } from "./Ports.ts"

export const program = (name: string) => fileURLToPath(new URL(`../../src/${name}`, import.meta.url))

/** None of this process's settings reach a child. */
export const environment = (settings: Readonly<Record<string, string>>) => ({
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  LOG_LEVEL: "warn",
  LOG_FORMAT: "json",
  SHUTDOWN_DELAY: "0",
  ...settings
})

/** Lines of a log kept for the report. */
const LOG_LINES = 2_000

/** Between two attempts to start a gateway whose database is not there yet. */
const PAUSE = "200 millis"

export interface Gateway {
  readonly port: number
  /** Ends the process at once, in the middle of whatever it does; returns when it is gone. */
  readonly kill: Effect.Effect<void>
  /** Starts it; returns when it serves. */
  readonly start: Effect.Effect<void>
  /** From each kill to the moment it served again. */
  readonly deaths: () => ReadonlyArray<Outage>
  /** What it logged, over all its lives; the last lines. */
  readonly log: () => ReadonlyArray<string>
}

class Process {
  readonly #settings: Readonly<Record<string, string>>
  readonly #log: Array<string> = []
  #child: ChildProcess | undefined

  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings
  }

  log = (): ReadonlyArray<string> => this.#log

  #keep(line: string) {
    this.#log.push(line)
    if (this.#log.length > LOG_LINES) this.#log.shift()
  }

  /** Answers whether it came to serve; false when it ended instead. */
  start(): Promise<boolean> {
    const child = spawn(process.execPath, [program("main.ts")], {
      env: environment(this.#settings),
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.#child = child
    return new Promise((resolve) => {
      child.once("exit", () => resolve(false))
      for (const input of [child.stdout, child.stderr]) {
        createInterface({ input }).on("line", (line) => {
          if (line.includes("tollgate is ready")) resolve(true)
          else this.#keep(line)
        })
      }
    })
  }

  end(): Promise<void> {
    const child = this.#child
    return new Promise((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once("exit", () => resolve())
      child.kill("SIGKILL")
    })
  }

  /** For an end of this process that closes no scopes. */
  sweep = () => void this.#child?.kill("SIGKILL")
}

/** A gateway with these settings at a port of its own, not yet started. It ends with the scope. */
export const makeGateway = (settings: Readonly<Record<string, string>>): Effect.Effect<Gateway, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = yield* freePort
    const running = new Process({ HOST: "127.0.0.1", OPS_PORT: "0", ...settings, PORT: String(port) })
    process.once("exit", running.sweep)
    const deaths = new Outages()
    const kill = Effect.promise(() => {
      deaths.begin()
      return running.end()
    })
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        kill,
        Effect.sync(() => process.off("exit", running.sweep))
      )
    )
    const start: Effect.Effect<void> = Effect.promise(() => running.start()).pipe(
      Effect.flatMap((serves) =>
        serves ? Effect.sync(() => deaths.end()) : Effect.andThen(Effect.sleep(PAUSE), start)
      ),
      Effect.timeoutOrElse({
        duration: "60 seconds",
        orElse: () => Effect.die(new Error(`a gateway does not start: ${running.log().slice(-5).join("\n")}`))
      })
    )
    return { port, kill, start, deaths: () => deaths.all, log: running.log }
  })

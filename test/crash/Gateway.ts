/** A gateway process that tests can kill, suspend and cut off, and start again at the same address. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Clock } from "../support/Clock.ts"
import type { Direction, Relay } from "../support/Relay.ts"
import type { Deploy, GatewayOutages } from "./Evidence.ts"
import { OutageLog } from "./OutageLog.ts"
import { freePort } from "../support/FreePort.ts"

export const program = (name: string) => fileURLToPath(new URL(`../../src/${name}`, import.meta.url))

/** The environment of a child process, without this process's own settings. */
export const environment = (settings: Readonly<Record<string, string>>) => ({
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  LOG_LEVEL: "warn",
  LOG_FORMAT: "json",
  SHUTDOWN_DELAY: "0",
  ...settings
})

/** How many lines of a log the report keeps. */
const LOG_LINES = 2_000

/** A start takes two seconds on an idle machine, but the database may still be recovering. */
const START_WITHIN = "180 seconds"

/** The pause before another start, when the process ended because its database was down. */
const RESTART_AFTER = "200 millis"

export interface Gateway {
  readonly port: number
  /** Kills the process by SIGKILL; returns when it has ended. */
  readonly kill: Effect.Effect<void>
  /** Starts the process; returns when it serves. */
  readonly start: Effect.Effect<void>
  /** Stops the process by SIGTERM and starts it again. */
  readonly deploy: Effect.Effect<void>
  /** Suspends the process for a time in milliseconds. Its connections stay open. */
  readonly pause: (ms: number) => Effect.Effect<void>
  /** Cuts the gateway off from its database for a time in milliseconds, with its connections open. Cuts both directions by default. */
  readonly partition: (ms: number, direction?: Direction) => Effect.Effect<void>
  /** Sets the wall clock of the process ahead of the machine's, or behind it with a negative number. */
  readonly step: (aheadMs: number) => Effect.Effect<void>
  readonly outages: () => GatewayOutages
  /** The last lines of the log, across restarts. */
  readonly log: () => ReadonlyArray<string>
}

/** The relays that partition a gateway, and the clock that a test steps. */
export interface FaultTools {
  /** The relays between the gateway and the database. */
  readonly relays: ReadonlyArray<Relay>
  readonly clock: Clock | undefined
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

  /** Starts the process; returns true when it serves, false when it ended instead. */
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

  /** Sends the signal and returns the exit code or signal; undefined when no process runs. */
  end(signal: NodeJS.Signals): Promise<number | string | undefined> {
    const child = this.#child
    return new Promise((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve(undefined)
      child.once("exit", (code, by) => resolve(code ?? by ?? undefined))
      child.kill(signal)
    })
  }

  signal = (signal: NodeJS.Signals) => void this.#child?.kill(signal)

  /** For an exit of this process that closes no scopes. */
  killAtExit = () => void this.#child?.kill("SIGKILL")
}

const NO_TOOLS: FaultTools = { relays: [], clock: undefined }

/** After SIGTERM a gateway has 30 seconds for its open requests; a busy machine gets as much again. */
const STOPS_WITHIN = "60 seconds"

const dieWithout = (what: string) => Effect.die(new Error(`This gateway has no ${what}.`))

/** Makes a gateway with its own port, without starting it. It ends with the scope. */
export const makeGateway = (
  settings: Readonly<Record<string, string>>,
  { clock, relays }: FaultTools = NO_TOOLS
): Effect.Effect<Gateway, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = yield* freePort
    const fixed = { HOST: "127.0.0.1", OPS_PORT: "0", ...settings, ...clock?.environment }
    const running = new Process({ ...fixed, PORT: String(port) })
    process.once("exit", running.killAtExit)
    const [kills, pauses, partitions] = [new OutageLog(), new OutageLog(), new OutageLog()]
    const deploys = new OutageLog<Pick<Deploy, "exit">>()
    const kill = Effect.promise(() => {
      kills.begin({})
      return running.end("SIGKILL")
    })
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        kill,
        Effect.sync(() => process.off("exit", running.killAtExit))
      )
    )
    const starting: Effect.Effect<void> = Effect.promise(() => running.start()).pipe(
      Effect.flatMap((serves) => (serves ? Effect.void : Effect.andThen(Effect.sleep(RESTART_AFTER), starting))),
      Effect.timeoutOrElse({
        duration: START_WITHIN,
        orElse: () => Effect.die(new Error(`The gateway did not start: ${running.log().slice(-5).join("\n")}`))
      })
    )
    const stop = Effect.promise(() => running.end("SIGTERM")).pipe(
      Effect.timeoutOrElse({ duration: STOPS_WITHIN, orElse: () => Effect.promise(() => running.end("SIGKILL")) })
    )
    return {
      port,
      kill: Effect.asVoid(kill),
      start: Effect.andThen(
        starting,
        Effect.sync(() => kills.end())
      ),
      deploy: Effect.gen(function* () {
        deploys.begin({ exit: undefined })
        const exit = yield* stop
        yield* starting
        deploys.end({ exit })
      }),
      pause: (ms) =>
        pauses.during(
          Effect.acquireUseRelease(
            Effect.sync(() => running.signal("SIGSTOP")),
            () => Effect.sleep(ms),
            () => Effect.sync(() => running.signal("SIGCONT"))
          ),
          {}
        ),
      partition: (ms, direction) =>
        relays.length === 0
          ? dieWithout("relay")
          : partitions.during(
              Effect.acquireUseRelease(
                Effect.forEach(relays, (relay) => relay.cut(direction), { discard: true }),
                () => Effect.sleep(ms),
                () => Effect.forEach(relays, (relay) => relay.heal, { discard: true })
              ),
              {}
            ),
      step: (aheadMs) => clock?.set(aheadMs) ?? dieWithout("clock"),
      outages: () => ({
        kills: kills.all,
        pauses: pauses.all,
        partitions: partitions.all,
        deploys: deploys.all
      }),
      log: running.log
    }
  })

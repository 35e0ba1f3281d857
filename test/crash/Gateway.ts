/** The service as a process that can be killed and started again at the same address. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Clock } from "../support/Clock.ts"
import type { Direction, Relay } from "../support/Relay.ts"
import type { Deploy, Troubles } from "./Notes.ts"
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

/** A start takes two seconds on an idle machine, and the database it waits for may take long to recover. */
const START_WITHIN = "180 seconds"

/** Between two attempts to start a gateway whose database is not there yet. */
const PAUSE = "200 millis"

export interface Gateway {
  readonly port: number
  /** Ends the process at once, in the middle of whatever it does; returns when it is gone. */
  readonly kill: Effect.Effect<void>
  /** Starts it; returns when it serves. */
  readonly start: Effect.Effect<void>
  /** Stops the process as an operator does, and starts it again when it has ended. */
  readonly deploy: Effect.Effect<void>
  /** Suspends the process for so many milliseconds: it does nothing, and its connections stay open. */
  readonly pause: (ms: number) => Effect.Effect<void>
  /** Cuts the gateway off from its database for so many milliseconds, without an end of any connection; both ways unless told. */
  readonly partition: (ms: number, direction?: Direction) => Effect.Effect<void>
  /** Sets the wall clock of the process so many milliseconds ahead of the machine's, or behind. */
  readonly step: (aheadMs: number) => Effect.Effect<void>
  /** When it was away, and how. */
  readonly troubles: () => Troubles
  /** What it logged, over all its lives; the last lines. */
  readonly log: () => ReadonlyArray<string>
}

/** What a gateway has around it so that faults other than its death can be brought about. */
export interface Surroundings {
  /** The relays that its connections to the database take. */
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

  /** Ends the process with this signal; answers how it ended, or nothing when none runs. */
  end(signal: NodeJS.Signals): Promise<number | string | undefined> {
    const child = this.#child
    return new Promise((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve(undefined)
      child.once("exit", (code, by) => resolve(code ?? by ?? undefined))
      child.kill(signal)
    })
  }

  signal = (signal: NodeJS.Signals) => void this.#child?.kill(signal)

  /** For an end of this process that closes no scopes. */
  sweep = () => void this.#child?.kill("SIGKILL")
}

const nothingAround: Surroundings = { relays: [], clock: undefined }

/** A gateway that is told to stop has 30 seconds for its requests, and as much again on a busy machine. */
const STOPS_WITHIN = "60 seconds"

const missing = (what: string) => Effect.die(new Error(`this gateway has no ${what}`))

/** A gateway with these settings at a port of its own, not yet started. It ends with the scope. */
export const makeGateway = (
  settings: Readonly<Record<string, string>>,
  { clock, relays }: Surroundings = nothingAround
): Effect.Effect<Gateway, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = yield* freePort
    const fixed = { HOST: "127.0.0.1", OPS_PORT: "0", ...settings, ...clock?.environment }
    const running = new Process({ ...fixed, PORT: String(port) })
    process.once("exit", running.sweep)
    const [deaths, pauses, partitions] = [new Outages(), new Outages(), new Outages()]
    const deploys = new Outages<Pick<Deploy, "exit">>()
    const kill = Effect.promise(() => {
      deaths.begin({})
      return running.end("SIGKILL")
    })
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        kill,
        Effect.sync(() => process.off("exit", running.sweep))
      )
    )
    const starting: Effect.Effect<void> = Effect.promise(() => running.start()).pipe(
      Effect.flatMap((serves) => (serves ? Effect.void : Effect.andThen(Effect.sleep(PAUSE), starting))),
      Effect.timeoutOrElse({
        duration: START_WITHIN,
        orElse: () => Effect.die(new Error(`a gateway does not start: ${running.log().slice(-5).join("\n")}`))
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
        Effect.sync(() => deaths.end())
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
          ? missing("relay")
          : partitions.during(
              Effect.acquireUseRelease(
                Effect.forEach(relays, (relay) => relay.cut(direction), { discard: true }),
                () => Effect.sleep(ms),
                () => Effect.forEach(relays, (relay) => relay.heal, { discard: true })
              ),
              {}
            ),
      step: (aheadMs) => clock?.set(aheadMs) ?? missing("clock"),
      troubles: () => ({
        deaths: deaths.all,
        pauses: pauses.all,
        partitions: partitions.all,
        deploys: deploys.all
      }),
      log: running.log
    }
  })

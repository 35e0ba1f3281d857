/** One measurement after another, each target in its turn. */
import { Effect } from "effect"
import { median } from "./Figures.ts"
import { closedLoop, type Outcome } from "./Load.ts"
import { cpuSeconds } from "./Processes.ts"
import type { Stage, Target } from "./Stage.ts"
import { wrk } from "./Wrk.ts"

/** Tells the person who waits how far it is; the report alone goes to standard output. */
export const progress = (text: string) => Effect.sync(() => void process.stderr.write(`${text}\n`))

/** What is wrong with answers, gathered over the whole run. */
export interface Faults {
  readonly add: (where: string, outcome: Pick<Outcome, "failed" | "completed" | "example">) => void
  readonly found: ReadonlyArray<string>
}

export const makeFaults = (): Faults => {
  const found: Array<string> = []
  return {
    found,
    add: (where, { completed, example, failed }) => {
      if (failed > 0) found.push(`${where}: ${failed} of ${failed + completed} answers failed; for one, ${example}`)
      else if (completed === 0) found.push(`${where}: nothing was answered`)
    }
  }
}

/** A figure of every round, by what it is a figure of. */
export class Samples {
  readonly #of = new Map<string, Array<number>>()

  add(name: string, value: number | undefined): void {
    if (value === undefined) return
    const known = this.#of.get(name)
    if (known === undefined) this.#of.set(name, [value])
    else known.push(value)
  }

  /** Not a number where there are none. */
  median(name: string): number {
    return median(this.#of.get(name) ?? [])
  }

  /** What each round has of one, in parts of what it has of the other. */
  ratios(name: string, base: string): ReadonlyArray<number> {
    const bases = this.#of.get(base) ?? []
    return (this.#of.get(name) ?? []).map((value, round) => value / (bases[round] ?? Number.NaN))
  }

  get all(): Readonly<Record<string, ReadonlyArray<number>>> {
    return Object.fromEntries(this.#of)
  }
}

/** Whole answers as fast as they come. */
export const flood = (stage: Stage, target: Target, concurrency: number, seconds: number) =>
  stage.machine.wrk
    ? wrk(stage.directory, target.endpoint, { concurrency, seconds })
    : Effect.promise(() => closedLoop(target.endpoint, { concurrency, seconds, streamed: false }))

/** What `load` comes to, and the share of a core that the target took for it. */
export const withCpu = <E, R>(target: Target, load: Effect.Effect<Outcome, E, R>) =>
  Effect.gen(function* () {
    const [before, began] = [cpuSeconds(target.pid), performance.now()]
    const outcome = yield* load
    const [after, elapsed] = [cpuSeconds(target.pid), (performance.now() - began) / 1_000]
    return { outcome, cpu: before === undefined || after === undefined ? undefined : (after - before) / elapsed }
  })

/** Every target in its turn, round after round. */
export const rotate = <T, E, R>(
  label: string,
  rounds: number,
  targets: ReadonlyArray<T>,
  measure: (target: T) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    for (let round = 1; round <= rounds; round++) {
      yield* progress(`${label}: round ${round} of ${rounds}`)
      for (const target of targets) yield* measure(target)
    }
  })

const WARM_CONCURRENCY = 32

/**
 * Lets the programs be compiled before anything counts, as those of a service that has run for a minute are; what is answered is not
 * looked at.
 */
export const warmUp = (stage: Stage) =>
  Effect.gen(function* () {
    yield* progress("warm-up")
    const seconds = stage.options.startSeconds
    for (const target of [stage.proxy, stage.gateway, stage.moneyOff]) {
      for (const streamed of [false, true]) {
        yield* Effect.promise(() => closedLoop(target.endpoint, { concurrency: WARM_CONCURRENCY, seconds, streamed }))
      }
    }
  })

/** Measures while these are stopped: a gateway with nothing to do still looks for work, on the core and the database of the others. */
export const whileStopped = <A, E, R>(targets: ReadonlyArray<Target>, measure: Effect.Effect<A, E, R>) => {
  const signal = (name: "SIGSTOP" | "SIGCONT") =>
    Effect.sync(() => {
      for (const { pid } of targets) process.kill(pid, name)
    })
  return Effect.acquireUseRelease(
    signal("SIGSTOP"),
    () => measure,
    () => signal("SIGCONT")
  )
}

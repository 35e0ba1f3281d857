/** Measures targets in turn, over several rounds. */
import { Effect } from "effect"
import { median } from "./Figures.ts"
import { closedLoop, type Outcome } from "./Load.ts"
import { cpuSeconds } from "./Processes.ts"
import type { Target, Testbed } from "./Testbed.ts"
import { wrk } from "./Wrk.ts"

/** Prints progress on standard error; standard output has the report alone. */
export const progress = (text: string) => Effect.sync(() => void process.stderr.write(`${text}\n`))

/** Collects failed answers over the whole run. */
export interface Failures {
  readonly add: (where: string, outcome: Pick<Outcome, "failed" | "completed" | "example">) => void
  readonly found: ReadonlyArray<string>
}

export const makeFailures = (): Failures => {
  const found: Array<string> = []
  return {
    found,
    add: (where, { completed, example, failed }) => {
      if (failed > 0) found.push(`${where}: ${failed} of ${failed + completed} answers failed, for example: ${example}`)
      else if (completed === 0) found.push(`${where}: no request was answered`)
    }
  }
}

/** The samples of each figure, one for each round. */
export class Samples {
  readonly #of = new Map<string, Array<number>>()

  add(name: string, value: number | undefined): void {
    if (value === undefined) return
    const known = this.#of.get(name)
    if (known === undefined) this.#of.set(name, [value])
    else known.push(value)
  }

  /** The median; NaN without samples. */
  median(name: string): number {
    return median(this.#of.get(name) ?? [])
  }

  /** The ratio of two figures in each round. */
  ratios(name: string, base: string): ReadonlyArray<number> {
    const bases = this.#of.get(base) ?? []
    return (this.#of.get(name) ?? []).map((value, round) => value / (bases[round] ?? Number.NaN))
  }

  get all(): Readonly<Record<string, ReadonlyArray<number>>> {
    return Object.fromEntries(this.#of)
  }
}

/** Complete answers at the full rate of a closed loop. */
export const fullLoad = (testbed: Testbed, target: Target, concurrency: number, seconds: number) =>
  testbed.machine.wrk
    ? wrk(testbed.directory, target.endpoint, { concurrency, seconds })
    : Effect.promise(() => closedLoop(target.endpoint, { concurrency, seconds, streamed: false }))

/** Runs a load and measures the target's share of a core meanwhile. */
export const withCpu = <E, R>(target: Target, load: Effect.Effect<Outcome, E, R>) =>
  Effect.gen(function* () {
    const [before, began] = [cpuSeconds(target.pid), performance.now()]
    const outcome = yield* load
    const [after, elapsed] = [cpuSeconds(target.pid), (performance.now() - began) / 1_000]
    return { outcome, cpu: before === undefined || after === undefined ? undefined : (after - before) / elapsed }
  })

/** Measures every target in turn, round after round. */
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

/** Runs a load until V8 has compiled the code, as in a service that has run for a minute. Ignores the answers. */
export const warmUp = (testbed: Testbed) =>
  Effect.gen(function* () {
    yield* progress("warm-up")
    const seconds = testbed.options.startSeconds
    for (const target of [testbed.proxy, testbed.gateway, testbed.moneyOff]) {
      for (const streamed of [false, true]) {
        yield* Effect.promise(() => closedLoop(target.endpoint, { concurrency: WARM_CONCURRENCY, seconds, streamed }))
      }
    }
  })

/** Suspends these processes during a measurement, because an idle gateway polls for work on the same core and database. */
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

import { Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import type { CheckJob, Verdict } from "./StructuredVerdict.ts"

/** Judges an answer; it does not fail, and what it could not judge it says. */
export type Check = (job: CheckJob) => Effect.Effect<Verdict>

/** A schema that needs longer than this for one answer is out for something else. */
export const CHECK_MS = 250

/** A thread needs some tens of milliseconds to start; on a machine that needs this long, nothing works. */
const START_MS = 10_000

/** At their worst, so many take as long as an impatient caller waits. */
export const MOST_WAITING = 64

/** An answer of 128,000 tokens and all the errors it can have need a fraction of it. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }

interface Waiting {
  readonly job: CheckJob
  readonly done: (verdict: Verdict) => void
}

const unchecked = (detail: string): Verdict => ({ _tag: "Unchecked", detail })

/** One thread, started when first needed and anew when it had to be stopped; one job at a time, the others wait in line. */
class Checking {
  #worker: Worker | undefined
  #ready = false
  #current: Waiting | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  readonly #waiting: Array<Waiting> = []

  /** Answers how to take the job back. */
  submit(waiting: Waiting): () => void {
    if (this.#closed || this.#waiting.length >= MOST_WAITING) {
      waiting.done(unchecked("too much is to be checked at once"))
      return () => {}
    }
    this.#waiting.push(waiting)
    this.#next()
    return () => {
      const at = this.#waiting.indexOf(waiting)
      if (at !== -1) this.#waiting.splice(at, 1)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const left = this.#waiting.splice(0)
    const stopped = this.#stop()
    this.#settle(unchecked("the service stops"))
    for (const { done } of left) done(unchecked("the service stops"))
    await stopped
  }

  #next(): void {
    if (this.#current !== undefined) return
    this.#current = this.#waiting.shift()
    if (this.#current === undefined) return
    const worker = (this.#worker ??= this.#start())
    if (this.#ready) this.#give(worker, this.#current)
    else this.#limit(START_MS)
  }

  #give(worker: Worker, { job }: Waiting): void {
    this.#limit(CHECK_MS)
    worker.postMessage(job, [])
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#fail("it took too long to check"), ms)
  }

  #start(): Worker {
    // Nothing of the process's settings is its business, and keys are among them.
    const worker = new Worker(new URL("./StructuredWorker.ts", import.meta.url), {
      resourceLimits,
      env: {},
      execArgv: []
    })
    worker.on("message", (message: "ready" | Verdict) => {
      if (worker !== this.#worker) return
      if (message !== "ready") return this.#settle(message)
      this.#ready = true
      if (this.#current !== undefined) this.#give(worker, this.#current)
    })
    const gone = () => {
      if (worker === this.#worker) this.#fail("it needs too much memory to check")
    }
    worker.on("error", gone)
    worker.on("exit", gone)
    // Listeners hold a thread, so it is let go after them.
    worker.unref()
    return worker
  }

  /** The thread may be in a loop without an end, so it is not asked. */
  async #stop(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#ready = false
    await worker?.terminate()
  }

  #fail(detail: string): void {
    void this.#stop()
    this.#settle(unchecked(detail))
  }

  #settle(verdict: Verdict): void {
    clearTimeout(this.#timer)
    const current = this.#current
    this.#current = undefined
    current?.done(verdict)
    this.#next()
  }
}

/**
 * A check on a thread of its own, which ends with the scope and does not keep the process. One check may take 250 ms, in 64 MiB;
 * when it takes more its thread is ended, and the next one gets a new one. Beyond 64 that wait, none is taken.
 */
export const makeCheck: Effect.Effect<Check, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Checking()),
    (checking) => Effect.promise(() => checking.close())
  ),
  (checking) => (job) =>
    Effect.callback<Verdict>((resume) => {
      const takeBack = checking.submit({ job, done: (verdict) => resume(Effect.succeed(verdict)) })
      return Effect.sync(takeBack)
    })
)

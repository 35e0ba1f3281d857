import { Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import type { CheckJob, Verdict } from "./StructuredVerdict.ts"

/** A job, and whose it is: accounts take turns. */
export interface AccountJob extends CheckJob {
  readonly accountId?: string | undefined
}

/** Judges an answer; it does not fail, and what it could not judge it says. */
export type Check = (job: AccountJob) => Effect.Effect<Verdict>

/** A schema that needs longer than this for one answer is out for something else. */
export const CHECK_MS = 250

/** A thread needs some tens of milliseconds to start; on a machine that needs this long, nothing works. */
const START_MS = 10_000

/** So many schemas wait to be looked at: at their worst, they take as long as an impatient caller waits. */
export const MOST_WAITING = 64

/** So many of them may be of one account. */
export const MOST_WAITING_OF_ONE = 4

/** An answer of 128,000 tokens and all the errors it can have need a fraction of it. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }

interface Waiting {
  readonly job: AccountJob
  readonly done: (verdict: Verdict) => void
}

const unchecked = (detail: string): Verdict => ({ _tag: "Unchecked", detail })
const busy = (detail: string): Verdict => ({ _tag: "Unchecked", detail, busy: true })

const isAnswer = ({ job }: Waiting): boolean => job.text !== undefined

/** What waits, by account. They take turns, so that nobody waits for all that one of them has. */
class Line {
  readonly #accounts = new Map<string, Array<Waiting>>()
  #schemas = 0

  /** An answer has been paid for, so there is always room for it. */
  hasRoom(waiting: Waiting): boolean {
    if (isAnswer(waiting)) return true
    const own = this.#accounts.get(waiting.job.accountId ?? "") ?? []
    return this.#schemas < MOST_WAITING && own.filter((one) => !isAnswer(one)).length < MOST_WAITING_OF_ONE
  }

  add(waiting: Waiting): void {
    const account = waiting.job.accountId ?? ""
    const own = this.#accounts.get(account)
    if (own === undefined) this.#accounts.set(account, [waiting])
    else own.push(waiting)
    if (!isAnswer(waiting)) this.#schemas += 1
  }

  next(): Waiting | undefined {
    for (const [account, own] of this.#accounts) {
      const first = own[0]
      if (first === undefined) continue
      this.remove(first)
      // Whose turn it was comes last.
      if (own.length > 0) {
        this.#accounts.delete(account)
        this.#accounts.set(account, own)
      }
      return first
    }
    return undefined
  }

  remove(waiting: Waiting): void {
    const account = waiting.job.accountId ?? ""
    const own = this.#accounts.get(account)
    const at = own?.indexOf(waiting) ?? -1
    if (own === undefined || at === -1) return
    own.splice(at, 1)
    if (own.length === 0) this.#accounts.delete(account)
    if (!isAnswer(waiting)) this.#schemas -= 1
  }
}

/** One thread, started when first needed and anew when it had to be stopped; one job at a time, the others wait in line. */
class Checking {
  #worker: Worker | undefined
  #ready = false
  #current: Waiting | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  readonly #line = new Line()

  /** Answers how to take the job back. */
  submit(waiting: Waiting): () => void {
    if (this.#closed || !this.#line.hasRoom(waiting)) {
      waiting.done(busy(this.#closed ? "the service stops" : "too much is to be checked at once"))
      return () => {}
    }
    this.#line.add(waiting)
    this.#next()
    return () => this.#line.remove(waiting)
  }

  async close(): Promise<void> {
    this.#closed = true
    const left: Array<Waiting> = []
    for (let one = this.#line.next(); one !== undefined; one = this.#line.next()) left.push(one)
    const stopped = this.#stop()
    this.#settle(busy("the service stops"))
    for (const { done } of left) done(busy("the service stops"))
    await stopped
  }

  #next(): void {
    if (this.#current !== undefined) return
    this.#current = this.#line.next()
    if (this.#current === undefined) return
    const worker = (this.#worker ??= this.#start())
    if (this.#ready) this.#give(worker, this.#current)
    else this.#limit(START_MS)
  }

  #give(worker: Worker, { job: { schema, text } }: Waiting): void {
    this.#limit(CHECK_MS)
    worker.postMessage({ schema, text }, [])
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
 * when it takes more its thread is ended, and the next one gets a new one. Accounts take turns. Beyond 64 schemas that wait, 4 of them of
 * one account, none is taken; answers always are.
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

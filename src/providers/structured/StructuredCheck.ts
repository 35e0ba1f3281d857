import { Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import type { CheckJob, Verdict } from "./StructuredVerdict.ts"

/** A check and its account. Accounts take turns. */
export interface AccountJob extends CheckJob {
  readonly accountId?: string | undefined
}

/** Checks an answer. It never fails; the verdict says so when the check was not possible. */
export type Check = (job: AccountJob) => Effect.Effect<Verdict>

/** The time limit of one check, in milliseconds. A schema that takes longer is an attack or a mistake. */
const CHECK_MS = 250

/** A thread needs some tens of milliseconds to start. A machine that needs this long is unusable. */
const START_MS = 10_000

/** The maximum number of schemas that wait for a check. In the worst case they take as long as an impatient client waits. */
export const MAX_WAITING = 64

/** The maximum number of waiting schemas per account. */
export const MAX_WAITING_OF_ONE = 4

/** An answer of 128,000 tokens with all its possible errors needs a fraction of this. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }

interface QueuedCheck {
  readonly job: AccountJob
  readonly done: (verdict: Verdict) => void
}

const unchecked = (detail: string): Verdict => ({ _tag: "Unchecked", detail })
const busy = (detail: string): Verdict => ({ _tag: "Unchecked", detail, busy: true })

const isAnswer = ({ job }: QueuedCheck): boolean => job.text !== undefined

/** The waiting checks by account. Accounts take turns, so no account waits for all checks of another. */
class CheckQueue {
  readonly #accounts = new Map<string, Array<QueuedCheck>>()
  #schemas = 0

  /** An answer has already been paid for, so there is always room for its check. */
  hasRoom(waiting: QueuedCheck): boolean {
    if (isAnswer(waiting)) return true
    const own = this.#accounts.get(waiting.job.accountId ?? "") ?? []
    return this.#schemas < MAX_WAITING && own.filter((one) => !isAnswer(one)).length < MAX_WAITING_OF_ONE
  }

  add(waiting: QueuedCheck): void {
    const account = waiting.job.accountId ?? ""
    const own = this.#accounts.get(account)
    if (own === undefined) this.#accounts.set(account, [waiting])
    else own.push(waiting)
    if (!isAnswer(waiting)) this.#schemas += 1
  }

  next(): QueuedCheck | undefined {
    for (const [account, own] of this.#accounts) {
      const first = own[0]
      if (first === undefined) continue
      this.remove(first)
      // The account that had its turn goes to the end.
      if (own.length > 0) {
        this.#accounts.delete(account)
        this.#accounts.set(account, own)
      }
      return first
    }
    return undefined
  }

  remove(waiting: QueuedCheck): void {
    const account = waiting.job.accountId ?? ""
    const own = this.#accounts.get(account)
    const at = own?.indexOf(waiting) ?? -1
    if (own === undefined || at === -1) return
    own.splice(at, 1)
    if (own.length === 0) this.#accounts.delete(account)
    if (!isAnswer(waiting)) this.#schemas -= 1
  }
}

/** One thread, started when first needed and restarted when it had to be stopped. It runs one check at a time; the others wait. */
class CheckThread {
  #worker: Worker | undefined
  #ready = false
  #current: QueuedCheck | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false
  readonly #queue = new CheckQueue()

  /** Returns a function that cancels the check. */
  submit(waiting: QueuedCheck): () => void {
    if (this.#closed || !this.#queue.hasRoom(waiting)) {
      waiting.done(busy(this.#closed ? "the service is stopping" : "too many checks are waiting"))
      return () => {}
    }
    this.#queue.add(waiting)
    this.#next()
    return () => this.#queue.remove(waiting)
  }

  async close(): Promise<void> {
    this.#closed = true
    const left: Array<QueuedCheck> = []
    for (let one = this.#queue.next(); one !== undefined; one = this.#queue.next()) left.push(one)
    const stopped = this.#stop()
    this.#settle(busy("the service is stopping"))
    for (const { done } of left) done(busy("the service is stopping"))
    await stopped
  }

  #next(): void {
    if (this.#current !== undefined) return
    this.#current = this.#queue.next()
    if (this.#current === undefined) return
    const worker = (this.#worker ??= this.#start())
    if (this.#ready) this.#give(worker, this.#current)
    else this.#limit(START_MS)
  }

  #give(worker: Worker, { job: { schema, text } }: QueuedCheck): void {
    this.#limit(CHECK_MS)
    worker.postMessage({ schema, text }, [])
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#fail("checking it took too long"), ms)
  }

  #start(): Worker {
    // The thread must not see the process's settings, which contain keys.
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
    const abandonCheck = () => {
      if (worker === this.#worker) this.#fail("checking it needs too much memory")
    }
    worker.on("error", abandonCheck)
    worker.on("exit", abandonCheck)
    // Listeners keep the process alive for the thread, so `unref` comes after them.
    worker.unref()
    return worker
  }

  /** Terminates the thread without asking it, because it may be in an infinite loop. */
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
 * Runs checks on a thread of its own, which ends with the scope and does not keep the process alive. One check may take 250 ms and 64
 * MiB. If it takes more, its thread is terminated and the next check gets a new one: a caller's schema could otherwise stop a node, for
 * example by a regular expression that backtracks without end. Accounts take turns. Beyond 64 waiting schemas, or
 * 4 of one account, further schemas are rejected; answers never are.
 */
export const makeCheck: Effect.Effect<Check, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new CheckThread()),
    (thread) => Effect.promise(() => thread.close())
  ),
  (thread) => (job) =>
    Effect.callback<Verdict>((resume) => {
      const takeBack = thread.submit({ job, done: (verdict) => resume(Effect.succeed(verdict)) })
      return Effect.sync(takeBack)
    })
)

import { Cause, Context, Data, Duration, Effect, Fiber, Latch, Layer } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient, SqlError } from "effect/sql"
import { makeJobStore } from "../platform/database/JobTableSql.ts"
import { storeErrors, Unavailable } from "../platform/database/Sql.ts"
import { wakeupsOf } from "../platform/database/Wakeups.ts"
import { describeSqlError } from "../platform/database/SqlCondition.ts"
import { StartError } from "../platform/config/Variables.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { firstWaiting, newestStep, waitedMs } from "./JobsSql.ts"

export type QueueName = "videos" | "batches"

/** The outcome of a step: the job is done, or it runs again after a delay. Delays round up to whole seconds. */
export type Outcome = "done" | { readonly again: Duration.Input }

/**
 * Runs the next step of the job with this ID. `attempt` starts at 1 and increases while the same step fails. A step may be
 * delivered twice, even concurrently, so its effects must be idempotent.
 */
export type Handler = (id: string, attempt: number) => Effect.Effect<Outcome, unknown>

export interface JobsOptions {
  /** How long a process may go without renewing its lock before another one takes the job. At least 1 second, in whole seconds. */
  readonly lease: Duration.Input
  /** The longest time that a due job waits to be noticed. */
  readonly pollInterval: Duration.Input
  /**
   * The longest time that a job waits when another process enqueues it, while this process sees no waiting jobs and hears no
   * notifications of the database.
   */
  readonly idlePollInterval: Duration.Input
  /** How long running steps may take to finish after their worker is asked to stop. */
  readonly grace: Duration.Input
}

/** A step failed. The log contains the cause. */
class StepFailed extends Data.TaggedError("StepFailed")<{ readonly queue: QueueName; readonly id: string }> {
  override get message() {
    return `a step of job ${this.id} in queue ${this.queue} failed`
  }
}

/** Effectively unlimited attempts. The store keeps the number in 32 bits. */
const WITHOUT_LIMIT = 2_147_483_647

/** The gateway retries failed steps after 1, 2, 4 … seconds, up to this many. */
const LONGEST_BACKOFF_SECONDS = 60

const backoff = (attempts: number) =>
  Effect.succeed(Duration.seconds(Math.min(2 ** Math.min(attempts - 1, 30), LONGEST_BACKOFF_SECONDS)))

/**
 * How often the store polls by itself. Its poll is an UPDATE with a different text each time, so PostgreSQL must plan each one.
 * That is too expensive to run continuously in a service without jobs.
 */
const STORE_POLL = "1 minute"

/**
 * How much of a lease passes before the store renews locks. It retries a renewal for the rest of the lease. The store runs an UPDATE for
 * each queue as often, with work or without.
 */
const LOCK_REFRESH = 0.5

/** Finished steps are kept for longer than any lease, so that a step delivered twice has one successor. */
const RETENTION = "1 hour"

const CLEANUP_INTERVAL = "5 minutes"

/**
 * A job is one element of the store per step: `{id}.0`, `{id}.1` and so on. A request for the next step names it after the previous
 * one, so any number of requests creates one step.
 */
const stepAfter = (id: string, element: string | undefined): string =>
  `${id}.${element === undefined ? 0 : Number(element.slice(id.length + 1)) + 1}`

const storeFailed = (error: PersistedQueue.PersistedQueueError): SqlError.SqlError | Unavailable => {
  const failed = Cause.isCause(error.cause) ? Cause.squash(error.cause) : error.cause
  return SqlError.isSqlError(failed) ? failed : new Unavailable({ store: "database", cause: error.message })
}

type Store = PersistedQueue.PersistedQueueStore["Service"]

const cannotStart = (error: SqlError.SqlError): StartError =>
  new StartError({ message: `The gateway cannot use the table of jobs: ${describeSqlError(error)}` })

/** Puts a step into the store and wakes this process's workers after the commit. An existing step stays as it is. */
const offer = (store: Store, queue: QueueName, id: string, element: string, delay: Duration.Duration) =>
  Effect.mapError(
    store.offer({
      name: queue,
      id: element,
      element: id,
      isCustomId: true,
      delay: Duration.toMillis(delay) > 0 ? delay : undefined
    }),
    storeFailed
  )

const enqueueWith = (sql: SqlClient.SqlClient, store: Store, enqueued: Latch.Latch) => {
  const enqueue = (
    queue: QueueName,
    id: string,
    delay: Duration.Duration
  ): Effect.Effect<void, SqlError.SqlError | Unavailable> =>
    Effect.gen(function* () {
      const newest = yield* newestStep(sql, queue, id, Math.ceil(Duration.toSeconds(delay)))
      const element = newest?.waiting ? newest.element : stepAfter(id, newest?.element)
      yield* offer(store, queue, id, element, delay)
      // Another transaction may have created and finished this step meanwhile. The second call then finds it waiting, or creates
      // the next one.
      if (newest?.waiting !== true) yield* enqueue(queue, id, delay)
    })
  return (queue: QueueName, id: string, delay: Duration.Input = 0) =>
    sql.withTransaction(
      Effect.andThen(
        enqueue(queue, id, Duration.max(Duration.fromInputUnsafe(delay), Duration.zero)),
        sql.afterCommit(Effect.asVoid(enqueued.open))
      )
    )
}

/** Whether a worker is the first to take this job. */
const isFirst = ({ attempts, id }: { readonly attempts: number; readonly id: string }): boolean =>
  attempts === 1 && id.endsWith(".0")

/** Counts how long a new job waited. Later steps wait on purpose. */
const countWait = (sql: SqlClient.SqlClient, { jobs }: Metrics, queue: QueueName, element: string) =>
  waitedMs(sql, queue, element).pipe(
    Effect.map((ms) => (ms === undefined ? undefined : jobs.taken(queue, ms))),
    // A missing figure is no reason to fail the step.
    Effect.ignore
  )

/** What the workers of a process share. */
interface WorkerDeps {
  readonly sql: SqlClient.SqlClient
  readonly store: Store
  readonly enqueued: Latch.Latch
  readonly metrics: Metrics
}

/** Creates one worker of a queue. It takes a job, runs one step of it, and repeats until it is asked to stop. */
const makeWorker = ({ enqueued, metrics, sql, store }: WorkerDeps, queue: QueueName, handle: Handler) => {
  let busy = false
  let stopping = false
  const carried = (id: string, element: string, attempt: number) =>
    Effect.gen(function* () {
      const outcome = yield* Effect.suspend(() => handle(id, attempt))
      if (outcome === "done") return
      yield* storeErrors(offer(store, queue, id, stepAfter(id, element), Duration.fromInputUnsafe(outcome.again)))
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logWarning(`attempt ${attempt} at a step of job ${id} in queue ${queue} failed`, cause),
          new StepFailed({ queue, id })
        )
      )
    )
  const step = Effect.gen(function* () {
    const options = { name: queue, maxAttempts: WITHOUT_LIMIT, retryDelay: backoff } as const
    const taken = yield* storeErrors(Effect.mapError(store.take(options), storeFailed))
    busy = true
    if (isFirst(taken)) yield* countWait(sql, metrics, queue, taken.id)
    yield* carried(String(taken.element), taken.id, taken.attempts)
  }).pipe(
    Effect.scoped,
    // A finished job may run again, either later or because its step failed.
    Effect.ensuring(Effect.sync(() => (enqueued.openUnsafe(), (busy = false)))),
    Effect.catchTag("StepFailed", () => Effect.void),
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logWarning(`the gateway cannot work on the queue ${queue}`, cause),
        Effect.sleep("1 second")
      )
    )
  )
  return {
    run: Effect.repeat(step, { until: () => stopping }),
    /** Reports whether the worker is waiting for a job. */
    isIdle: () => !busy && !stopping,
    /** Asks the worker to stop. Returns true when a step is running and must finish first. */
    stop: () => {
      stopping = true
      return busy
    }
  }
}

/** The workers of this process with their queues. */
type Workers = Set<{ readonly queue: QueueName; readonly isIdle: () => boolean }>

/**
 * Repeatedly looks for due jobs in every queue that has an idle worker here, with a statement that only reads. It offers each job
 * it finds again. That changes no job, uses one number of the table's sequence, and wakes the store. Busy workers need no waking,
 * because each takes its next job when it finishes. When no job is waiting at all, it looks less often until this process enqueues
 * one.
 */
const pollQueues = (
  sql: SqlClient.SqlClient,
  store: Store,
  enqueued: Latch.Latch,
  active: Workers,
  options: JobsOptions
) => {
  const { waitAtMost } = wakeupsOf(sql)
  const leaseSeconds = Math.ceil(Duration.toSeconds(options.lease))
  const look = Effect.gen(function* () {
    yield* enqueued.close
    const queues = new Set(Array.from(active).flatMap(({ isIdle, queue }) => (isIdle() ? [queue] : [])))
    if (queues.size === 0) return
    const waiting = yield* firstWaiting(sql, [...queues], leaseSeconds)
    for (const { due, element, id, queue } of waiting) {
      if (due) yield* offer(store, queue, id, element, Duration.zero)
    }
    if (waiting.length === 0) yield* Effect.timeoutOption(enqueued.await, waitAtMost(options.idlePollInterval))
  })
  return look.pipe(
    storeErrors,
    // Caught inside the loop, because one failed poll must not end the polling.
    Effect.catchCause((cause) => Effect.logWarning("the gateway cannot look for due jobs", cause)),
    Effect.delay(options.pollInterval),
    Effect.forever
  )
}

const workWith =
  (shared: WorkerDeps, active: Workers, grace: Duration.Input) =>
  (queue: QueueName, concurrency: number, handle: Handler) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        shared.metrics.jobs.met(queue)
        const workers = yield* Effect.forEach(Array.from({ length: concurrency }), () => {
          const worker = makeWorker(shared, queue, handle)
          return Effect.map(Effect.forkDetach(worker.run), (fiber) => ({ ...worker, fiber, queue }))
        })
        for (const worker of workers) active.add(worker)
        const fibers = workers.map(({ fiber }) => fiber)
        const stop = Effect.gen(function* () {
          for (const worker of workers) active.delete(worker)
          const idle = workers.filter((worker) => !worker.stop())
          yield* Fiber.interruptAll(idle.map(({ fiber }) => fiber))
          yield* Effect.timeoutOption(Fiber.awaitAll(fibers), grace)
          // Interrupted steps give their jobs back, so that other workers can take them at once.
          yield* Fiber.interruptAll(fibers)
        })
        return yield* Effect.onExit(Effect.interruptible(Effect.never), () => stop)
      })
    )

/**
 * Durable queues of jobs, built on Effect's store in the database. A job is the ID of a row elsewhere that says what to do. It is
 * delivered until a step returns `done`. Any number of processes may work on a queue.
 */
export class Jobs extends Context.Service<
  Jobs,
  {
    /**
     * Enqueues a job, in the caller's transaction if there is one. A waiting job is not queued twice; it moves forward, unless it
     * waits because a step failed. A running job runs once more. A worker that takes the job afterwards sees what the transaction
     * wrote. Delays round up to whole seconds.
     *
     * It locks the job until the transaction ends. Call it last, so that two transactions cannot deadlock.
     */
    readonly enqueue: (
      queue: QueueName,
      id: string,
      delay?: Duration.Input
    ) => Effect.Effect<void, SqlError.SqlError | Unavailable>
    /**
     * Works on a queue until interrupted, `concurrency` steps at a time. It retries failed steps without limit and with growing
     * delays. It retries a step of a crashed process when its lease ends. After an interrupt it takes no new jobs and lets running
     * steps finish within the grace period.
     */
    readonly work: (queue: QueueName, concurrency: number, handle: Handler) => Effect.Effect<never>
  }
>()("tollgate/jobs/Jobs") {
  static readonly layerFrom = (options: JobsOptions) => {
    const { grace, lease } = options
    const table = makeJobStore({
      pollInterval: STORE_POLL,
      lockExpiration: lease,
      lockRefreshInterval: Duration.times(Duration.fromInputUnsafe(lease), LOCK_REFRESH)
    })
    const store = Layer.effect(PersistedQueue.PersistedQueueStore, Effect.mapError(table, cannotStart))
    const service = Layer.effect(
      Jobs,
      Effect.gen(function* () {
        const queues = yield* PersistedQueue.PersistedQueueStore
        const sql = yield* SqlClient.SqlClient
        const active: Workers = new Set()
        const enqueued = yield* Latch.make()
        yield* wakeupsOf(sql).on("jobs", () => enqueued.openUnsafe())
        yield* Effect.forkScoped(pollQueues(sql, queues, enqueued, active, options))
        const shared: WorkerDeps = { sql, store: queues, enqueued, metrics: yield* Metrics }
        return Jobs.of({
          enqueue: enqueueWith(sql, queues, enqueued),
          work: workWith(shared, active, grace)
        })
      })
    )
    const cleanup = PersistedQueue.layerCleanup({ interval: CLEANUP_INTERVAL, timeToLive: RETENTION })
    return Layer.merge(service, cleanup).pipe(Layer.provide(store))
  }
}

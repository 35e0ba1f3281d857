import { Cause, Context, Data, Duration, Effect, Fiber, Latch, Layer } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient, SqlError } from "effect/sql"
import { makeJobStore } from "../platform/migrations/JobsSql.ts"
import { storeErrors, Unavailable } from "../platform/Sql.ts"
import { describeSqlError } from "../platform/SqlCondition.ts"
import { StartError } from "../platform/Variables.ts"
import { firstWaiting, newestTurn } from "./JobsSql.ts"

export type QueueName = "videos" | "batches"

/** What becomes of a job: it has ended, or it comes back after this time, in whole seconds (a part counts as one). */
export type Outcome = "done" | { readonly again: Duration.Input }

/**
 * Does the next step of the job with this id. `attempt` is 1 and counts up while the same step fails. A step may be delivered
 * twice, even at the same time, so what it does must be such that it happens once.
 */
export type Handler = (id: string, attempt: number) => Effect.Effect<Outcome, unknown>

export interface JobsOptions {
  /** A job whose process says nothing for so long goes to another one; at least a second, counted in whole ones. */
  readonly lease: Duration.Input
  /** How long a job may lie that has become due. */
  readonly pollInterval: Duration.Input
  /** How long one may lie that another process has enqueued while this one knew of none. */
  readonly idlePollInterval: Duration.Input
  /** How long steps under way may take to end once their worker is told to stop. */
  readonly grace: Duration.Input
}

/** A step failed; the log has why. */
class StepFailed extends Data.TaggedError("StepFailed")<{ readonly queue: QueueName; readonly id: string }> {
  override get message() {
    return `a step of ${this.id} of ${this.queue} failed`
  }
}

/** As often as anybody tries; the store keeps it in 32 bits. */
const WITHOUT_LIMIT = 2_147_483_647

/** Failed steps are tried again after 1, 2, 4 … seconds, at most this many. */
const LONGEST_BACKOFF_SECONDS = 60

const backoff = (attempts: number) =>
  Effect.succeed(Duration.seconds(Math.min(2 ** Math.min(attempts - 1, 30), LONGEST_BACKOFF_SECONDS)))

/**
 * How often the store looks for jobs by itself. Its look is an update, whose text is another each time and so is planned each time:
 * too dear to be made all the time in a service that has no jobs.
 */
const STORE_POLL = "1 minute"

/** Ended turns are kept for longer than any lease, so that a turn delivered twice has one successor. */
const KEPT = "1 hour"

const CLEANUP_INTERVAL = "5 minutes"

/**
 * A job is an element of the store for each of its turns: `{id}.0`, `{id}.1` and so on. Who asks for the next turn names it after
 * the one before, so that any number of askers makes one.
 */
const turnAfter = (id: string, element: string | undefined): string =>
  `${id}.${element === undefined ? 0 : Number(element.slice(id.length + 1)) + 1}`

const storeFailed = (error: PersistedQueue.PersistedQueueError): SqlError.SqlError | Unavailable => {
  const failed = Cause.isCause(error.cause) ? Cause.squash(error.cause) : error.cause
  return SqlError.isSqlError(failed) ? failed : new Unavailable({ store: "database", cause: error.message })
}

type Store = PersistedQueue.PersistedQueueStore["Service"]

const cannotStart = (error: SqlError.SqlError): StartError =>
  new StartError({ message: `The table of jobs cannot be used: ${describeSqlError(error)}` })

/** Puts a turn into the store and wakes the workers of this process once that is committed; one that is there stays as it is. */
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

const enqueueWith = (sql: SqlClient.SqlClient, store: Store, told: Latch.Latch) => {
  const enqueue = (
    queue: QueueName,
    id: string,
    delay: Duration.Duration
  ): Effect.Effect<void, SqlError.SqlError | Unavailable> =>
    Effect.gen(function* () {
      const newest = yield* newestTurn(sql, queue, id, Math.ceil(Duration.toSeconds(delay)))
      const element = newest?.waiting ? newest.element : turnAfter(id, newest?.element)
      yield* offer(store, queue, id, element, delay)
      // Another transaction may have made this turn and ended since; then it is kept too, or has been taken and the next is made.
      if (newest?.waiting !== true) yield* enqueue(queue, id, delay)
    })
  return (queue: QueueName, id: string, delay: Duration.Input = 0) =>
    sql.withTransaction(
      Effect.andThen(
        enqueue(queue, id, Duration.max(Duration.fromInputUnsafe(delay), Duration.zero)),
        sql.afterCommit(Effect.asVoid(told.open))
      )
    )
}

/** One of the workers of a queue: takes a job, does a step of it, and so on until it is told to stop. */
const makeWorker = (store: Store, told: Latch.Latch, queue: QueueName, handle: Handler) => {
  let busy = false
  let stopping = false
  const carried = (id: string, element: string, attempt: number) =>
    Effect.gen(function* () {
      const outcome = yield* Effect.suspend(() => handle(id, attempt))
      if (outcome === "done") return
      yield* storeErrors(offer(store, queue, id, turnAfter(id, element), Duration.fromInputUnsafe(outcome.again)))
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logWarning(`attempt ${attempt} at a step of ${id} of ${queue} failed`, cause),
          new StepFailed({ queue, id })
        )
      )
    )
  const step = Effect.gen(function* () {
    const options = { name: queue, maxAttempts: WITHOUT_LIMIT, retryDelay: backoff } as const
    const taken = yield* storeErrors(Effect.mapError(store.take(options), storeFailed))
    busy = true
    yield* carried(String(taken.element), taken.id, taken.attempts)
  }).pipe(
    Effect.scoped,
    // What is ended may come back: later, or because it failed.
    Effect.ensuring(Effect.sync(() => (told.openUnsafe(), (busy = false)))),
    Effect.catchTag("StepFailed", () => Effect.void),
    Effect.catchCause((cause) =>
      Effect.andThen(Effect.logWarning(`${queue} cannot be worked on at present`, cause), Effect.sleep("1 second"))
    )
  )
  return {
    run: Effect.repeat(step, { until: () => stopping }),
    /** Whether it waits for a job. */
    isIdle: () => !busy && !stopping,
    /** Whether a step is under way, which is to be waited for. */
    stop: () => {
      stopping = true
      return busy
    }
  }
}

/** The workers that there are here, with their queues. */
type Worked = Set<{ readonly queue: QueueName; readonly isIdle: () => boolean }>

/**
 * Looks for what is due in all queues for which a worker waits here, again and again, by a statement that only reads. What is found
 * is offered once more: that changes no job, takes a number of the table's sequence, and wakes the store. Workers that are all busy
 * need no waking: each takes the next job when it has ended its own. Where no job waits for its time either, it looks more seldom
 * until this process is told of one.
 */
const lookingFor = (
  sql: SqlClient.SqlClient,
  store: Store,
  told: Latch.Latch,
  worked: Worked,
  options: JobsOptions
) => {
  const leaseSeconds = Math.ceil(Duration.toSeconds(options.lease))
  const look = Effect.gen(function* () {
    yield* told.close
    const queues = new Set(Array.from(worked).flatMap(({ isIdle, queue }) => (isIdle() ? [queue] : [])))
    if (queues.size === 0) return
    const waiting = yield* firstWaiting(sql, [...queues], leaseSeconds)
    for (const { due, element, id, queue } of waiting) {
      if (due) yield* offer(store, queue, id, element, Duration.zero)
    }
    if (waiting.length === 0) yield* Effect.timeoutOption(told.await, options.idlePollInterval)
  })
  return look.pipe(
    storeErrors,
    // Inside the repeat: one bad look must not be the last.
    Effect.catchCause((cause) => Effect.logWarning("jobs are not looked for at present", cause)),
    Effect.delay(options.pollInterval),
    Effect.forever
  )
}

const workWith =
  (store: Store, told: Latch.Latch, worked: Worked, grace: Duration.Input) =>
  (queue: QueueName, concurrency: number, handle: Handler) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const workers = yield* Effect.forEach(Array.from({ length: concurrency }), () => {
          const worker = makeWorker(store, told, queue, handle)
          return Effect.map(Effect.forkDetach(worker.run), (fiber) => ({ ...worker, fiber, queue }))
        })
        for (const worker of workers) worked.add(worker)
        const fibers = workers.map(({ fiber }) => fiber)
        const stop = Effect.gen(function* () {
          for (const worker of workers) worked.delete(worker)
          const idle = workers.filter((worker) => !worker.stop())
          yield* Fiber.interruptAll(idle.map(({ fiber }) => fiber))
          yield* Effect.timeoutOption(Fiber.awaitAll(fibers), grace)
          // What is left gives its jobs back, for others to take at once.
          yield* Fiber.interruptAll(fibers)
        })
        return yield* Effect.onExit(Effect.interruptible(Effect.never), () => stop)
      })
    )

/**
 * Queues of jobs that outlast every process, over Effect's store in the database. A job is the id of a row elsewhere, which says
 * what is to be done; it is delivered until a step of it says that it is done. Any number of processes may work on a queue.
 */
export class Jobs extends Context.Service<
  Jobs,
  {
    /**
     * Puts a job into a queue, in the caller's transaction if there is one. A job that waits already is not queued twice but
     * brought forward, unless it waits because a step of it failed; one that is being worked on comes once more. Who works on
     * it after this sees what the transaction has written. Delays are in whole seconds, a part counts as one. It locks the job
     * until the transaction ends: do it last, so that no two transactions wait for one another.
     */
    readonly enqueue: (
      queue: QueueName,
      id: string,
      delay?: Duration.Input
    ) => Effect.Effect<void, SqlError.SqlError | Unavailable>
    /**
     * Works on a queue until interrupted, `concurrency` steps at a time. A step that fails is tried again, later each time and
     * without limit; one whose process died, when its lease has ended. Once interrupted it takes nothing more, and gives steps
     * under way their time to end.
     */
    readonly work: (queue: QueueName, concurrency: number, handle: Handler) => Effect.Effect<never>
  }
>()("tollgate/jobs/Jobs") {
  static readonly layerFrom = (options: JobsOptions) => {
    const { grace, lease } = options
    const table = makeJobStore({
      pollInterval: STORE_POLL,
      lockExpiration: lease,
      lockRefreshInterval: Duration.times(Duration.fromInputUnsafe(lease), 0.25)
    })
    const store = Layer.effect(PersistedQueue.PersistedQueueStore, Effect.mapError(table, cannotStart))
    const service = Layer.effect(
      Jobs,
      Effect.gen(function* () {
        const queues = yield* PersistedQueue.PersistedQueueStore
        const sql = yield* SqlClient.SqlClient
        const worked: Worked = new Set()
        const told = yield* Latch.make()
        yield* Effect.forkScoped(lookingFor(sql, queues, told, worked, options))
        return Jobs.of({ enqueue: enqueueWith(sql, queues, told), work: workWith(queues, told, worked, grace) })
      })
    )
    const cleanup = PersistedQueue.layerCleanup({ interval: CLEANUP_INTERVAL, timeToLive: KEPT })
    return Layer.merge(service, cleanup).pipe(Layer.provide(store))
  }
}

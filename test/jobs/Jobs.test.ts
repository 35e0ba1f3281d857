import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Queue, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Jobs, type JobsOptions, type Outcome } from "../../src/jobs/Jobs.ts"
import { firstWaiting } from "../../src/jobs/JobsSql.ts"
import { freshDatabase, layerUrl, layer as database } from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"
import { giveBack, takeAway } from "../support/Outage.ts"
import { genericPlan, nodesOf } from "../support/Plans.ts"
import { runScript } from "../platform/database/Child.ts"

const usual: JobsOptions = {
  lease: "30 seconds",
  pollInterval: "20 millis",
  idlePollInterval: "20 millis",
  grace: "20 seconds"
}

/** Polls so rarely that every delivery in the test comes from waking. */
const seldom: JobsOptions = { ...usual, pollInterval: "1 hour" }

/** Polls at the usual rate for known jobs, and rarely for jobs of other processes. */
const idling: JobsOptions = { ...usual, idlePollInterval: "1 hour" }

/** Failed steps are logged, as intended. */
const jobs = (options: JobsOptions) =>
  Jobs.layerFrom(options).pipe(Layer.provideMerge(database), Layer.provideMerge(Logger.layer([])))

/** Returns the steps of all jobs, oldest first. */
const steps = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ id: string; state: string; attempts: number }>`SELECT id, state, attempts FROM job ORDER BY sequence`
)

/** Returns the steps once none is waiting or running. */
const settled = Effect.repeat(steps, { until: (rows) => rows.every(({ state }) => state === "completed") })

const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

const done = Effect.succeed<Outcome>("done")

/** Works on videos with these outcomes in order, then `done`. Returns the deliveries and the worker. */
const working = (outcomes: ReadonlyArray<Effect.Effect<Outcome, unknown>> = [], concurrency = 2) =>
  Effect.gen(function* () {
    const delivered = yield* Queue.unbounded<string>()
    let step = 0
    const { work } = yield* Jobs
    const worker = yield* Effect.forkScoped(
      work("videos", concurrency, (id, attempt) =>
        Effect.andThen(
          Queue.offer(delivered, `${id} ${attempt}`),
          Effect.suspend(() => outcomes[step++] ?? done)
        )
      )
    )
    return { delivered: Queue.take(delivered), size: Queue.size(delivered), worker }
  })

const on = <A, E>(options: JobsOptions, body: Effect.Effect<A, E, Jobs | SqlClient.SqlClient | Scope.Scope>) =>
  body.pipe(Effect.scoped, Effect.provide(jobs(options)))

/** Returns random numbers from 0 to 1, printed with their seed. */
const seeded = (seed: number) => {
  process.stdout.write(`jobs: JOBS_SEED=${seed}\n`)
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe("a job", () => {
  it.live("runs once its transaction has committed, and never if that is rolled back", () =>
    on(
      seldom,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { enqueue } = yield* Jobs
        const { delivered, size } = yield* working()
        yield* Effect.exit(sql.withTransaction(Effect.andThen(enqueue("videos", "undone"), Effect.fail("no"))))
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* enqueue("videos", "kept")
            assert.strictEqual(yield* size, 0)
          })
        )
        assert.strictEqual(yield* delivered, "kept 1")
        assert.deepStrictEqual(idsOf(yield* settled), ["kept.0"])
      })
    )
  )

  it.live("is queued once while it waits, and again when it has ended", () =>
    on(
      seldom,
      Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        yield* Effect.all([enqueue("videos", "v"), enqueue("videos", "v"), enqueue("videos", "v")], { concurrency: 3 })
        assert.deepStrictEqual(idsOf(yield* steps), ["v.0"])
        const { delivered } = yield* working()
        assert.strictEqual(yield* delivered, "v 1")
        yield* settled
        yield* enqueue("videos", "v")
        assert.strictEqual(yield* delivered, "v 1")
        assert.deepStrictEqual(idsOf(yield* settled), ["v.0", "v.1"])
      })
    )
  )

  it.live("is delivered only to workers of its queue", () =>
    on(
      seldom,
      Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        yield* enqueue("batches", "same")
        yield* enqueue("videos", "same")
        const { delivered } = yield* working()
        assert.strictEqual(yield* delivered, "same 1")
        const rows = yield* Effect.repeat(steps, { until: (all) => all.some(({ state }) => state === "completed") })
        assert.deepStrictEqual(
          rows.map(({ state }) => state),
          ["pending", "completed"]
        )
      })
    )
  )

  it.live("runs again as long as its steps request it, each time with attempt 1", () =>
    on(
      seldom,
      Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        const again = Effect.succeed({ again: 0 })
        const { delivered } = yield* working([again, again])
        yield* enqueue("videos", "v")
        for (let step = 0; step < 3; step++) assert.strictEqual(yield* delivered, "v 1")
        assert.deepStrictEqual(idsOf(yield* settled), ["v.0", "v.1", "v.2"])
      })
    )
  )

  it.live("runs once more when it was enqueued while running, however often", () =>
    on(
      seldom,
      Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        const go = yield* Deferred.make<void>()
        const { delivered, size } = yield* working([Effect.andThen(Deferred.await(go), done)], 1)
        yield* enqueue("videos", "v")
        assert.strictEqual(yield* delivered, "v 1")
        yield* enqueue("videos", "v")
        yield* enqueue("videos", "v")
        assert.strictEqual(yield* size, 0)
        yield* Deferred.succeed(go, undefined)
        assert.strictEqual(yield* delivered, "v 1")
        assert.deepStrictEqual(idsOf(yield* settled), ["v.0", "v.1"])
      })
    )
  )

  it.live("that waits can be moved to an earlier time, but not to a later one", () =>
    on(
      seldom,
      Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        yield* enqueue("videos", "v", "1 hour")
        const { delivered, size } = yield* working()
        yield* enqueue("videos", "v", "2 hours")
        assert.strictEqual(yield* size, 0)
        yield* enqueue("videos", "v")
        assert.strictEqual(yield* delivered, "v 1")
        assert.deepStrictEqual(idsOf(yield* settled), ["v.0"])
      })
    )
  )

  it.live("that waits is not run before the transaction that enqueues it has committed", () =>
    on(
      usual,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { enqueue } = yield* Jobs
        const [first, second] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        yield* enqueue("videos", "v", "1 hour")
        yield* enqueue("videos", "other", "1 hour")
        const { delivered } = yield* working()
        const held = sql.withTransaction(
          Effect.gen(function* () {
            yield* enqueue("videos", "v")
            yield* Deferred.succeed(first, undefined)
            yield* Deferred.await(second)
          })
        )
        const fiber = yield* Effect.forkChild(held)
        yield* Deferred.await(first)
        // The worker takes a later job in the meantime.
        yield* enqueue("videos", "other")
        assert.strictEqual(yield* delivered, "other 1")
        yield* Deferred.succeed(second, undefined)
        assert.strictEqual(yield* delivered, "v 1")
        yield* Fiber.join(fiber)
      })
    )
  )

  it.live("is retried after a delay when a step fails, and enqueuing does not shorten it", () =>
    on(
      usual,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { enqueue } = yield* Jobs
        const failing = [Effect.fail("no"), Effect.die(new Error("a bug")), Effect.interrupt]
        const { delivered } = yield* working(failing, 1)
        yield* enqueue("videos", "v")
        for (let attempt = 1; attempt <= 3; attempt++) {
          assert.strictEqual(yield* delivered, `v ${attempt}`)
          const waiting = sql<{ seconds: number }>`
            SELECT extract(epoch FROM visible_at - updated_at)::float8 AS seconds FROM job WHERE acquired_at IS NULL`
          const [row] = yield* Effect.repeat(waiting, { until: (rows) => rows.length === 1 })
          assert.strictEqual(row?.seconds, 2 ** (attempt - 1))
          yield* enqueue("videos", "v")
          assert.deepStrictEqual((yield* waiting)[0], row)
          // The rest of the wait does not matter here.
          yield* sql`UPDATE job SET visible_at = now()`
        }
        assert.strictEqual(yield* delivered, "v 4")
        assert.deepStrictEqual(yield* settled, [{ id: "v.0", state: "completed", attempts: 4 }])
      })
    )
  )
})

describe("data written before enqueuing", () => {
  it.live("is visible to every later step, whatever happens in between", () =>
    on(
      { ...usual, pollInterval: "5 millis" },
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { enqueue, work } = yield* Jobs
        const random = seeded(Number(process.env["JOBS_SEED"] ?? Date.now() % 1_000_000))
        yield* sql`CREATE TABLE counted AS SELECT n::text AS job, 0 AS written, 0 AS seen FROM generate_series(0, 2) AS n`
        yield* Effect.forkScoped(
          work("videos", 3, (id) =>
            Effect.gen(function* () {
              const [row] = yield* sql<{ written: number }>`SELECT written FROM counted WHERE job = ${id}`
              if (random() < 0.2) return yield* Effect.fail("no")
              // Two steps of a job may run at once, and the older one may end last.
              yield* sql`UPDATE counted SET seen = greatest(seen, ${row!.written}::int) WHERE job = ${id}`
              return random() < 0.3 ? { again: 0 } : "done"
            })
          )
        )
        // A failed step waits at least a second, which does not matter here.
        yield* Effect.forkScoped(
          Effect.forever(
            Effect.andThen(sql`UPDATE job SET visible_at = now() WHERE acquired_at IS NULL`, Effect.sleep("5 millis"))
          )
        )
        const write = Effect.suspend(() => {
          const job = String(Math.floor(random() * 3))
          const delay = random() < 0.3 ? "1 hour" : "0 millis"
          return sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`UPDATE counted SET written = written + 1 WHERE job = ${job}`
              if (random() < 0.5) yield* enqueue("videos", job, delay)
              yield* enqueue("videos", job)
            })
          )
        })
        const counted = sql<{ written: number; seen: number }>`SELECT written, seen FROM counted`
        // Few at a time, because later work must not repair a missed delivery.
        for (let round = 0; round < 60; round++) {
          yield* Effect.forEach(Array.from({ length: 6 }), () => write, { concurrency: 3, discard: true })
          yield* settled
          for (const { seen, written } of yield* counted) assert.strictEqual(seen, written, `round ${round}`)
        }
      })
    )
  )
})

describe("data written by two transactions that enqueue the same job at once", () => {
  it.live("is visible from both", () =>
    on(
      { ...usual, pollInterval: "1 millis" },
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { enqueue, work } = yield* Jobs
        yield* sql`CREATE TABLE mark (job text)`
        const seen = new Map<string, number>()
        yield* Effect.forkScoped(
          work("videos", 3, (id) =>
            Effect.map(sql`SELECT FROM mark WHERE job = ${id}`, (rows): Outcome => {
              seen.set(id, Math.max(seen.get(id) ?? 0, rows.length))
              return "done"
            })
          )
        )
        for (let round = 0; round < 40; round++) {
          const job = `job-${round}`
          const mark = sql.withTransaction(
            Effect.andThen(sql`INSERT INTO mark VALUES (${job})`, enqueue("videos", job)).pipe(
              // Work after enqueuing leaves time for a step in between.
              Effect.andThen(sql`SELECT count(*) FROM pg_class a, pg_class b WHERE a.oid < b.oid`)
            )
          )
          yield* Effect.all([mark, mark], { concurrency: 2, discard: true })
          yield* settled
          assert.strictEqual(seen.get(job), 2, job)
        }
      })
    )
  )
})

describe("a job that waits for its time", () => {
  const outcomes: ReadonlyArray<readonly [string, ReadonlyArray<Effect.Effect<Outcome, unknown>>, string]> = [
    ["a step requests it", [Effect.succeed({ again: "1 second" })], "v 1"],
    ["its step failed", [Effect.fail("no")], "v 2"]
  ]
  for (const [why, steps, second] of outcomes) {
    it.live(`runs when it is due in a process that polls rarely, when ${why}`, () =>
      on(
        idling,
        Effect.gen(function* () {
          const { enqueue } = yield* Jobs
          const { delivered } = yield* working(steps)
          // By then the process has polled and found nothing.
          yield* Effect.sleep("200 millis")
          yield* enqueue("videos", "v", "1 second")
          assert.strictEqual(yield* delivered, "v 1")
          assert.strictEqual(yield* delivered, second)
        })
      )
    )
  }
})

describe("jobs of other processes", () => {
  it.live("are looked up in index order, however many jobs wait", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO job (id, queue_name, element, state, attempts, visible_at, created_at, updated_at)
        SELECT n, 'videos', '"v"', 'pending', 0, now() + (n - 1500) * interval '1 second', now(), now()
        FROM generate_series(1, 3000) n`
      yield* sql`ANALYZE job`
      const nodes = nodesOf(yield* genericPlan(sql, firstWaiting(sql, ["videos"], 30)))
      const read = nodes.filter((node) => node["Relation Name"] === "job")
      assert.lengthOf(read, 1)
      assert.match(read[0]!["Index Cond"] ?? "", /queue_name/)
      assert.strictEqual(read[0]!["Node Type"], "Index Scan")
      assert.notInclude(
        nodes.map((node) => node["Node Type"]),
        "Sort"
      )
    }).pipe(Effect.provide(database))
  )

  it.live("are not taken again while all workers of their queue are busy", () =>
    on(
      { ...usual, pollInterval: "1 millis" },
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // This also fires for existing rows.
        yield* sql`CREATE TABLE offered (queue text)`
        yield* sql`CREATE FUNCTION note_offer() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO offered VALUES (NEW.queue_name); RETURN NEW; END $$`
        yield* sql`CREATE TRIGGER noted BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION note_offer()`
        const { enqueue, work } = yield* Jobs
        const go = yield* Deferred.make<void>()
        const { delivered } = yield* working([Effect.andThen(Deferred.await(go), done)], 1)
        yield* enqueue("videos", "first")
        assert.strictEqual(yield* delivered, "first 1")
        yield* enqueue("videos", "second")
        const found = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(work("batches", 1, (id) => Effect.as(Queue.offer(found, id), "done" as const)))
        const look = (id: string) =>
          Effect.andThen(
            sql`INSERT INTO job (id, queue_name, element, state, attempts, visible_at, created_at, updated_at)
              VALUES (${`${id}.0`}, 'batches', ${JSON.stringify(id)}, 'pending', 0, now(), now(), now())`,
            Queue.take(found)
          )
        // A poll that began before the worker was busy may still offer its job once.
        let looks = 0
        const offeredDuringLooks = Effect.gen(function* () {
          yield* sql`DELETE FROM offered`
          for (let count = 0; count < 3; count++) yield* look(`job-${++looks}`)
          return yield* sql<{ queue: string }>`SELECT DISTINCT queue FROM offered ORDER BY queue`
        })
        const only = yield* eventually(offeredDuringLooks, (queues) => queues.length === 1)
        assert.deepStrictEqual(only, [{ queue: "batches" }])
        yield* Deferred.succeed(go, undefined)
        assert.strictEqual(yield* delivered, "second 1")
      })
    )
  )
})

describe("a worker that is asked to stop", () => {
  it.live("lets its steps end, and takes no new jobs", () =>
    on(
      usual,
      Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        const go = yield* Deferred.make<void>()
        const { delivered, size, worker } = yield* working([Effect.andThen(Deferred.await(go), done)])
        yield* enqueue("videos", "first")
        assert.strictEqual(yield* delivered, "first 1")
        const stopped = yield* Effect.forkChild(Fiber.interrupt(worker), { startImmediately: true })
        yield* enqueue("videos", "second")
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(stopped)
        assert.strictEqual(yield* size, 0)
        assert.deepStrictEqual(yield* steps, [
          { id: "first.0", state: "completed", attempts: 1 },
          { id: "second.0", state: "pending", attempts: 0 }
        ])
      })
    )
  )

  it.live("releases jobs that do not end in time, so that other workers take them at once", () =>
    on(
      { ...usual, grace: "50 millis" },
      Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        const stuck = yield* working([Effect.never])
        yield* enqueue("videos", "v")
        yield* stuck.delivered
        yield* Fiber.interrupt(stuck.worker)
        const { delivered } = yield* working()
        assert.strictEqual(yield* delivered, "v 1")
      })
    )
  )
})

describe("while the database is unavailable", () => {
  it.live("enqueuing fails, and workers wait for it to come back", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("jobs")
      const rooms = Jobs.layerFrom(usual).pipe(Layer.provideMerge(layerUrl(url)), Layer.provideMerge(Logger.layer([])))
      yield* Effect.gen(function* () {
        const { enqueue } = yield* Jobs
        const { delivered } = yield* working()
        yield* enqueue("videos", "before")
        assert.strictEqual(yield* delivered, "before 1")
        yield* settled
        yield* takeAway(url)
        assert.strictEqual((yield* Effect.flip(enqueue("videos", "meanwhile")))._tag, "SqlError")
        yield* giveBack(url)
        yield* Effect.retry(enqueue("videos", "after"), Schedule.spaced("50 millis"))
        assert.strictEqual(yield* delivered, "after 1")
      }).pipe(Effect.provide(rooms))
    }).pipe(Effect.scoped)
  )

  it.live("the start of the gateway fails with an explanation", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("jobs")
      const database = yield* Layer.build(layerUrl(url))
      yield* takeAway(url)
      const failure = yield* Effect.flip(
        Layer.build(Layer.provide(Jobs.layerFrom(usual), Layer.succeedContext(database)))
      )
      assert.match(failure.message, /^The gateway cannot use the table of jobs: \w/)
    }).pipe(Effect.scoped)
  )
})

describe("processes", () => {
  it.live("take over the jobs of a killed process when its lease has ended", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("jobs")
      const context = yield* Layer.build(Jobs.layerFrom(usual).pipe(Layer.provideMerge(layerUrl(url))))
      const { enqueue } = yield* Jobs.pipe(Effect.provide(context))
      const victim = yield* runScript(script, [url, "2", "hold"])
      assert.strictEqual(yield* victim.line, "working")
      yield* enqueue("videos", "v")
      assert.strictEqual(yield* victim.line, "v 1")
      const other = yield* runScript(script, [url, "2", "done"])
      assert.strictEqual(yield* other.line, "working")
      yield* enqueue("videos", "mine")
      assert.strictEqual(yield* other.line, "mine 1")
      victim.process.kill("SIGKILL")
      yield* victim.exit
      assert.strictEqual(yield* other.line, "v 2")
      const rows = yield* Effect.provide(settled, context)
      assert.deepStrictEqual(idsOf(rows), ["v.0", "mine.0"])
    }).pipe(Effect.scoped)
  )

  it.live("can start at the same time", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("jobs")
      const children = yield* Effect.forEach([1, 2], () => runScript(script, [url, "2", "done"]))
      for (const child of children) assert.strictEqual(yield* child.line, "working")
    }).pipe(Effect.scoped)
  )
})

const script = new URL("workerProcess.ts", import.meta.url).pathname

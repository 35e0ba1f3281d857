import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { VideoJobs } from "../../src/videos/VideoJobs.ts"
import type { VideoEnd, VideoProgress } from "../../src/videos/VideoJobsSql.ts"
import { newRequestId, newResourceId } from "../../src/platform/Ids.ts"
import { layer as database } from "../support/Database.ts"

const videoOptions = {
  duration: 4,
  aspectRatio: "16:9" as const,
  imageUrl: undefined,
  referenceImages: [],
  referenceVideo: undefined,
  audio: false
}

const progress: VideoProgress = {
  state: "processing",
  progress: 5,
  submissions: 1,
  polls: 0,
  faults: 0,
  lost: 0,
  waitMs: 1_000,
  provider: "fal",
  ticket: "t",
  attempts: []
}
const completed: VideoEnd = {
  state: "completed",
  progress: 100,
  refunded: false,
  file_id: "file_1",
  cost: 7n,
  error_code: null,
  error_message: null,
  parameters: videoOptions
}
const failed: VideoEnd = {
  state: "failed",
  progress: 5,
  refunded: true,
  file_id: null,
  cost: 0n,
  error_code: "generation_failed",
  error_message: "no",
  parameters: videoOptions
}
const now = { forMs: 60_000, idleMs: 0 }
const wide = { limit: 100, perAccount: 100 }
const two = { limit: 2, perAccount: 2 }

const byAge = (one: { readonly created_at: Date }, other: { readonly created_at: Date }) =>
  one.created_at.getTime() - other.created_at.getTime()

/** A job of this account, or of a new one. */
const inserted = (deadlineMs = 60_000, accountId = newResourceId()) =>
  Effect.gen(function* () {
    const jobs = yield* VideoJobs
    const sql = yield* SqlClient.SqlClient
    const requestId = newRequestId()
    yield* sql`INSERT INTO account (id, email) VALUES (${accountId}, ${`${accountId}@example.com`}) ON CONFLICT DO NOTHING`
    return yield* jobs.insert({
      id: newResourceId(),
      requestId,
      accountId,
      keyId: newResourceId(),
      model: "m",
      plan: { a: 1 },
      steering: null,
      charged: 10n,
      prompt: "a \0 kite \ud800",
      parameters: videoOptions,
      deadlineMs
    })
  })

layer(VideoJobs.layer.pipe(Layer.provideMerge(database)), { excludeTestServices: true, timeout: 60_000 })(
  "video job rows",
  (it) => {
    it.effect("keep their parameters, whatever the prompt", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const job = yield* inserted()
        const found = yield* jobs.find(job.id)
        assert.deepStrictEqual(found, job)
        assert.deepStrictEqual(yield* jobs.ofRequest(job.request_id), job)
        assert.deepInclude(job, {
          state: "queued",
          prompt: "a \0 kite \ud800",
          charged: 10n,
          cost: null,
          overdue: false
        })
        assert.deepStrictEqual(job.parameters, JSON.parse(JSON.stringify(videoOptions)))
        assert.isUndefined(yield* jobs.find(newResourceId()))
      })
    )

    it.effect("have one lease at a time, and wait after the last one if requested", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const { id } = yield* inserted()
        const taken = yield* Effect.forEach(Array.from({ length: 8 }), () => jobs.take(id, now), { concurrency: 8 })
        const [lease, ...others] = taken.filter((one) => one !== undefined)
        assert.isDefined(lease)
        assert.deepStrictEqual(others, [])
        assert.isDefined(yield* jobs.saveProgress(lease, progress))
        assert.isUndefined(yield* jobs.take(id, { ...now, idleMs: 60_000 }))
        assert.strictEqual((yield* jobs.take(id, now))?.lease_number, lease.lease_number + 1n)
      })
    )

    it.effect("accept writes under the newest lease only", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const { id } = yield* inserted()
        const old = (yield* jobs.take(id, { forMs: 0, idleMs: 0 }))!
        const young = (yield* jobs.take(id, now))!
        assert.isFalse(yield* jobs.renew(old, 60_000))
        assert.isTrue(yield* jobs.renew(young, 60_000))
        assert.strictEqual(yield* jobs.submitting(old, "fal", wide, 60_000), "lease_lost")
        assert.isUndefined(yield* jobs.saveProgress(old, progress))
        assert.isUndefined(yield* jobs.end(old, failed))
        yield* jobs.release(old)
        assert.isUndefined(yield* jobs.take(id, now))
        yield* jobs.release(young)
        assert.isDefined(yield* jobs.take(id, now))
      })
    )

    it.effect("end once, and never change afterwards", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* inserted()
        const first = (yield* jobs.take(id, { forMs: 0, idleMs: 0 }))!
        assert.isDefined(yield* jobs.saveProgress(first, progress))
        const lease = (yield* jobs.take(id, now))!
        const ends = yield* Effect.all([jobs.end(lease, completed), jobs.end(lease, failed)], { concurrency: 2 })
        assert.strictEqual(ends.filter((one) => one !== undefined).length, 1)
        assert.isUndefined(yield* jobs.take(id, now))
        assert.isUndefined(yield* jobs.saveProgress(lease, progress))
        const changed = yield* Effect.exit(sql`UPDATE video_job SET progress = progress WHERE id = ${id}`)
        assert.isTrue(Exit.isFailure(changed))
      })
    )

    it.effect("reject invalid states", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const wrong: ReadonlyArray<VideoEnd> = [
          { ...completed, file_id: null },
          { ...completed, progress: 99 },
          { ...completed, cost: 11n },
          { ...completed, refunded: true, cost: 0n },
          { ...failed, refunded: false },
          { ...failed, cost: 1n },
          { ...failed, error_code: null },
          { ...failed, file_id: "file_1" }
        ]
        const { id } = yield* inserted()
        const lease = (yield* jobs.take(id, now))!
        assert.isDefined(yield* jobs.saveProgress(lease, progress))
        for (const end of wrong) {
          assert.isTrue(
            Exit.isFailure(yield* Effect.exit(jobs.end((yield* jobs.find(id))!, end))),
            JSON.stringify(end, String)
          )
        }
        const queued = yield* inserted()
        assert.isTrue(Exit.isFailure(yield* Effect.exit(jobs.end(queued, completed))), "completed from nowhere")
        const { ticket: _, ...without } = progress
        assert.isTrue(Exit.isFailure(yield* Effect.exit(jobs.saveProgress(queued, { ...without, ticket: null }))))
      })
    )

    it.effect("count a provider's jobs exactly, across all nodes", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const leases = yield* Effect.forEach(Array.from({ length: 6 }), () =>
          Effect.flatMap(inserted(), ({ id }) => jobs.take(id, now))
        )
        const noted = yield* Effect.forEach(leases, (lease) => jobs.submitting(lease!, "crowded", two, 60_000), {
          concurrency: 6
        })
        assert.strictEqual(noted.filter((one) => one === "noted").length, 2)
        assert.strictEqual(noted.filter((one) => one === "full").length, 4)
        const [here, there] = leases.filter((_, index) => noted[index] === "noted")
        const waiting = leases.find((_, index) => noted[index] === "full")!
        // A running job counts even after its lease; a job whose lease was released does not.
        yield* jobs.saveProgress(here!, { ...progress, provider: "crowded" })
        assert.strictEqual(yield* jobs.submitting(waiting, "crowded", two, 60_000), "full")
        yield* jobs.release(there!)
        const [oldest] = leases
          .filter((_, index) => noted[index] === "full")
          .map((lease) => lease!)
          .toSorted(byAge)
        assert.strictEqual(yield* jobs.submitting(oldest!, "crowded", two, 60_000), "noted")
        assert.strictEqual((yield* jobs.find(oldest!.id))?.submissions, 1)
      })
    )

    it.effect("get their account's share of a provider, oldest first", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const greedy = newResourceId()
        const room = { limit: 3, perAccount: 2 }
        const taken = (accountId?: string) =>
          Effect.flatMap(inserted(60_000, accountId), ({ id }) => Effect.map(jobs.take(id, now), (lease) => lease!))
        const submitting = (lease: { readonly id: string }) =>
          Effect.flatMap(jobs.find(lease.id), (row) => jobs.submitting(row!, "shared", room, 60_000))
        const [a, b, c] = [yield* taken(greedy), yield* taken(greedy), yield* taken(greedy)]
        const [d, e, f] = [yield* taken(), yield* taken(), yield* taken()]
        assert.deepStrictEqual(yield* Effect.forEach([a, b, c], submitting), ["noted", "noted", "full"])
        // An account at its limit does not keep others from the remaining places.
        assert.deepStrictEqual(yield* Effect.forEach([d, e, f], submitting), ["noted", "full", "full"])
        yield* jobs.release(a)
        assert.strictEqual(yield* submitting(f), "full")
        assert.strictEqual(yield* submitting(e), "full", "c is older")
        assert.strictEqual(yield* submitting(c), "noted")
        yield* jobs.release(d)
        assert.strictEqual(yield* submitting(f), "full")
        assert.strictEqual(yield* submitting(e), "noted")
      })
    )

    it.effect("do not wait for a job that is late to come back", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const sql = yield* SqlClient.SqlClient
        const room = { limit: 1, perAccount: 1 }
        const taken = Effect.flatMap(inserted(), ({ id }) => Effect.map(jobs.take(id, now), (lease) => lease!))
        const [there, first, second] = [yield* taken, yield* taken, yield* taken]
        for (const lease of [there, first, second]) yield* jobs.submitting(lease, "waited", room, 60_000)
        yield* jobs.release(there)
        assert.strictEqual(yield* jobs.submitting(second, "waited", room, 60_000), "full")
        yield* sql`UPDATE video_job SET next_poll_at = now() - interval '1 hour' WHERE id = ${first.id}`
        assert.strictEqual(yield* jobs.submitting(second, "waited", room, 60_000), "noted")
      })
    )

    it.effect("are counted by account while they run, and deleted long after their end", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const accountId = newResourceId()
        const ended = yield* inserted(60_000, accountId)
        const running = yield* inserted(60_000, accountId)
        assert.strictEqual(yield* jobs.unfinished(accountId), 2)
        assert.isDefined(yield* jobs.end(ended, failed))
        assert.strictEqual(yield* jobs.unfinished(accountId), 1)
        yield* jobs.forget(60_000)
        assert.isDefined(yield* jobs.find(ended.id))
        yield* jobs.forget(0)
        assert.isUndefined(yield* jobs.find(ended.id))
        assert.isDefined(yield* jobs.find(running.id))
      })
    )

    it.effect("are found when they have no worker", () =>
      Effect.gen(function* () {
        const jobs = yield* VideoJobs
        const ids = (graceMs: number) => Effect.map(jobs.unattended(graceMs), (found) => [...found])
        const late = yield* inserted(0)
        const due = yield* inserted()
        assert.includeMembers(yield* ids(0), [late.id, due.id])
        const found = yield* ids(60_000)
        assert.include(found, late.id)
        assert.notInclude(found, due.id)
        const lease = yield* jobs.take(due.id, now)
        assert.notInclude(yield* ids(0), due.id)
        assert.isDefined(lease)
        const fiber = yield* Effect.forkChild(jobs.take(late.id, now))
        assert.isTrue((yield* Fiber.join(fiber))?.overdue)
      })
    )
  }
)

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Schedule } from "effect"
import type { Failure } from "../../src/domain/Failure.ts"
import { MAX_UNFINISHED, type Videos } from "../../src/videos/Videos.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { BALANCE, FAL_COST, fails, FilmHost, OTHER_COST, scene, serverError, videoOptions } from "./videoScene.ts"
import { withFacts } from "../support/Facts.ts"

const claimOf = (fingerprint: string) => ({ idempotencyKey: "k", claim: "POST /videos k", fingerprint })

const reasonOf = <A>(effect: Effect.Effect<A, Failure>) => Effect.map(Effect.flip(effect), ({ reason }) => reason)

const fieldsOf = <A>(effect: Effect.Effect<A, Failure>) =>
  Effect.map(reasonOf(effect), (reason) =>
    reason._tag === "ValidationError" ? reason.problems.map(({ field }) => field) : [reason._tag]
  )

describe("submitting a video", () => {
  it.live("charges the price of the most expensive provider, and creates a waiting job", () =>
    Effect.gen(function* () {
      const stage = yield* scene({ hosts: [new FilmHost("fal"), new FilmHost("other")] })
      const { accountId, faults, jobs, money, queue, request, requests, videos } = stage
      const asked = request()
      const { balanceWarning, replayed, video } = yield* videos.submit(asked)
      assert.deepInclude(video, { duration: 4, state: "queued", cost: OTHER_COST, refunded: false, prompt: "a kite" })
      assert.isUndefined(balanceWarning)
      assert.isFalse(replayed)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - OTHER_COST, held: 0n })
      const receipt = yield* requests.find(accountId, asked.requestId)
      assert.deepInclude(receipt, { status: "open", operation: "videos", model: "veo-3", settled: OTHER_COST })
      assert.strictEqual(withFacts(receipt!).opened.prices[0]?.provider, "fal")
      assert.strictEqual((yield* jobs.find(video.id))?.request_id, asked.requestId)
      const taken = yield* Deferred.make<string>()
      const worker = yield* Effect.forkChild(
        queue.work("videos", 1, (id) => Effect.as(Deferred.succeed(taken, id), "done" as const))
      )
      assert.strictEqual(yield* Deferred.await(taken), video.id)
      yield* Fiber.interrupt(worker)
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("warns of a low balance, and creates no job without a charge", () =>
    Effect.gen(function* () {
      const { faults, money, request, rows, videos } = yield* scene({ balance: FAL_COST + 1n })
      const { balanceWarning } = yield* videos.submit(request())
      assert.include(balanceWarning, "below $5.00")
      assert.deepInclude(yield* reasonOf(videos.submit(request())), {
        _tag: "InsufficientCredits",
        needed: FAL_COST,
        available: 1n
      })
      assert.strictEqual((yield* rows).length, 1)
      assert.deepStrictEqual(yield* money, { posted: 1n, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("rejects unsupported parameters and forbidden URLs before the charge", () =>
    Effect.gen(function* () {
      const { money, request, rows, videos } = yield* scene()
      const submitWith = (more: Partial<typeof videoOptions>) =>
        videos.submit(request({ options: { ...videoOptions, ...more } }))
      assert.deepStrictEqual(yield* fieldsOf(submitWith({ duration: 5 })), ["duration"])
      const clip = "https://example.com/a.mp4"
      assert.deepStrictEqual(yield* fieldsOf(submitWith({ referenceVideo: clip, referenceImages: [clip] })), [
        "reference_images",
        "reference_video"
      ])
      assert.deepStrictEqual(yield* fieldsOf(submitWith({ imageUrl: "http://10.0.0.1/a.png" })), ["image_url"])
      const references = { referenceImages: [clip, "ftp://example.com/a"], referenceVideo: "https://192.168.0.1/" }
      const rich = request({ model: "seedance-2.0", options: { ...videoOptions, ...references } })
      assert.deepStrictEqual(yield* fieldsOf(videos.submit(rich)), ["reference_images[1]", "reference_video"])
      const both = { imageUrl: "https://example.com/a.png", referenceImages: ["https://example.com/b.png"] }
      const either = request({ model: "seedance-2.0", options: { ...videoOptions, ...both } })
      assert.deepStrictEqual(yield* fieldsOf(videos.submit(either)), ["image_url"])
      assert.deepStrictEqual(yield* fieldsOf(videos.submit(request({ model: "gpt-4o-mini" }))), ["UnknownModel"])
      assert.deepStrictEqual(yield* fieldsOf(videos.submit(request({ model: "nobody-1" }))), ["UnknownModel"])
      assert.deepStrictEqual(yield* rows, [])
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("fails when no provider is configured for it", () =>
    Effect.gen(function* () {
      const { request, videos } = yield* scene()
      const reason = yield* reasonOf(videos.submit(request({ model: "grok-imagine-video" })))
      assert.strictEqual(reason._tag, "VideoUnavailable")
    }).pipe(Effect.scoped)
  )

  it.live("is rejected without a charge at the account's limit, while repeats are answered", () =>
    Effect.gen(function* () {
      const { caller, faults, finish, money, request, rows, videos } = yield* scene({ balance: 200n * FAL_COST })
      const claimed = () => videos.submit(request({ claim: claimOf("f") }))
      const first = yield* claimed()
      const asked = Array.from({ length: MAX_UNFINISHED + 2 }, () => Effect.result(videos.submit(request())))
      const results = yield* Effect.all(asked, { concurrency: 8 })
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, MAX_UNFINISHED - 1)
      assert.strictEqual((yield* rows).length, MAX_UNFINISHED)
      assert.deepStrictEqual(yield* money, { posted: (200n - BigInt(MAX_UNFINISHED)) * FAL_COST, held: 0n })
      assert.deepInclude(yield* reasonOf(videos.submit(request())), {
        _tag: "RateLimitExceeded",
        limit: MAX_UNFINISHED
      })
      assert.strictEqual((yield* claimed()).video.id, first.video.id)
      const other = yield* caller
      yield* videos.submit(other.request())
      yield* finish(videos, first.video.id)
      yield* videos.submit(request())
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("answers repeats under one idempotency key with one job, however many come at once", () =>
    Effect.gen(function* () {
      const { faults, finish, money, request, rows, videos } = yield* scene()
      const ask = () => videos.submit(request({ claim: claimOf("f") }))
      const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], ask, { concurrency: 6 })
      assert.strictEqual(new Set(answers.map(({ video }) => video.id)).size, 1)
      assert.strictEqual(answers.filter(({ replayed }) => replayed).length, 5)
      assert.strictEqual((yield* rows).length, 1)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - FAL_COST, held: 0n })
      assert.strictEqual(
        (yield* reasonOf(videos.submit(request({ claim: claimOf("g") }))))._tag,
        "IdempotencyKeyReused"
      )
      yield* finish(videos, answers[0]!.video.id)
      const again = yield* ask()
      assert.deepInclude(again.video, { state: "completed", id: answers[0]!.video.id })
      assert.isTrue(again.replayed)
      // The model may be gone by then.
      const gone = yield* videos.submit(request({ claim: claimOf("f"), model: "nobody-1" }))
      assert.strictEqual(gone.video.id, again.video.id)
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )
})

describe("the status of a video", () => {
  it.live("is visible only to its account", () =>
    Effect.gen(function* () {
      const { accountId, caller, request, videos } = yield* scene()
      const { video } = yield* videos.submit(request())
      assert.strictEqual((yield* videos.status(accountId, video.id)).id, video.id)
      const other = yield* caller
      for (const [account, id] of [
        [other.accountId, video.id],
        [accountId, newResourceId()],
        [accountId, "\0"]
      ] as const) {
        assert.strictEqual((yield* reasonOf(videos.status(account, id)))._tag, "NotFound")
      }
    }).pipe(Effect.scoped)
  )

  it.live("advances a submitted job, at most every two seconds, and never a waiting one", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const { accountId, events, later, request, videos } = yield* scene({ hosts: [host] })
      const { video } = yield* videos.submit(request())
      const look = videos.status(accountId, video.id)
      assert.deepInclude(yield* look, { state: "queued" })
      assert.strictEqual(host.filmed.length, 0)
      yield* videos.step(video.id)
      assert.deepInclude(yield* look, { state: "processing", progress: 0, provider: "fal" })
      assert.strictEqual(host.asked, 0)
      yield* later
      assert.deepInclude(yield* look, { state: "processing", progress: 30 })
      assert.deepInclude(yield* look, { progress: 30 })
      assert.strictEqual(host.asked, 1)
      yield* later
      // The clip is made, and read by a worker.
      assert.deepInclude(yield* look, { state: "processing", progress: 30 })
      assert.strictEqual(host.read, 0)
      assert.strictEqual(yield* videos.step(video.id), "done")
      const done = yield* look
      assert.deepInclude(done, { state: "completed", progress: 100, cost: FAL_COST })
      assert.match(done.url ?? "", /^https:\/\/gate\.example\/files\/file_/)
      assert.strictEqual((yield* events).length, 1)
      assert.strictEqual(yield* videos.step(video.id), "done")
    }).pipe(Effect.scoped)
  )

  it.live("fails when the provider is unreachable, and leaves the job unchanged", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const [first] = host.states
      host.states = [fails("fal", serverError), first!]
      const { accountId, later, request, videos } = yield* scene({ hosts: [host] })
      const { video } = yield* videos.submit(request())
      yield* videos.step(video.id)
      yield* later
      assert.strictEqual((yield* reasonOf(videos.status(accountId, video.id)))._tag, "StatusCheckFailed")
      assert.deepInclude(yield* videos.status(accountId, video.id), { state: "processing" })
      yield* later
      assert.deepInclude(yield* videos.status(accountId, video.id), { progress: 30 })
    }).pipe(Effect.scoped)
  )

  it.live("may be read while workers process the job, which ends once", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const [, completed] = host.states
      host.states = [completed!]
      const asked = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      host.clip = Effect.andThen(
        Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(go)),
        Effect.succeed({ bytes: new Uint8Array([1]), contentType: "video/mp4" })
      )
      const { accountId, events, faults, files, later, money, request, videos } = yield* scene({ hosts: [host] })
      const { video } = yield* videos.submit(request())
      yield* videos.step(video.id)
      yield* later
      const worker = yield* Effect.forkChild(videos.step(video.id))
      yield* Deferred.await(asked)
      // The worker has the lease, so the gateway answers with what is recorded.
      assert.deepInclude(yield* videos.status(accountId, video.id), { state: "processing" })
      assert.strictEqual(host.asked, 1)
      // Its lease is over while it still works, and both come to the end.
      yield* later
      const second = yield* Effect.forkChild(videos.step(video.id))
      yield* Effect.repeat(
        Effect.sync(() => host.read),
        { until: (read) => read === 2 }
      )
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(worker)
      yield* Fiber.join(second)
      assert.deepInclude(yield* videos.status(accountId, video.id), { state: "completed" })
      assert.strictEqual((yield* events).length, 1)
      assert.strictEqual((yield* files).length, 1)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - FAL_COST, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )
})

describe("the sweep of video jobs", () => {
  it.live("ends jobs past their deadline with a full refund", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const stage = yield* scene({ hosts: [host], options: { deadline: Duration.zero } })
      const { accountId, events, faults, jobs, money, queue, request, sql, videos } = stage
      const { video } = yield* videos.submit(request())
      yield* sql`DELETE FROM job`
      const worker = yield* Effect.forkChild(queue.work("videos", 1, videos.step))
      yield* Effect.repeat(Effect.andThen(videos.sweep, jobs.find(video.id)), {
        schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "20 seconds" })),
        until: (row) => row?.state === "failed"
      })
      yield* Fiber.interrupt(worker)
      const ended = yield* videos.status(accountId, video.id)
      assert.deepInclude(ended, { state: "failed", cost: 0n, refunded: true })
      assert.strictEqual(ended.error?.code, "upstream_timeout")
      assert.strictEqual((yield* events)[0]?.type, "video.failed")
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
      assert.strictEqual(host.filmed.length, 0)
      assert.strictEqual(yield* videos.sweep, 0)
      assert.strictEqual((yield* jobs.find(video.id))?.state, "failed")
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("deletes jobs that ended long ago, and no repeat creates them again", () =>
    Effect.gen(function* () {
      const { accountId, finish, processOf, request, rows, sql, videos } = yield* scene()
      const ask = (by: Videos["Service"]) => by.submit(request({ claim: claimOf("f") }))
      const { video } = yield* ask(videos)
      yield* finish(videos, video.id)
      const short = yield* processOf(undefined, { retention: Duration.zero })
      yield* short.sweep
      // However short files are kept: its key stands for a day.
      assert.strictEqual((yield* ask(short)).video.id, video.id)
      yield* sql`ALTER TABLE video_job DISABLE TRIGGER video_job_ended`
      yield* sql`UPDATE video_job SET completed_at = now() - interval '26 hours'`
      yield* videos.sweep
      assert.strictEqual((yield* rows).length, 1)
      yield* short.sweep
      assert.deepStrictEqual(yield* rows, [])
      assert.strictEqual((yield* reasonOf(videos.status(accountId, video.id)))._tag, "NotFound")
      assert.strictEqual((yield* reasonOf(ask(videos)))._tag, "IdempotencyResultUnavailable")
    }).pipe(Effect.scoped)
  )

  it.live("queues jobs again that lost their queue entry", () =>
    Effect.gen(function* () {
      const { later, queue, request, sql, videos } = yield* scene()
      const { video } = yield* videos.submit(request())
      yield* sql`DELETE FROM job`
      assert.strictEqual(yield* videos.sweep, 0)
      yield* later
      assert.strictEqual(yield* videos.sweep, 1)
      const taken = yield* Deferred.make<string>()
      yield* Effect.forkScoped(queue.work("videos", 1, (id) => Effect.as(Deferred.succeed(taken, id), "done" as const)))
      assert.strictEqual(yield* Deferred.await(taken), video.id)
    }).pipe(Effect.scoped)
  )
})

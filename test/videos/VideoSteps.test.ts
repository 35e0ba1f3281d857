import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import { MAX_LOST, MAX_REFUSED_ROUNDS, MAX_SUBMISSIONS } from "../../src/domain/Video.ts"
import { LEASE_MS } from "../../src/videos/VideoSteps.ts"
import { Media } from "../../src/platform/files/Media.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import type { ProviderFault } from "../../src/providers/ProviderError.ts"
import { upstream } from "../providers/upstream.ts"
import {
  BALANCE,
  FAL_COST,
  fails,
  FilmHost,
  lostAnswer,
  Mortal,
  OTHER_COST,
  scene,
  type SceneOptions,
  serverError,
  videoOptions
} from "./videoScene.ts"
import { withFacts } from "../support/Facts.ts"

/** A video that was sold, and what it comes to. */
const sold = (
  options: SceneOptions = {},
  more: Parameters<Effect.Success<ReturnType<typeof scene>>["request"]>[0] = {}
) =>
  Effect.gen(function* () {
    const stage = yield* scene(options)
    const { video } = yield* stage.videos.submit(stage.request(more))
    const { id } = video
    const receipt = Effect.flatMap(stage.jobs.find(id), (row) =>
      Effect.map(stage.requests.find(stage.accountId, row!.request_id), (found) => ({
        row: row!,
        receipt: found!,
        closed: withFacts(found!).closed!
      }))
    )
    return {
      ...stage,
      id,
      job: Effect.map(stage.jobs.find(id), (row) => row!),
      receipt,
      end: Effect.andThen(stage.finish(stage.videos, id), receipt)
    }
  })

/** A process whose file store is away. */
class Storeless extends Mortal {
  override readonly services = Effect.gen(function* () {
    const store = () => Effect.fail(new Unavailable({ store: "file store", cause: "write: ENOSPC" }))
    return Layer.merge(yield* new Mortal().services, Layer.succeed(Media, { ...(yield* Media), store }))
  })
}

const PNG = Buffer.from("89504e470d0a1a0a00000000", "hex")

describe("a step of a video job", () => {
  it.live("submits the job to the next provider when one accepts nothing, at that provider's price", () =>
    Effect.gen(function* () {
      const [first, second] = [new FilmHost("fal"), new FilmHost("other")]
      first.makeVideo = () => fails("fal", serverError)
      const { end, faults, money } = yield* sold({ hosts: [first, second] })
      const { closed, receipt, row } = yield* end
      assert.deepInclude(row, { state: "completed", provider: "other", cost: OTHER_COST, charged: OTHER_COST })
      assert.deepStrictEqual(
        closed.routing?.provider_attempts?.map(({ outcome, provider }) => [provider, outcome]),
        [
          ["fal", "failed_over"],
          ["other", "served"]
        ]
      )
      assert.deepInclude(receipt, { provider: "other", settled: OTHER_COST, refunded: 0n })
      assert.deepStrictEqual(closed.rates, { unit: "second", perUnit: Number(OTHER_COST / 4n) * 1_000 })
      assert.deepStrictEqual(yield* money, { posted: BALANCE - OTHER_COST, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("refunds the difference to the most expensive provider", () =>
    Effect.gen(function* () {
      const { end, faults, money } = yield* sold({ hosts: [new FilmHost("fal"), new FilmHost("other")] })
      const { closed, receipt, row } = yield* end
      assert.deepInclude(row, { provider: "fal", cost: FAL_COST, charged: OTHER_COST, refunded: false })
      assert.deepInclude(receipt, { settled: OTHER_COST, refunded: OTHER_COST - FAL_COST, status: "succeeded" })
      assert.deepInclude(closed, { usage: { units: 4, unit: "second" }, basis: "counted", error: null })
      assert.deepStrictEqual(yield* money, { posted: BALANCE - FAL_COST, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("retries for some minutes when no provider accepts the job, and then refunds it", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      host.makeVideo = () => fails("fal", { _tag: "RateLimited", retryAfterSeconds: undefined })
      const { end, events, money } = yield* sold({ hosts: [host] })
      const { closed, row } = yield* end
      assert.deepInclude(row, { state: "failed", error_code: "generation_failed", refunded: true, cost: 0n })
      assert.strictEqual(row.faults, MAX_REFUSED_ROUNDS - 1)
      // Who fails again and again is not asked every time.
      assert.isAtLeast(host.filmed.length, 2)
      assert.deepInclude(closed, { usage: { units: 0, unit: "second" }, basis: "none" })
      assert.strictEqual(closed.error?._tag, "GenerationFailed")
      const [event] = yield* events
      const { data } = JSON.parse(event!.body)
      assert.deepInclude(data, { status: "failed", refunded: true, refund_usd: 1.6, cost_usd: 0 })
      assert.strictEqual(data.error.code, "generation_failed")
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("submits again a few times when the response is lost", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<ProviderFault> = [
        lostAnswer,
        { _tag: "TimedOut", clock: "total" },
        { _tag: "ServerError", status: 504, detail: "" },
        { _tag: "Malformed", detail: "" }
      ]
      for (const fault of faults) {
        const host = new FilmHost("fal")
        host.makeVideo = () => fails("fal", fault)
        const { end } = yield* sold({ hosts: [host] })
        const { closed, row } = yield* end
        assert.strictEqual(row.state, "failed")
        assert.strictEqual(host.filmed.length, MAX_SUBMISSIONS, fault._tag)
        // Each submission may have made a whole video. Providers do not bill their own errors.
        const whole = fault._tag === "ServerError" ? [] : [Number(FAL_COST), Number(FAL_COST), Number(FAL_COST)]
        assert.deepStrictEqual(
          (closed.attemptCosts ?? []).map(({ nano }) => nano),
          whole,
          fault._tag
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("submits again after an interruption", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const called = yield* Deferred.make<void>()
      host.makeVideo = () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never)
      const { end, id, job, videos } = yield* sold({ hosts: [host] })
      const step = yield* Effect.forkChild(videos.step(id))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(step)
      assert.deepInclude(yield* job, { state: "queued", submissions: 1 })
      host.makeVideo = () => Effect.succeed({ ticket: "t" })
      assert.deepInclude((yield* end).row, { state: "completed", submissions: 2 })
      assert.strictEqual(host.filmed.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("fails at once with the provider's refusal, and refunds", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      host.makeVideo = () => fails("fal", { _tag: "Refused", status: 422, detail: "no kites" })
      const { end, money } = yield* sold({ hosts: [host] })
      assert.deepInclude((yield* end).row, {
        state: "failed",
        error_code: "validation_error",
        error_message: "fal refused this video: no kites"
      })
      assert.strictEqual(host.filmed.length, 1)
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("fails at once whatever characters the provider's message contains", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      host.makeVideo = () => fails("fal", { _tag: "Refused", status: 422, detail: "no\0kites \ud83e" })
      const { end, events, money } = yield* sold({ hosts: [host] })
      const message = "fal refused this video: no\ufffdkites \ufffd"
      assert.deepInclude((yield* end).row, { state: "failed", error_code: "validation_error", error_message: message })
      assert.strictEqual(host.filmed.length, 1)
      assert.strictEqual(JSON.parse((yield* events)[0]!.body).data.error.message, message)
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("never shows a provider's internal message to the client", () =>
    Effect.gen(function* () {
      for (const refused of [true, false]) {
        const host = new FilmHost("fal")
        host.states = [Effect.succeed({ _tag: "Failed", detail: "secret words", refused })]
        const { end, events } = yield* sold({ hosts: [host] })
        const { closed, row } = yield* end
        assert.strictEqual(row.error_code, refused ? "validation_error" : "generation_failed")
        assert.notInclude(
          JSON.stringify([row, closed, yield* events], (_, value) => String(value)),
          "secret words"
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("fails when its provider has repeatedly not known the job", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const unknown = fails("fal", { _tag: "Refused", status: 404, detail: "no such job" })
      const [, completed] = host.states
      host.states = [unknown, unknown, completed!]
      assert.strictEqual((yield* (yield* sold({ hosts: [host] })).end).row.state, "completed")
      host.states = [unknown]
      host.asked = 0
      const { closed, row } = yield* (yield* sold({ hosts: [host] })).end
      assert.strictEqual(row.state, "failed")
      assert.strictEqual(host.asked, MAX_LOST)
      assert.deepInclude(closed.attemptCosts?.[0], { provider: "fal", nano: Number(FAL_COST), estimated: true })
    }).pipe(Effect.scoped)
  )

  it.live("does not fail after a few such answers, whatever other errors occur", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const [processing, completed] = [host.states[0]!, host.states[1]!]
      const away = fails("fal", serverError)
      const unknown = fails("fal", { _tag: "Refused", status: 404, detail: "no such job" })
      const story = (states: FilmHost["states"]) =>
        Effect.gen(function* () {
          host.states = states
          host.asked = 0
          return (yield* (yield* sold({ hosts: [host] })).end).row.state
        })
      assert.strictEqual(yield* story([away, away, unknown, completed]), "completed")
      assert.strictEqual(yield* story([unknown, unknown, processing, unknown, unknown, completed]), "completed")
      assert.strictEqual(yield* story([unknown, away, unknown, unknown, completed]), "failed")
      let reads = 0
      const { clip } = host
      host.clip = Effect.suspend(() => (++reads === 1 ? fails("fal", lostAnswer) : clip))
      assert.strictEqual(yield* story([unknown, unknown, completed, unknown, completed]), "completed")
    }).pipe(Effect.scoped)
  )

  it.live("retries a video that cannot be downloaded, and treats an empty one as a failure", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const clip = host.clip
      let reads = 0
      host.clip = Effect.suspend(() => (++reads < 3 ? fails("fal", lostAnswer) : clip))
      const { end, files } = yield* sold({ hosts: [host] })
      assert.strictEqual((yield* end).row.state, "completed")
      assert.strictEqual(reads, 3)
      assert.strictEqual((yield* files).length, 1)
      host.states = [Effect.succeed({ _tag: "Completed", clip: { bytes: new Uint8Array(), contentType: "video/mp4" } })]
      const none = yield* sold({ hosts: [host] })
      const { closed, row } = yield* none.end
      assert.strictEqual(row.error_code, "generation_failed")
      assert.deepInclude(closed.attemptCosts?.[0], { provider: "fal", nano: Number(FAL_COST) })
      assert.deepStrictEqual(yield* none.files, [])
    }).pipe(Effect.scoped)
  )

  it.live("waits while its provider is at its limit", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const { end, id, job, request, videos } = yield* sold({ hosts: [host], options: { perProvider: 1 } })
      const { video } = yield* videos.submit(request())
      yield* videos.step(video.id)
      assert.notStrictEqual(yield* videos.step(id), "done")
      assert.deepInclude(yield* job, { state: "queued", polls: 1, submissions: 0 })
      assert.strictEqual(host.filmed.length, 1)
      yield* videos.step(video.id)
      yield* videos.step(video.id)
      assert.strictEqual((yield* end).row.state, "completed")
    }).pipe(Effect.scoped)
  )

  it.live("excludes a second worker, and ignores a late one", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const called = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      host.makeVideo = () =>
        Effect.as(Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(go)), { ticket: "late" })
      const { end, events, faults, id, job, later, money, videos } = yield* sold({ hosts: [host] })
      const slow = yield* Effect.forkChild(videos.step(id))
      yield* Deferred.await(called)
      assert.notStrictEqual(yield* videos.step(id), "done")
      assert.strictEqual(host.filmed.length, 1)
      // Its lease ends while it still waits.
      yield* later
      host.makeVideo = () => Effect.succeed({ ticket: "early" })
      yield* videos.step(id)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(slow)
      assert.deepInclude(yield* job, { state: "processing", ticket: "early" })
      assert.strictEqual((yield* end).row.state, "completed")
      assert.strictEqual((yield* events).length, 1)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - FAL_COST, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("submits images as bytes, and rejects other files", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      let [status, body] = [200, PNG]
      const { origin } = yield* upstream((_, response) => response.writeHead(status).end(body))
      const asked = { options: { ...videoOptions, imageUrl: `${origin}/a.png` } }
      const made = yield* sold({ hosts: [host] }, asked)
      assert.strictEqual((yield* made.end).row.state, "completed")
      assert.strictEqual(host.filmed[0]?.image?.contentType, "image/png")
      assert.deepStrictEqual(Buffer.from(host.filmed[0]!.image!.bytes), PNG)
      body = Buffer.from("<html>")
      const refused = yield* sold({ hosts: [host] }, asked)
      assert.include((yield* refused.end).row.error_message, "image_url must be a PNG")
      assert.deepStrictEqual(yield* refused.money, { posted: BALANCE, held: 0n })
      status = 503
      const late = yield* sold({ hosts: [host] }, asked)
      yield* late.videos.step(late.id)
      assert.deepInclude(yield* late.job, { state: "queued", faults: 1, submissions: 0 })
      const { row } = yield* late.end
      assert.deepInclude(row, { state: "failed", error_code: "validation_error", faults: 1, refunded: true })
      assert.include(row.error_message, "image_url could not be fetched: its host answered with status 503")
      assert.deepStrictEqual(yield* late.money, { posted: BALANCE, held: 0n })
      assert.strictEqual(host.filmed.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is not blocked by slow downloads of another account", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      let asked = 0
      const { origin } = yield* upstream(() => void (asked += 1))
      const { caller, id, job, request, videos } = yield* sold({ hosts: [host] })
      const slow = { options: { ...videoOptions, imageUrl: `${origin}/a.png` } }
      const ids = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(videos.submit(request(slow)), (one) => one.video.id)
      )
      const slowSteps = yield* Effect.forEach(ids.slice(0, 2), (one) => Effect.forkChild(videos.step(one)))
      const arrived = (count: number) =>
        Effect.repeat(
          Effect.sync(() => asked),
          {
            schedule: Schedule.spaced("10 millis").pipe(Schedule.upTo({ duration: "10 seconds" })),
            until: (now) => now === count
          }
        )
      yield* arrived(2)
      // It is answered at once, and waits.
      yield* videos.step(ids[2]!)
      assert.strictEqual(asked, 2)
      yield* videos.step(id)
      assert.deepInclude(yield* job, { state: "processing" })
      const other = yield* caller
      const theirs = yield* videos.submit(other.request(slow))
      const third = yield* Effect.forkChild(videos.step(theirs.video.id))
      assert.strictEqual(yield* arrived(3), 3)
      yield* Fiber.interruptAll([...slowSteps, third])
    }).pipe(Effect.scoped)
  )

  it.live("is not blocked by slow submissions of another account", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      host.makeVideo = () => Effect.never
      const { caller, id, job, request, videos } = yield* sold({ hosts: [host] })
      const ids = yield* Effect.forEach([1, 2, 3, 4], () => Effect.map(videos.submit(request()), (one) => one.video.id))
      const steps = yield* Effect.forEach(ids, (one) => Effect.forkChild(videos.step(one)))
      const filmed = (count: number) =>
        Effect.repeat(
          Effect.sync(() => host.filmed.length),
          {
            schedule: Schedule.spaced("10 millis").pipe(Schedule.upTo({ duration: "10 seconds" })),
            until: (now) => now === count
          }
        )
      assert.strictEqual(yield* filmed(4), 4)
      yield* videos.step(id)
      assert.deepInclude(yield* job, { state: "queued", polls: 1 })
      host.makeVideo = () => Effect.succeed({ ticket: "t" })
      const other = yield* caller
      const { video } = yield* videos.submit(other.request())
      yield* videos.step(video.id)
      assert.deepInclude(yield* videos.status(other.accountId, video.id), { state: "processing" })
      yield* Fiber.interruptAll(steps)
    }).pipe(Effect.scoped)
  )

  it.live("checks once more at its deadline, and accepts a finished video", () =>
    Effect.gen(function* () {
      const [processing, completed] = new FilmHost("fal").states
      const story = (states: FilmHost["states"], clip?: FilmHost["clip"]) =>
        Effect.gen(function* () {
          const host = new FilmHost("fal")
          host.states = states
          if (clip !== undefined) host.clip = clip
          const { faults, id, job, later, money, receipt, sql, videos } = yield* sold({ hosts: [host] })
          yield* videos.step(id)
          yield* later
          yield* sql`UPDATE video_job SET deadline_at = now() WHERE id = ${id}`
          assert.strictEqual(yield* videos.step(id), "done")
          assert.strictEqual(host.asked, 1)
          assert.deepStrictEqual(yield* faults, [])
          const { attemptCosts = [] } = (yield* receipt).closed
          const wasted = attemptCosts.map(({ nano }) => nano)
          return { ...(yield* job), spent: BALANCE - (yield* money).posted, wasted }
        })
      assert.deepInclude(yield* story([completed!]), { state: "completed", spent: FAL_COST, wasted: [] })
      const refunded = { state: "failed", error_code: "upstream_timeout", refunded: true, spent: 0n } as const
      // The provider may go on making it, and bills it.
      const late = { ...refunded, wasted: [Number(FAL_COST)] }
      assert.deepInclude(yield* story([processing!]), late)
      assert.deepInclude(yield* story([fails("fal", serverError)]), late)
      assert.deepInclude(yield* story([completed!], fails("fal", lostAnswer)), late)
    }).pipe(Effect.scoped)
  )

  it.live("retries an unavailable store until its deadline, and then refunds", () =>
    Effect.gen(function* () {
      const { events, faults, id, job, later, money, processOf, sql } = yield* sold()
      const videos = yield* processOf(new Storeless())
      yield* videos.step(id)
      yield* later
      yield* videos.step(id)
      yield* later
      assert.strictEqual((yield* Effect.flip(videos.step(id)))._tag, "Unavailable")
      assert.deepInclude(yield* job, { state: "processing", overdue: false })
      yield* sql`UPDATE video_job SET deadline_at = now() WHERE id = ${id}`
      assert.strictEqual(yield* videos.step(id), "done")
      assert.deepInclude(yield* job, { state: "failed", error_code: "upstream_timeout", refunded: true })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
      assert.deepStrictEqual(
        (yield* events).map(({ type }) => type),
        ["video.failed"]
      )
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("counts for the provider that finally accepts it", () =>
    Effect.gen(function* () {
      const [first, second] = [new FilmHost("fal"), new FilmHost("other")]
      const { id, job, request, videos } = yield* sold({ hosts: [first, second], options: { perProvider: 1 } })
      first.makeVideo = () => fails("fal", { _tag: "ServerError", status: 503, detail: "" })
      yield* videos.step(id)
      assert.deepInclude(yield* job, { state: "processing", provider: "other", submissions: 1 })
      const { video } = yield* videos.submit(request())
      yield* videos.step(video.id)
      // One is all that the other may have, so it was asked no more.
      assert.strictEqual(second.filmed.length, 1)
    }).pipe(Effect.scoped)
  )

  it("is reserved for longer than its work may take", () => {
    assert.isAbove(LEASE_MS.submit, 90_000)
    assert.isAbove(LEASE_MS.clip, LEASE_MS.state)
  })
})

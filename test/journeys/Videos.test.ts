/** Video jobs from the submission to the file or the refund. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { Webhook } from "standardwebhooks"
import { upstream } from "../providers/upstream.ts"
import { decodedVideo, decoderMissing } from "../support/Media.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const clip = { model: "veo-3", prompt: "A kite over the sea", duration: 4, aspect_ratio: "16:9" } as const

/** The price of four seconds of `veo-3`, in nano-USD. */
const COST = 1_600_000_000n

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const submit = (service: Service, key: string, steering = "", path = "/videos") =>
  Effect.flatMap(post(`${service.api}${path}`, key, clip, steering === "" ? {} : { "x-svc-sandbox": steering }), json)

const look = (service: Service, key: string, path: string): Effect.Effect<Json> =>
  Effect.flatMap(get(`${service.api}${path}`, key), json)

/** Polls a job until it has ended. */
const ended = (service: Service, key: string, path: string): Effect.Effect<Json> =>
  Effect.repeat(look(service, key, path), {
    schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "50 seconds" })),
    until: (job: Json) => job.status === "completed" || job.status === "failed"
  })

const spent = (service: Service, accountId: string) =>
  Effect.map(service.balance(accountId), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return 20_000_000_000n - posted
  })

describe("a video in the sandbox", () => {
  it.live(
    "is charged up front, made in the background, and served to everyone who has its URL",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(20)
        const job = yield* submit(service, inferenceKey)
        assert.deepInclude(job, {
          ...clip,
          status: "queued",
          cost_usd: 1.6,
          refunded: false,
          provider: null,
          error: null
        })
        assert.notProperty(job, "video_url")
        assert.strictEqual(yield* spent(service, account.id), COST)
        const receipt = () => look(service, inferenceKey, `/requests/${job.request_id}`)
        assert.deepInclude(yield* receipt(), { operation: "videos", settled_usd: 1.6, refunded_usd: 0 })
        const early = yield* Effect.promise(() =>
          fetch(`${service.api}/videos/${job.id}/content`, {
            headers: { authorization: `Bearer ${inferenceKey}` },
            redirect: "manual"
          })
        )
        assert.oneOf(early.status, [302, 404])
        const done = yield* ended(service, inferenceKey, `/videos/${job.id}`)
        assert.deepInclude(done, { id: job.id, status: "completed", progress: 100, provider: "fal", cost_usd: 1.6 })
        assert.isAtLeast(done.completed_at, done.created_at)
        const content = yield* Effect.promise(() =>
          fetch(`${service.api}/videos/${job.id}/content`, {
            headers: { authorization: `Bearer ${inferenceKey}` },
            redirect: "manual"
          })
        )
        assert.strictEqual(content.status, 302)
        assert.strictEqual(content.headers.get("location"), done.video_url)
        const file = yield* Effect.promise(() => fetch(done.video_url))
        assert.strictEqual(file.status, 200)
        assert.strictEqual(file.headers.get("content-type"), "video/mp4")
        const bytes = new Uint8Array(yield* Effect.promise(() => file.arrayBuffer()))
        if (decoderMissing === undefined) {
          const { height, seconds, width } = yield* decodedVideo(bytes)
          assert.deepStrictEqual([width, height], [640, 360])
          assert.closeTo(seconds, 4, 0.2)
        }
        assert.deepInclude(yield* receipt(), {
          status: "succeeded",
          cost_usd: 1.6,
          usage: { units: 4, unit: "second" },
          provider: "fal"
        })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    90_000
  )

  it.live(
    "that fails is refunded in full, also on the legacy routes, and the receipt shows the refund",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(20)
        const failing = yield* submit(service, inferenceKey, "fault=break,latency_ms=1")
        const legacy = yield* submit(service, inferenceKey, "fault=empty,latency_ms=1", "/video")
        assert.deepInclude(legacy, { id: legacy.job_id, object: "video", status: "queued" })
        assert.strictEqual(yield* spent(service, account.id), 2n * COST)
        const paths = [`/videos/${failing.id}`, `/video/status?id=${legacy.job_id}`]
        for (const [index, path] of paths.entries()) {
          const job = yield* ended(service, inferenceKey, path)
          assert.deepInclude(job, { status: "failed", cost_usd: 0, refunded: true, id: [failing, legacy][index].id })
          assert.strictEqual(job.error.code, "generation_failed")
          const receipt = yield* look(service, inferenceKey, `/requests/${job.request_id}`)
          assert.deepInclude(receipt, { status: "failed", cost_usd: 0, settled_usd: 1.6, refunded_usd: 1.6 })
          assert.deepStrictEqual(receipt.error, {
            code: "generation_failed",
            message: "The generation failed (The provider failed to create this video). You were not charged."
          })
        }
        assert.strictEqual(yield* spent(service, account.id), 0n)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    90_000
  )

  it.live(
    "sends one event to the webhooks of its account when it ends, whichever key submitted it",
    () =>
      Effect.gen(function* () {
        const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
        const { account, inferenceKey } = yield* service.account(20)
        const { key: otherKey } = yield* service.keys.create({
          accountId: account.id,
          kind: "inference",
          name: "another",
          scopes: [],
          actor: { type: "operator", id: "test" }
        })
        const deliveries: Array<{ readonly headers: Record<string, string>; readonly body: string }> = []
        const { origin } = yield* upstream((request, response) => {
          const pieces: Array<Buffer> = []
          request.on("data", (piece: Buffer) => pieces.push(piece))
          request.on("end", () => {
            deliveries.push({
              headers: request.headers as Record<string, string>,
              body: Buffer.concat(pieces).toString()
            })
            response.end()
          })
        })
        const events = ["video.completed", "video.failed"]
        const { secret } = yield* Effect.flatMap(
          post(`${service.api}/webhooks`, inferenceKey, { url: `${origin}/hook`, events }),
          json
        )
        const failing = yield* submit(service, otherKey, "fault=break,latency_ms=1")
        const done = yield* submit(service, inferenceKey, "latency_ms=1")
        const both = Effect.sync(() => deliveries.length)
        yield* Effect.repeat(both, {
          schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "50 seconds" })),
          until: (count) => count === 2
        })
        const bodies = deliveries.map(({ body, headers }) => new Webhook(secret).verify(body, headers) as Json)
        assert.sameDeepMembers(
          bodies.map(({ data, type }) => [type, data.id]),
          [
            ["video.failed", failing.id],
            ["video.completed", done.id]
          ]
        )
        const completed = bodies.find(({ type }) => type === "video.completed").data
        assert.deepStrictEqual(
          completed.video_url,
          (yield* look(service, inferenceKey, `/videos/${done.id}`)).video_url
        )
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    90_000
  )
})

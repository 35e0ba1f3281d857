import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeVideos } from "../../../src/providers/sandbox/Videos.ts"
import { jobOf } from "../../../src/providers/sandbox/VideoTicket.ts"
import type { VideoJobState, VideoWork } from "../../../src/domain/Work.ts"
import { decodedVideo, decoderMissing } from "../../support/Media.ts"
import { videoWork, workCall } from "../work.ts"

const { makeVideo, videoClip, videoState } = makeVideos("up")

const taken = (steering?: string, work: Partial<VideoWork> = {}) =>
  Effect.map(makeVideo(workCall({ steering }), videoWork(work)), ({ ticket }) => ticket)

/** The state, requested by another process, which has only the ticket. */
const stateOf = (ticket: string) => makeVideos("up").videoState(workCall(), ticket)

const tagsOf = Effect.fnUntraced(function* (ticket: string, ...steps: ReadonlyArray<number>) {
  const tags: Array<VideoJobState["_tag"]> = []
  for (const ms of steps) {
    yield* TestClock.adjust(ms)
    tags.push((yield* stateOf(ticket))._tag)
  }
  return tags
})

const sceneOf = (ticket: string) => jobOf(ticket)!.scene

describe("the sandbox's videos", () => {
  it.effect("wait, progress and complete, by the ticket and the time only", () =>
    Effect.gen(function* () {
      const ticket = yield* taken()
      assert.deepStrictEqual(yield* tagsOf(ticket, 0, 100, 299, 1), ["Queued", "Processing", "Processing", "Completed"])
      const slow = yield* taken("fault=slow")
      assert.deepStrictEqual(yield* tagsOf(slow, 4_999, 1), ["Processing", "Completed"])
      const told = yield* taken("latency_ms=60000")
      assert.deepStrictEqual(yield* tagsOf(told, 30_000), ["Processing"])
      assert.deepStrictEqual(yield* stateOf(told), { _tag: "Processing", progress: 50 })
      assert.deepStrictEqual(yield* tagsOf(told, 30_000), ["Completed"])
      const now = yield* taken("latency_ms=0")
      assert.deepStrictEqual(yield* tagsOf(now, 0), ["Completed"])
    })
  )

  it.effect("fail as steered", () =>
    Effect.gen(function* () {
      const faultOf = (steering: string) => Effect.map(Effect.flip(taken(steering)), ({ fault }) => fault)
      assert.deepStrictEqual(yield* faultOf("fault=rate_limit"), { _tag: "RateLimited", retryAfterSeconds: 1 })
      assert.strictEqual((yield* faultOf("fault=error"))._tag, "ServerError")
      assert.strictEqual((yield* faultOf("nonsense"))._tag, "Refused")
      assert.isString(yield* taken("provider=other,fault=error"))
      const broken = yield* taken("fault=break")
      assert.deepStrictEqual(yield* tagsOf(broken, 399, 1), ["Processing", "Failed"])
      assert.deepInclude(yield* stateOf(broken), { refused: false })
      const stalled = yield* taken("fault=stall")
      assert.deepStrictEqual(yield* tagsOf(stalled, 400, 1e9), ["Processing", "Processing"])
      const empty = yield* taken("fault=empty")
      yield* TestClock.adjust(400)
      const state = yield* stateOf(empty)
      assert.isTrue(state._tag === "Completed" && "bytes" in state.clip && state.clip.bytes.length === 0)
      const garbled = yield* taken("fault=malformed")
      assert.strictEqual((yield* Effect.flip(stateOf(garbled))).fault._tag, "Malformed")
    })
  )

  it.effect("fail when their state is requested with a fault, too", () =>
    Effect.gen(function* () {
      const ticket = yield* taken("latency_ms=0")
      const asked = (steering: string) => videoState(workCall({ steering }), ticket)
      assert.strictEqual((yield* Effect.flip(asked("fault=rate_limit"))).fault._tag, "RateLimited")
      assert.strictEqual((yield* Effect.flip(asked("fault=error"))).fault._tag, "ServerError")
      // Steering of the job's course counts only at submission.
      for (const steering of ["fault=break", "fault=stall", "latency_ms=5000"]) {
        assert.strictEqual((yield* asked(steering))._tag, "Completed")
      }
      assert.strictEqual((yield* Effect.flip(stateOf("d97415a1"))).fault._tag, "Refused")
      for (const url of ["", "https://example.com/clip.mp4", "https://sandbox.invalid/clips/none"]) {
        assert.strictEqual((yield* Effect.flip(videoClip(workCall(), url))).fault._tag, "Refused")
      }
    })
  )

  it.effect("show the request", () =>
    Effect.gen(function* () {
      const seeded = sceneOf(yield* taken(undefined, { seed: 7, duration: 6, prompt: "x".repeat(10_000) }))
      assert.deepInclude(seeded, { width: 640, height: 360, seconds: 6, seed: 7 })
      assert.deepStrictEqual(seeded.lines, ["model-1 · seed 7 · 6 s", "x".repeat(1_000)])
      const tall = sceneOf(yield* taken(undefined, { aspectRatio: "9:16", seed: -1 }))
      assert.deepInclude(tall, { width: 360, height: 640, seed: 2 ** 32 - 1 })
      const unseeded = yield* Effect.all([taken(), taken(), taken(undefined, { prompt: "a blue kite" })])
      const [first, again, other] = unseeded.map((ticket) => sceneOf(ticket).seed)
      assert.strictEqual(first, again)
      assert.notStrictEqual(first, other)
    })
  )

  it.effect("show which sources they have", () =>
    Effect.gen(function* () {
      const image = { bytes: Buffer.from("an image"), contentType: "image/png" }
      const video = { bytes: new Uint8Array(), contentType: "video/mp4" }
      const ticket = yield* taken(undefined, { image, referenceImages: [image, image], referenceVideo: video })
      assert.include(sceneOf(ticket).lines[0], "a source image · 2 reference images · a reference video")
    })
  )

  it.live("are clips of the request", () =>
    Effect.gen(function* () {
      const work = { duration: 4, aspectRatio: "9:16" } as const
      const state = yield* stateOf(yield* taken("latency_ms=0", work))
      if (state._tag !== "Completed" || !("url" in state.clip)) return assert.fail("the clip has no URL")
      const { url } = state.clip
      const clip = yield* videoClip(workCall(), url)
      assert.strictEqual(clip.contentType, "video/mp4")
      assert.strictEqual(Buffer.from(clip.bytes).toString("latin1", 4, 8), "ftyp")
      const again = yield* makeVideos("other").videoClip(workCall(), url)
      assert.strictEqual(again.bytes.length, clip.bytes.length)
      if (decoderMissing !== undefined) return console.log(`not decoded: ${decoderMissing}`)
      const { codecs, height, seconds, width } = yield* decodedVideo(clip.bytes)
      assert.deepStrictEqual([codecs, width, height, seconds], [["h264"], 360, 640, 4])
    })
  )
})

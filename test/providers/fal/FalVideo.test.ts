import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeFalVideo, queueUrlOf } from "../../../src/providers/fal/FalVideo.ts"
import { faultOfStatus } from "../../../src/providers/fal/Failure.ts"
import { makeHttpWork } from "../../../src/providers/wire/HttpWork.ts"
import { faultOf, videoHost, withVideoHost, videoSuite, type VideoWire, json } from "../videos.ts"
import { videoWork, workCall } from "../work.ts"

const wire: VideoWire = {
  adapter: (origin) =>
    Effect.flatMap(
      makeHttpWork({
        id: "up",
        apiKey: Redacted.make("sk-planted"),
        headers: { authorization: "Key sk-planted" },
        faultOfStatus
      }),
      (work) => makeFalVideo(work, `${origin}/queue`)
    ),
  upstreamId: "bytedance/seedance-2.0",
  ticket: "/queue/bytedance/seedance-2.0/requests/764cabcf-b745",
  refusal: (message) => ({ detail: [{ loc: ["body"], msg: message, type: "value_error" }] })
}

const call = workCall({}, wire.upstreamId)

/** The state that the adapter reads from this status and this result. */
const stateAt = (status: object, result: readonly [number, unknown] = [500, "{}"]) =>
  Effect.flatMap(
    videoHost(wire, ({ url }, response) => {
      if (url === `${wire.ticket}/status`) json(response, 200, status)
      else if (url === wire.ticket) json(response, ...result)
      else json(response, 404, { detail: "Not Found" })
    }),
    ({ provider }) => provider.videoState(call, wire.ticket)
  )

const done = { status: "COMPLETED" }
const model = (type: string, msg = "because") => ({ detail: [{ loc: ["body", "prompt"], msg, type }] })

describe("fal's queue URL", () => {
  plain("is on another host for fal.run, and at the given URL for any other host", () => {
    assert.strictEqual(queueUrlOf("https://fal.run"), "https://queue.fal.run")
    assert.strictEqual(queueUrlOf("http://127.0.0.1:9/fal/"), "http://127.0.0.1:9/fal")
  })
})

layer(withVideoHost, { excludeTestServices: true })("fal's videos", (it) => {
  it.effect("are submitted to the model's queue with the key", () =>
    Effect.gen(function* () {
      const { heard, provider } = yield* videoHost(wire, (_, response) =>
        json(response, 200, {
          request_id: "764cabcf-b745",
          response_url: "https://queue.fal.run/bytedance/seedance-2.0/requests/764cabcf-b745",
          status_url: "https://queue.fal.run/bytedance/seedance-2.0/requests/764cabcf-b745/status"
        })
      )
      assert.deepStrictEqual(yield* provider.makeVideo(call, videoWork({ seed: 7 })), { ticket: wire.ticket })
      const [{ body, headers, method, url }] = heard as [(typeof heard)[0]]
      assert.deepStrictEqual([method, url], ["POST", "/queue/bytedance/seedance-2.0/text-to-video"])
      assert.strictEqual(headers.authorization, "Key sk-planted")
      assert.deepInclude(body, { prompt: "a red kite", duration: "5", seed: 7 })
    }).pipe(Effect.scoped)
  )

  it.effect("are polled at the queue's URL", () =>
    Effect.gen(function* () {
      const { provider } = yield* videoHost(wire, ({ headers }, response) =>
        json(response, 200, { request_id: "1", response_url: `http://${headers.host}/elsewhere/1` })
      )
      assert.deepStrictEqual(yield* provider.makeVideo(call, videoWork()), { ticket: "/elsewhere/1" })
    }).pipe(Effect.scoped)
  )

  it.effect("are read at the result URL, in either of its forms", () =>
    Effect.gen(function* () {
      const url = "https://v3.fal.media/files/kite.mp4"
      for (const place of [wire.ticket, `${wire.ticket}/response`]) {
        const { provider } = yield* videoHost(wire, ({ headers, method, url: asked }, response) => {
          if (method === "POST") {
            json(response, 200, { request_id: "1", response_url: `http://${headers.host}${place}` })
          } else if (asked === `${wire.ticket}/status`) json(response, 200, done)
          else if (asked === place) json(response, 200, { video: { url } })
          else json(response, 404, { detail: "Not Found" })
        })
        const { ticket } = yield* provider.makeVideo(call, videoWork())
        assert.deepStrictEqual(yield* provider.videoState(call, ticket), { _tag: "Completed", clip: { url } })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("are rejected when a model does not support the parameters", () =>
    Effect.gen(function* () {
      const { heard, provider } = yield* videoHost(wire, (_, response) => json(response, 200, {}))
      const image = { bytes: new Uint8Array([1]), contentType: "image/png" }
      const asked = videoWork({ image, referenceImages: [image] })
      assert.deepInclude(yield* faultOf(provider.makeVideo(call, asked)), {
        _tag: "Refused",
        param: "reference_images"
      })
      assert.lengthOf(heard, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("report the queue's progress", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* stateAt({ status: "IN_QUEUE", queue_position: 3 }), { _tag: "Queued" })
      assert.deepStrictEqual(yield* stateAt({ status: "IN_PROGRESS", logs: null }), {
        _tag: "Processing",
        progress: undefined
      })
      const url = "https://v3.fal.media/files/kite.mp4"
      assert.deepStrictEqual(yield* stateAt(done, [200, { video: { url, content_type: "video/mp4" }, seed: 7 }]), {
        _tag: "Completed",
        clip: { url }
      })
      assert.strictEqual((yield* stateAt({ status: "CANCELED" }))._tag, "Failed")
    }).pipe(Effect.scoped)
  )

  it.effect("fail when the result is a job failure, with the reason when the caller caused it", () =>
    Effect.gen(function* () {
      for (const [result, detail, refused] of [
        [[422, model("content_policy_violation")], "content_policy_violation: because", true],
        [[500, model("content_policy_violation")], "content_policy_violation: because", true],
        [[422, model("image_too_small")], "image_too_small: because", true],
        [[422, model("no_media_generated")], "no_media_generated: because", false],
        [[500, model("internal_server_error")], "internal_server_error: because", false],
        [
          [504, { detail: "Request timed out", error_type: "request_timeout" }],
          "request_timeout: Request timed out",
          false
        ],
        [[200, { images: [] }], "the result has no video", false],
        [[200, { video: null }], "the result has no video", false]
      ] as const) {
        assert.deepStrictEqual(yield* stateAt(done, result), { _tag: "Failed", detail, refused })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("fail also when the errors repeat a large input", () =>
    Effect.gen(function* () {
      const input = {
        prompt: 'a "type":"internal_server_error"',
        image_url: `data:image/png;base64,${"A".repeat(2_000_000)}`
      }
      const error = { loc: ["body"], msg: 'flagged by a "checker"', type: "content_policy_violation", input }
      assert.deepStrictEqual(yield* stateAt(done, [422, { detail: [error] }]), {
        _tag: "Failed",
        detail: 'content_policy_violation: flagged by a "checker"',
        refused: true
      })
      assert.strictEqual((yield* faultOf(stateAt(done, [502, "<html>".repeat(300_000)])))._tag, "ServerError")
      const long = { video: { url: "https://v3.fal.media/files/kite.mp4" }, prompt: "a".repeat(2_000_000) }
      assert.strictEqual((yield* faultOf(stateAt(done, [200, long])))._tag, "Malformed")
    }).pipe(Effect.scoped)
  )

  it.effect("stay unfinished when the result cannot be read", () =>
    Effect.gen(function* () {
      for (const [result, tag] of [
        [[502, "<html>"], "ServerError"],
        [[500, "{}"], "ServerError"],
        [[429, { detail: "slow down", error_type: "rate_limited" }], "RateLimited"],
        [[403, { detail: "locked", error_type: "user_locked" }], "Unauthorized"],
        [[404, { detail: "Not Found" }], "Refused"],
        [[200, "{"], "Malformed"]
      ] as const) {
        assert.strictEqual((yield* faultOf(stateAt(done, result)))._tag, tag)
      }
    }).pipe(Effect.scoped)
  )

  videoSuite(it, wire)
})

import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeXai } from "../../../src/providers/xai/Xai.ts"
import { faultOf, videoHost, withVideoHost, videoSuite, type VideoWire, json } from "../videos.ts"
import { videoWork, workCall } from "../work.ts"

const wire: VideoWire = {
  adapter: (origin) => makeXai({ id: "up", baseUrl: `${origin}/v1/`, apiKey: Redacted.make("sk-planted") }),
  upstreamId: "grok-imagine-video",
  ticket: "d97415a1-5796",
  refusal: (error) => ({ code: "Client specified an invalid argument", error })
}

const call = workCall({}, wire.upstreamId)
const image = { bytes: new Uint8Array([1, 2, 3]), contentType: "image/png" }

/** The state that the adapter reads from this answer. */
const stateAt = (status: number, body: unknown) =>
  Effect.gen(function* () {
    const { heard, provider } = yield* videoHost(wire, (_, response) => json(response, status, body))
    const state = yield* provider.videoState(call, wire.ticket)
    assert.deepStrictEqual([heard[0]?.method, heard[0]?.url], ["GET", `/v1/videos/${wire.ticket}`])
    assert.strictEqual(heard[0]?.headers.authorization, "Bearer sk-planted")
    return state
  })

layer(withVideoHost, { excludeTestServices: true })("xAI's videos", (it) => {
  it.effect("are requested in its format", () =>
    Effect.gen(function* () {
      const { heard, provider } = yield* videoHost(wire, (_, response) =>
        json(response, 200, { request_id: wire.ticket })
      )
      const ticket = yield* provider.makeVideo(
        call,
        videoWork({ image, referenceImages: [image], aspectRatio: "9:16" })
      )
      assert.deepStrictEqual(ticket, { ticket: wire.ticket })
      yield* provider.makeVideo(call, videoWork({ seed: 7, audio: false }))
      const asked = { model: "grok-imagine-video", prompt: "a red kite", duration: 5, resolution: "720p" }
      assert.deepStrictEqual(
        heard.map(({ body, headers, method, url }) => [method, url, headers.authorization, body]),
        [
          [
            "POST",
            "/v1/videos/generations",
            "Bearer sk-planted",
            {
              ...asked,
              aspect_ratio: "9:16",
              image: { url: "data:image/png;base64,AQID" },
              reference_images: [{ url: "data:image/png;base64,AQID" }]
            }
          ],
          ["POST", "/v1/videos/generations", "Bearer sk-planted", { ...asked, aspect_ratio: "16:9" }]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("are rejected with a reference video", () =>
    Effect.gen(function* () {
      const { heard, provider } = yield* videoHost(wire, (_, response) => json(response, 200, {}))
      const asked = videoWork({ referenceVideo: { bytes: new Uint8Array([1]), contentType: "video/mp4" } })
      assert.deepInclude(yield* faultOf(provider.makeVideo(call, asked)), { _tag: "Refused", param: "reference_video" })
      assert.lengthOf(heard, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("report the host's progress", () =>
    Effect.gen(function* () {
      const pending = (progress?: unknown) => stateAt(202, { status: "pending", progress })
      assert.deepStrictEqual(yield* pending(), { _tag: "Processing", progress: undefined })
      assert.deepStrictEqual(yield* pending(41.7), { _tag: "Processing", progress: 41 })
      assert.deepStrictEqual(yield* pending(900), { _tag: "Processing", progress: undefined })
      const url = "https://vidgen.x.ai/kite.mp4"
      const video = { url, duration: 5, respect_moderation: true }
      for (const said of [{ status: "done", video, model: "grok-imagine-video" }, { video }]) {
        assert.deepStrictEqual(yield* stateAt(200, said), { _tag: "Completed", clip: { url } })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("fail with the reason when the caller caused it", () =>
    Effect.gen(function* () {
      const error = (code: string) => ({ status: "failed", error: { code, message: "because" } })
      const url = "https://vidgen.x.ai/kite.mp4"
      for (const [status, body, refused] of [
        [200, error("internal_error"), false],
        [200, error("service_unavailable"), false],
        [200, error("invalid_argument"), true],
        [200, { status: "failed" }, false],
        [200, { status: "expired" }, false],
        [200, { status: "done", video: { url, respect_moderation: false } }, true],
        [200, { status: "done", video: { duration: 0 } }, false],
        [400, { code: "invalid", error: "Generated video rejected by content moderation." }, true]
      ] as const) {
        assert.deepInclude(yield* stateAt(status, body), { _tag: "Failed", refused }, JSON.stringify(body))
      }
    }).pipe(Effect.scoped)
  )

  videoSuite(it, wire)
})

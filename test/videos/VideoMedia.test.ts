import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { VideoOptions } from "../../src/domain/Video.ts"
import { makeVideoMedia } from "../../src/videos/VideoMedia.ts"
import {
  PublicFetchError,
  type PublicFetchReason,
  type PublicRequest
} from "../../src/platform/outbound/PublicFetch.ts"
import { candidate } from "../providers/calls.ts"
import { videoOptions } from "./videoScene.ts"

const files: Readonly<Record<string, Buffer>> = {
  gif: Buffer.from("GIF89a", "latin1"),
  png: Buffer.from("89504e470d0a1a0a00000000", "hex"),
  mp4: Buffer.from("\0\0\0\x18ftypisom", "latin1"),
  mov: Buffer.from("\0\0\0\x18ftypqt  ", "latin1"),
  webm: Buffer.from("1a45dfa3000000000000000000", "hex"),
  html: Buffer.from("<html></html>")
}

const limits = { imageBytes: 10, videoBytes: 20, totalMs: 1_000 }

/** Answers each address by what it ends in, or with this reason. */
const media = (more: Partial<VideoOptions>, reason?: PublicFetchReason, vendor = "google") => {
  const asked: Array<PublicRequest> = []
  const fetch = (request: PublicRequest) => {
    asked.push(request)
    const body = files[request.url.split(".").at(-1) ?? ""]!
    return reason === undefined ? Effect.succeed({ status: 200, body }) : Effect.fail(new PublicFetchError({ reason }))
  }
  const { model } = candidate("p", { model: { id: "video", vendor } })
  const made = makeVideoMedia(fetch, limits)({ ...videoOptions, ...more }, model)
  return Effect.map(Effect.result(made), (result) => ({ result, asked }))
}

const url = (name: string) => `https://example.com/a.${name}`

describe("the media of a video", () => {
  it.effect("are downloaded within their limits, and identified by their first bytes", () =>
    Effect.gen(function* () {
      const references = { referenceImages: [url("png"), url("png")], referenceVideo: url("mov") }
      const { asked, result } = yield* media({ imageUrl: url("png"), ...references })
      assert.strictEqual(result._tag, "Success")
      const found = result._tag === "Success" ? result.success : undefined
      assert.deepStrictEqual(found?.image?.bytes, files["png"])
      assert.deepStrictEqual(
        found?.referenceImages.map(({ contentType }) => contentType),
        ["image/png", "image/png"]
      )
      assert.strictEqual(found?.referenceVideo?.contentType, "video/quicktime")
      assert.deepStrictEqual(
        asked.map(({ maxBytes }) => maxBytes),
        [10, 10, 10, 20]
      )
      for (const [name, type] of [
        ["mp4", "video/mp4"],
        ["webm", "video/webm"]
      ]) {
        const { result } = yield* media({ referenceVideo: url(name!) })
        assert.strictEqual(result._tag === "Success" && result.success.referenceVideo?.contentType, type)
      }
    })
  )

  it.effect("are empty for a request without media", () =>
    Effect.gen(function* () {
      const { asked, result } = yield* media({})
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual(result._tag === "Success" && result.success, {
        image: undefined,
        referenceImages: [],
        referenceVideo: undefined
      })
    })
  )

  it.effect("are refused by name when they are GIF images and the model takes none", () =>
    Effect.gen(function* () {
      for (const [more, field] of [
        [{ imageUrl: url("gif") }, "image_url"],
        [{ referenceImages: [url("png"), url("gif")] }, "reference_images[1]"]
      ] as const) {
        assert.strictEqual((yield* media(more)).result._tag, "Success")
        for (const vendor of ["openai", "xai"]) {
          const { result } = yield* media(more, undefined, vendor)
          const message = `${field} must be a PNG, JPEG or WebP image for video; got a GIF image`
          assert.deepStrictEqual(result._tag === "Failure" && result.failure, { _tag: "Refused", message })
        }
      }
    })
  )

  it.effect("are rejected by name when invalid, and retried after temporary failures", () =>
    Effect.gen(function* () {
      const refusal = (more: Partial<VideoOptions>, reason?: PublicFetchReason) =>
        Effect.map(media(more, reason), ({ result }) => {
          if (result._tag === "Success") return "fetched"
          const { failure } = result
          return failure._tag === "Full" ? "later" : `${failure._tag === "Refused" ? "" : "again: "}${failure.message}`
        })
      const image = { imageUrl: url("png") }
      assert.strictEqual(yield* refusal({ imageUrl: url("mp4") }), "image_url must be a PNG, JPEG, GIF or WebP image")
      assert.strictEqual(
        yield* refusal({ referenceVideo: url("html") }),
        "reference_video must be an MP4, MOV or WebM video"
      )
      const tooLarge = { _tag: "TooLarge", limitBytes: 10 } as const
      assert.strictEqual(
        yield* refusal({ referenceImages: [url("png")] }, tooLarge),
        "reference_images[0] must have at most 10 bytes"
      )
      assert.include(yield* refusal(image, { _tag: "Status", status: 404 }), "with status 404")
      assert.notInclude(yield* refusal(image, { _tag: "Forbidden", why: "where it leads" }), "where it leads")
      const passing = [
        { _tag: "Status", status: 503 },
        { _tag: "Unreachable", detail: "ECONNREFUSED" },
        { _tag: "TimedOut" }
      ] as const
      for (const reason of passing)
        assert.match(yield* refusal(image, reason), /^again: image_url could not be fetched: its host/)
      // That is not its caller's fault.
      assert.strictEqual(yield* refusal(image, { _tag: "Busy" }), "later")
    })
  )
})

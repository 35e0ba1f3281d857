import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { encodeVideo } from "../../../src/providers/fal/FalVideoEncode.ts"
import type { VideoWork } from "../../../src/domain/Work.ts"
import { videoWork } from "../work.ts"

const image = { bytes: new Uint8Array([1, 2, 3]), contentType: "image/png" }
const video = { bytes: new Uint8Array([4, 5, 6]), contentType: "video/mp4" }

const encoded = (id: string, more: Partial<VideoWork> = {}) => Result.getOrThrow(encodeVideo(id, videoWork(more)))

describe("video requests for fal", () => {
  it("use Seedance's fields and endpoints", () => {
    const terms = {
      duration: "5",
      aspect_ratio: "9:16",
      resolution: "720p",
      generate_audio: false,
      prompt: "a red kite"
    }
    const asked = { aspectRatio: "9:16", audio: false } as const
    assert.deepStrictEqual(encoded("bytedance/seedance-2.0", { ...asked, seed: 0 }), {
      model: "bytedance/seedance-2.0/text-to-video",
      input: { ...terms, seed: 0 }
    })
    assert.deepStrictEqual(encoded("bytedance/seedance-2.0/fast", { ...asked, image }), {
      model: "bytedance/seedance-2.0/fast/image-to-video",
      input: { ...terms, image_url: "data:image/png;base64,AQID" }
    })
    const referenceImages = [image, image]
    assert.deepStrictEqual(encoded("bytedance/seedance-2.0", { ...asked, referenceImages, referenceVideo: video }), {
      model: "bytedance/seedance-2.0/reference-to-video",
      input: {
        ...terms,
        image_urls: ["data:image/png;base64,AQID", "data:image/png;base64,AQID"],
        video_urls: ["data:video/mp4;base64,BAUG"]
      }
    })
    assert.notProperty(encoded("bytedance/seedance-2.0", { referenceImages }).input, "video_urls")
    assert.notProperty(encoded("bytedance/seedance-2.0", { referenceVideo: video }).input, "image_urls")
  })

  it("use Veo's fields and endpoints", () => {
    const input = {
      prompt: "a red kite",
      duration: "8s",
      aspect_ratio: "16:9",
      resolution: "720p",
      generate_audio: true
    }
    assert.deepStrictEqual(encoded("fal-ai/veo3", { duration: 8 }), { model: "fal-ai/veo3", input })
    assert.deepStrictEqual(encoded("fal-ai/veo3", { duration: 8, image }), {
      model: "fal-ai/veo3/image-to-video",
      input: { ...input, image_url: "data:image/png;base64,AQID" }
    })
  })

  it("use Kling's fields and endpoints", () => {
    const id = "fal-ai/kling-video/v3/pro"
    const input = { prompt: "a red kite", duration: "5", generate_audio: true }
    assert.deepStrictEqual(encoded(id, { seed: 7 }), {
      model: `${id}/text-to-video`,
      input: { ...input, aspect_ratio: "16:9" }
    })
    assert.deepStrictEqual(encoded(id, { image }), {
      model: `${id}/image-to-video`,
      input: { ...input, start_image_url: "data:image/png;base64,AQID" }
    })
  })

  it("are rejected for options that a model lacks", () => {
    for (const [id, more] of [
      ["fal-ai/veo3", { referenceImages: [image] }],
      ["fal-ai/kling-video/v3/pro", { referenceVideo: video }],
      ["bytedance/seedance-2.0", { image, referenceImages: [image] }]
    ] as const) {
      const refused = encodeVideo(id, videoWork(more))
      assert.isTrue(Result.isFailure(refused) && refused.failure._tag === "Refused", id)
    }
  })
})

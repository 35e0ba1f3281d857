import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeVideo } from "../../../src/dialects/videos/VideosDecode.ts"

const body = { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9" }

const fieldsOf = (wire: unknown): ReadonlyArray<string> => {
  const result = decodeVideo(wire)
  if (Result.isSuccess(result)) return []
  const { reason } = result.failure
  return reason._tag === "ValidationError" ? reason.problems.map(({ field }) => field) : [reason._tag]
}

describe("a video request", () => {
  it("has defaults, and treats null like an absent field", () => {
    const plain = {
      model: "veo-3",
      prompt: "a kite",
      options: {
        duration: 4,
        aspectRatio: "16:9" as const,
        imageUrl: undefined,
        referenceImages: [],
        referenceVideo: undefined,
        audio: false
      }
    }
    assert.deepStrictEqual(decodeVideo(body), Result.succeed(plain))
    const nulls = { image_url: null, generate_audio: null, reference_images: null, reference_video: null }
    assert.deepStrictEqual(decodeVideo({ ...body, ...nulls }), Result.succeed(plain))
  })

  it("may set images, a reference video and audio", () => {
    const [image, clip] = ["https://example.com/a.png", "https://example.com/a.mp4"]
    const wire = { ...body, image_url: image, generate_audio: true, reference_images: [image], reference_video: clip }
    const decoded = Result.getOrThrow(decodeVideo(wire))
    assert.deepInclude(decoded.options, {
      imageUrl: image,
      audio: true,
      referenceImages: [image],
      referenceVideo: clip
    })
  })

  it("is rejected with the names of all invalid fields", () => {
    assert.deepStrictEqual(fieldsOf([]), ["body"])
    assert.deepStrictEqual(fieldsOf({}), ["model", "prompt", "duration", "aspect_ratio"])
    assert.deepStrictEqual(fieldsOf({ ...body, seed: 1 }), ["seed"])
    for (const duration of [3, 16, 4.5, "4", null])
      assert.deepStrictEqual(fieldsOf({ ...body, duration }), ["duration"])
    for (const aspect_ratio of ["1:1", "", null])
      assert.deepStrictEqual(fieldsOf({ ...body, aspect_ratio }), ["aspect_ratio"])
    for (const prompt of ["", "x".repeat(5_001)]) assert.deepStrictEqual(fieldsOf({ ...body, prompt }), ["prompt"])
    assert.deepStrictEqual(fieldsOf({ ...body, reference_images: Array(5).fill("https://example.com") }), [
      "reference_images"
    ])
    assert.deepStrictEqual(fieldsOf({ ...body, reference_images: [1] }), ["reference_images[0]"])
    assert.deepStrictEqual(fieldsOf({ ...body, generate_audio: "yes" }), ["generate_audio"])
  })
})

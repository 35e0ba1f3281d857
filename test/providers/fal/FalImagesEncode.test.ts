import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { encodeImages } from "../../../src/providers/fal/FalImagesEncode.ts"
import type { ImagesWork } from "../../../src/domain/Work.ts"
import { drawWork } from "../work.ts"

const input = (model: string, work: Partial<ImagesWork> = {}, count = 1) =>
  Result.getOrThrow(encodeImages(model, drawWork(work), count))

const param = (model: string, work: Partial<ImagesWork>) => {
  const fault = Result.getOrThrow(Result.flip(encodeImages(model, drawWork(work), 1)))
  return fault._tag === "Refused" ? fault.param : fault._tag
}

const source = { bytes: Buffer.from("abc"), contentType: "image/png" }
const wide = { width: 1536, height: 1024 }

describe("the input of fal's image models", () => {
  it("has a size in pixels, or an aspect ratio for models that require one", () => {
    const plain = { prompt: "a red kite", num_images: 3 }
    assert.deepStrictEqual(input("fal-ai/flux/dev", {}, 3), plain)
    assert.deepStrictEqual(input("fal-ai/flux-pro/v1.1", { size: wide, format: "png" }), {
      prompt: "a red kite",
      num_images: 1,
      image_size: wide,
      output_format: "png"
    })
    assert.deepStrictEqual(input("fal-ai/flux-pro/kontext/max", { size: wide, images: [source] }), {
      prompt: "a red kite",
      num_images: 1,
      aspect_ratio: "3:2",
      image_url: "data:image/png;base64,YWJj"
    })
    // 1408 by 768 is the model's size for 16:9.
    const near = input("fal-ai/imagen4/preview", { size: { width: 1408, height: 792 }, format: "webp" })
    assert.deepInclude(near, { aspect_ratio: "16:9", output_format: "webp" })
  })

  it("is rejected when a model does not support it", () => {
    assert.strictEqual(param("fal-ai/imagen4/preview", { size: wide }), "size")
    assert.strictEqual(param("fal-ai/flux/dev", { format: "webp" }), "output_format")
    assert.strictEqual(param("fal-ai/flux/dev", { quality: "high" }), "quality")
    assert.strictEqual(param("fal-ai/flux/dev", { background: "transparent" }), "background")
    assert.strictEqual(param("fal-ai/flux/dev", { style: "natural" }), "style")
    assert.strictEqual(param("fal-ai/flux-pro/kontext", { images: [source, source] }), "image")
    assert.deepStrictEqual(
      Object.keys(input("fal-ai/flux/dev", { quality: "auto", background: "opaque", user: "u" })),
      ["prompt", "num_images"]
    )
  })
})

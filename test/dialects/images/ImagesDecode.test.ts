import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeImages } from "../../../src/dialects/images/ImagesDecode.ts"
import type { Reason } from "../../../src/domain/Failure.ts"

const plain = { model: "m", prompt: "a kite" }

const reasonOf = (body: unknown): Reason => Result.getOrThrow(Result.flip(decodeImages(body))).reason

const fieldsOf = (body: unknown) => {
  const reason = reasonOf(body)
  return reason._tag === "ValidationError" ? reason.problems.map(({ field }) => field) : reason._tag
}

const none = {
  size: undefined,
  quality: undefined,
  format: undefined,
  background: undefined,
  style: undefined,
  user: undefined
}

describe("decodeImages", () => {
  it("fills in defaults for absent fields and nulls", () => {
    const decoded = { model: "m", work: { prompt: "a kite", n: 1, ...none }, image: undefined, form: "usual" } as const
    assert.deepStrictEqual(Result.getOrThrow(decodeImages(plain)), decoded)
    const nulls = Object.fromEntries(
      ["n", "size", "quality", "response_format", "output_format", "background", "style", "user", "image"].map(
        (name) => [name, null]
      )
    )
    assert.deepStrictEqual(Result.getOrThrow(decodeImages({ ...plain, ...nulls })), decoded)
    assert.isUndefined(Result.getOrThrow(decodeImages({ ...plain, size: "auto" })).work.size)
  })

  it("reads every field", () => {
    const decoded = decodeImages({
      ...plain,
      n: 10,
      size: "1536x1024",
      quality: "high",
      response_format: "b64_json",
      output_format: "webp",
      background: "transparent",
      style: "vivid",
      user: "u",
      image: "https://example.com/a.png"
    })
    assert.deepStrictEqual(Result.getOrThrow(decoded), {
      model: "m",
      work: {
        prompt: "a kite",
        n: 10,
        size: { width: 1536, height: 1024 },
        quality: "high",
        format: "webp",
        background: "transparent",
        style: "vivid",
        user: "u"
      },
      image: "https://example.com/a.png",
      form: "b64_json"
    })
  })

  it("names every invalid field", () => {
    assert.deepStrictEqual(fieldsOf({ ...plain, n: 0, quality: "best", seed: 1 }), ["seed", "n", "quality"])
    assert.deepStrictEqual(fieldsOf({ prompt: "" }), ["model", "prompt"])
    for (const size of ["63x64", "64x3841", "3840x3840", "01024x1024", "1024", "1024X1024", "1024x1024 ", "1e3x64"]) {
      assert.deepStrictEqual(fieldsOf({ ...plain, size }), ["size"], size)
    }
    for (const size of ["64x64", "3840x2160", "2160x3840"])
      assert.isTrue(Result.isSuccess(decodeImages({ ...plain, size })))
    assert.deepStrictEqual(fieldsOf("no"), ["body"])
  })

  it("rejects an image that is not an https or image data URL, or is too large", () => {
    for (const image of ["http://example.com/a", "data:text/plain;base64,AAAA", "data:image/png,a", "a.png", ""]) {
      assert.deepStrictEqual(fieldsOf({ ...plain, image }), ["image"], image)
    }
    const large = `data:image/png;base64,${"A".repeat(28_000_000)}`
    assert.deepStrictEqual(reasonOf({ ...plain, image: large }), {
      _tag: "ImageTooLarge",
      param: "image",
      limitBytes: 20_971_520
    })
    const inline = "data:image/png;base64,AAAA"
    assert.strictEqual(Result.getOrThrow(decodeImages({ ...plain, image: inline })).image, inline)
  })
})

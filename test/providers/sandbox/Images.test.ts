import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { draw } from "../../../src/providers/sandbox/Images.ts"
import type { ImagesWork } from "../../../src/domain/Work.ts"
import { decodedImage, decoderMissing } from "../../support/Media.ts"
import { drawWork, workCall } from "../work.ts"

const drawn = (work: Partial<ImagesWork> = {}, steering?: string) =>
  draw("up", workCall({ steering }), drawWork({ size: { width: 256, height: 192 }, ...work }))

const faultOf = (work: Partial<ImagesWork>, steering?: string) =>
  Effect.map(Effect.flip(drawn(work, steering)), ({ fault }) => fault)

describe("the sandbox's images", () => {
  it.live("are distinct PNGs of the requested size, the same for the same request", () =>
    Effect.gen(function* () {
      const { images } = yield* drawn({ n: 2 })
      assert.deepStrictEqual(
        images.map(({ contentType }) => contentType),
        ["image/png", "image/png"]
      )
      const [first, second] = images.map(({ bytes }) => Buffer.from(bytes))
      assert.notDeepEqual(first, second)
      assert.deepStrictEqual((yield* drawn({ n: 2 })).images, images)
      assert.notDeepEqual(Buffer.from((yield* drawn({ prompt: "a blue kite" })).images[0]!.bytes), first)
    })
  )

  it.live("open in a decoder, 1024 pixels square by default", () =>
    Effect.gen(function* () {
      const plain = yield* drawn({ size: undefined })
      if (decoderMissing !== undefined) return console.warn(`not decoded: ${decoderMissing}`)
      const { codec, height, rgb, width } = yield* decodedImage(plain.images[0]!.bytes)
      assert.deepStrictEqual([codec, width, height], ["png", 1024, 1024])
      // The text is white, the background is not.
      const white = rgb.filter((byte) => byte === 255).length / rgb.length
      assert.isAbove(white, 0.001)
      assert.isBelow(white, 0.2)
    })
  )

  it.live("differ for another image to edit, of any type", () =>
    Effect.gen(function* () {
      const edited = (text: string) =>
        Effect.map(drawn({ images: [{ bytes: Buffer.from(text), contentType: "image/webp" }] }), ({ images }) =>
          Buffer.from(images[0]!.bytes)
        )
      assert.deepStrictEqual(yield* edited("RIFF0000WEBP"), yield* edited("RIFF0000WEBP"))
      assert.notDeepEqual(yield* edited("RIFF0001WEBP"), yield* edited("RIFF0000WEBP"))
    })
  )

  it.live("are none, fewer than requested, or a failure, when steered so", () =>
    Effect.gen(function* () {
      assert.lengthOf((yield* drawn({}, "fault=empty")).images, 0)
      assert.lengthOf((yield* drawn({ n: 3 }, "images=1")).images, 1)
      assert.lengthOf((yield* drawn({ n: 3 }, "images=0")).images, 0)
      assert.lengthOf((yield* drawn({ n: 2 }, "images=1,provider=other")).images, 2)
      assert.strictEqual((yield* faultOf({}, "fault=error"))._tag, "ServerError")
    })
  )

  it.live("do not blame the provider when they cannot be drawn", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* faultOf({ size: { width: 0, height: 0 } }), { _tag: "Lost", ours: true })
    })
  )

  it.live("are rejected in other formats", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* faultOf({ format: "jpeg" }), { _tag: "Refused", status: 400, param: "output_format" })
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { draw, pngsOf } from "../../../src/providers/sandbox/Draw.ts"
import { drawPng } from "../../../src/providers/sandbox/Drawing.ts"
import type { DrawWork } from "../../../src/providers/Work.ts"
import { decodedImage, decoderMissing } from "../../support/Media.ts"
import { drawWork, workCall } from "../work.ts"

const drawn = (work: Partial<DrawWork> = {}, steering?: string) =>
  draw("up", workCall({ steering }), drawWork({ size: { width: 256, height: 192 }, ...work }))

const faultOf = (work: Partial<DrawWork>, steering?: string) =>
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
      // The text is white, the ground is not.
      const white = rgb.filter((byte) => byte === 255).length / rgb.length
      assert.isAbove(white, 0.001)
      assert.isBelow(white, 0.2)
    })
  )

  it.live("show the image to edit", () =>
    Effect.gen(function* () {
      const bytes = yield* Effect.promise(() => drawPng({ width: 96, height: 96, lines: [], seed: 200 }))
      const { images } = yield* drawn({ images: [{ bytes, contentType: "image/png" }] })
      if (decoderMissing !== undefined) return console.warn(`not decoded: ${decoderMissing}`)
      const source = yield* decodedImage(bytes)
      const { rgb, width } = yield* decodedImage(images[0]!.bytes)
      const pixel = (from: Uint8Array, index: number) => [...from.subarray(3 * index, 3 * index + 3)]
      // The middle of the source, where it stands in the upper part of the image.
      const middle = pixel(rgb, 65 * width + 128)
      for (const [channel, value] of pixel(source.rgb, 48 * 96 + 48).entries()) {
        assert.closeTo(middle[channel]!, value, 4)
      }
    })
  )

  it.live("can be none, fewer than requested, or fail, as steered", () =>
    Effect.gen(function* () {
      assert.lengthOf((yield* drawn({}, "fault=empty")).images, 0)
      assert.lengthOf((yield* drawn({ n: 3 }, "images=1")).images, 1)
      assert.lengthOf((yield* drawn({ n: 3 }, "images=0")).images, 0)
      assert.lengthOf((yield* drawn({ n: 2 }, "images=1,provider=other")).images, 2)
      assert.strictEqual((yield* faultOf({}, "fault=error"))._tag, "ServerError")
    })
  )

  it.live("that cannot be drawn do not blame a provider", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* faultOf({ size: { width: 0, height: 0 } }), { _tag: "Lost", ours: true })
    })
  )

  it.live("are rejected in other formats, and for sources that cannot be opened", () =>
    Effect.gen(function* () {
      const param = (work: Partial<DrawWork>) =>
        Effect.map(faultOf(work), (fault) => (fault._tag === "Refused" ? [fault.status, fault.param] : fault))
      assert.deepStrictEqual(yield* param({ format: "jpeg" }), [400, "output_format"])
      const webp = { bytes: Buffer.from("RIFF0000WEBP"), contentType: "image/webp" }
      assert.deepStrictEqual(yield* param({ images: [webp] }), [400, "image"])
      const huge = Buffer.from("89504e470d0a1a0a0000000d4948445200010000000100000806000000", "hex")
      assert.deepStrictEqual(yield* param({ images: [{ bytes: huge, contentType: "image/png" }] }), [400, "image"])
      const cut = Buffer.from("89504e470d0a1a0a0000000d4948445200000010000000100806000000", "hex")
      assert.lengthOf((yield* drawn({ images: [{ bytes: cut, contentType: "image/png" }] })).images, 1)
    })
  )
})

describe("pngsOf", () => {
  it.live("ends its thread when interrupted, and frees its slot", () =>
    Effect.gen(function* () {
      const large = Array.from({ length: 50 }, (_, seed) => ({ width: 3000, height: 2000, lines: [], seed }))
      const waiting = yield* Effect.forEach([1, 2], () => Effect.forkChild(pngsOf(large)))
      yield* Effect.yieldNow
      yield* Fiber.interruptAll(waiting)
      assert.lengthOf(yield* pngsOf([{ width: 16, height: 16, lines: [], seed: 1 }]), 1)
    })
  )
})

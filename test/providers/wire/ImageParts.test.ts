import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { ratioOf, wholeOf } from "../../../src/providers/wire/ImageParts.ts"
import { ProviderError, type ProviderFault } from "../../../src/providers/ProviderError.ts"

const failed = (fault: ProviderFault) => Result.fail(new ProviderError({ provider: "up", fault }))
const image = { bytes: new Uint8Array([1]), contentType: "image/png" }

describe("image helpers", () => {
  it("match a size to a supported aspect ratio within the tolerance", () => {
    const ratios = ["1:1", "16:9", "2:3"]
    const sizes = [
      [1024, 1024],
      [1792, 1024],
      [1024, 1536],
      [1024, 768]
    ] as const
    assert.deepStrictEqual(
      sizes.map(([width, height]) => ratioOf(ratios, { width, height })),
      ["1:1", "16:9", "2:3", undefined]
    )
  })

  it.effect("return the successful images, or else the failure, preferring a loss", () =>
    Effect.gen(function* () {
      const down = failed({ _tag: "ServerError", status: 500, detail: "X" })
      const lost = failed({ _tag: "Lost", detail: "X" })
      assert.deepStrictEqual(yield* wholeOf([down, Result.succeed([image])]), { images: [image] })
      assert.deepStrictEqual(yield* wholeOf([Result.succeed([])]), { images: [] })
      const faultOf = (...results: Parameters<typeof wholeOf>[0]) =>
        Effect.map(Effect.flip(wholeOf(results)), ({ fault }) => fault._tag)
      assert.strictEqual(yield* faultOf(down), "ServerError")
      assert.strictEqual(yield* faultOf(down, lost), "Lost")
    })
  )
})

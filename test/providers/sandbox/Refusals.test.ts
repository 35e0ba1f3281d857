import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { imagesRefusalOf, searchRefusalOf, videoRefusalOf } from "../../../src/providers/sandbox/Refusals.ts"
import type { ImagesWork, VideoWork } from "../../../src/domain/Work.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"
import { json, post, startService } from "../../support/Service.ts"
import { drawWork, searchWork, videoWork, workCall } from "../work.ts"

const paramOf = (fault: ProviderFault | undefined) => (fault?._tag === "Refused" ? fault.param : fault)

describe("a double", () => {
  it("refuses images that the adapter of its provider refuses", () => {
    const paramIn = (id: string, work: Partial<ImagesWork>, upstreamId?: string) =>
      paramOf(imagesRefusalOf(id, workCall({}, upstreamId), drawWork(work)))
    for (const id of ["fal", "gemini"]) {
      assert.strictEqual(paramIn(id, { quality: "hd" }), "quality")
      assert.strictEqual(paramIn(id, { style: "vivid" }), "style")
      assert.strictEqual(paramIn(id, { background: "transparent" }), "background")
      assert.isUndefined(paramIn(id, { quality: "auto", background: "opaque" }))
    }
    assert.strictEqual(paramIn("fal", { size: { width: 1_000, height: 100 } }, "fal-ai/imagen4/preview"), "size")
    assert.isUndefined(paramIn("fal", { size: { width: 1_000, height: 100 } }, "fal-ai/flux/dev"))
    assert.strictEqual(paramIn("openai", { style: "vivid" }), "style")
    assert.isUndefined(paramIn("openai", { quality: "hd", background: "transparent" }))
    assert.isUndefined(paramIn("up", { quality: "hd", style: "vivid", background: "transparent" }))
  })

  it("refuses videos that the adapter of its provider refuses", () => {
    const paramIn = (id: string, work: Partial<VideoWork>, upstreamId?: string) =>
      paramOf(videoRefusalOf(id, workCall({}, upstreamId), videoWork(work)))
    const media = { bytes: new Uint8Array([1]), contentType: "image/png" } as const
    const references = { referenceImages: [media] }
    assert.strictEqual(paramIn("fal", references, "fal-ai/veo3"), "reference_images")
    assert.isUndefined(paramIn("fal", references, "fal-ai/bytedance/seedance/v2"))
    assert.strictEqual(paramIn("xai", { referenceVideo: media }), "reference_video")
    assert.isUndefined(paramIn("xai", references))
  })

  it("refuses searches that the adapter of its provider refuses", () => {
    assert.strictEqual(paramOf(searchRefusalOf("tavily", searchWork({ languages: ["de"] }))), "search_language_filter")
    assert.strictEqual(paramOf(searchRefusalOf("tavily", searchWork({ recency: "hour" }))), "search_recency_filter")
    assert.isUndefined(searchRefusalOf("tavily", searchWork({ recency: "day" })))
    assert.isUndefined(searchRefusalOf("up", searchWork({ languages: ["de"] })))
  })

  it.live("answers with the name of the refused field and no charge", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      for (const [param, value] of [
        ["background", "transparent"],
        ["quality", "hd"],
        ["style", "vivid"]
      ] as const) {
        const image = { model: "imagen-4", prompt: "a kite", [param]: value }
        const response = yield* post(`${service.api}/images/generations`, inferenceKey, image)
        const { error } = yield* json(response)
        assert.deepStrictEqual([response.status, error.code, error.param], [400, "validation_error", param])
      }
      assert.strictEqual((yield* service.balance(account.id)).posted, 1_000_000_000n)
    }).pipe(Effect.scoped)
  )
})

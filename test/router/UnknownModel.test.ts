import { assert, it } from "@effect/vitest"
import type { Model } from "../../src/domain/Model.ts"
import { unknownModel } from "../../src/router/UnknownModel.ts"

it("suggests a model of the modality that was asked for", () => {
  const all = [
    { id: "gpt-4o", modality: "text" },
    { id: "gpt-4i", modality: "image" }
  ] as unknown as ReadonlyArray<Model>
  const nearestOf = (modality: Model["modality"]) => {
    const { reason } = unknownModel({ all }, "gpt-4u", modality)
    return reason._tag === "UnknownModel" ? reason.nearest : reason._tag
  }
  assert.deepStrictEqual([nearestOf("text"), nearestOf("image"), nearestOf("video")], ["gpt-4o", "gpt-4i", undefined])
})

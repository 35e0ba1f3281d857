import { assert, describe, it } from "@effect/vitest"
import { differences } from "../../../../src/console/pages/presets/Differences.ts"

const version = (config: object) => ({ object: "preset.version", version: 1, created_at: 0, config }) as const

describe("the differences of two versions", () => {
  it("name each field that changed, came or went, and no other", () =>
    assert.deepStrictEqual(
      differences(version({ model: "b", top_p: 1, seed: 3 }), version({ model: "a", seed: 3, max_tokens: 9 })),
      [`− model: "a"`, `+ model: "b"`, "− max_tokens: 9", "+ top_p: 1"]
    ))

  it("are all fields of the first version", () =>
    assert.deepStrictEqual(differences(version({ model: "a" }), undefined), [`+ model: "a"`]))
})

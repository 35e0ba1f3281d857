import { assert, describe, it } from "@effect/vitest"
import { nearest } from "../../src/catalogue/Nearest.ts"

describe("the nearest id", () => {
  const ids = ["gpt-4o", "gpt-4o-mini", "claude-sonnet-4-6", "deepseek-v4-pro"]

  it("is the one with the fewest differing characters, whatever its prefix, case and punctuation", () => {
    for (const [written, id] of [
      ["gpt-4o-mimi", "gpt-4o-mini"],
      ["gpt4o", "gpt-4o"],
      ["anthropic/Claude-Sonnet-4.6", "claude-sonnet-4-6"],
      ["claude-sonet-4-5", "claude-sonnet-4-6"]
    ] as const) {
      assert.strictEqual(nearest(ids, written), id, written)
    }
  })

  it("is undefined when more than a third of the characters differ", () => {
    for (const written of ["", "llama", "no-such-model", "x".repeat(160)]) {
      assert.isUndefined(nearest(ids, written), written)
    }
  })
})

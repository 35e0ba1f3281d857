import { assert, it } from "@effect/vitest"
import { effortOfTokens, isReasoningOff } from "../../../src/providers/wire/ReasoningOptions.ts"

it("isReasoningOff recognizes each way to turn reasoning off", () => {
  for (const off of [
    { enabled: false },
    { effort: "none" },
    { maxTokens: 0 },
    { enabled: true, maxTokens: 0 }
  ] as const) {
    assert.isTrue(isReasoningOff(off), JSON.stringify(off))
  }
  for (const on of [undefined, {}, { enabled: true }, { effort: "minimal" }, { maxTokens: 1 }] as const) {
    assert.isFalse(isReasoningOff(on), JSON.stringify(on))
  }
})

it("effortOfTokens turns a token budget into the effort that uses about as many tokens", () => {
  const efforts = [1, 2_048, 2_049, 8_192, 8_193].map(effortOfTokens)
  assert.deepStrictEqual(efforts, ["low", "low", "medium", "medium", "high"])
})

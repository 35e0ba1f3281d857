import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HOST_KINDS, HostQuirks, kindOfAddress } from "../../../src/platform/config/HostQuirks.ts"

describe("HostQuirks", () => {
  it("accepts a reasoning switch as a name, as fields, or as false", () => {
    const takes = Schema.is(HostQuirks)
    for (const reasoning_off of ["thinking", "enable_thinking", false, { think: false }]) {
      assert.isTrue(takes({ reasoning_off }), JSON.stringify(reasoning_off))
    }
    for (const reasoning_off of ["think", true, null, { messages: [] }, { stream: false }]) {
      assert.isFalse(takes({ reasoning_off }), JSON.stringify(reasoning_off))
    }
  })
})

describe("kindOfAddress", () => {
  it("recognizes hosts by their domain, and not by similar names", () => {
    const kindOf = (url: string) => kindOfAddress(new URL(url))
    assert.strictEqual(kindOf("https://api.deepseek.com/v1"), "deepseek")
    assert.strictEqual(kindOf("https://team.openai.azure.com/openai/v1"), "azure")
    assert.strictEqual(kindOf("https://openrouter.ai/api/v1"), "openrouter")
    for (const url of [
      "http://127.0.0.1:8000/v1",
      "https://notopenrouter.ai/v1",
      "https://api.deepseek.com.example/v1"
    ]) {
      assert.isUndefined(kindOf(url), url)
    }
    assert.lengthOf(HOST_KINDS, 12)
  })
})

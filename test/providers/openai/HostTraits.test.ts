import { assert, describe, it } from "@effect/vitest"
import type { HostQuirks } from "../../../src/platform/config/HostQuirks.ts"
import type { HostWire } from "../../../src/platform/config/ProvidersFile.ts"
import { reasoningOffFields, reasoningOnFields, traitsOfHost } from "../../../src/providers/openai/HostTraits.ts"
import { candidate } from "../calls.ts"

const traits = (wire: Partial<HostWire>, upstreamId = "up-1", vendor = "vendor") =>
  traitsOfHost({ kind: undefined, quirks: {}, modelQuirks: new Map(), ...wire })(
    candidate("up", { upstreamId, model: { vendor } })
  )

describe("traitsOfHost", () => {
  it("prefers a model's quirks to its host's and these to the kind's, and merges their headers", () => {
    const quirks: HostQuirks = { efforts: ["low"], system_role: "user", headers: { a: "1", b: "1" } }
    const own: HostQuirks = { efforts: ["max"], headers: { b: "2" } }
    assert.deepInclude(traits({ kind: "deepseek", quirks, modelQuirks: new Map([["model-1", own]]) }), {
      efforts: ["max"],
      system_role: "user",
      headers: { a: "1", b: "2" },
      reasoning_off: "thinking"
    })
    assert.deepInclude(traits({ kind: "deepseek", quirks }), { efforts: ["low"], headers: { a: "1", b: "1" } })
  })

  it("knows the models that always reason, on every host", () => {
    for (const kind of ["groq", "vllm", "together", undefined] as const) {
      assert.deepInclude(traits({ kind }, "openai/gpt-oss-120b"), {
        reasoning_off: false,
        efforts: ["low", "medium", "high"]
      })
    }
    assert.deepInclude(traits({ kind: "zai" }, "glm-5.3"), { reasoning_off: false, efforts: ["low", "high", "max"] })
    assert.deepInclude(traits({ kind: "zai" }, "glm-4.7"), { reasoning_off: "thinking", efforts: [] })
  })

  it("turns reasoning off through the chat template on an unknown kind of host, for vendors whose templates have a switch", () => {
    const off = { chat_template_kwargs: { enable_thinking: false, thinking: false } }
    for (const vendor of ["deepseek", "z-ai", "qwen", "moonshotai"]) {
      assert.deepStrictEqual(reasoningOffFields(traits({}, "m", vendor)), off)
      assert.isUndefined(reasoningOnFields(traits({}, "m", vendor), "high"))
    }
    assert.isUndefined(reasoningOffFields(traits({}, "m", "meta-llama")))
  })

  it("omits sampling parameters that Moonshot's newer models reject", () => {
    assert.include(traits({ kind: "moonshot" }, "kimi-k2.6").omits ?? [], "temperature")
    assert.notInclude(traits({ kind: "moonshot" }, "moonshot-v1-8k").omits ?? [], "temperature")
  })
})

describe("the quirk reasoning_off", () => {
  const rows: ReadonlyArray<readonly [HostQuirks["reasoning_off"], off: object | undefined, on: object | undefined]> = [
    ["reasoning_effort", undefined, undefined],
    ["thinking", { thinking: { type: "disabled" } }, { thinking: { type: "enabled" } }],
    ["enable_thinking", { enable_thinking: false }, { enable_thinking: true }],
    ["reasoning", { reasoning: { enabled: false } }, { reasoning: { enabled: true } }],
    [false, undefined, undefined],
    [{ think: false }, { think: false }, undefined]
  ]
  for (const [reasoning_off, off, on] of rows) {
    it(`${JSON.stringify(reasoning_off)} sends ${JSON.stringify(off)} for off and ${JSON.stringify(on)} for on`, () => {
      const host = traits({ quirks: reasoning_off === undefined ? {} : { reasoning_off } })
      assert.deepStrictEqual(reasoningOffFields(host), off)
      assert.deepStrictEqual(reasoningOnFields(host, undefined), on)
    })
  }

  it("sends no switch beside an effort when the host accepts only one of them", () => {
    assert.isUndefined(reasoningOnFields(traits({ kind: "openrouter" }), "low"))
  })
})

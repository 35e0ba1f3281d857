import { assert, describe, it } from "@effect/vitest"
import type { HostQuirks } from "../../../src/platform/config/HostQuirks.ts"
import type { HostWire } from "../../../src/platform/config/ProvidersFile.ts"
import { offMembers, onMembers, traitsOfHost } from "../../../src/providers/openai/HostTraits.ts"
import { candidate } from "../calls.ts"

const traits = (wire: Partial<HostWire>, upstreamId = "up-1", vendor = "vendor") =>
  traitsOfHost({ kind: undefined, quirks: {}, modelQuirks: new Map(), ...wire })(
    candidate("up", { upstreamId, model: { vendor } })
  )

describe("traitsOfHost", () => {
  it("puts quirks of a model above those of its host, and these above the kind's; headers are joined", () => {
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

  it("knows models that always reason, wherever they are served", () => {
    for (const kind of ["groq", "vllm", "together", undefined] as const) {
      assert.deepInclude(traits({ kind }, "openai/gpt-oss-120b"), {
        reasoning_off: false,
        efforts: ["low", "medium", "high"]
      })
    }
    assert.deepInclude(traits({ kind: "zai" }, "glm-5.3"), { reasoning_off: false, efforts: ["low", "high", "max"] })
    assert.deepInclude(traits({ kind: "zai" }, "glm-4.7"), { reasoning_off: "thinking", efforts: [] })
  })

  it("turns reasoning off by the template at a host of no known kind, for vendors whose models have a switch in it", () => {
    const off = { chat_template_kwargs: { enable_thinking: false, thinking: false } }
    for (const vendor of ["deepseek", "z-ai", "qwen", "moonshotai"]) {
      assert.deepStrictEqual(offMembers(traits({}, "m", vendor)), off)
      assert.isUndefined(onMembers(traits({}, "m", vendor), "high"))
    }
    assert.isUndefined(offMembers(traits({}, "m", "meta-llama")))
  })

  it("leaves to Moonshot's newer models the sampling that they refuse to be told", () => {
    assert.include(traits({ kind: "moonshot" }, "kimi-k2.6").omits ?? [], "temperature")
    assert.notInclude(traits({ kind: "moonshot" }, "moonshot-v1-8k").omits ?? [], "temperature")
  })
})

describe("the switches of reasoning", () => {
  const rows: ReadonlyArray<readonly [HostQuirks["reasoning_off"], off: object | undefined, on: object | undefined]> = [
    ["reasoning_effort", undefined, undefined],
    ["thinking", { thinking: { type: "disabled" } }, { thinking: { type: "enabled" } }],
    ["enable_thinking", { enable_thinking: false }, { enable_thinking: true }],
    ["reasoning", { reasoning: { enabled: false } }, { reasoning: { enabled: true } }],
    [false, undefined, undefined],
    [{ think: false }, { think: false }, undefined]
  ]
  for (const [reasoning_off, off, on] of rows) {
    it(`${JSON.stringify(reasoning_off)} sends ${JSON.stringify(off)} or ${JSON.stringify(on)}`, () => {
      const host = traits({ quirks: reasoning_off === undefined ? {} : { reasoning_off } })
      assert.deepStrictEqual(offMembers(host), off)
      assert.deepStrictEqual(onMembers(host, undefined), on)
    })
  }

  it("says nothing beside an effort where the host takes one of both", () => {
    assert.isUndefined(onMembers(traits({ kind: "openrouter" }), "low"))
  })
})

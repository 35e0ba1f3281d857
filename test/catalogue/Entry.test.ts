import { assert, describe, it } from "@effect/vitest"
import { modelsOf, sampling } from "../../src/catalogue/Entry.ts"

const text = {
  id: "m",
  name: "M",
  vendor: "v",
  brand: "V",
  modality: "text",
  description: "A model.",
  released: "2026-01-02",
  context: 8_000,
  output: 1_000,
  can: ["tools", "reasoning"],
  sampling: "anthropic",
  at: [{ provider: "p", upstreamId: "p/m" }]
}

const speech = {
  id: "s",
  name: "S",
  vendor: "v",
  brand: "V",
  modality: "audio",
  description: "A voice.",
  released: "2026-01-02",
  status: "preview",
  parameters: ["voice"],
  at: []
}

describe("a data file of the catalogue", () => {
  it("derives a text model's capabilities and parameters from `can` and `sampling`", () => {
    const [model] = modelsOf("v.json", [text])
    assert.deepInclude(model, {
      status: "ga",
      capabilities: ["streaming", "tools", "reasoning"],
      hiddenReasoning: true,
      supportedParameters: [
        "max_tokens",
        ...sampling.anthropic,
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "reasoning"
      ],
      listings: text.at
    })
    const [plain] = modelsOf("v.json", [{ ...text, can: [], sampling: ["stop"] }])
    assert.deepInclude(plain, { hiddenReasoning: false, supportedParameters: ["max_tokens", "stop"] })
  })

  it("takes the parameters of a model of another modality from `parameters`", () => {
    const [model] = modelsOf("speech.json", [speech])
    assert.deepInclude(model, { status: "preview", contextWindow: 0, supportedParameters: ["voice"] })
  })

  it("is rejected with the file name, the model and the invalid field", () => {
    const refused: ReadonlyArray<readonly [object, RegExp]> = [
      [{ ...text, released: "January" }, /model 2 \(m\): must be a day, YYYY-MM-DD\s+at \["released"\]$/],
      [{ ...text, context: 0 }, /must be a whole number above 0\s+at \["context"\]$/],
      [{ ...text, can: ["fly"] }, /Expected "tools" \|[^]*at \["can"\]\[0\]$/],
      [{ ...text, sampling: "unheard" }, /at \["sampling"\]$/],
      [{ ...text, colour: "red" }, /Expected no excess property\s+at \["colour"\]$/],
      [{ ...speech, parameters: undefined }, /model 2 \(s\)[^]*at \["parameters"\]$/],
      [{ ...speech, modality: "smell" }, /at \["modality"\]$/]
    ]
    for (const [model, words] of refused) {
      assert.throws(() => modelsOf("v.json", [text, model]), /^catalogue\/data\/v\.json, model 2/)
      assert.throws(() => modelsOf("v.json", [text, model]), words)
    }
    assert.throws(() => modelsOf("v.json", {}), /^catalogue\/data\/v\.json: /)
  })
})

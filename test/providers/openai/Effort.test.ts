import { assert, describe, it } from "@effect/vitest"
import type { Reasoning } from "../../../src/domain/Conversation.ts"
import { type Effort, EFFORTS, effortOf, effortsOfOpenAi } from "../../../src/providers/openai/Effort.ts"
import { candidate } from "../calls.ts"

const reasoning = (given: Partial<Reasoning>): Reasoning => ({
  effort: undefined,
  maxTokens: undefined,
  enabled: undefined,
  ...given
})
const able = candidate("up", { model: { capabilities: ["reasoning"] } })

describe("effortOf", () => {
  const rows: ReadonlyArray<readonly [Partial<Reasoning>, Effort | undefined]> = [
    ...EFFORTS.map((effort) => [{ effort }, effort] as const),
    [{}, undefined],
    [{ enabled: true }, "medium"],
    [{ enabled: true, effort: "low" }, "low"],
    [{ enabled: false }, "none"],
    [{ enabled: false, effort: "high" }, "none"],
    [{ maxTokens: 0 }, "none"],
    [{ maxTokens: 0, effort: "high" }, "none"],
    [{ maxTokens: 1 }, "low"],
    [{ maxTokens: 2_048 }, "low"],
    [{ maxTokens: 8_192 }, "medium"],
    [{ maxTokens: 8_193 }, "high"],
    [{ maxTokens: 8_193, effort: "low" }, "low"]
  ]
  for (const [given, effort] of rows) {
    it(`turns ${JSON.stringify(given)} into ${effort}`, () => {
      assert.strictEqual(effortOf(reasoning(given), able, EFFORTS), effort)
    })
  }

  it("sends no effort without a request for one, to a model that cannot reason, or to a provider without reasoning", () => {
    const high = reasoning({ effort: "high" })
    assert.isUndefined(effortOf(undefined, able, EFFORTS))
    assert.isUndefined(effortOf(high, candidate("up"), EFFORTS))
    assert.isUndefined(effortOf(high, { ...able, offer: { ...able.offer, unsupported: ["reasoning"] } }, EFFORTS))
  })
})

it("never turns reasoning off unless the request asks for it", () => {
  assert.isUndefined(effortOf(reasoning({ effort: "high" }), able, ["none"]))
  assert.strictEqual(effortOf(reasoning({ effort: "none" }), able, ["none"]), "none")
})

describe("effortOf with the efforts of OpenAI's models", () => {
  const rows: ReadonlyArray<readonly [model: string, sent: ReadonlyArray<Effort>]> = [
    ["o3-mini", ["low", "low", "low", "medium", "high", "high"]],
    ["gpt-5", ["minimal", "minimal", "low", "medium", "high", "high"]],
    ["gpt-5-mini-2025-08-07", ["minimal", "minimal", "low", "medium", "high", "high"]],
    ["gpt-5-codex", ["low", "low", "low", "medium", "high", "high"]],
    ["gpt-5.1", ["none", "low", "low", "medium", "high", "high"]],
    ["gpt-5.2", ["none", "low", "low", "medium", "high", "xhigh"]],
    ["gpt-5.6-sol", ["none", "low", "low", "medium", "high", "xhigh"]],
    ["gpt-6-astra", ["none", "low", "low", "medium", "high", "xhigh"]],
    ["some-other-model", EFFORTS]
  ]
  for (const [model, sent] of rows) {
    it(`returns the nearest effort that ${model} accepts`, () => {
      const known = effortsOfOpenAi(model)
      assert.deepStrictEqual(
        EFFORTS.map((effort) => effortOf(reasoning({ effort }), able, known)),
        [...sent]
      )
    })
  }
})

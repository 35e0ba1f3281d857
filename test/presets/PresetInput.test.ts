import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { PresetConfig } from "../../schemas/management/Presets.ts"
import { configJson, decodeChange, decodeNew, MAX_CONFIG_BYTES } from "../../src/presets/PresetInput.ts"
import { parseChain } from "../../src/domain/Chain.ts"

const preset = (config: unknown, more: object = {}) => ({ slug: "p", name: "A preset", config, ...more })

/** Returns the invalid fields of a preset, in order. */
const fieldsOf = (input: unknown, decode: (input: unknown) => Result.Result<unknown, unknown> = decodeNew) => {
  const result = decode(input) as ReturnType<typeof decodeNew>
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError") return []
  return result.failure.reason.problems.map(({ field }) => field)
}

const full = {
  models: ["gpt-4o", "gpt-4o-mini"],
  instructions: "Be brief.",
  max_tokens: 131_072,
  temperature: 2,
  top_p: 1,
  top_k: 5,
  min_p: 0.1,
  repetition_penalty: 1,
  frequency_penalty: -2,
  presence_penalty: 2,
  seed: 7,
  stop: ["a", "b"],
  tools: [
    { type: "function", function: { name: "look", parameters: { type: "object", properties: { z: {}, a: {} } } } }
  ],
  tool_choice: "auto",
  parallel_tool_calls: false,
  response_format: { type: "json_object" },
  reasoning: { effort: "low", max_tokens: 9 },
  logprobs: true,
  top_logprobs: 2,
  budget_cents: 3,
  routing: { strategy: "cost", providers: { only: ["openai"] }, data_policy: "no_training" }
}

describe("a new preset", () => {
  it("may set every parameter of a chat request", () => {
    assert.deepStrictEqual(Result.getOrThrow(decodeNew(preset(full))), preset(full) as never)
    const described = preset({ model: "a, b" }, { slug: `0${"-a".repeat(31)}`, description: "What it is for" })
    assert.isTrue(Result.isSuccess(decodeNew(described)))
    assert.isTrue(Result.isSuccess(decodeNew(preset({ model: "a", models: ["a", "b"] }, { description: null }))))
  })

  it("is rejected with the names of its invalid fields", () => {
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", temperature: 9, top_p: -1 })), [
      "config.temperature",
      "config.top_p"
    ])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", max_tokens: 131_073 })), ["config.max_tokens"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", max_completion_tokens: 0 })), ["config.max_completion_tokens"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", instructions: "" })), ["config.instructions"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", stop: ["1", "2", "3", "4", "5"] })), ["config.stop"])
    for (const slug of ["", "-a", "A", "a_b", "a/b", "@a", "é", "a".repeat(64), 7]) {
      assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, { slug })), ["slug"], String(slug))
    }
    assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, { name: "" })), ["name"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, { description: 1 })), ["description"])
    assert.deepStrictEqual(fieldsOf({ slug: "p", name: "P" }), ["config"])
    for (const input of ["p", null, 7, undefined]) assert.deepStrictEqual(fieldsOf(input), ["body"])
  })

  it("is rejected for fields that a preset cannot set, at any depth", () => {
    for (const name of ["messages", "stream", "stream_options", "user", "metadata", "session_id", "n", "provider"]) {
      assert.deepStrictEqual(fieldsOf(preset({ model: "a", [name]: null })), [`config.${name}`])
    }
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", routing: { speed: 1 } })), ["config.routing.speed"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", reasoning: { depth: 1 } })), ["config.reasoning.depth"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, { version: 3 })), ["version"])
  })

  it("may name the same models as a request, but no preset", () => {
    const configs: ReadonlyArray<readonly [string | undefined, ReadonlyArray<string> | undefined]> = [
      ...(["a", "a,b", "a, b", ",a", "a,", "a,,b", "a,a", "@p", "a,@p", "@p,a"].map((model) => [
        model,
        undefined
      ]) as []),
      ["a", ["a", "b"]],
      ["a", ["b", "b"]],
      [undefined, ["a", "a"]],
      [undefined, ["a", "@p"]],
      [undefined, Array.from({ length: 15 }, (_, at) => `m${at}`)],
      ["a", Array.from({ length: 14 }, (_, at) => `m${at}`)],
      ["a", Array.from({ length: 15 }, (_, at) => `m${at}`)],
      ["svc/auto", undefined],
      ["a", ["svc/auto"]],
      [undefined, ["svc/auto", "a"]],
      [undefined, undefined]
    ]
    for (const [model, models] of configs) {
      const said = { ...(model === undefined ? {} : { model }), ...(models === undefined ? {} : { models }) }
      const accepted = Result.isSuccess(decodeNew(preset(said)))
      assert.strictEqual(accepted, Result.isSuccess(parseChain(model, models)), JSON.stringify(said))
      if (!accepted) assert.match(fieldsOf(preset(said))[0] ?? "", /^config\.models?$/)
    }
    assert.deepStrictEqual(fieldsOf(preset({})), ["config.model"])
    assert.deepStrictEqual(fieldsOf(preset({ model: null })), ["config.model"])
  })

  it("is rejected when it is too large, or has text that the database cannot store", () => {
    const long = {
      type: "json_schema",
      json_schema: { name: "a", schema: { description: "d".repeat(MAX_CONFIG_BYTES) } }
    }
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", response_format: long })), ["config"])
    for (const text of ["\0", "\ud800", "x\udc00", "\\\0"]) {
      assert.deepStrictEqual(fieldsOf(preset({ model: "a", instructions: text })), ["config"], JSON.stringify(text))
      assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, { name: text })), ["name"], JSON.stringify(text))
    }
    for (const text of ["\\u0000", "\\\\u0000", "😀", "\\ud800", "\u0001"]) {
      assert.deepStrictEqual(fieldsOf(preset({ model: "a", instructions: text })), [], JSON.stringify(text))
    }
  })

  it("counts the characters of its texts in code points, up to the limits of the contract", () => {
    for (const more of [{ name: "😀".repeat(128) }, { description: "😀".repeat(1_024) }]) {
      assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, more)), [])
    }
    assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, { name: "😀".repeat(129) })), ["name"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a" }, { description: "a".repeat(1_025) })), ["description"])
    assert.deepStrictEqual(fieldsOf(preset({ model: "a", instructions: "a".repeat(32_769) })), ["config.instructions"])
  })

  it("is rejected with at most 32 invalid fields", () => {
    const tools = Array.from({ length: 120 }, () => ({ type: "function", function: { name: "" } }))
    assert.lengthOf(fieldsOf(preset({ model: "a", tools })), 32)
    const stop = Array.from({ length: 32_000 }, () => 1)
    assert.lengthOf(fieldsOf(preset({ model: "a", stop })), 1)
  })
})

describe("a change of a preset", () => {
  it("must change at least one field, and follows the same rules as a new preset", () => {
    assert.deepStrictEqual(fieldsOf({}, decodeChange), ["body"])
    assert.isTrue(Result.isSuccess(decodeChange({ name: "B", description: null, config: full })))
    assert.deepStrictEqual(fieldsOf({ slug: "q" }, decodeChange), ["slug"])
    assert.deepStrictEqual(fieldsOf({ config: { model: "a", top_p: 2 } }, decodeChange), ["config.top_p"])
    assert.deepStrictEqual(fieldsOf({ name: null, config: {} }, decodeChange), ["name", "config.model"])
  })
})

describe("a stored configuration", () => {
  it("omits nulls at its top level, and keeps the order of fields", () => {
    const config = { top_p: null, model: "a", response_format: null, seed: 1 } as PresetConfig
    assert.strictEqual(configJson(config), `{"model":"a","seed":1}`)
    const decoded = Result.getOrThrow(decodeNew(preset({ tools: full.tools, model: "a" })))
    assert.include(configJson(decoded.config), `"properties":{"z":{},"a":{}}`)
  })
})

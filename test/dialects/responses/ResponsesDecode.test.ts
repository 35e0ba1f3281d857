import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import {
  decodePrompt,
  type DecodedResponses,
  decodeResponses
} from "../../../src/dialects/responses/ResponsesDecode.ts"
import { SCHEMA_MAX_BYTES } from "../../../src/dialects/OutputSchema.ts"
import type { Reason } from "../../../src/domain/Failure.ts"
import { defaultPolicy } from "../../../src/domain/Plan.ts"
import { defaultAutoOptions } from "../../../src/domain/Auto.ts"

const plain = { model: "gpt-4o", input: "hello" }
const look = { type: "function", name: "look" }
const hear = { type: "function", name: "hear" }

const decoded = (body: object, preset?: PresetConfig): DecodedResponses =>
  Result.getOrThrow(decodeResponses({ ...plain, ...body }, preset))

const refusal = (body: unknown, preset?: PresetConfig): Reason => {
  const result = decodeResponses(body, preset)
  if (Result.isSuccess(result)) assert.fail("the decoder accepted it")
  return result.failure.reason
}

const fieldsOf = (body: object, preset?: PresetConfig): ReadonlyArray<string> => {
  const reason = refusal({ ...plain, ...body }, preset)
  return reason._tag === "ValidationError" ? reason.problems.map(({ field }) => field) : [reason._tag]
}

const hello = { role: "user", content: [{ type: "text", text: "hello" }] }

describe("a request for a response", () => {
  it("has defaults for everything but model and input", () => {
    assert.deepStrictEqual(decoded({}), {
      model: "gpt-4o",
      models: undefined,
      conversation: {
        messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
        tools: [],
        toolChoice: { type: "auto" },
        parallelToolCalls: undefined,
        format: { type: "text" },
        sampling: {},
        reasoning: undefined,
        maxOutputTokens: undefined,
        user: undefined
      },
      policy: defaultPolicy,
      auto: { options: defaultAutoOptions, sessionId: undefined },
      parameters: [],
      stream: false,
      budgetCents: undefined,
      echo: { instructions: null, maxOutputTokens: null, metadata: {}, parallelToolCalls: true },
      ignored: []
    })
  })

  it("treats null like an absent field", () => {
    const names = [
      "models",
      "instructions",
      "max_output_tokens",
      "temperature",
      "top_p",
      "top_k",
      "frequency_penalty",
      "presence_penalty",
      "top_logprobs",
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "text",
      "reasoning",
      "stream",
      "include",
      "truncation",
      "max_tool_calls",
      "stream_options",
      "metadata",
      "user",
      "session_id",
      "safety_identifier",
      "routing",
      "router",
      "provider",
      "budget_cents",
      "store",
      "previous_response_id",
      "background",
      "conversation",
      "prompt",
      "service_tier",
      "prompt_cache_key",
      "plugins"
    ]
    assert.deepStrictEqual(decoded(Object.fromEntries(names.map((name) => [name, null]))), decoded({}))
    const nulls = { reasoning: { effort: null, summary: null }, text: { format: null, verbosity: null } }
    assert.deepStrictEqual(decoded(nulls), decoded({}))
  })

  it("keeps each of its fields in the conversation", () => {
    const { conversation, echo, parameters, stream } = decoded({
      instructions: "Be brief.",
      max_output_tokens: 9,
      temperature: 1.5,
      top_p: 0.5,
      top_k: 3,
      frequency_penalty: -1,
      presence_penalty: 1,
      tools: [{ ...look, description: "Looks", parameters: { type: "object" }, strict: true }],
      tool_choice: look,
      parallel_tool_calls: false,
      text: {
        format: { type: "json_schema", name: "seen", description: "Sights", schema: { type: "object" }, strict: true },
        verbosity: "low"
      },
      reasoning: { effort: "high", max_tokens: 7, enabled: true, summary: "auto" },
      stream: true,
      include: ["message.output_text.logprobs"],
      top_logprobs: 2,
      metadata: { a: "b" },
      user: "somebody"
    })
    assert.deepStrictEqual(conversation, {
      messages: [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, hello as never],
      tools: [{ name: "look", description: "Looks", parameters: { type: "object" }, strict: true }],
      toolChoice: { type: "tool", name: "look" },
      parallelToolCalls: false,
      format: {
        type: "json_schema",
        name: "seen",
        description: "Sights",
        schema: { type: "object" },
        strict: true,
        field: "text.format.schema"
      },
      sampling: {
        temperature: 1.5,
        topP: 0.5,
        topK: 3,
        frequencyPenalty: -1,
        presencePenalty: 1,
        verbosity: "low",
        logprobs: true,
        topLogprobs: 2
      },
      reasoning: { effort: "high", maxTokens: 7, enabled: true },
      maxOutputTokens: 9,
      user: "somebody"
    })
    assert.deepStrictEqual(echo, {
      instructions: "Be brief.",
      maxOutputTokens: 9,
      metadata: { a: "b" },
      parallelToolCalls: false
    })
    assert.sameMembers(
      [...parameters],
      [
        "temperature",
        "top_p",
        "top_k",
        "frequency_penalty",
        "presence_penalty",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "response_format",
        "structured_outputs",
        "reasoning",
        "logprobs",
        "top_logprobs",
        "verbosity"
      ]
    )
    assert.isTrue(stream)
  })

  it("uses `safety_identifier` when it has no `user`", () => {
    assert.strictEqual(decoded({ safety_identifier: "s" }).conversation.user, "s")
    assert.strictEqual(decoded({ safety_identifier: "s", user: "u" }).conversation.user, "u")
    const longest = "s".repeat(128)
    assert.strictEqual(decoded({ safety_identifier: longest }).conversation.user, longest)
    assert.strictEqual(decoded({ prompt_cache_key: "k" }).conversation.cacheKey, "k")
  })

  it("accepts every form of `tool_choice`", () => {
    const choose = (tool_choice: unknown) => {
      const { toolChoice, tools } = decoded({ tools: [look, hear], tool_choice }).conversation
      return [toolChoice, tools.map(({ name }) => name)]
    }
    for (const type of ["auto", "none", "required"] as const)
      assert.deepStrictEqual(choose(type), [{ type }, ["look", "hear"]])
    assert.deepStrictEqual(choose(hear), [{ type: "tool", name: "hear" }, ["look", "hear"]])
    const allowed = (mode: string) => ({ type: "allowed_tools", mode, tools: [hear] })
    assert.deepStrictEqual(choose(allowed("auto")), [{ type: "auto" }, ["hear"]])
    assert.deepStrictEqual(choose(allowed("required")), [{ type: "required" }, ["hear"]])
  })

  it("is rejected for the choice of an undeclared tool", () => {
    assert.deepStrictEqual(fieldsOf({ tool_choice: "required" }), ["tool_choice"])
    assert.deepStrictEqual(fieldsOf({ tool_choice: hear, tools: [look] }), ["tool_choice.name"])
    const allowed = { type: "allowed_tools", mode: "auto", tools: [look, hear] }
    assert.deepStrictEqual(fieldsOf({ tool_choice: allowed, tools: [look] }), ["tool_choice.tools[1]"])
    assert.deepStrictEqual(fieldsOf({ tool_choice: { ...allowed, tools: [] }, tools: [look] }), ["tool_choice.tools"])
  })

  it("is rejected for fields beyond the limits of the contract", () => {
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ model: "" }, "model"],
      [{ models: [] }, "models"],
      [{ input: [] }, "input"],
      [{ input: Array.from({ length: 10_001 }, () => ({ role: "user", content: "a" })) }, "input"],
      [{ input: 7 }, "input"],
      [{ max_output_tokens: 0 }, "max_output_tokens"],
      [{ temperature: 2.1 }, "temperature"],
      [{ top_p: 1.1 }, "top_p"],
      [{ top_logprobs: 21 }, "top_logprobs"],
      [{ presence_penalty: -3 }, "presence_penalty"],
      [{ user: "u".repeat(257) }, "user"],
      [{ safety_identifier: "u".repeat(129) }, "safety_identifier"],
      [{ metadata: { a: 7 } }, "metadata.a"],
      [{ metadata: { a: "b".repeat(513) } }, "metadata.a"],
      [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, ""])) }, "metadata"],
      [{ truncation: "middle" }, "truncation"],
      [{ tools: [{ type: "function", name: "no name" }] }, "tools[0].name"],
      [{ text: { verbosity: "chatty" } }, "text.verbosity"],
      [{ reasoning: { effort: "most" } }, "reasoning.effort"],
      [{ reasoning: { mode: "pro" } }, "reasoning.mode"],
      [{ reasoning: { effort: "low", budget: 7 } }, "reasoning.budget"],
      [{ routing: { strategy: "best" } }, "routing.strategy"],
      [
        { input: [{ role: "user", content: [{ type: "input_image", image_url: "ftp://x" }] }] },
        "input[0].content[0].image_url"
      ]
    ]
    for (const [body, field] of wrong) assert.deepStrictEqual(fieldsOf(body), [field])
    assert.deepStrictEqual(fieldsOf({ input: null }), ["input"])
    assert.strictEqual(refusal([])._tag, "ValidationError")
  })

  it("counts characters in code points, as the contract does", () => {
    const most = { a: "😀".repeat(512), ["😀".repeat(64)]: "" }
    const said = { ...plain, metadata: most, user: "😀".repeat(256), session_id: "😀".repeat(256) }
    assert.isTrue(Result.isSuccess(decodeResponses(said, undefined)))
    assert.deepStrictEqual(fieldsOf({ metadata: { a: "😀".repeat(513) } }), ["metadata.a"])
    assert.deepStrictEqual(fieldsOf({ session_id: "😀".repeat(257) }), ["session_id"])
  })

  it("is rejected with the name of a metadata key that is too long", () => {
    assert.isTrue(fieldsOf({ metadata: { ["k".repeat(65)]: "" } })[0]?.startsWith("metadata"))
  })

  it("is rejected with the name of an unsupported field", () => {
    const reason = refusal({ ...plain, previous_response_id: "resp_1" })
    assert.strictEqual(reason._tag === "UnsupportedParameter" && reason.param, "previous_response_id")
  })

  it("lists its fields that have no effect", () => {
    const logprobs = { include: ["message.output_text.logprobs"], top_logprobs: 3 }
    const idle: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
      [{ unheard_of: 1, seed: 7 }, ["unheard_of", "seed"]],
      [{ max_tool_calls: 3 }, ["max_tool_calls"]],
      [{ stream_options: { include_obfuscation: false } }, ["stream_options"]],
      [{ truncation: "auto" }, ["truncation"]],
      [{ truncation: "disabled" }, []],
      [{ include: ["reasoning.encrypted_content"] }, []],
      [logprobs, ["top_logprobs", "include.message.output_text.logprobs"]],
      [{ ...logprobs, stream: true }, []],
      [{ top_logprobs: 3, stream: true }, ["top_logprobs"]],
      [{ reasoning: { summary: "detailed" } }, ["reasoning.summary"]],
      [{ reasoning: { summary: "auto" } }, []],
      [{ reasoning: { generate_summary: "concise" } }, ["reasoning.generate_summary"]],
      [{ reasoning: { generate_summary: "auto", mode: "standard" } }, []],
      [{ session_id: "s" }, ["session_id"]],
      [{ router: { pin_model: true } }, ["router"]],
      [{ routing: { max_price: { image: 1 } } }, ["routing.max_price.image"]],
      [{ prompt_cache_retention: "24h", prompt_cache_options: {} }, ["prompt_cache_retention", "prompt_cache_options"]],
      [{ user: "u", safety_identifier: "s" }, ["safety_identifier"]],
      [{ metadata: { a: "b" }, prompt_cache_key: "k", service_tier: "auto", store: false }, []]
    ]
    for (const [body, names] of idle) assert.deepStrictEqual([...decoded(body).ignored], [...names])
  })

  it("does not ask the provider for log probabilities that the answer cannot show", () => {
    const asked = { include: ["message.output_text.logprobs"], top_logprobs: 3 }
    assert.deepStrictEqual([decoded(asked).conversation.sampling, decoded(asked).parameters], [{}, []])
  })

  describe("to a preset", () => {
    const preset: PresetConfig = {
      model: "svc/auto",
      instructions: "Of the preset.",
      temperature: 0.5,
      tools: [
        { type: "function", function: { name: "look" } },
        { type: "function", function: { name: "hear" } }
      ],
      router: { pin_model: true }
    }

    it("takes from it what it does not set, and echoes only its own fields", () => {
      const { conversation, echo, model } = decoded({ model: "@p", instructions: "Of the caller." }, preset)
      assert.strictEqual(model, "svc/auto")
      assert.strictEqual(conversation.sampling.temperature, 0.5)
      assert.deepStrictEqual(
        conversation.messages.flatMap(({ content }) => content.map((part) => part.type === "text" && part.text)),
        ["Of the preset.", "Of the caller.", "hello"]
      )
      assert.strictEqual(echo.instructions, "Of the caller.")
    })

    it("may choose among its tools", () => {
      const body = { model: "@p", tool_choice: { type: "allowed_tools", mode: "required", tools: [hear] } }
      const { toolChoice, tools } = decoded(body, preset).conversation
      assert.deepStrictEqual([toolChoice, tools.map(({ name }) => name)], [{ type: "required" }, ["hear"]])
      assert.deepStrictEqual(fieldsOf({ model: "@p", tool_choice: { ...look, name: "smell" } }, preset), [
        "tool_choice.name"
      ])
    })

    it("does not list fields that the preset's model uses as ignored", () => {
      assert.deepStrictEqual(decoded({ model: "@p", session_id: "s" }, preset).ignored, [])
      const plugins = [{ id: "auto-router", allowed_models: ["gpt-4o"], pin_model: true }]
      const { auto, ignored } = decoded({ model: "@p", session_id: "s", plugins }, preset)
      assert.deepStrictEqual([auto.options.allowedModels, ignored], [["gpt-4o"], []])
    })
  })
})

describe("a request to count tokens", () => {
  it("is decoded like a request for a response, and may omit the input and the model", () => {
    const { conversation, model } = Result.getOrThrow(decodePrompt({ instructions: "Be brief." }, undefined))
    assert.isUndefined(model)
    assert.deepStrictEqual(conversation.messages, [{ role: "system", content: [{ type: "text", text: "Be brief." }] }])
    assert.deepStrictEqual(Result.getOrThrow(decodePrompt(plain, undefined)), decoded({}))
    assert.isTrue(Result.isFailure(decodePrompt({ input: [] }, undefined)))
    assert.isTrue(Result.isFailure(decodePrompt("hello", undefined)))
  })

  it("has a limit on the size of its output schema", () => {
    const schema = { type: "object", description: "d".repeat(SCHEMA_MAX_BYTES) }
    const format = { type: "json_schema", name: "n", schema }
    assert.deepStrictEqual(fieldsOf({ text: { format } }), ["text.format.schema"])
  })
})

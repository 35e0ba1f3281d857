import { assert, describe, it } from "@effect/vitest"
import type { Conversation, Message } from "../../../src/domain/Conversation.ts"
import type { ChatWireOptions } from "../../../src/providers/openai/HostTraits.ts"
import { encodeResponse, reasonsBesideTools } from "../../../src/providers/openai/ResponsesEncode.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"

const openai: ChatWireOptions = { flavour: "openai" }

const tools = [{ name: "f", description: "finds", parameters: { type: "object" }, strict: undefined }] as const
const reasoning = (effort: "none" | "low" | "high" | undefined) => ({
  effort,
  maxTokens: undefined,
  enabled: undefined
})

const gpt = (upstreamId: string, supportedParameters: ReadonlyArray<string> = []) =>
  candidate("up", {
    model: { vendor: "openai", capabilities: ["tools", "reasoning"], supportedParameters },
    upstreamId
  })

const callOf = (more: Partial<Conversation>, upstreamId = "gpt-5.6", parameters?: ReadonlyArray<string>) =>
  chatCall({ candidate: gpt(upstreamId, parameters), conversation: asked("hello", { tools, ...more }) })

const wire = (more: Partial<Conversation>, parameters?: ReadonlyArray<string>) =>
  JSON.parse(encodeResponse(callOf({ reasoning: reasoning("high"), ...more }, "gpt-5.6", parameters), false, openai))

const text = (words: string) => ({ type: "text", text: words }) as const

describe("reasonsBesideTools", () => {
  const cases: ReadonlyArray<readonly [string, boolean, Partial<Conversation>, string, ChatWireOptions]> = [
    [
      "an effort for a model that reasons beside functions only over the Responses API",
      true,
      { reasoning: reasoning("low") },
      "gpt-5.4",
      openai
    ],
    ["a token budget", true, { reasoning: { ...reasoning(undefined), maxTokens: 4_000 } }, "gpt-5.6", openai],
    ["a request without reasoning", false, {}, "gpt-5.6", openai],
    ["the effort none", false, { reasoning: reasoning("none") }, "gpt-5.6", openai],
    ["a request without functions", false, { reasoning: reasoning("low"), tools: [] }, "gpt-5.6", openai],
    ["an older model", false, { reasoning: reasoning("low") }, "gpt-5.2", openai],
    ["another kind of model", false, { reasoning: reasoning("low") }, "o5", openai],
    ["a host of open models", false, { reasoning: reasoning("low") }, "gpt-5.6", { flavour: "compatible" }]
  ]
  it("returns false when the output limit is below the 16 tokens that the Responses API requires", () => {
    const call = callOf({ reasoning: reasoning("low") })
    const capped = (maxOutputTokens: number) => reasonsBesideTools({ ...call, maxOutputTokens }, openai)
    assert.deepStrictEqual([capped(15), capped(16)], [false, true])
  })

  for (const [name, expected, more, upstreamId, options] of cases) {
    it(`returns ${expected} for ${name}`, () => {
      assert.strictEqual(reasonsBesideTools(callOf(more, upstreamId), options), expected)
    })
  }
})

describe("encodeResponse", () => {
  it("sends a minimal request for a plain question, and asks the host to store nothing", () => {
    assert.deepStrictEqual(wire({}), {
      model: "gpt-5.6",
      input: [{ role: "user", content: "hello" }],
      include: ["reasoning.encrypted_content"],
      store: false,
      max_output_tokens: 1_000,
      tools: [
        {
          type: "function",
          name: "f",
          description: "finds",
          parameters: { type: "object", properties: {} },
          strict: false
        }
      ],
      tool_choice: "auto",
      reasoning: { effort: "high" },
      text: { format: { type: "text" } }
    })
  })

  it("requests streams without obfuscation padding", () => {
    const body = JSON.parse(encodeResponse(callOf({ reasoning: reasoning("low") }), true, openai))
    assert.deepInclude(body, { stream: true, stream_options: { include_obfuscation: false } })
  })

  it("encodes every kind of message", () => {
    const image = { type: "image", url: "data:image/png;base64,AA", detail: "auto" } as const
    const messages: ReadonlyArray<Message> = [
      { role: "system", content: [text("be brief")], name: "boss" },
      { role: "user", content: [text("look"), image] },
      { role: "assistant", content: [], toolCalls: [{ id: "c1", name: "f", arguments: "" }] },
      { role: "tool", toolCallId: "c1", content: [text("done"), { ...image, detail: "low" }] },
      {
        role: "assistant",
        content: [text("well"), text("then")],
        toolCalls: [{ id: "c2".padEnd(60, "x"), name: "f", arguments: '{"x":1}' }]
      },
      { role: "tool", toolCallId: "c2".padEnd(60, "x"), content: [text("")], isError: true },
      { role: "assistant", content: [], toolCalls: [] }
    ]
    const { input } = wire({ messages })
    const long = input[6].call_id
    assert.match(long, /^call_[0-9a-f]{32}$/)
    assert.deepStrictEqual(input, [
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", image_url: image.url, detail: "high" }
        ]
      },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text: "done" },
          { type: "input_image", image_url: image.url, detail: "low" }
        ]
      },
      { role: "assistant", content: "well" },
      { role: "assistant", content: "then" },
      { type: "function_call", call_id: long, name: "f", arguments: '{"x":1}' },
      { type: "function_call_output", call_id: long, output: "The tool failed." },
      { role: "assistant", content: "" }
    ])
  })

  it("encodes tools and the tool choice", () => {
    const bare = { name: "g", description: undefined, parameters: undefined, strict: true }
    const body = wire({ tools: [bare], toolChoice: { type: "tool", name: "g" }, parallelToolCalls: false })
    assert.deepStrictEqual(body.tools, [
      {
        type: "function",
        name: "g",
        parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
        strict: true
      }
    ])
    assert.deepStrictEqual(body.tool_choice, { type: "function", name: "g" })
    assert.notProperty(body, "parallel_tool_calls")
    assert.isFalse(wire({ parallelToolCalls: false }, ["parallel_tool_calls"]).parallel_tool_calls)
    assert.strictEqual(wire({ toolChoice: { type: "required" } }).tool_choice, "required")
  })

  it("encodes response formats and the sampling parameters that the model accepts", () => {
    const schema = { type: "object" }
    const format = { type: "json_schema", name: "n", description: "d", schema, strict: true } as const
    assert.deepStrictEqual(wire({ format }).text, { format })
    assert.deepStrictEqual(wire({ format: { type: "json_schema", name: "n", schema: undefined, strict: true } }).text, {
      format: { type: "json_schema", name: "n", schema: { type: "object", properties: {} }, strict: false }
    })
    assert.deepStrictEqual(wire({ format: { type: "json_object" } }).text, { format: { type: "json_object" } })
    const sampling = { temperature: 1, topP: 0.5, verbosity: "low", stop: ["x"], seed: 1, topK: 3 } as const
    const body = wire({ sampling, user: "u", cacheKey: "k" }, ["verbosity", "temperature", "stop", "seed"])
    assert.strictEqual(body.text.verbosity, "low")
    assert.deepInclude(body, { temperature: 1, prompt_cache_key: "k", user: "u" })
    for (const name of ["top_p", "top_k", "stop", "seed"]) assert.notProperty(body, name)
  })
})

import { assert, describe, it } from "@effect/vitest"
import type { Conversation, Message, Reasoning } from "../../../src/domain/Conversation.ts"
import { encodeChat } from "../../../src/providers/gemini/ChatEncode.ts"
import type { ChatCall } from "../../../src/providers/Provider.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"

const wire = (more: Partial<Conversation>, upstreamId = "gemini-2.5-flash", call: Partial<ChatCall> = {}) =>
  JSON.parse(
    encodeChat(
      chatCall({
        candidate: candidate("gemini", { upstreamId, model: { capabilities: ["tools", "reasoning"] } }),
        ...call,
        conversation: asked("hello", more)
      })
    )
  )

const text = (words: string) => ({ type: "text", text: words }) as const
const image = (url: string) => ({ type: "image", url, detail: "auto" }) as const
const called = (id: string, name: string, args: string) => ({ id, name, arguments: args })
const contents = (messages: ReadonlyArray<Message>, model?: string) => wire({ messages }, model).contents

describe("encodeChat", () => {
  it("sends a minimal request for a plain question", () => {
    assert.deepStrictEqual(wire({}), {
      contents: [{ role: "user", parts: [{ text: "hello" }] }],
      generationConfig: { maxOutputTokens: 1_000 }
    })
  })

  it("joins system messages, and consecutive messages of the same role", () => {
    const body = wire({
      messages: [
        { role: "system", content: [text("be brief"), text("")] },
        { role: "user", content: [text("a")] },
        { role: "system", content: [text("be kind")] },
        { role: "user", content: [text("b"), text("")] },
        { role: "assistant", content: [text("c")], toolCalls: [] },
        { role: "assistant", content: [], toolCalls: [] },
        { role: "user", content: [text("")] },
        { role: "assistant", content: [text("d")], toolCalls: [] },
        { role: "user", content: [text("e")] }
      ]
    })
    assert.deepStrictEqual(body.systemInstruction, { parts: [{ text: "be brief" }, { text: "be kind" }] })
    assert.deepStrictEqual(body.contents, [
      { role: "user", parts: [{ text: "a" }, { text: "b" }] },
      { role: "model", parts: [{ text: "c" }, { text: "d" }] },
      { role: "user", parts: [{ text: "e" }] }
    ])
  })

  it("sends instructions as the question when there are no other messages", () => {
    const body = wire({ messages: [{ role: "system", content: [text("say hello")] }] })
    assert.deepStrictEqual(body.contents, [{ role: "user", parts: [{ text: "say hello" }] }])
    assert.notProperty(body, "systemInstruction")
  })

  it("starts with a non-empty user turn", () => {
    const dot = { role: "user", parts: [{ text: "." }] }
    const greeting: Message = { role: "assistant", content: [text("Hello!")], toolCalls: [] }
    assert.deepStrictEqual(contents([greeting, { role: "user", content: [text("hi")] }]), [
      dot,
      { role: "model", parts: [{ text: "Hello!" }] },
      { role: "user", parts: [{ text: "hi" }] }
    ])
    assert.deepStrictEqual(contents([{ role: "user", content: [text("")] }]), [dot])
  })

  it("ends with a user turn after a system message, and continues an assistant's text", () => {
    const talk: ReadonlyArray<Message> = [
      { role: "user", content: [text("a")] },
      { role: "assistant", content: [text("b")], toolCalls: [] }
    ]
    const late: Message = { role: "system", content: [text("now rhyme")] }
    assert.deepStrictEqual(contents([...talk, late]).slice(1), [
      { role: "model", parts: [{ text: "b" }] },
      { role: "user", parts: [{ text: "." }] }
    ])
    assert.strictEqual(contents([late, ...talk]).length, 2)
  })

  it("sends images as bytes with the media type that the API expects", () => {
    const urls = [
      ["data:image/png;base64,AA==", { inlineData: { mimeType: "image/png", data: "AA==" } }],
      ["data:image/JPG;base64,AA+/", { inlineData: { mimeType: "image/jpeg", data: "AA+/" } }]
    ] as const
    const [turn] = contents([{ role: "user", content: [text("look"), ...urls.map(([url]) => image(url))] }])
    assert.deepStrictEqual(turn.parts, [{ text: "look" }, ...urls.map(([, part]) => part)])
  })

  const history: ReadonlyArray<Message> = [
    { role: "user", content: [text("hello")] },
    {
      role: "assistant",
      content: [text("well")],
      toolCalls: [
        called("c1", "f", '{"x":1}'),
        called("c2", "g", ""),
        called("c3", "h", "not json"),
        called("c4", "i", "[1]")
      ]
    },
    { role: "tool", toolCallId: "c1", content: [text('{"ok":'), image("data:image/png;base64,AA"), text("true}")] },
    { role: "tool", toolCallId: "c2", content: [text("plain")] },
    { role: "tool", toolCallId: "c3", content: [text("[1]")] },
    { role: "tool", toolCallId: "lost", content: [] },
    { role: "user", content: [text("so?")] }
  ]

  it("sends calls and results as objects, and results under the name of their call", () => {
    assert.deepStrictEqual(contents(history).slice(1), [
      {
        role: "model",
        parts: [
          { text: "well" },
          { functionCall: { id: "c1", name: "f", args: { x: 1 } } },
          { functionCall: { id: "c2", name: "g", args: {} } },
          { functionCall: { id: "c3", name: "h", args: { arguments: "not json" } } },
          { functionCall: { id: "c4", name: "i", args: { arguments: "[1]" } } }
        ]
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "f", response: { ok: true } } },
          { functionResponse: { id: "c2", name: "g", response: { result: "plain" } } },
          { functionResponse: { id: "c3", name: "h", response: { result: "[1]" } } },
          { functionResponse: { id: "lost", name: "lost", response: { result: "" } } }
        ]
      },
      { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "AA" } }, { text: "so?" }] }
    ])
  })

  it("groups the results of a turn, with nothing else among them", () => {
    const result = (id: string): Message => ({ role: "tool", toolCallId: id, content: [text("{}")] })
    const sent = contents([
      { role: "user", content: [text("hello")] },
      { role: "assistant", content: [], toolCalls: [called("a", "f", "{}"), called("b", "f", "{}")] },
      result("a"),
      { role: "system", content: [text("be brief")] },
      result("b"),
      { role: "user", content: [text("so?")] },
      { role: "user", content: [text("well?")] }
    ])
    const kinds = sent.map(({ parts }: { readonly parts: ReadonlyArray<object> }) => parts.flatMap(Object.keys))
    assert.deepStrictEqual(kinds, [
      ["text"],
      ["functionCall", "functionCall"],
      ["functionResponse", "functionResponse"],
      ["text", "text"]
    ])
  })

  it("sends a result as text when its numbers would lose digits or it contains a $ref", () => {
    for (const result of [
      '{"order":1234567890123456789}',
      '{"schema":{"a":[{"$ref":"#/definitions/A"}]}}',
      '{"\\u0024ref" : "a"}'
    ]) {
      const [, , turn] = contents([
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [], toolCalls: [called("c", "f", "{}")] },
        { role: "tool", toolCallId: "c", content: [text(result)] }
      ])
      assert.deepStrictEqual(turn.parts[0].functionResponse.response, { result })
    }
  })

  it("names a result after the latest call with its id when the id was used twice", () => {
    const round = (name: string): ReadonlyArray<Message> => [
      { role: "assistant", content: [], toolCalls: [called("c", name, "{}")] },
      { role: "tool", toolCallId: "c", content: [text("{}")] }
    ]
    const sent = contents([{ role: "user", content: [text("hello")] }, ...round("f"), ...round("g")])
    assert.deepStrictEqual(
      [sent[2], sent[4]].map((turn) => turn.parts[0].functionResponse.name),
      ["f", "g"]
    )
  })

  it("marks calls without a signature for models that require one", () => {
    const signatures = (model: string) =>
      contents(history, model)[1].parts.map((part: { readonly thoughtSignature?: string }) => part.thoughtSignature)
    const none = "skip_thought_signature_validator"
    for (const model of [
      "gemini-3.8-flash",
      "gemini-3-flash-preview",
      "gemini-3.1-pro-preview",
      "gemini-flash-latest"
    ]) {
      assert.deepStrictEqual(signatures(model), [undefined, none, none, none, none])
    }
    for (const model of ["gemini-2.5-pro", "gemini-2.0-flash", "gemma-4-31b-it"]) {
      assert.deepStrictEqual(signatures(model), [undefined, undefined, undefined, undefined, undefined])
    }
  })

  const tool = { name: "f", description: "does", parameters: { type: "object" }, strict: true }

  it("encodes tools and the tool choice", () => {
    const body = wire({ tools: [tool], toolChoice: { type: "tool", name: "f" }, parallelToolCalls: false })
    assert.deepStrictEqual(body.tools, [
      { functionDeclarations: [{ name: "f", description: "does", parametersJsonSchema: { type: "object" } }] }
    ])
    assert.deepStrictEqual(body.toolConfig, { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } })
    for (const [type, mode] of [
      ["auto", "AUTO"],
      ["none", "NONE"],
      ["required", "ANY"]
    ] as const) {
      const { toolConfig } = wire({ tools: [tool], toolChoice: { type } })
      assert.deepStrictEqual(toolConfig, { functionCallingConfig: { mode } })
    }
    assert.notProperty(wire({ toolChoice: { type: "required" } }), "toolConfig")
  })

  it("encodes response formats", () => {
    const config = (format: Conversation["format"]) => wire({ format }).generationConfig
    const responseMimeType = "application/json"
    assert.deepStrictEqual(config({ type: "json_object" }), { maxOutputTokens: 1_000, responseMimeType })
    const schema = { type: "object" }
    assert.deepStrictEqual(config({ type: "json_schema", name: "n", schema, strict: true }), {
      maxOutputTokens: 1_000,
      responseMimeType,
      responseJsonSchema: schema
    })
  })

  it("sends the sampling parameters that the host accepts", () => {
    const sampling = {
      temperature: 0,
      topP: 0.5,
      topK: 3,
      minP: 0.1,
      repetitionPenalty: 1.1,
      frequencyPenalty: 1,
      presencePenalty: -1,
      seed: 7,
      stop: ["END"],
      logprobs: true,
      topLogprobs: 2
    }
    assert.deepStrictEqual(wire({ sampling, user: "u" }).generationConfig, {
      maxOutputTokens: 1_000,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      seed: 7,
      stopSequences: ["END"],
      responseLogprobs: true,
      logprobs: 2
    })
    const { generationConfig } = wire({ sampling: { logprobs: false, topLogprobs: 2 } })
    assert.deepStrictEqual(generationConfig, { maxOutputTokens: 1_000 })
  })

  it("marks failed tool results", () => {
    const failed = (words: string): Message => ({
      role: "tool",
      toolCallId: "a",
      isError: true,
      content: words === "" ? [] : [{ type: "text", text: words }]
    })
    const { contents } = wire({ messages: ["no such city", '{"code":7}', "[1]", ""].map(failed) })
    const responses = contents[0].parts.map(
      (part: { functionResponse: { response: object } }) => part.functionResponse.response
    )
    assert.deepStrictEqual(responses, [
      { error: "no such city" },
      { error: { code: 7 } },
      { error: "[1]" },
      { error: "The tool failed." }
    ])
  })

  it("truncates a seed to 32 bits", () => {
    for (const [seed, sent] of [
      [-1, -1],
      [2 ** 31, -(2 ** 31)],
      [2 ** 32 + 5, 5]
    ] as const) {
      assert.strictEqual(wire({ sampling: { seed } }).generationConfig.seed, sent)
    }
  })
})

describe("reasoning", () => {
  const thinking = (model: string, reasoning: Partial<Reasoning> | undefined, maxOutputTokens = 65_536) =>
    wire(
      {
        reasoning:
          reasoning === undefined
            ? undefined
            : { effort: undefined, maxTokens: undefined, enabled: undefined, ...reasoning }
      },
      model,
      { maxOutputTokens }
    ).generationConfig.thinkingConfig

  const shown = { includeThoughts: true }

  it("is left to the model by default, and omitted for models that cannot reason", () => {
    assert.isUndefined(thinking("gemini-3.8-flash", undefined))
    const unable = candidate("gemini", { upstreamId: "gemini-3.8-flash" })
    const reasoning = { effort: "high", maxTokens: undefined, enabled: undefined } as const
    const { generationConfig } = wire({ reasoning }, undefined, { candidate: unable })
    assert.notProperty(generationConfig, "thinkingConfig")
  })

  const levels: ReadonlyArray<readonly [string, Partial<Reasoning>, object]> = [
    ["gemini-3.8-flash", { enabled: true }, shown],
    ["gemini-3.8-flash", { effort: "minimal" }, { thinkingLevel: "LOW", ...shown }],
    ["gemini-3.6-flash", { effort: "minimal" }, { thinkingLevel: "MINIMAL", ...shown }],
    ["gemini-3-flash-preview", { effort: "minimal" }, { thinkingLevel: "MINIMAL", ...shown }],
    ["gemini-3.5-flash-lite", { effort: "none" }, { thinkingLevel: "MINIMAL" }],
    ["gemini-3.1-pro-preview", { effort: "minimal" }, { thinkingLevel: "LOW", ...shown }],
    ["gemini-3.1-pro-preview", { enabled: false, effort: "high" }, { thinkingLevel: "LOW" }],
    ["gemini-3.8-flash", { effort: "low" }, { thinkingLevel: "LOW", ...shown }],
    ["gemini-3.8-flash", { effort: "medium", maxTokens: 9 }, { thinkingLevel: "MEDIUM", ...shown }],
    ["gemini-3.8-flash", { effort: "high" }, { thinkingLevel: "HIGH", ...shown }],
    ["gemini-3.8-flash", { effort: "xhigh" }, { thinkingLevel: "HIGH", ...shown }],
    ["gemini-3.8-flash", { maxTokens: 0 }, { thinkingLevel: "LOW" }],
    ["gemini-3.8-flash", { maxTokens: 2_048 }, { thinkingLevel: "LOW", ...shown }],
    ["gemini-3.8-flash", { maxTokens: 2_049 }, { thinkingLevel: "MEDIUM", ...shown }],
    ["gemini-3.8-flash", { maxTokens: 8_193 }, { thinkingLevel: "HIGH", ...shown }]
  ]
  const budgets: ReadonlyArray<readonly [string, Partial<Reasoning>, object]> = [
    ["gemini-2.5-flash", { enabled: true }, { thinkingBudget: -1, ...shown }],
    ["gemini-2.5-flash", { effort: "none" }, { thinkingBudget: 0 }],
    ["gemini-2.5-flash", { enabled: false }, { thinkingBudget: 0 }],
    ["gemini-2.5-flash", { effort: "low" }, { thinkingBudget: 1_024, ...shown }],
    ["gemini-2.5-flash", { effort: "medium" }, { thinkingBudget: 8_192, ...shown }],
    ["gemini-2.5-flash", { effort: "xhigh" }, { thinkingBudget: 24_576, ...shown }],
    ["gemini-2.5-flash", { effort: "low", maxTokens: 3 }, { thinkingBudget: 3, ...shown }],
    ["gemini-2.5-flash-lite", { maxTokens: 3 }, { thinkingBudget: 512, ...shown }],
    ["gemini-2.5-flash", { effort: "minimal" }, { thinkingBudget: 1_024, ...shown }],
    ["gemini-2.5-flash", { effort: "high" }, { thinkingBudget: 24_576, ...shown }],
    ["gemini-2.5-flash", { effort: "high", maxTokens: 0 }, { thinkingBudget: 0 }],
    ["gemini-2.5-flash-lite", { maxTokens: 0 }, { thinkingBudget: 0 }],
    ["gemini-2.5-pro", { effort: "none" }, { thinkingBudget: 128 }],
    ["gemini-2.5-pro", { maxTokens: 3 }, { thinkingBudget: 128, ...shown }],
    ["gemini-2.5-pro", { maxTokens: 1_000_000 }, { thinkingBudget: 32_768, ...shown }]
  ]
  for (const [model, reasoning, config] of [...levels, ...budgets]) {
    it(`with ${JSON.stringify(reasoning)} is sent as ${JSON.stringify(config)} to ${model}`, () =>
      assert.deepStrictEqual(thinking(model, reasoning), config))
  }

  it("stays within the output limit, which includes thoughts, and leaves room for an answer", () => {
    assert.deepStrictEqual(thinking("gemini-2.5-flash", { effort: "high" }, 1_000), { thinkingBudget: 950, ...shown })
    assert.deepStrictEqual(thinking("gemini-2.5-flash", { effort: "high" }, 1), { thinkingBudget: 1, ...shown })
  })
})

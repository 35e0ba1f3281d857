import { assert, describe, it } from "@effect/vitest"
import type { Conversation, Message, Reasoning } from "../../../src/domain/Conversation.ts"
import type { Model } from "../../../src/domain/Model.ts"
import { encodeChat } from "../../../src/providers/anthropic/ChatEncode.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"

const model: Partial<Model> = {
  capabilities: ["streaming", "tools", "structured_outputs", "reasoning"],
  supportedParameters: ["max_tokens", "temperature", "top_p", "top_k", "stop"]
}

const wire = (more: Partial<Conversation>, upstreamId = "claude-sonnet-4-5", stream = false, able = model) =>
  JSON.parse(
    encodeChat(
      chatCall({
        candidate: candidate("anthropic", { upstreamId, model: able }),
        conversation: asked("hello", more),
        maxOutputTokens: 5_000
      }),
      stream
    )
  )

const text = (words: string) => ({ type: "text", text: words }) as const
const image = (url: string) => ({ type: "image", url, detail: "auto" }) as const
const said = (messages: ReadonlyArray<Message>) => {
  const body = wire({ messages })
  return { system: body.system, messages: body.messages }
}
const user = (...words: ReadonlyArray<string>): Message => ({ role: "user", content: words.map(text) })
const system = (...words: ReadonlyArray<string>): Message => ({ role: "system", content: words.map(text) })
const assistant = (...words: ReadonlyArray<string>): Message => ({
  role: "assistant",
  content: words.map(text),
  toolCalls: []
})

describe("encodeChat", () => {
  it("sends a minimal request for a plain question", () => {
    assert.deepStrictEqual(wire({}), {
      model: "claude-sonnet-4-5",
      max_tokens: 5_000,
      messages: [{ role: "user", content: [text("hello")] }]
    })
    assert.isTrue(wire({}, "claude-sonnet-4-5", true).stream)
  })

  it("distinguishes call ids that differ in rejected characters", () => {
    const calls = ["a.b", "a:b", "a_b", ""].map((id) => ({ id, name: "f", arguments: "" }))
    const { messages } = said([
      user("hi"),
      { role: "assistant", content: [], toolCalls: calls },
      ...calls.map(({ id }) => ({ role: "tool" as const, toolCallId: id, content: [] }))
    ]) as { readonly messages: ReadonlyArray<{ readonly content: ReadonlyArray<Record<string, string>> }> }
    const ids = messages[1]?.content.map(({ id }) => id ?? "") ?? []
    assert.strictEqual(new Set(ids).size, calls.length)
    for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]+$/)
    assert.strictEqual(ids[2], "a_b")
    assert.deepStrictEqual(
      messages[2]?.content.map(({ tool_use_id }) => tool_use_id),
      ids
    )
  })

  it("encodes every kind of message, with tool results first in their turn", () => {
    const url = "data:image/png;base64,AAAA"
    assert.deepStrictEqual(
      said([
        system("be brief", " "),
        { role: "user", content: [text("look"), image(url), image("data:image/JPG;base64,AA+/==")] },
        {
          role: "assistant",
          content: [text("well")],
          toolCalls: [
            { id: "call:1", name: "f", arguments: '{"x":1}' },
            { id: "c2", name: "g", arguments: "" }
          ]
        },
        { role: "tool", toolCallId: "call:1", content: [text("done"), text("\n"), image(url)] },
        user("and?"),
        { role: "tool", toolCallId: "c2", content: [] },
        assistant("a "),
        assistant("b "),
        user("so")
      ]),
      {
        system: [text("be brief")],
        messages: [
          {
            role: "user",
            content: [
              text("look"),
              { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
              { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AA+/==" } }
            ]
          },
          {
            role: "assistant",
            content: [
              text("well"),
              { type: "tool_use", id: "call_1_0af63155", name: "f", input: { x: 1 } },
              { type: "tool_use", id: "c2", name: "g", input: {} }
            ]
          },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "call_1_0af63155",
                content: [
                  text("done"),
                  { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
                ]
              },
              { type: "tool_result", tool_use_id: "c2" },
              text("and?")
            ]
          },
          { role: "assistant", content: [text("a "), text("b ")] },
          { role: "user", content: [text("so")] }
        ]
      }
    )
  })

  it("marks failed tool results", () => {
    const url = "data:image/png;base64,AA=="
    const failed = { role: "tool", toolCallId: "a", isError: true } as const
    const { messages } = said([
      user("hi"),
      { ...failed, content: [text("no such city")] },
      { ...failed, content: [text(" ")] },
      { ...failed, content: [text("look"), image(url)] }
    ])
    const result = { type: "tool_result", tool_use_id: "a" }
    assert.deepStrictEqual(messages[0].content, [
      { ...result, is_error: true, content: [text("no such city")] },
      { ...result, is_error: true, content: [text("The tool failed.")] },
      {
        ...result,
        content: [text("look"), { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }]
      },
      text("hi")
    ])
  })

  for (const written of ["{", "[1]", '"text"', "null", "plain"]) {
    it(`wraps arguments that are not a JSON object: ${written}`, () => {
      const { messages } = said([
        user("hi"),
        { role: "assistant", content: [], toolCalls: [{ id: "a", name: "f", arguments: written }] }
      ])
      assert.deepStrictEqual(messages[1].content, [
        { type: "tool_use", id: "a", name: "f", input: { arguments: written } }
      ])
    })
  }

  it("keeps all digits of numbers in a call's arguments", () => {
    const args = '{"order":1234567890123456789}'
    const toolCalls = [{ id: "a", name: "f", arguments: args }]
    const conversation = asked("hi", { messages: [user("hi"), { role: "assistant", content: [], toolCalls }] })
    assert.include(encodeChat(chatCall({ conversation }), false), `"input":${args}`)
  })

  it("moves system messages before the conversation, in order", () => {
    assert.deepStrictEqual(said([system("one"), user("a"), system("two"), user("b"), system("three")]), {
      system: [text("one"), text("two"), text("three")],
      messages: [{ role: "user", content: [text("a"), text("b")] }]
    })
    assert.deepStrictEqual(said([system("do it"), assistant("")]), {
      system: undefined,
      messages: [{ role: "user", content: [text("do it")] }]
    })
  })

  it("never sends an empty turn or a conversation that does not begin with the user", () => {
    const dot = { role: "user", content: [text(".")] }
    assert.deepStrictEqual(said([user(" \n")]).messages, [dot])
    assert.deepStrictEqual(said([assistant("hi"), user("a"), assistant(" "), user("b")]).messages, [
      dot,
      { role: "assistant", content: [text("hi")] },
      { role: "user", content: [text("a"), text("b")] }
    ])
  })

  it("trims whitespace at the end of an assistant's text", () => {
    const { messages } = said([user("a"), assistant("so ", "it is \n"), system("late")])
    assert.deepStrictEqual(messages[1], { role: "assistant", content: [text("so"), text("it is")] })
  })

  it("ends with a user turn after a system message, and continues an assistant's text", () => {
    const talk = [user("a"), assistant("b")]
    assert.deepStrictEqual(said([...talk, system("now rhyme")]), {
      system: [text("now rhyme")],
      messages: [
        { role: "user", content: [text("a")] },
        { role: "assistant", content: [text("b")] },
        { role: "user", content: [text(".")] }
      ]
    })
    assert.strictEqual(said([system("rhyme"), ...talk]).messages.length, 2)
  })

  const tool = { name: "f", description: "does", parameters: { properties: { x: { minimum: 1 } } }, strict: undefined }

  it("encodes tools", () => {
    const bare = { name: "g", description: undefined, parameters: undefined, strict: false }
    const { tools, ...rest } = wire({ tools: [tool, bare, { ...tool, strict: true }] })
    assert.deepStrictEqual(tools, [
      { name: "f", description: "does", input_schema: { type: "object", properties: { x: { minimum: 1 } } } },
      { name: "g", input_schema: { type: "object" } },
      {
        name: "f",
        description: "does",
        input_schema: {
          type: "object",
          properties: { x: { description: "(minimum: 1)" } },
          additionalProperties: false
        },
        strict: true
      }
    ])
    assert.deepStrictEqual(rest.tool_choice, { type: "auto" })
    const map = { type: "object", properties: { labels: { type: "object", additionalProperties: { type: "string" } } } }
    const open = wire({ tools: [{ ...tool, parameters: map, strict: true }] }).tools[0]
    assert.deepStrictEqual(open, { name: "f", description: "does", input_schema: map })
    const loose = wire({ tools: [{ ...tool, strict: true }] }, "m", false, { capabilities: ["tools"] }).tools[0]
    assert.notProperty(loose, "strict")
    assert.notProperty(wire({ toolChoice: { type: "required" }, parallelToolCalls: false }), "tool_choice")
  })

  it("declares the tools called in a history without tools, and forbids new calls", () => {
    const call = (id: string, name: string) => ({ id, name, arguments: "{}" })
    const result = (id: string): Message => ({ role: "tool", toolCallId: id, content: [text("x")] })
    const toolCalls = [call("a", "f"), call("b", "g"), call("c", "f")]
    const messages = [
      user("hi"),
      { role: "assistant" as const, content: [], toolCalls },
      ...["a", "b", "c"].map(result)
    ]
    const body = wire({ messages, toolChoice: { type: "auto" } })
    assert.deepStrictEqual(body.tools, [
      { name: "f", input_schema: { type: "object" } },
      { name: "g", input_schema: { type: "object" } }
    ])
    assert.deepStrictEqual(body.tool_choice, { type: "none" })
    assert.deepStrictEqual(
      wire({ messages, tools: [tool] }).tools.map(({ name }: { readonly name: string }) => name),
      ["f"]
    )
  })

  const choices = [
    [{ type: "auto" }, { type: "auto" }],
    [{ type: "required" }, { type: "any" }],
    [
      { type: "tool", name: "f" },
      { type: "tool", name: "f" }
    ]
  ] as const
  for (const [toolChoice, expected] of choices) {
    it(`encodes the tool choice ${toolChoice.type}`, () => {
      const base = { tools: [tool], toolChoice }
      assert.deepStrictEqual(wire(base).tool_choice, expected)
      assert.deepStrictEqual(wire({ ...base, parallelToolCalls: true }).tool_choice, expected)
      const single = { disable_parallel_tool_use: true }
      assert.deepStrictEqual(wire({ ...base, parallelToolCalls: false }).tool_choice, { ...expected, ...single })
      assert.deepStrictEqual(wire({ ...base, parallelToolCalls: false }, "claude-opus-5-5").tool_choice, {
        type: "auto",
        ...single
      })
    })
  }

  it("encodes the tool choice none", () => {
    const none = wire({ tools: [tool], toolChoice: { type: "none" }, parallelToolCalls: false })
    assert.deepStrictEqual(none.tool_choice, { type: "none" })
  })

  it("encodes response formats, and requests JSON in the system prompt where the API has no format", () => {
    const schema = { type: "object", properties: {} }
    const format = { type: "json_schema", name: "n", schema, strict: true } as const
    const closed = { ...schema, additionalProperties: false }
    const native = wire({ format })
    assert.deepStrictEqual(native.output_config, { format: { type: "json_schema", schema: closed } })
    assert.notProperty(native, "system")
    const words = "Answer with one JSON object and nothing else."
    const asking = wire({ format: { type: "json_object" }, messages: [system("be brief"), user("hello")] })
    assert.deepStrictEqual(asking.system, [text("be brief"), text(words)])
    assert.notProperty(asking, "output_config")
    assert.deepStrictEqual(wire({ format: { ...format, schema: undefined } }).system, [text(words)])
  })

  const sampling = {
    temperature: 1.7,
    topP: 0.5,
    topK: 3,
    minP: 0.1,
    repetitionPenalty: 1.1,
    frequencyPenalty: 1,
    presencePenalty: -1,
    seed: 7,
    stop: ["END", " ", "\n", ""],
    logprobs: true,
    topLogprobs: 2
  }
  const members = (body: object) =>
    Object.keys(body).filter((name) => !["model", "max_tokens", "messages", "thinking", "output_config"].includes(name))

  it("sends the sampling parameters that the host accepts, within its scale", () => {
    const body = wire({ sampling })
    assert.deepInclude(body, { temperature: 1, top_k: 3, stop_sequences: ["END"] })
    assert.deepStrictEqual(members(body), ["temperature", "top_k", "stop_sequences"])
    assert.deepInclude(wire({ sampling: { topP: 0.5 } }), { top_p: 0.5 })
    assert.strictEqual(wire({ sampling: { temperature: 0 } }).temperature, 0)
    assert.deepStrictEqual(members(wire({ sampling: { stop: [" "] } })), [])
  })

  it("omits sampling for models that reject it, and when the model thinks", () => {
    const fixed = wire({ sampling }, "claude-opus-4-8", false, { ...model, supportedParameters: ["stop"] })
    assert.deepStrictEqual(members(fixed), ["stop_sequences"])
    const reasoning: Reasoning = { effort: "high", maxTokens: undefined, enabled: undefined }
    for (const id of ["claude-sonnet-4-5", "claude-opus-4-6"]) {
      const thinking = wire({ sampling, reasoning }, id)
      assert.deepStrictEqual(members(thinking), ["stop_sequences"])
      assert.property(thinking, "thinking")
    }
  })

  it("sends thinking and effort beside the response format", () => {
    const reasoning: Reasoning = { effort: "medium", maxTokens: undefined, enabled: undefined }
    const format = { type: "json_schema", name: "n", schema: {}, strict: undefined } as const
    const body = wire({ reasoning, format }, "claude-opus-4-8")
    assert.deepStrictEqual(body.thinking, { type: "adaptive", display: "summarized" })
    assert.deepStrictEqual(body.output_config, { effort: "medium", format: { type: "json_schema", schema: {} } })
    assert.deepStrictEqual(wire({ reasoning }).thinking, { type: "enabled", budget_tokens: 2_500 })
  })

  it("forwards the end user's id unless it is an email address or phone number", () => {
    assert.deepStrictEqual(wire({ user: "user_1-a" }).metadata, { user_id: "user_1-a" })
    for (const named of ["ann@example.com", "+49 171 1234567", "01711234567", "x".repeat(257), ""]) {
      assert.notProperty(wire({ user: named }), "metadata")
    }
  })
})

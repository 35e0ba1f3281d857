import { assert, describe, it } from "@effect/vitest"
import type { Conversation, Part } from "../../../src/domain/Conversation.ts"
import { encodeChat } from "../../../src/providers/openai/ChatEncode.ts"
import type { ChatWireOptions } from "../../../src/providers/openai/HostTraits.ts"
import type { ChatCall } from "../../../src/providers/Provider.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall } from "../calls.ts"

const openai: ChatWireOptions = { flavour: "openai" }
const compatible: ChatWireOptions = { flavour: "compatible" }

const wire = (more: Partial<Conversation>, options = openai, call: Partial<ChatCall> = {}, stream = false) =>
  JSON.parse(encodeChat(chatCall({ ...call, conversation: asked("hello", more) }), stream, options))

const text = (words: string) => ({ type: "text", text: words }) as const
const image = (url: string, detail: "auto" | "low" | "high" = "auto") => ({ type: "image", url, detail }) as const

describe("encodeChat", () => {
  it("sends a minimal request for a plain question", () => {
    assert.deepStrictEqual(wire({}), {
      model: "up-1",
      messages: [{ role: "user", content: "hello" }],
      max_completion_tokens: 1_000
    })
  })

  it("requests usage in every stream", () => {
    const body = wire({}, compatible, {}, true)
    assert.deepInclude(body, { stream: true, stream_options: { include_usage: true }, max_tokens: 1_000 })
    assert.notProperty(body, "max_completion_tokens")
  })

  it("sends Mistral's own host random_seed for a seed, and omits fields that it rejects", () => {
    const sampling = { temperature: 0.5, topK: 3, minP: 0.1, repetitionPenalty: 2, seed: 7, logprobs: true }
    const mistrals = candidate("mistral", {
      model: { vendor: "mistral", supportedParameters: ["temperature", "top_p", "stop", "seed"] }
    })
    const body = wire({ sampling, user: "ann" }, compatible, { candidate: mistrals }, true)
    assert.deepStrictEqual(body, {
      model: mistrals.offer.upstreamId,
      messages: [{ role: "user", content: "hello" }],
      stream: true,
      max_tokens: 1_000,
      temperature: 0.5,
      random_seed: 7
    })
    const elsewhere = candidate("together", { model: mistrals.model })
    assert.deepInclude(wire({ sampling, user: "ann" }, compatible, { candidate: elsewhere }, true), {
      seed: 7,
      top_k: 3,
      logprobs: true,
      user: "ann",
      stream_options: { include_usage: true }
    })
  })

  it('sends detail "high" to OpenAI\'s own models for images without a detail', () => {
    const messages = [{ role: "user", content: [image("u"), image("u", "low"), image("u", "high")] }] as const
    const detailsOf = (vendor: string) => {
      const [message] = wire({ messages }, openai, { candidate: candidate("up", { model: { vendor } }) }).messages
      return message.content.map((part: { image_url: { detail?: string } }) => part.image_url.detail)
    }
    assert.deepStrictEqual(detailsOf("openai"), ["high", "low", "high"])
    assert.deepStrictEqual(detailsOf("z-ai"), [undefined, "low", "high"])
  })

  it("encodes every kind of message", () => {
    const { messages } = wire({
      messages: [
        { role: "system", content: [text("be brief")] },
        {
          role: "user",
          content: [text("look"), image("https://example.com/a.png"), image("data:image/png;base64,AA", "low")]
        },
        { role: "assistant", content: [], toolCalls: [{ id: "c1", name: "f", arguments: "" }] },
        { role: "tool", toolCallId: "c1", content: [text("done"), image("https://example.com/b.png", "high")] },
        { role: "tool", toolCallId: "c2", content: [text("a"), text("b")] },
        { role: "assistant", content: [text("well")], toolCalls: [{ id: "c3", name: "g", arguments: '{"x":1}' }] },
        { role: "assistant", content: [], toolCalls: [] }
      ]
    })
    assert.deepStrictEqual(messages, [
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } }
        ]
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
      {
        role: "tool",
        tool_call_id: "c2",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" }
        ]
      },
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: "https://example.com/b.png", detail: "high" } }]
      },
      {
        role: "assistant",
        content: "well",
        tool_calls: [{ id: "c3", type: "function", function: { name: "g", arguments: '{"x":1}' } }]
      },
      { role: "assistant", content: "" }
    ])
  })

  it("replaces call ids from another host consistently in calls and results", () => {
    const ids = ["call_1", `chatcmpl-tool-${"0".repeat(32)}`, `chatcmpl-tool-${"0".repeat(31)}1`, "Abc123xyZ", ""]
    const messages = [
      { role: "assistant", content: [], toolCalls: ids.map((id) => ({ id, name: "f", arguments: "{}" })) } as const,
      ...ids.map((toolCallId) => ({ role: "tool", toolCallId, content: [text("done")] }) as const)
    ]
    const idsTo = (vendor: string, options: ChatWireOptions) => {
      const [called, ...results] = wire({ messages }, options, {
        candidate: candidate("up", { model: { vendor } })
      }).messages
      const sent: ReadonlyArray<string> = called.tool_calls.map(({ id }: { readonly id: string }) => id)
      assert.deepStrictEqual(
        results.map((result: { readonly tool_call_id: string }) => result.tool_call_id),
        sent
      )
      assert.strictEqual(new Set(sent).size, ids.length)
      return sent
    }
    for (const options of [openai, compatible]) {
      const sent = idsTo("openai", options)
      assert.deepStrictEqual([sent[0], sent[3]], ["call_1", "Abc123xyZ"])
      assert.isTrue(sent.every((id) => id.length <= 40))
    }
    const mistral = idsTo("mistral", compatible)
    assert.strictEqual(mistral[3], "Abc123xyZ")
    assert.isTrue(mistral.every((id) => /^[A-Za-z0-9]{9}$/.test(id)))
  })

  const tool = { name: "f", description: "does", parameters: { type: "object" }, strict: true }

  it("sends message names only to OpenAI", () => {
    const messages = [
      { role: "system", name: "guide", content: [text("a")] },
      { role: "user", name: "Ann", content: [text("b")] },
      { role: "assistant", name: "helper", content: [text("c")], toolCalls: [] },
      { role: "assistant", name: "helper", content: [], toolCalls: [{ id: "c", name: "f", arguments: "" }] }
    ] as const
    const names = (options: ChatWireOptions) =>
      wire({ messages }, options).messages.map(({ name }: { readonly name?: string }) => name)
    assert.deepStrictEqual(names(openai), ["guide", "Ann", "helper", "helper"])
    assert.deepStrictEqual(names(compatible), [undefined, undefined, undefined, undefined])
  })

  it("limits the end user's id to OpenAI's 64 characters", () => {
    assert.strictEqual(wire({ user: "u".repeat(64) }).user, "u".repeat(64))
    for (const options of [openai, compatible]) {
      assert.match(wire({ user: "u".repeat(65) }, options).user, /^[0-9a-f]{64}$/)
    }
  })

  it("encodes tools and the tool choice", () => {
    const side = { candidate: candidate("up", { model: { supportedParameters: ["parallel_tool_calls"] } }) }
    const one = { tools: [tool], toolChoice: { type: "tool", name: "f" }, parallelToolCalls: false } as const
    const body = wire(one, openai, side)
    const parameters = { type: "object", properties: {} }
    assert.deepStrictEqual(body.tools, [{ type: "function", function: { ...tool, parameters } }])
    assert.notProperty(wire({ tools: [{ ...tool, isOpen: true }] }).tools[0].function, "strict")
    assert.deepStrictEqual(body.tool_choice, { type: "function", function: { name: "f" } })
    assert.isFalse(body.parallel_tool_calls)
    assert.notProperty(wire(one), "parallel_tool_calls")
    assert.isFalse(wire(one, compatible).parallel_tool_calls)
    for (const type of ["auto", "none", "required"] as const) {
      assert.strictEqual(wire({ tools: [tool], toolChoice: { type } }).tool_choice, type)
    }
    assert.notProperty(wire({ toolChoice: { type: "required" }, parallelToolCalls: true }), "tool_choice")
  })

  it("encodes response formats", () => {
    assert.deepStrictEqual(wire({ format: { type: "json_object" } }).response_format, { type: "json_object" })
    const schema = { type: "object" }
    assert.deepStrictEqual(
      wire({ format: { type: "json_schema", name: "n", schema, strict: undefined } }).response_format,
      { type: "json_schema", json_schema: { name: "n", schema } }
    )
    const format = { type: "json_schema", name: "n", description: "d", schema, strict: undefined } as const
    assert.strictEqual(wire({ format }).response_format.json_schema.description, "d")
  })

  it("sends the prompt cache key only to OpenAI", () => {
    assert.strictEqual(wire({ cacheKey: "k" }).prompt_cache_key, "k")
    assert.notProperty(wire({ cacheKey: "k" }, compatible), "prompt_cache_key")
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
    const common = {
      temperature: 0,
      top_p: 0.5,
      frequency_penalty: 1,
      presence_penalty: -1,
      seed: 7,
      stop: ["END"],
      logprobs: true,
      top_logprobs: 2,
      user: "u1"
    }
    const plain = new Set(["model", "messages", "max_completion_tokens"])
    const sent = (supportedParameters: ReadonlyArray<string>): object => {
      const body = wire({ sampling, user: "u1" }, openai, {
        candidate: candidate("up", { model: { supportedParameters } })
      })
      return Object.fromEntries(Object.entries(body).filter(([name]) => !plain.has(name)))
    }
    const { user, ...parameters } = common
    assert.deepStrictEqual(sent([...Object.keys(parameters), "top_k"]), common)
    assert.deepStrictEqual(sent(["seed", "verbosity"]), { seed: 7, user })
    assert.deepInclude(wire({ sampling, user: "u1" }, compatible), {
      ...common,
      top_k: 3,
      min_p: 0.1,
      repetition_penalty: 1.1
    })
  })

  it("sends verbosity only to OpenAI models that accept it", () => {
    const sampling = { verbosity: "low" } as const
    const talkative = { candidate: candidate("up", { model: { supportedParameters: ["verbosity"] } }) }
    assert.strictEqual(wire({ sampling }, openai, talkative).verbosity, "low")
    assert.notProperty(wire({ sampling }, openai), "verbosity")
    assert.notProperty(wire({ sampling }, compatible, talkative), "verbosity")
  })

  it("sends the nearest effort that the model or its host accepts", () => {
    const reasoning = { effort: "xhigh", maxTokens: undefined, enabled: undefined } as const
    const able = { candidate: candidate("up", { upstreamId: "gpt-5.1", model: { capabilities: ["reasoning"] } }) }
    assert.strictEqual(wire({ reasoning }, openai, able).reasoning_effort, "high")
    assert.strictEqual(wire({ reasoning }, compatible, able).reasoning_effort, "xhigh")
    const few: ChatWireOptions = { flavour: "compatible", efforts: () => ["low", "medium"] }
    assert.strictEqual(wire({ reasoning }, few, able).reasoning_effort, "medium")
    assert.notProperty(wire({ reasoning }, openai), "reasoning_effort")
  })

  it("maps efforts to on or off for Mistral's models", () => {
    const mistral = { candidate: candidate("up", { model: { vendor: "mistral", capabilities: ["reasoning"] } }) }
    const effort = (reasoning: Partial<NonNullable<Conversation["reasoning"]>>) =>
      wire(
        { reasoning: { effort: undefined, maxTokens: undefined, enabled: undefined, ...reasoning } },
        compatible,
        mistral
      ).reasoning_effort
    assert.deepStrictEqual(
      [{ effort: "minimal" as const }, { effort: "xhigh" as const }, { maxTokens: 2_048 }, { enabled: true }].map(
        effort
      ),
      ["high", "high", "high", "high"]
    )
    assert.deepStrictEqual([{ effort: "none" as const }, { enabled: false }, { maxTokens: 0 }].map(effort), [
      "none",
      "none",
      "none"
    ])
    assert.isUndefined(effort({}))
  })

  it("turns reasoning off beside functions for OpenAI's models since 5.4, which reject both together", () => {
    const reasoning = { effort: "high", maxTokens: undefined, enabled: undefined } as const
    const tools = [{ name: "f", description: undefined, parameters: undefined, strict: undefined }]
    const effort = (upstreamId: string, more: Partial<Conversation>, options = openai) =>
      wire(more, options, { candidate: candidate("up", { upstreamId, model: { capabilities: ["reasoning"] } }) })
        .reasoning_effort
    for (const model of ["gpt-5.4-mini", "gpt-5.5", "gpt-5.6-luna", "gpt-6"]) {
      assert.strictEqual(effort(model, { tools, reasoning }), "none", model)
      assert.strictEqual(effort(model, { tools }), "none", model)
      assert.strictEqual(effort(model, { reasoning }), "high", model)
      assert.isUndefined(effort(model, {}), model)
    }
    for (const model of ["o3", "gpt-5", "gpt-5.2"]) {
      assert.strictEqual(effort(model, { tools, reasoning }), "high", model)
      assert.isUndefined(effort(model, { tools }), model)
    }
    assert.strictEqual(effort("gpt-5.6-luna", { tools, reasoning }, compatible), "high")
  })

  it("keeps the text of a failed tool's result, and adds one if it is empty", () => {
    const failed = { role: "tool", toolCallId: "a", isError: true } as const
    const said = (content: ReadonlyArray<Part>) => wire({ messages: [{ ...failed, content }] }).messages[0].content
    assert.strictEqual(said([{ type: "text", text: "no such city" }]), "no such city")
    assert.strictEqual(said([]), "The tool failed.")
    assert.strictEqual(said([{ type: "text", text: "" }]), "The tool failed.")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import { SCHEMA_MAX_BYTES } from "../../../src/dialects/OutputSchema.ts"
import { decodeCount, decodeMessages } from "../../../src/dialects/messages/MessagesDecode.ts"

const hello = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hello" }] }
const messages = (...all: ReadonlyArray<readonly [role: string, content: unknown]>) => ({
  ...hello,
  messages: all.map(([role, content]) => ({ role, content }))
})
const cached = { cache_control: { type: "ephemeral", ttl: "5m" } }
const text = (text: string) => ({ type: "text", text }) as const
const png = { type: "base64", media_type: "image/png", data: "aGk=" }

const decode = (body: object, config?: PresetConfig) => Result.getOrThrow(decodeMessages(body, config))
const conversationOf = (body: object) => decode(body).conversation
const said = (...all: ReadonlyArray<readonly [role: string, content: unknown]>) =>
  conversationOf(messages(...all)).messages

/** Returns the invalid fields, with the message about each. */
const wrong = (body: unknown, config?: PresetConfig): Readonly<Record<string, string>> => {
  const decoded = decodeMessages(body, config)
  if (Result.isSuccess(decoded)) return {}
  const { reason } = decoded.failure
  if (reason._tag !== "ValidationError") return assert.fail(JSON.stringify(reason))
  return Object.fromEntries(reason.problems.map(({ field, message }) => [field, message]))
}

describe("a messages request", () => {
  it("has defaults for the fields that it does not set", () => {
    const { auto, policy, ...rest } = decode(hello)
    assert.deepStrictEqual([auto.sessionId, policy.caching, policy.source], [undefined, undefined, "default"])
    assert.deepStrictEqual(rest, {
      model: "m",
      models: undefined,
      conversation: {
        messages: [{ role: "user", content: [text("hello")] }],
        tools: [],
        toolChoice: { type: "auto" },
        parallelToolCalls: undefined,
        format: { type: "text" },
        sampling: {},
        reasoning: undefined,
        maxOutputTokens: 9,
        user: undefined
      },
      parameters: [],
      stream: false,
      budgetCents: undefined,
      ignored: [],
      showsThinking: true,
      editsContext: false
    })
  })

  it("keeps every field, and lists the parameters that it sets by the catalogue's names", () => {
    const { auto, conversation, parameters, policy, stream, ...rest } = decode({
      ...hello,
      models: ["b", "c"],
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop_sequences: ["END"],
      tools: [{ name: "look", description: "Looks", input_schema: { type: "object" }, strict: true, ...cached }],
      tool_choice: { type: "tool", name: "look", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 2_000, display: "omitted" },
      output_config: { effort: "max", format: { type: "json_schema", schema: { type: "object" } } },
      metadata: { user_id: "other" },
      user: "me",
      session_id: "s",
      routing: { strategy: "cost" },
      cache_control: { type: "ephemeral" },
      budget_cents: 7,
      service_tier: "auto"
    })
    assert.deepStrictEqual(conversation, {
      messages: [{ role: "user", content: [text("hello")] }],
      tools: [
        {
          name: "look",
          description: "Looks",
          parameters: { type: "object" },
          strict: true,
          isOpen: true,
          cacheBreakpoint: true
        }
      ],
      toolChoice: { type: "tool", name: "look" } as const,
      parallelToolCalls: false,
      format: {
        type: "json_schema",
        name: "output",
        schema: { type: "object" },
        strict: undefined,
        field: "output_config.format.schema"
      },
      sampling: { temperature: 0.5, topP: 0.9, topK: 40, stop: ["END"] },
      reasoning: { effort: "xhigh", maxTokens: 2_000, enabled: true, ofAnswer: true },
      maxOutputTokens: 9,
      user: "me"
    })
    assert.sameMembers(
      [...parameters],
      [
        "temperature",
        "top_p",
        "top_k",
        "stop",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "response_format",
        "structured_outputs",
        "reasoning"
      ]
    )
    assert.deepStrictEqual([policy.caching, policy.strategy, auto.sessionId], ["auto", "cost", "s"])
    assert.deepStrictEqual(rest, {
      model: "m",
      models: ["b", "c"],
      budgetCents: 7,
      ignored: ["session_id"],
      showsThinking: false,
      editsContext: false
    })
    assert.isTrue(stream)
  })

  it("lists edits of the context that no provider applies as ignored", () => {
    const edits = [{ type: "clear_thinking_20251015", keep: "all" }, { type: "compact_20260112" }]
    const { ignored } = decode({ ...hello, context_management: { edits } })
    assert.deepStrictEqual(ignored, ["context_management.edits[1]"])
    assert.deepStrictEqual(decode({ ...hello, context_management: { edits: edits.slice(0, 1) } }).ignored, [])
  })

  it("reads thinking and effort as reasoning", () => {
    const reasoning = (body: object) => conversationOf({ ...hello, ...body }).reasoning
    const asked = (effort: string | undefined, maxTokens: number | undefined, enabled: boolean | undefined) => ({
      effort,
      maxTokens,
      enabled
    })
    assert.deepStrictEqual(reasoning({ thinking: { type: "disabled" } }), asked(undefined, undefined, false) as never)
    assert.deepStrictEqual(reasoning({ thinking: { type: "adaptive" } }), asked(undefined, undefined, true) as never)
    assert.deepStrictEqual(reasoning({ output_config: { effort: "low" } }), {
      ...asked("low", undefined, undefined),
      ofAnswer: true
    } as never)
    assert.isUndefined(reasoning({ output_config: {}, thinking: null }))
    assert.isTrue(decode({ ...hello, thinking: { type: "adaptive", display: "summarized" } }).showsThinking)
  })

  it("reads the older `output_format`, and the user from `metadata`", () => {
    const schema = { type: "object", properties: {} }
    const { format, user } = conversationOf({
      ...hello,
      output_format: { type: "json_schema", schema },
      metadata: { user_id: "u" }
    })
    assert.deepStrictEqual(
      [format, user],
      [{ type: "json_schema", name: "output", schema, strict: undefined, field: "output_format.schema" }, "u"]
    )
  })

  it("checks the size of an output schema before anything else in it", () => {
    const names = Array.from({ length: 150_000 }, (_, index) => `n${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, {}]))
    const schema = { type: "object", additionalProperties: false, properties, required: names }
    const decoded = decodeMessages({ ...hello, output_format: { type: "json_schema", schema } })
    const reason = Result.isFailure(decoded) ? decoded.failure.reason : assert.fail("the decoder accepted it")
    const message = `must have at most 65,536 bytes of JSON; got ${JSON.stringify(schema).length.toLocaleString("en-US")}`
    const problems = [{ field: "output_format.schema", message }]
    assert.deepInclude<object>(reason, { _tag: "ValidationError", problems })
  })

  it("adds the examples of a tool's input to its description", () => {
    const examples = { input_examples: [{ city: "Oslo" }, { city: "Rome" }] }
    const descriptionOf = (more: object) =>
      conversationOf({ ...hello, tools: [{ name: "t", input_schema: {}, ...examples, ...more }] }).tools[0]?.description
    const listed = 'Examples of the input:\n{"city":"Oslo"}\n{"city":"Rome"}'
    assert.strictEqual(descriptionOf({ description: "The weather." }), `The weather.\n\n${listed}`)
    assert.strictEqual(descriptionOf({}), listed)
    assert.isUndefined(descriptionOf({ input_examples: [] }))
  })

  it("keeps a typed tool for Anthropic without `allowed_callers`", () => {
    const bash = { type: "bash_20250124", name: "bash" }
    const { tools } = conversationOf({ ...hello, tools: [{ ...bash, allowed_callers: ["direct"] }] })
    assert.deepStrictEqual(tools[0]?.typed, bash)
  })

  it("sets `strict` for an output schema whose objects are all closed", () => {
    const strict = (schema: object) => {
      const { format } = conversationOf({ ...hello, output_config: { format: { type: "json_schema", schema } } })
      return format.type === "json_schema" ? format.strict : assert.fail()
    }
    const closed = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false
    }
    assert.isTrue(strict(closed))
    assert.isTrue(strict({ ...closed, properties: { a: { anyOf: [closed, { type: "null" }] } } }))
    const open = [{ ...closed, required: [] }, { ...closed, additionalProperties: true }, { type: "object" }]
    for (const one of open) {
      assert.isUndefined(strict(one))
      assert.isUndefined(strict({ ...closed, properties: { a: { type: "array", items: one } } }))
    }
  })

  it("reads every form of `tool_choice`", () => {
    const tools = [{ name: "t", input_schema: {} }]
    const choice = (tool_choice: object) => {
      const { parallelToolCalls, toolChoice } = conversationOf({ ...hello, tools, tool_choice })
      return [toolChoice.type, parallelToolCalls]
    }
    assert.deepStrictEqual(choice({ type: "auto", disable_parallel_tool_use: false }), ["auto", true])
    assert.deepStrictEqual(choice({ type: "any" }), ["required", undefined])
    assert.deepStrictEqual(choice({ type: "tool", name: "t" }), ["tool", undefined])
    assert.deepStrictEqual(choice({ type: "none" }), ["none", undefined])
  })
})

describe("the turns of a messages request", () => {
  it("begin with the system prompt, as a text or in blocks", () => {
    const system = (value: unknown) => conversationOf({ ...hello, system: value }).messages.slice(0, -1)
    assert.deepStrictEqual(system("be brief"), [{ role: "system", content: [text("be brief")] }])
    assert.deepStrictEqual(system([text("a"), { ...text("b"), ...cached }]), [
      { role: "system", content: [text("a"), { ...text("b"), cacheBreakpoint: true }] }
    ])
    for (const nothing of ["", [], null]) assert.deepStrictEqual(system(nothing), [])
    assert.deepStrictEqual(said(["user", "x"], ["system", "y"])[1], { role: "system", content: [text("y")] })
  })

  it("keep images with the path of their field", () => {
    const url = { type: "image", source: { type: "url", url: "https://example.com/a.png" }, ...cached }
    assert.deepStrictEqual(said(["user", [text("x"), { type: "image", source: png }, url]]), [
      {
        role: "user",
        content: [
          text("x"),
          {
            type: "image",
            url: "data:image/png;base64,aGk=",
            detail: "auto",
            field: "messages[0].content[1].source.data"
          },
          {
            type: "image",
            url: "https://example.com/a.png",
            detail: "auto",
            field: "messages[0].content[2].source.url",
            cacheBreakpoint: true
          }
        ]
      }
    ])
  })

  it("name the tools that a client's tool search found", () => {
    const found = { type: "tool_reference", tool_name: "look" }
    const result = {
      type: "tool_result",
      tool_use_id: "a",
      content: [found, { ...found, tool_name: "hear", ...cached }]
    }
    assert.deepStrictEqual(said(["user", [result]]) as unknown, [
      {
        role: "tool",
        toolCallId: "a",
        content: [text("Found the tool look."), { ...text("Found the tool hear."), cacheBreakpoint: true }]
      }
    ])
    assert.property(
      wrong(messages(["user", [{ ...result, content: [{ type: "tool_reference" }] }]])),
      "messages[0].content[0].content[0].tool_name"
    )
  })

  it("begin with the tool results, wherever those are in the content", () => {
    const content = [
      text("and now?"),
      { type: "tool_result", tool_use_id: "a", content: "fine", ...cached },
      { type: "tool_result", tool_use_id: "b", content: [text("no"), { type: "image", source: png }], is_error: true },
      { type: "tool_result", tool_use_id: "c" }
    ]
    const field = "messages[0].content[2].content[1].source.data"
    assert.deepStrictEqual(said(["user", content]), [
      { role: "tool", toolCallId: "a", content: [text("fine")], cacheBreakpoint: true },
      {
        role: "tool",
        toolCallId: "b",
        content: [text("no"), { type: "image", url: "data:image/png;base64,aGk=", detail: "auto", field }],
        isError: true
      },
      { role: "tool", toolCallId: "c", content: [] },
      { role: "user", content: [text("and now?")] }
    ])
  })

  it("keep the assistant's texts and calls, and its thinking with its position", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "" },
      text("I look"),
      { type: "tool_use", id: "a", name: "look", input: { at: [1] }, ...cached }
    ]
    assert.deepStrictEqual(
      said(["user", "x"], ["assistant", content], ["assistant", "ok"], ["assistant", []]).slice(1),
      [
        {
          role: "assistant",
          content: [text("I look")],
          toolCalls: [{ id: "a", name: "look", arguments: '{"at":[1]}', cacheBreakpoint: true }],
          reasoning: [{ text: "hm", place: { text: 0, calls: 0 } }]
        },
        { role: "assistant", content: [text("ok")], toolCalls: [] },
        { role: "assistant", content: [], toolCalls: [] }
      ]
    )
  })

  it("contain search results as text after their title and source", () => {
    const found = {
      type: "search_result",
      source: "https://example.com/a",
      title: "T",
      content: [text("a"), text("b")]
    }
    const part = text("T\n\nhttps://example.com/a\n\na\n\nb")
    assert.deepStrictEqual(said(["user", [{ ...found, ...cached }]]) as unknown, [
      { role: "user", content: [{ ...part, cacheBreakpoint: true }] }
    ])
    const result = { type: "tool_result", tool_use_id: "a", content: [found] }
    assert.deepStrictEqual(said(["user", [result]]) as unknown, [{ role: "tool", toolCallId: "a", content: [part] }])
    assert.property(wrong(messages(["user", [{ ...found, title: undefined }]])), "messages[0].content[0].title")
  })

  it("contain text documents as text after their title and context", () => {
    const textOf = (source: object, more: object = {}) => {
      const [message] = said(["user", [{ type: "document", source, ...more }]])
      return message?.role === "user" && message.content[0]?.type === "text" ? message.content[0].text : assert.fail()
    }
    const data = Buffer.from("Grüße").toString("base64")
    assert.strictEqual(textOf({ type: "text", media_type: "text/plain", data: "x" }), "x")
    assert.strictEqual(textOf({ type: "base64", media_type: "text/plain", data }, { title: "T" }), "T\n\nGrüße")
    assert.strictEqual(
      textOf({ type: "content", content: [text("a"), text("b")] }, { title: "T", context: "C" }),
      "T\n\nC\n\na\n\nb"
    )
    assert.strictEqual(textOf({ type: "content", content: "a" }), "a")
  })
})

describe("an invalid messages request", () => {
  it("is rejected with the names of all invalid fields", () => {
    const { messages: all, model, stream } = wrong({ ...hello, model: 7, messages: [], stream: "yes" })
    assert.deepStrictEqual(
      [all, typeof model, typeof stream],
      ["must contain 1 to 10,000 items; got 0", "string", "string"]
    )
    assert.property(wrong({ model: "m", messages: hello.messages }), "max_tokens")
    assert.property(wrong({ max_tokens: 1, model: "m" }), "messages")
    for (const body of [null, [], "x"]) assert.property(wrong(body), "body")
  })

  it("is rejected for a field that is out of bounds", () => {
    const cases: ReadonlyArray<readonly [member: string, ...values: ReadonlyArray<unknown>]> = [
      ["max_tokens", 0, 1.5, 9_007_199_254_740_992, "9", null],
      ["temperature", -0.1, 1.1],
      ["top_p", 1.1],
      ["top_k", -1],
      ["stop_sequences", ["a", "b", "c", "d", "e"]],
      ["model", "", "m".repeat(161)],
      ["models", [], Array.from({ length: 16 }, (_, at) => `m${at}`)],
      ["messages", Array.from({ length: 10_001 }, () => hello.messages[0])],
      ["session_id", "", "s".repeat(257)],
      ["user", "u".repeat(257)],
      ["service_tier", "priority"]
    ]
    for (const [member, ...values] of cases) {
      for (const value of values) assert.property(wrong({ ...hello, [member]: value }), member)
    }
    assert.deepStrictEqual(wrong({ ...hello, max_tokens: 9_007_199_254_740_991 }), {})
    assert.property(wrong({ ...hello, thinking: { type: "enabled", budget_tokens: 9 } }), "thinking.budget_tokens")
  })

  it("is rejected for empty content and for an unknown role", () => {
    assert.deepStrictEqual(wrong(messages(["user", ""])), { "messages[0].content": "must not be empty" })
    assert.property(wrong(messages(["user", []])), "messages[0].content")
    assert.property(wrong(messages(["narrator", "x"])), "messages[0].role")
    assert.property(
      wrong(messages(["user", [{ type: "image", source: { ...png, data: "" } }]])),
      "messages[0].content[0].source.data"
    )
  })

  it("is rejected for duplicate or invalid tools, and for the choice of an undeclared tool", () => {
    const tool = { name: "t", input_schema: {} }
    assert.property(wrong({ ...hello, tools: [tool, tool] }), "tools[1].name")
    assert.property(wrong({ ...hello, tools: [{ name: "t" }] }), "tools[0].input_schema")
    assert.property(wrong({ ...hello, tools: [{ ...tool, name: "with spaces" }] }), "tools[0].name")
    assert.deepStrictEqual(wrong({ ...hello, tools: [{ ...tool, name: "n".repeat(256) }] }), {})
    assert.property(wrong({ ...hello, tools: [{ ...tool, name: "n".repeat(257) }] }), "tools[0].name")
    assert.deepStrictEqual(wrong({ ...hello, tool_choice: { type: "any" } }), { tool_choice: "requires `tools`" })
    const named = wrong({ ...hello, tools: [tool], tool_choice: { type: "tool", name: "u" } })
    assert.deepStrictEqual(named, { "tool_choice.name": "must name a declared tool; got u" })
  })

  it("is rejected for invalid image URLs and documents", () => {
    const image = { type: "image", source: { type: "url", url: "ftp://x" } }
    assert.property(wrong(messages(["user", [image]])), "messages[0].content[0].source.url")
    for (const data of ["äö", "/w=="]) {
      const document = { type: "document", source: { type: "base64", media_type: "text/plain", data } }
      assert.property(wrong(messages(["user", [document]])), "messages[0].content[0].source.data")
    }
  })
})

describe("a messages request to a preset", () => {
  const config = {
    models: ["a", "b"],
    instructions: "Be brief",
    temperature: 0.2,
    tools: [{ type: "function", function: { name: "look" } }]
  } as const

  it("takes from it what it does not set, and may choose among its tools", () => {
    const { conversation, model, models, parameters } = decode(
      { ...hello, model: "@p", top_p: 0.5, tool_choice: { type: "tool", name: "look" } },
      config
    )
    assert.deepStrictEqual([model, models], [undefined, ["a", "b"]])
    assert.deepStrictEqual(conversation.messages[0], { role: "system", content: [text("Be brief")] })
    assert.deepStrictEqual(conversation.sampling, { temperature: 0.2, topP: 0.5 })
    assert.deepStrictEqual(conversation.toolChoice, { type: "tool", name: "look" })
    assert.includeMembers([...parameters], ["temperature", "top_p", "tools"])
    assert.property(
      wrong({ ...hello, model: "@p", tool_choice: { type: "tool", name: "u" } }, config),
      "tool_choice.name"
    )
  })
})

describe("a request to count tokens", () => {
  it("may omit `max_tokens`, and otherwise follows the same rules", () => {
    const { max_tokens: _, ...uncapped } = hello
    const { conversation } = Result.getOrThrow(decodeCount(uncapped))
    assert.deepStrictEqual(conversation.messages, [{ role: "user", content: [text("hello")] }])
    assert.isTrue(Result.isSuccess(decodeCount(hello)))
    assert.isTrue(Result.isFailure(decodeCount({ ...uncapped, banana: 1 })))
    assert.isTrue(Result.isFailure(decodeCount({ ...uncapped, max_tokens: 0 })))
  })

  it("has a limit on the size of its output schema, in either field", () => {
    const schema = { type: "object", description: "d".repeat(SCHEMA_MAX_BYTES) }
    const format = { type: "json_schema", schema }
    const counted = (count: number) => count.toLocaleString("en-US")
    const got = counted(JSON.stringify(schema).length)
    const said = `must have at most ${counted(SCHEMA_MAX_BYTES)} bytes of JSON; got ${got}`
    assert.deepStrictEqual(wrong({ ...hello, output_config: { format } }), { "output_config.format.schema": said })
    assert.deepStrictEqual(wrong({ ...hello, output_format: format }), { "output_format.schema": said })
  })
})

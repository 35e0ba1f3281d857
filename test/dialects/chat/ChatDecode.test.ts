import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type DecodedChat, decodeChat } from "../../../src/dialects/chat/ChatDecode.ts"
import type { Cacheable } from "../../../src/domain/Conversation.ts"
import type { Reason } from "../../../src/domain/Failure.ts"
import { defaultAutoOptions } from "../../../src/domain/Auto.ts"
import { defaultPolicy } from "../../../src/domain/Plan.ts"

const hello = { role: "user", content: "hello" }
const plain = { model: "gpt-4o", messages: [hello] }

const decoded = (body: object): DecodedChat => Result.getOrThrow(decodeChat({ ...plain, ...body }))

const refusal = (body: unknown): Reason => {
  const result = decodeChat(body)
  if (Result.isSuccess(result)) assert.fail("the decoder accepted it")
  return result.failure.reason
}

const fieldsOf = (body: object): ReadonlyArray<string> => {
  const reason = refusal({ ...plain, ...body })
  if (reason._tag !== "ValidationError") assert.fail(reason._tag)
  return reason.problems.map(({ field }) => field)
}

describe("a chat completion request", () => {
  it("has defaults for everything but model and messages", () => {
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
      includeUsage: false,
      budgetCents: undefined,
      ignored: []
    })
  })

  it("treats null like an absent field", () => {
    const names = [
      "models",
      "stream",
      "stream_options",
      "max_tokens",
      "max_completion_tokens",
      "temperature",
      "top_p",
      "top_k",
      "min_p",
      "repetition_penalty",
      "frequency_penalty",
      "presence_penalty",
      "seed",
      "stop",
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "response_format",
      "reasoning",
      "reasoning_effort",
      "logprobs",
      "top_logprobs",
      "user",
      "metadata",
      "session_id",
      "routing",
      "provider",
      "budget_cents",
      "n",
      "store",
      "modalities",
      "service_tier",
      "usage",
      "logit_bias",
      "audio",
      "prediction",
      "functions",
      "function_call",
      "web_search_options",
      "verbosity",
      "plugins",
      "transforms",
      "route",
      "router"
    ]
    const nulls = Object.fromEntries(names.map((name) => [name, null]))
    assert.deepStrictEqual(decoded(nulls), decoded({}))
    assert.deepStrictEqual(decoded({ stream_options: { include_usage: null } }), decoded({}))
    const messages = [{ role: "assistant", content: null, refusal: null, tool_calls: null }]
    assert.deepStrictEqual(decoded({ messages }).conversation.messages, [
      { role: "assistant", content: [], toolCalls: [] }
    ])
  })

  it("accepts an answer in the form in which OpenAI's client sends it back", () => {
    const detail = null
    const { messages } = decoded({
      messages: [
        { role: "system", content: "a", name: null },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png", detail } }] },
        {
          role: "assistant",
          name: null,
          content: [
            { type: "text", text: "b" },
            { type: "refusal", refusal: "no" }
          ]
        }
      ]
    }).conversation
    assert.deepStrictEqual(messages, [
      { role: "system", content: [{ type: "text", text: "a" }] },
      {
        role: "user",
        content: [
          {
            type: "image",
            url: "https://example.com/a.png",
            detail: "auto",
            field: "messages[1].content[0].image_url.url"
          }
        ]
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "b" },
          { type: "text", text: "no" }
        ],
        toolCalls: []
      }
    ])
    assert.deepStrictEqual(fieldsOf({ messages: [{ role: "user", content: [{ type: "refusal", refusal: "no" }] }] }), [
      "messages[0].content[0].type"
    ])
  })

  it("uses `safety_identifier` when it has no `user`, and keeps `prompt_cache_key`", () => {
    const { conversation } = decoded({ safety_identifier: "s", prompt_cache_key: "k" })
    assert.deepStrictEqual([conversation.user, conversation.cacheKey], ["s", "k"])
    const both = decoded({ safety_identifier: "s", user: "u", prompt_cache_retention: "24h" })
    assert.strictEqual(both.conversation.user, "u")
    assert.deepStrictEqual(both.ignored, ["prompt_cache_retention", "safety_identifier"])
    assert.deepStrictEqual(fieldsOf({ prompt_cache_key: "k".repeat(65) }), ["prompt_cache_key"])
  })

  it("accepts a safety identifier of 128 characters, as OpenAI does", () => {
    const longest = "s".repeat(128)
    assert.strictEqual(decoded({ safety_identifier: longest }).conversation.user, longest)
    assert.deepStrictEqual(fieldsOf({ safety_identifier: `${longest}s` }), ["safety_identifier"])
  })

  it("lists the fields that have no effect as ignored", () => {
    const { ignored } = decoded({
      colour: 1,
      metadata: { a: "b" },
      session_id: "s",
      routing: { max_price: { image: 1 } }
    })
    assert.deepStrictEqual(ignored, ["colour", "metadata", "session_id", "routing.max_price.image"])
  })

  it("checks the length of every list before its items", () => {
    const many = (count: number) => Array.from({ length: count }, () => 1)
    const within = (message: object) => ({ messages: [{ role: "user", content: "x" }, message] })
    const call = { id: "a", type: "function", function: { name: "look", arguments: "{}" } }
    const rows: ReadonlyArray<readonly [field: string, body: object]> = [
      ["messages[1].content", within({ role: "user", content: many(513) })],
      ["messages[1].content", within({ role: "robot", content: many(513) })],
      ["messages[1].tool_calls", within({ role: "assistant", tool_calls: Array.from({ length: 129 }, () => call) })],
      ["tools", { tools: many(513) }],
      ["stop", { stop: many(5) }],
      ["models", { models: many(16) }],
      ["messages", { messages: many(10_001) }],
      ["routing.providers.only", { routing: { providers: { only: many(33) } } }],
      ["provider.order", { provider: { order: many(33) } }]
    ]
    for (const [field, body] of rows) assert.deepStrictEqual(fieldsOf(body), [field])
    const content = Array.from({ length: 512 }, () => ({ type: "text", text: "x" }))
    assert.lengthOf(decoded({ messages: [{ role: "user", content }] }).conversation.messages[0]?.content ?? [], 512)
  })

  it("accepts `max_tokens` and `max_completion_tokens`, and prefers the latter", () => {
    const limit = (body: object) => decoded(body).conversation.maxOutputTokens
    assert.strictEqual(limit({ max_tokens: 5 }), 5)
    assert.strictEqual(limit({ max_completion_tokens: 6 }), 6)
    assert.strictEqual(limit({ max_tokens: 5, max_completion_tokens: 6 }), 6)
    assert.strictEqual(limit({ max_tokens: 5, max_completion_tokens: null }), 5)
  })

  it("accepts `reasoning` and `reasoning_effort`, and prefers the effort in `reasoning`", () => {
    const of = (body: object) => decoded(body).conversation.reasoning
    assert.deepStrictEqual(of({ reasoning_effort: "low" }), { effort: "low", maxTokens: undefined, enabled: undefined })
    assert.strictEqual(of({ reasoning_effort: "low", reasoning: { effort: "high" } })?.effort, "high")
    const said = { effort: null, max_tokens: null, enabled: null }
    assert.deepStrictEqual(of({ reasoning_effort: "low", reasoning: said }), of({ reasoning_effort: "low" }))
    assert.deepStrictEqual(of({ reasoning: { max_tokens: 0, enabled: false } }), {
      effort: undefined,
      maxTokens: 0,
      enabled: false
    })
  })

  it("keeps every role, kind of content and tool call", () => {
    const cat = { type: "image" } as const
    const fieldAt = (part: number) => `messages[2].content[${part}].image_url.url`
    const { messages } = decoded({
      messages: [
        { role: "system", content: "be brief" },
        { role: "developer", content: [{ type: "text", text: "be kind" }] },
        {
          role: "user",
          name: "ann",
          content: [
            { type: "text", text: "what is this?" },
            { type: "image_url", image_url: { url: "https://example.com/a.png" } },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } }
          ]
        },
        {
          role: "assistant",
          content: "I look",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"it' } }]
        },
        { role: "tool", tool_call_id: "call_1", content: "a cat" }
      ]
    }).conversation
    assert.deepStrictEqual(messages, [
      { role: "system", content: [{ type: "text", text: "be brief" }] },
      { role: "system", content: [{ type: "text", text: "be kind" }] },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "what is this?" },
          { ...cat, url: "https://example.com/a.png", detail: "auto", field: fieldAt(1) },
          { ...cat, url: "data:image/png;base64,AAAA", detail: "low", field: fieldAt(2) }
        ]
      },
      {
        role: "assistant",
        content: [{ type: "text", text: "I look" }],
        toolCalls: [{ id: "call_1", name: "look", arguments: '{"at":"it' }]
      },
      { role: "tool", toolCallId: "call_1", content: [{ type: "text", text: "a cat" }] }
    ])
  })

  it("keeps the tools, the tool choice and the response format", () => {
    const tool = { type: "function", function: { name: "look", description: "looks", parameters: {}, strict: true } }
    const of = (body: object) => decoded({ tools: [tool], ...body }).conversation
    assert.deepStrictEqual(of({}).tools, [{ name: "look", description: "looks", parameters: {}, strict: true }])
    for (const choice of ["auto", "none", "required"] as const) {
      assert.deepStrictEqual(of({ tool_choice: choice }).toolChoice, { type: choice })
    }
    const named = { type: "function", function: { name: "look" } }
    assert.deepStrictEqual(of({ tool_choice: named }).toolChoice, { type: "tool", name: "look" })
    assert.strictEqual(of({ parallel_tool_calls: false }).parallelToolCalls, false)
    const json_schema = { name: "cat", description: "A cat", schema: { type: "object" }, strict: null }
    assert.deepStrictEqual(of({ response_format: { type: "json_schema", json_schema } }).format, {
      type: "json_schema",
      field: "response_format.json_schema.schema",
      name: "cat",
      description: "A cat",
      schema: { type: "object" },
      strict: undefined
    })
  })

  it("offers only the tools in `allowed_tools`", () => {
    const tools = ["a", "b", "c"].map((name) => ({ type: "function", function: { name } }))
    const allowing = (mode: string, ...names: ReadonlyArray<string>) => {
      const allowed = names.map((name) => ({ type: "function", function: { name } }))
      return { type: "allowed_tools", allowed_tools: { mode, tools: allowed } }
    }
    for (const mode of ["auto", "required"] as const) {
      const { conversation, parameters } = decoded({ tools, tool_choice: allowing(mode, "c", "a") })
      assert.deepStrictEqual(
        conversation.tools.map((tool) => tool.name),
        ["a", "c"]
      )
      assert.deepStrictEqual(conversation.toolChoice, { type: mode })
      assert.includeMembers([...parameters], ["tools", "tool_choice"])
    }
    const at = "tool_choice.allowed_tools"
    assert.deepStrictEqual(fieldsOf({ tools, tool_choice: allowing("auto", "a", "d") }), [`${at}.tools[1]`])
    assert.deepStrictEqual(fieldsOf({ tools, tool_choice: allowing("auto") }), [`${at}.tools`])
    assert.deepStrictEqual(fieldsOf({ tools, tool_choice: allowing("none", "a") }), [`${at}.mode`])
    assert.deepStrictEqual(fieldsOf({ tool_choice: allowing("auto", "a") }), ["tool_choice"])
  })

  it("sets a cache breakpoint at every `cache_control`", () => {
    const cache_control = { type: "ephemeral" }
    const { messages, tools } = decoded({
      tools: [{ type: "function", function: { name: "look" }, cache_control: { ...cache_control, ttl: "5m" } }],
      messages: [
        { role: "system", content: [{ type: "text", text: "a", cache_control }] },
        {
          role: "user",
          content: [
            { type: "text", text: "b", cache_control: null },
            { type: "image_url", image_url: { url: "https://example.com/a.png" }, cache_control },
            { type: "file", file: { file_data: "data:text/plain;base64,aGk=" }, cache_control }
          ]
        },
        { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "c", cache_control }] }
      ]
    }).conversation
    assert.deepStrictEqual(
      [...tools, ...messages.flatMap((message): ReadonlyArray<Cacheable> => message.content)].map(
        (holder) => holder.cacheBreakpoint
      ),
      [true, true, undefined, true, true, true]
    )
    const wrong = [{ role: "user", content: [{ type: "text", text: "a", cache_control: { type: "eternal" } }] }]
    assert.deepStrictEqual(fieldsOf({ messages: wrong }), ["messages[0].content[0].cache_control.type"])
  })

  it("keeps every sampling parameter, zeros included, and lists those it sets", () => {
    const wire = {
      temperature: 0,
      top_p: 0,
      top_k: 0,
      min_p: 0,
      repetition_penalty: 0,
      frequency_penalty: -2,
      presence_penalty: 2,
      seed: 0,
      stop: "END",
      logprobs: false,
      top_logprobs: 0,
      verbosity: "low"
    }
    const { conversation, parameters } = decoded(wire)
    assert.deepStrictEqual(conversation.sampling, {
      temperature: 0,
      topP: 0,
      topK: 0,
      minP: 0,
      repetitionPenalty: 0,
      frequencyPenalty: -2,
      presencePenalty: 2,
      seed: 0,
      stop: ["END"],
      logprobs: false,
      topLogprobs: 0,
      verbosity: "low"
    })
    assert.sameMembers([...parameters], Object.keys(wire))
    const format = { type: "json_schema", json_schema: { name: "a" } }
    assert.include(decoded({ response_format: format }).parameters, "structured_outputs")
  })

  it("streams only with `stream`, and has OpenAI's usage chunk only with `include_usage`", () => {
    assert.isTrue(decoded({ stream: true }).stream)
    assert.isFalse(decoded({ stream: true, stream_options: {} }).includeUsage)
    assert.isTrue(decoded({ stream: true, stream_options: { include_usage: true } }).includeUsage)
  })
})

describe("members of other services", () => {
  it("are listed as ignored when they are unknown", () => {
    assert.deepStrictEqual(decoded({ colour: 1, n: 1, provider: {} }).ignored, ["colour"])
  })

  it("are rejected when they would change the answer, before any other check", () => {
    assert.deepStrictEqual(refusal({ n: 2, messages: 5 }), {
      _tag: "UnsupportedParameter",
      param: "n",
      detail: "`n` must be absent or 1; got 2"
    })
  })

  it("are read when the gateway has its own field for them", () => {
    assert.strictEqual(decoded({ provider: { sort: "price" } }).policy.strategy, "cost")
  })
})

describe("an invalid chat completion request", () => {
  it("is rejected when it is not an object", () => {
    for (const body of [null, [], "x", 1, true, undefined]) {
      const reason = refusal(body)
      assert.strictEqual(reason._tag === "ValidationError" && reason.problems[0].field, "body")
    }
  })

  it("is rejected with the names of all invalid fields", () => {
    assert.deepStrictEqual(fieldsOf({ temperature: 9, seed: "x", stop: 1, user: 7 }), [
      "temperature",
      "seed",
      "stop",
      "user"
    ])
  })

  it("is rejected with the possible values of an invalid discriminator", () => {
    const reason = refusal({ ...plain, messages: [{ role: "robot", content: "x" }] })
    assert.deepStrictEqual(reason, {
      _tag: "ValidationError",
      problems: [
        { field: "messages[0].role", message: 'must be one of system, developer, user, assistant, tool; got "robot"' }
      ]
    })
    const part = { role: "user", content: [{ type: "text", text: "a" }, { type: "smell" }] }
    assert.deepStrictEqual(refusal({ ...plain, messages: [hello, part] }), {
      _tag: "ValidationError",
      problems: [{ field: "messages[1].content[1].type", message: 'must be one of text, image_url, file; got "smell"' }]
    })
    assert.deepStrictEqual(fieldsOf({ messages: [null] }), ["messages[0]"])
    assert.deepStrictEqual(fieldsOf({ response_format: { type: "xml" } }), ["response_format.type"])
  })

  it("is rejected for unknown fields of `reasoning`", () => {
    assert.deepStrictEqual(fieldsOf({ reasoning: { depth: 1, effort: "low", width: 2 } }), [
      "reasoning.depth",
      "reasoning.width"
    ])
  })

  it("is rejected for an invalid image in a user's or a tool's message", () => {
    const image = { type: "image_url", image_url: { url: "http://example.com/a.png" } }
    for (const message of [
      { role: "user", content: [image] },
      { role: "tool", tool_call_id: "a", content: [image] }
    ]) {
      assert.deepStrictEqual(fieldsOf({ messages: [hello, message] }), ["messages[1].content[0].image_url.url"])
    }
  })

  it("is rejected for an output schema of more than 64 levels", () => {
    const formed = (schema: object) => ({
      response_format: { type: "json_schema", json_schema: { name: "n", schema } }
    })
    const deep = JSON.parse(`${'{"not":'.repeat(64)}{}${"}".repeat(64)}`)
    assert.isTrue(Result.isSuccess(decodeChat({ ...plain, ...formed(deep.not) })))
    assert.deepStrictEqual(fieldsOf(formed(deep)), ["response_format.json_schema.schema"])
  })

  it("is rejected for an image of more than 20 MiB before its encoding", () => {
    const image = (characters: number) => ({
      messages: [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(characters)}` } }]
        }
      ]
    })
    const most = Math.floor((20 * 1_048_576) / 3) * 4
    assert.isTrue(Result.isSuccess(decodeChat({ ...plain, ...image(most) })))
    assert.strictEqual(refusal({ ...plain, ...image(most + 8) })._tag, "ImageTooLarge")
  })
})

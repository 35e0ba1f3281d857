import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { TokenUsage } from "../../../src/domain/Usage.ts"
import { decodeChat, finishOf, refusalOf, usageOf } from "../../../src/providers/anthropic/ChatDecode.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"

const decode = (body: unknown) =>
  decodeChat(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), "req_abc-123")

const answer = (content: ReadonlyArray<unknown>, more: object = {}) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x",
  content,
  stop_reason: "end_turn",
  stop_sequence: null,
  ...more
})

const success = (body: unknown) => Result.getOrThrow(decode(body))

const failure = (body: unknown): ProviderFault | undefined => {
  const result = decode(body)
  return Result.isFailure(result) ? result.failure : undefined
}

describe("decodeChat", () => {
  it("reads every field that an answer can have", () => {
    const body = answer(
      [
        { type: "redacted_thinking", data: "x" },
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "a", citations: [] },
        { type: "something_new", text: "skipped", thinking: "skipped" },
        { type: "text", text: "b" },
        { type: "tool_use", id: "toolu_1", name: "f", input: { x: [1, "é"] } },
        { type: "server_tool_use", id: "srv", name: "web_search", input: {} },
        { type: "tool_use", id: "toolu_2", name: "g", input: {} },
        null
      ],
      { stop_reason: "tool_use", usage: { input_tokens: 3, output_tokens: 4 } }
    )
    assert.deepStrictEqual(success(body), {
      text: "ab",
      reasoning: "hm",
      refusal: "",
      toolCalls: [
        { id: "toolu_1", name: "f", arguments: '{"x":[1,"é"]}' },
        { id: "toolu_2", name: "g", arguments: "{}" }
      ],
      order: [
        { kind: "reasoning", length: 0, data: { redacted: "x" } },
        { kind: "reasoning", length: 2, data: { signature: "s" } },
        { kind: "text", length: 2 },
        { kind: "tool", length: 0 },
        { kind: "tool", length: 0 }
      ],
      logprobs: undefined,
      finish: "tool_calls",
      usage: { input: 3, cached: 0, cacheWrite: 0, output: 4, reasoning: 0 }
    })
  })

  it("reads an answer without content", () => {
    const bare = success({ content: [] })
    assert.deepStrictEqual([bare.text, bare.toolCalls, bare.finish, bare.usage], ["", [], undefined, undefined])
  })

  it("creates missing call ids, and drops calls without a name", () => {
    const { toolCalls } = success(
      answer([
        { type: "tool_use", input: {} },
        { type: "tool_use", id: "", name: "f" }
      ])
    )
    assert.deepStrictEqual(toolCalls, [{ id: "call_reqabc123_0", name: "f", arguments: "{}" }])
  })

  it("keeps all digits of numbers in a call's arguments", () => {
    const input = '{"order":1234567890123456789}'
    const { toolCalls } = success(`{"content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]}`)
    assert.strictEqual(toolCalls[0]?.arguments, input)
  })

  it("reads a refusal with its explanation", () => {
    const stop_details = { type: "refusal", category: "cyber", explanation: "blocked" }
    const refused = success(answer([], { stop_reason: "refusal", stop_details }))
    assert.deepInclude(refused, { text: "", refusal: "blocked", finish: "content_filter" })
    const silent = success(answer([{ type: "text", text: "I" }], { stop_reason: "refusal", stop_details: null }))
    assert.deepInclude(silent, { text: "I", refusal: "", finish: "content_filter" })
  })

  it("reports the stop sequence that ended the answer", () => {
    const ended = success(answer([{ type: "text", text: "a" }], { stop_reason: "stop_sequence", stop_sequence: "END" }))
    assert.deepInclude(ended, { finish: "stop", stopSequence: "END" })
    assert.notProperty(success(answer([])), "stopSequence")
  })

  for (const body of ["", "{", "<html>", "null", "[]", '"text"', "{}", '{"content":null}', '{"content":"text"}']) {
    it(`reports ${JSON.stringify(body)} as malformed`, () => {
      assert.strictEqual(failure(body)?._tag, "Malformed")
    })
  }

  it("fails with the error in a 200 answer", () => {
    assert.deepStrictEqual(failure({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }), {
      _tag: "ServerError",
      status: 529,
      detail: "Overloaded"
    })
    assert.strictEqual(success(answer([{ type: "text", text: "fine" }], { error: null })).text, "fine")
  })
})

describe("finishOf", () => {
  const cases = {
    end_turn: "stop",
    stop_sequence: "stop",
    pause_turn: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    tool_use: "tool_calls",
    refusal: "content_filter",
    "something new": "stop"
  } as const
  for (const [reason, finish] of Object.entries(cases)) {
    it(`reads ${reason} as ${finish}`, () => assert.strictEqual(finishOf(reason, false), finish))
  }

  it("reads a stop with tool calls as tool_calls, and returns none when the host sends none", () => {
    assert.strictEqual(finishOf("end_turn", true), "tool_calls")
    assert.strictEqual(finishOf("max_tokens", true), "length")
    for (const reason of [undefined, null, "", 1]) assert.isUndefined(finishOf(reason, true))
  })
})

describe("refusalOf", () => {
  it("returns the explanation only when the model stopped for a refusal", () => {
    const stop_details = { explanation: "why" }
    assert.strictEqual(refusalOf({ stop_reason: "refusal", stop_details }), "why")
    assert.strictEqual(refusalOf({ stop_reason: "end_turn", stop_details }), "")
    assert.strictEqual(refusalOf({ stop_reason: "refusal", stop_details: { explanation: null } }), "")
  })
})

describe("usageOf", () => {
  const usage = (input: number, cached: number, cacheWrite: number, output: number, reasoning: number): TokenUsage => ({
    input,
    cached,
    cacheWrite,
    output,
    reasoning
  })
  const cases: ReadonlyArray<readonly [string, Record<string, unknown> | undefined, TokenUsage | undefined]> = [
    ["counts alone", { input_tokens: 10, output_tokens: 5 }, usage(10, 0, 0, 5, 0)],
    ["zeros", { input_tokens: 0, output_tokens: 0 }, usage(0, 0, 0, 0, 0)],
    [
      "disjoint counts as they are, without subtraction",
      {
        input_tokens: 10,
        cache_read_input_tokens: 6_000,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 0 },
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 20 },
        service_tier: "standard"
      },
      usage(10, 6_000, 300, 50, 20)
    ],
    [
      "cache writes by lifetime, when their sum is missing",
      {
        input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 100 },
        output_tokens: 50
      },
      { ...usage(10, 0, 556, 50, 0), cacheWriteLong: 100 }
    ],
    [
      "Anthropic's documented first request, which writes to the cache",
      { input_tokens: 21, cache_creation_input_tokens: 188_086, cache_read_input_tokens: 0, output_tokens: 393 },
      usage(21, 0, 188_086, 393, 0)
    ],
    [
      "Anthropic's documented second request, which reads from the cache",
      { input_tokens: 21, cache_creation_input_tokens: 0, cache_read_input_tokens: 188_086, output_tokens: 393 },
      usage(21, 188_086, 0, 393, 0)
    ],
    [
      "nulls",
      {
        input_tokens: 3,
        cache_read_input_tokens: null,
        cache_creation_input_tokens: null,
        output_tokens: 1,
        output_tokens_details: null
      },
      usage(3, 0, 0, 1, 0)
    ],
    [
      "more thinking than output",
      { input_tokens: 3, output_tokens: 5, output_tokens_details: { thinking_tokens: 9 } },
      usage(3, 0, 0, 5, 5)
    ],
    ["no output", { input_tokens: 10 }, undefined],
    ["no input", { output_tokens: 10 }, undefined],
    ["nothing", undefined, undefined],
    ["a string for a number", { input_tokens: "10", output_tokens: 5 }, undefined],
    ["a negative count", { input_tokens: -1, output_tokens: 5 }, undefined],
    ["half a token", { input_tokens: 1.5, output_tokens: 5 }, undefined]
  ]
  for (const [name, given, expected] of cases) {
    it(`reads ${name}`, () => assert.deepStrictEqual(usageOf(given), expected))
  }
})

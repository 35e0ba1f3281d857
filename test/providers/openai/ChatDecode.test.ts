import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { TokenUsage } from "../../../src/domain/Usage.ts"
import { decodeChat, finishOf, stopSequenceOf, usageOf } from "../../../src/providers/openai/ChatDecode.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"

const decode = (body: unknown) =>
  decodeChat(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), "req_abc-123")

const answer = (message: unknown, more: object = {}) => ({ choices: [{ index: 0, message, ...more }] })

const success = (body: unknown) => Result.getOrThrow(decode(body))

const failure = (body: unknown): ProviderFault | undefined => {
  const result = decode(body)
  return Result.isFailure(result) ? result.failure : undefined
}

describe("decodeChat", () => {
  it("reads every field that an answer can have", () => {
    const logprobs = [{ token: "hi", logprob: -0.1 }]
    assert.deepStrictEqual(
      success({
        ...answer(
          { role: "assistant", content: "hi", refusal: "no", reasoning: "hm", tool_calls: null },
          { finish_reason: "length", logprobs: { content: logprobs } }
        ),
        usage: { prompt_tokens: 1, completion_tokens: 2 }
      }),
      {
        text: "hi",
        reasoning: "hm",
        refusal: "no",
        toolCalls: [],
        order: [
          { kind: "reasoning", length: 2, data: { field: "reasoning" } },
          { kind: "text", length: 2 },
          { kind: "refusal", length: 2 }
        ],
        logprobs,
        finish: "length",
        usage: { input: 1, cached: 0, cacheWrite: 0, output: 2, reasoning: 0 }
      }
    )
  })

  it("reads content parts, both names for reasoning, and an answer without content", () => {
    assert.strictEqual(
      success(answer({ content: [{ type: "text", text: "a" }, { type: "x" }, { text: "b" }] })).text,
      "ab"
    )
    assert.strictEqual(success(answer({ content: "", reasoning_content: "c", reasoning: "c" })).reasoning, "c")
    const bare = success(answer({ content: null }))
    assert.deepStrictEqual([bare.text, bare.finish, bare.usage, bare.logprobs], ["", undefined, undefined, undefined])
  })

  it("reads Mistral's thinking parts in the content as reasoning", () => {
    const thinking = [
      { type: "text", text: "h" },
      { type: "text", text: "m" }
    ]
    const { reasoning, text } = success(
      answer({
        content: [
          { type: "thinking", thinking, closed: true },
          { type: "text", text: "a" }
        ]
      })
    )
    assert.deepStrictEqual([reasoning, text], ["hm", "a"])
  })

  it("reads tool calls, creates missing call ids, and reports the finish reason tool_calls", () => {
    const output = success(
      answer(
        {
          content: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: "f", arguments: '{"x":1}' } },
            { id: "", function: { name: "g", arguments: { y: 2 } } },
            { function: { arguments: "{}" } },
            { function: { name: "h" } }
          ]
        },
        { finish_reason: "stop" }
      )
    )
    assert.deepStrictEqual(output.toolCalls, [
      { id: "c1", name: "f", arguments: '{"x":1}' },
      { id: "call_reqabc123_1", name: "g", arguments: '{"y":2}' },
      { id: "call_reqabc123_2", name: "h", arguments: "{}" }
    ])
    assert.strictEqual(output.finish, "tool_calls")
    const blank = { tool_calls: [{ id: "c", function: { name: "f", arguments: " " } }] }
    for (const [finish_reason, text] of [
      ["tool_calls", "{}"],
      ["length", " "]
    ] as const) {
      assert.strictEqual(success(answer(blank, { finish_reason })).toolCalls[0]?.arguments, text)
    }
    const legacy = success(
      answer({ function_call: { name: "f", arguments: "{}" } }, { finish_reason: "function_call" })
    )
    assert.deepStrictEqual(legacy.toolCalls, [{ id: "call_reqabc123_0", name: "f", arguments: "{}" }])
    assert.strictEqual(legacy.finish, "tool_calls")
  })

  for (const body of ["", "{", "<html>", "null", "[]", '"text"', "{}", '{"choices":[]}', '{"choices":[{}]}']) {
    it(`reports ${JSON.stringify(body)} as malformed`, () => {
      assert.strictEqual(failure(body)?._tag, "Malformed")
    })
  }

  for (const finish_reason of ["error", "insufficient_system_resource", "network_error"]) {
    it(`reports an answer as broken when the host finishes it with ${finish_reason}`, () => {
      const fault = failure(answer({ content: "half of" }, { finish_reason }))
      assert.deepInclude(fault, { _tag: "ServerError", status: 503 })
    })
  }

  it("fails with the error in a 200 answer", () => {
    assert.deepStrictEqual(failure({ error: { message: "busy", type: "rate_limit_error" } }), {
      _tag: "RateLimited",
      retryAfterSeconds: undefined
    })
    assert.deepStrictEqual(failure({ error: "broken", choices: [] }), {
      _tag: "ServerError",
      status: 500,
      detail: "broken"
    })
    assert.strictEqual(success({ error: null, ...answer({ content: "fine" }) }).text, "fine")
  })
})

describe("finishOf", () => {
  const cases = {
    stop: "stop",
    length: "length",
    max_tokens: "length",
    model_length: "length",
    tool_calls: "tool_calls",
    tool_use: "tool_calls",
    function_call: "tool_calls",
    content_filter: "content_filter",
    safety: "content_filter",
    sensitive: "content_filter",
    eos: "stop",
    "something new": "stop"
  } as const
  for (const [reason, finish] of Object.entries(cases)) {
    it(`reads ${reason} as ${finish}`, () => assert.strictEqual(finishOf(reason, false), finish))
  }

  it("returns no finish reason when the host sends none", () => {
    for (const reason of [undefined, null, "", 1]) assert.isUndefined(finishOf(reason, true))
  })
})

describe("stopSequenceOf", () => {
  it("returns the caller's stop sequence that the host names, and never a token id", () => {
    assert.strictEqual(stopSequenceOf({ finish_reason: "stop", stop_reason: "END" }), "END")
    assert.strictEqual(stopSequenceOf({ finish_reason: "stop", stop_reason: null, matched_stop: "END" }), "END")
    for (const stop_reason of [null, "", 151_645, undefined]) {
      assert.isUndefined(stopSequenceOf({ finish_reason: "stop", stop_reason, matched_stop: 2 }))
    }
    assert.isUndefined(stopSequenceOf({ finish_reason: "length", stop_reason: "END" }))
    const choice = { message: { content: "a" }, finish_reason: "stop", stop_reason: "END" }
    assert.deepInclude(success({ choices: [choice] }), { finish: "stop", stopSequence: "END" })
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
  const cases: ReadonlyArray<readonly [string, unknown, TokenUsage | undefined]> = [
    ["counts alone", { prompt_tokens: 10, completion_tokens: 5 }, usage(10, 0, 0, 5, 0)],
    ["zeros", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, usage(0, 0, 0, 0, 0)],
    [
      "cached, written and reasoning parts",
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 20 }
      },
      usage(10, 60, 30, 50, 20)
    ],
    [
      "OpenAI's documented usage of a cached prompt",
      {
        prompt_tokens: 2_006,
        completion_tokens: 300,
        total_tokens: 2_306,
        prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 }
      },
      usage(86, 1_920, 0, 300, 0)
    ],
    [
      "DeepSeek's separate counts of cache hits and misses",
      {
        prompt_tokens: 100,
        prompt_cache_hit_tokens: 64,
        prompt_cache_miss_tokens: 36,
        completion_tokens: 40,
        total_tokens: 140,
        completion_tokens_details: { reasoning_tokens: 30 }
      },
      usage(36, 64, 0, 40, 30)
    ],
    ["null details", { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: null }, usage(3, 0, 0, 1, 0)],
    [
      "prompt_cache_hit_tokens without a count of misses",
      { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 },
      usage(5, 4, 0, 1, 0)
    ],
    [
      "reasoning tokens counted in addition to the completion",
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 }
      },
      usage(10, 0, 0, 25, 20)
    ],
    [
      "parts larger than the whole",
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 8 },
        completion_tokens_details: { reasoning_tokens: 9 }
      },
      usage(0, 8, 2, 5, 5)
    ],
    [
      "a missing completion count as total minus prompt",
      { prompt_tokens: 10, total_tokens: 17 },
      usage(10, 0, 0, 7, 0)
    ],
    [
      "a missing completion count as total minus prompt, with reasoning tokens in it",
      {
        prompt_tokens: 10,
        completion_tokens: null,
        total_tokens: 17,
        completion_tokens_details: { reasoning_tokens: 5 }
      },
      usage(10, 0, 0, 7, 5)
    ],
    ["no completion", { prompt_tokens: 10 }, undefined],
    ["no completion count, and a total equal to the prompt", { prompt_tokens: 10, total_tokens: 10 }, undefined],
    ["a completion count that is a string", { prompt_tokens: 10, completion_tokens: "5" }, undefined],
    ["nothing", undefined, undefined],
    ["null", null, undefined],
    ["an empty object", {}, undefined],
    ["a prompt count that is a string", { prompt_tokens: "10", completion_tokens: 5 }, undefined],
    ["a negative count", { prompt_tokens: -1, completion_tokens: 5 }, undefined],
    ["half a token", { prompt_tokens: 1.5, completion_tokens: 5 }, undefined]
  ]
  for (const [name, given, expected] of cases) {
    it(`reads ${name}`, () => assert.deepStrictEqual(usageOf(given), expected))
  }
})

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { TokenUsage } from "../../../src/domain/Usage.ts"
import { ChunkFold, decodeChat, usageOf } from "../../../src/providers/gemini/ChatDecode.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"

const decode = (body: unknown) =>
  decodeChat(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), "req_abc-123")

const answer = (parts: ReadonlyArray<unknown>, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }]
})

const success = (body: unknown) => Result.getOrThrow(decode(body))

const failure = (body: unknown): ProviderFault | undefined => {
  const result = decode(body)
  return Result.isFailure(result) ? result.failure : undefined
}

describe("decodeChat", () => {
  it("reads every field that an answer can have", () => {
    assert.deepStrictEqual(
      success({
        ...answer(
          [
            { text: "hm", thought: true },
            { text: "he", thoughtSignature: "c2ln" },
            { text: "" },
            { inlineData: { mimeType: "image/png", data: "AA" } },
            null,
            { text: "llo" }
          ],
          { finishReason: "MAX_TOKENS" }
        ),
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
        modelVersion: "gemini-3.8-flash"
      }),
      {
        text: "hello",
        reasoning: "hm",
        refusal: "",
        toolCalls: [],
        order: [
          { kind: "reasoning", length: 2, data: { signature: "c2ln" } },
          { kind: "text", length: 5 }
        ],
        logprobs: undefined,
        finish: "length",
        usage: { input: 1, cached: 0, cacheWrite: 0, output: 2, reasoning: 0 }
      }
    )
  })

  it("reads tool calls, creates missing call ids, and reports the finish reason tool_calls", () => {
    const output = success(
      answer(
        [
          { functionCall: { id: "fc1", name: "f", args: { x: 1 } }, thoughtSignature: "c2ln" },
          { functionCall: { name: "g" } },
          { functionCall: { args: {} } }
        ],
        { finishReason: "STOP" }
      )
    )
    assert.deepStrictEqual(output.toolCalls, [
      { id: "fc1", name: "f", arguments: '{"x":1}' },
      { id: "call_reqabc123_1", name: "g", arguments: "{}" }
    ])
    assert.strictEqual(output.finish, "tool_calls")
  })

  it("converts log-probabilities to OpenAI's format", () => {
    const { logprobs } = success(
      answer([{ text: "hé" }], {
        finishReason: "STOP",
        logprobsResult: {
          chosenCandidates: [{ token: "hé", tokenId: 7, logProbability: -0.5 }, { token: "!" }],
          topCandidates: [{ candidates: [{ token: "hé", logProbability: -0.5 }] }]
        }
      })
    )
    assert.deepStrictEqual(logprobs, [
      {
        token: "hé",
        logprob: -0.5,
        bytes: [104, 195, 169],
        top_logprobs: [{ token: "hé", logprob: -0.5, bytes: [104, 195, 169] }]
      },
      { token: "!", logprob: 0, bytes: [33], top_logprobs: [] }
    ])
  })

  it("reads a list of chunks as one answer, with the usage of the last", () => {
    const output = success([
      { ...answer([{ text: "a" }]), usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } },
      {
        ...answer([{ text: "b" }], { finishReason: "STOP" }),
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 }
      }
    ])
    assert.deepInclude(output, { text: "ab", finish: "stop" })
    assert.deepStrictEqual(output.usage, { input: 5, cached: 0, cacheWrite: 0, output: 2, reasoning: 0 })
  })

  it("reads an answer of hidden thoughts that reached its output limit", () => {
    for (const candidate of [
      { finishReason: "MAX_TOKENS" },
      { content: { role: "model" }, finishReason: "MAX_TOKENS" }
    ]) {
      const output = success({
        candidates: [candidate],
        usageMetadata: { promptTokenCount: 5, thoughtsTokenCount: 90, totalTokenCount: 95 }
      })
      assert.deepInclude(output, { text: "", finish: "length" })
      assert.deepStrictEqual(output.usage, { input: 5, cached: 0, cacheWrite: 0, output: 90, reasoning: 90 })
    }
  })

  for (const body of ["", "{", "<html>", "null", "[]", '"text"', "{}", '{"candidates":[]}', "[1]"]) {
    it(`reports ${JSON.stringify(body)} as malformed`, () => assert.strictEqual(failure(body)?._tag, "Malformed"))
  }

  it("fails with the error in a 200 answer, alone or in a list", () => {
    const error = { error: { code: 429, message: "busy", status: "RESOURCE_EXHAUSTED" } }
    const fault = { _tag: "RateLimited", retryAfterSeconds: undefined } as const
    assert.deepStrictEqual(failure(error), fault)
    assert.deepStrictEqual(failure([answer([{ text: "a" }]), error]), fault)
    assert.strictEqual(success({ error: null, ...answer([{ text: "fine" }]) }).text, "fine")
  })

  it("reports a blocked prompt as refused", () => {
    const usageMetadata = { promptTokenCount: 5, totalTokenCount: 5 }
    assert.deepStrictEqual(failure({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata }), {
      _tag: "Refused",
      status: 400,
      detail: "the prompt was blocked (PROHIBITED_CONTENT)",
      about: "policy"
    })
    assert.strictEqual(success({ ...answer([{ text: "a" }]), promptFeedback: { safetyRatings: [] } }).text, "a")
  })
})

describe("the finish reason", () => {
  const cases = {
    STOP: "stop",
    MAX_TOKENS: "length",
    OTHER: "stop",
    FUNCTION_CALL: "stop",
    SOMETHING_NEW: "stop",
    FINISH_REASON_UNSPECIFIED: undefined,
    SAFETY: "content_filter",
    RECITATION: "content_filter",
    LANGUAGE: "content_filter",
    BLOCKLIST: "content_filter",
    PROHIBITED_CONTENT: "content_filter",
    SPII: "content_filter",
    IMAGE_SAFETY: "content_filter"
  } as const
  for (const [finishReason, finish] of Object.entries(cases)) {
    it(`${finishReason} after content is read as ${finish}`, () =>
      assert.strictEqual(success(answer([{ text: "a" }], { finishReason })).finish, finish))
    if (finish === "content_filter") {
      it(`${finishReason} before any content is reported as refused`, () =>
        assert.deepStrictEqual(failure({ candidates: [{ finishReason }] }), {
          _tag: "Refused",
          status: 400,
          detail: `the answer was blocked (${finishReason})`,
          about: "policy"
        }))
    }
  }

  it("MAX_TOKENS with tool calls is read as length", () => {
    const output = success(answer([{ functionCall: { name: "f" } }], { finishReason: "MAX_TOKENS" }))
    assert.strictEqual(output.finish, "length")
  })

  for (const finishReason of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]) {
    it(`${finishReason} is reported as the model's malformed answer, even after content`, () => {
      const fault = { _tag: "Malformed", detail: `the model stopped with ${finishReason}`, ofModel: true } as const
      assert.deepStrictEqual(failure({ candidates: [{ finishReason }] }), fault)
      assert.deepStrictEqual(failure(answer([{ text: "a" }], { finishReason })), fault)
    })
  }
})

describe("ChunkFold", () => {
  it("ends with content_filter when the host blocks the prompt after the first text", () => {
    const fold = new ChunkFold("req_1")
    assert.deepStrictEqual(fold.push(answer([{ text: "a" }])), [{ _tag: "Text", text: "a" }])
    assert.deepStrictEqual(fold.push({ promptFeedback: { blockReason: "SAFETY" } }), [])
    assert.isUndefined(fold.fault)
    assert.deepStrictEqual(fold.end(), [{ _tag: "Finish", reason: "content_filter" }])
  })

  it("keeps a count that a later chunk omits", () => {
    const fold = new ChunkFold("req_1")
    fold.push({
      ...answer([{ text: "a" }]),
      usageMetadata: {
        promptTokenCount: 9,
        cachedContentTokenCount: 4,
        candidatesTokenCount: 1,
        thoughtsTokenCount: 20,
        totalTokenCount: 30
      }
    })
    fold.push({ usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 6, thoughtsTokenCount: null } })
    assert.deepStrictEqual(fold.end(), [
      { _tag: "Usage", usage: { input: 5, cached: 4, cacheWrite: 0, output: 26, reasoning: 20 } }
    ])
  })
})

describe("usageOf", () => {
  const usage = (input: number, cached: number, output: number, reasoning: number): TokenUsage => ({
    input,
    cached,
    cacheWrite: 0,
    output,
    reasoning
  })
  const counts = (
    promptTokenCount: number,
    candidatesTokenCount: number,
    totalTokenCount: number,
    more: Record<string, number> = {}
  ) => ({ promptTokenCount, candidatesTokenCount, totalTokenCount, ...more })
  const cases: ReadonlyArray<readonly [string, Record<string, unknown> | undefined, TokenUsage | undefined]> = [
    ["counts alone", counts(10, 5, 15), usage(10, 0, 5, 0)],
    ["zeros", counts(0, 0, 0), usage(0, 0, 0, 0)],
    ["an answer without tokens", { promptTokenCount: 10, totalTokenCount: 10 }, usage(10, 0, 0, 0)],
    ["a cache hit", counts(100, 5, 105, { cachedContentTokenCount: 60 }), usage(40, 60, 5, 0)],
    ["thoughts counted in addition to the answer", counts(10, 5, 35, { thoughtsTokenCount: 20 }), usage(10, 0, 25, 20)],
    ["thoughts counted within the answer", counts(10, 25, 35, { thoughtsTokenCount: 20 }), usage(10, 0, 25, 20)],
    [
      "thoughts without a total",
      { promptTokenCount: 10, candidatesTokenCount: 25, thoughtsTokenCount: 20 },
      usage(10, 0, 45, 20)
    ],
    ["thoughts missing from the total", counts(10, 5, 15, { thoughtsTokenCount: 20 }), usage(10, 0, 25, 20)],
    [
      "all counts at once",
      counts(100, 30, 180, { cachedContentTokenCount: 60, thoughtsTokenCount: 20, toolUsePromptTokenCount: 30 }),
      usage(70, 60, 50, 20)
    ],
    [
      "all counts at once, with thoughts within the answer",
      counts(100, 30, 160, { cachedContentTokenCount: 60, thoughtsTokenCount: 20, toolUsePromptTokenCount: 30 }),
      usage(70, 60, 30, 20)
    ],
    ["a cache hit larger than the prompt", counts(10, 5, 15, { cachedContentTokenCount: 60 }), usage(0, 10, 5, 0)],
    ["nothing", undefined, undefined],
    ["an empty object", {}, undefined],
    ["a string for a number", { promptTokenCount: "10" }, undefined],
    ["a negative count", { promptTokenCount: -1 }, undefined]
  ]
  for (const [name, given, expected] of cases) {
    it(`reads ${name}`, () => assert.deepStrictEqual(usageOf(given), expected))
  }
})

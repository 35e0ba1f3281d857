import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeResponse } from "../../../src/providers/openai/ResponsesDecode.ts"

const decoded = (response: unknown) =>
  decodeResponse(new TextEncoder().encode(typeof response === "string" ? response : JSON.stringify(response)), "req_1")

const output = (response: unknown) => Result.getOrThrow(decoded(response))

const fault = (response: unknown) => {
  const result = decoded(response)
  return Result.isFailure(result) ? result.failure : assert.fail("the response was accepted")
}

const message = (...content: ReadonlyArray<object>) => ({ type: "message", role: "assistant", content })
const said = (text: string) => ({ type: "output_text", text, annotations: [] })

describe("decodeResponse", () => {
  it("reads every field that an answer can have", () => {
    const response = {
      status: "completed",
      error: null,
      output: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
        message(said("Hel"), said("lo")),
        { type: "function_call", call_id: "c1", name: "f", arguments: '{"x":12345678901234567890}' },
        { type: "function_call", name: "g", arguments: "" },
        { type: "web_search_call", id: "ws" }
      ],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 20 },
        total_tokens: 150
      }
    }
    assert.deepStrictEqual(output(response), {
      text: "Hello",
      reasoning: "hm",
      refusal: "",
      toolCalls: [
        { id: "c1", name: "f", arguments: '{"x":12345678901234567890}' },
        { id: "call_req1_1", name: "g", arguments: "{}" }
      ],
      logprobs: undefined,
      finish: "tool_calls",
      usage: { input: 40, cached: 60, cacheWrite: 0, output: 50, reasoning: 20 }
    })
  })

  it("keeps the order of calls and texts", () => {
    const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" }
    assert.deepStrictEqual(output({ status: "completed", output: [call, message(said("a"))] }).order, [
      { kind: "tool", length: 0 },
      { kind: "text", length: 1 }
    ])
  })

  it("reads commentary as reasoning, and also as the answer when there is no other", () => {
    const aside = { ...message(said("Is it so?")), phase: "commentary" }
    const answer = { ...message(said("Is it so?")), phase: "final_answer" }
    const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" }
    const parts = (...items: ReadonlyArray<object>) => {
      const { reasoning, text } = output({ status: "completed", output: items })
      return [reasoning, text]
    }
    assert.deepStrictEqual(parts(aside, answer), ["Is it so?", "Is it so?"])
    assert.deepStrictEqual(parts(aside, call), ["Is it so?", ""])
    assert.deepStrictEqual(parts(aside), ["Is it so?", "Is it so?"])
  })

  it("reads a refusal", () => {
    const refused = message({ type: "refusal", refusal: "no" })
    assert.deepInclude(output({ status: "completed", output: [refused] }), { refusal: "no", finish: "stop" })
  })

  it("reports why an answer was cut short, and keeps the arguments of a truncated call unchanged", () => {
    const cut = { type: "function_call", call_id: "c1", name: "f", arguments: "" }
    const ended = (reason: string) =>
      output({ status: "incomplete", incomplete_details: { reason }, output: [cut], usage: null })
    assert.strictEqual(ended("max_output_tokens").finish, "length")
    assert.strictEqual(ended("max_output_tokens").toolCalls[0]?.arguments, "")
    assert.strictEqual(ended("content_filter").finish, "content_filter")
    assert.isUndefined(ended("content_filter").usage)
  })

  it("fails with the error of a failed response", () => {
    const failed = (code: string) => fault({ status: "failed", error: { code, message: "m" }, output: [] })
    assert.deepStrictEqual(failed("server_error"), { _tag: "ServerError", status: 500, detail: "m" })
    assert.deepInclude(failed("rate_limit_exceeded"), { _tag: "RateLimited" })
    for (const code of ["invalid_prompt", "image_too_large", "bio_policy", "cyber_policy"]) {
      assert.deepInclude(failed(code), { _tag: "Refused", status: 400, detail: "m" })
    }
    assert.deepInclude(fault({ status: "failed", output: [] }), { _tag: "ServerError" })
  })

  it("reports a body without output as malformed", () => {
    assert.deepStrictEqual(fault("<html>"), { _tag: "Malformed", detail: "the body is not a JSON object" })
    assert.deepStrictEqual(fault({ choices: [] }), { _tag: "Malformed", detail: "the body has no output" })
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ChatCompletionChunk } from "../../../schemas/inference/ChatCompletions.ts"
import { ChatStreamEncoder } from "../../../src/dialects/chat/ChatStream.ts"
import { failure } from "../../../src/domain/Failure.ts"
import type { OutputEvent } from "../../../src/domain/Output.ts"
import { describe as describeFailure } from "../../../src/http/Failures.ts"
import type { StreamItem } from "../../../src/domain/Answer.ts"
import { answerWith } from "./answer.ts"

const check = Schema.decodeUnknownSync(ChatCompletionChunk, { onExcessProperty: "error" })

const encode = (items: ReadonlyArray<StreamItem>, includeUsage = false): string => {
  const encoder = new ChatStreamEncoder({
    requestId: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    created: 1_700_000_000,
    model: "gpt-4o",
    includeUsage,
    describe: describeFailure
  })
  const text = items.map((item) => encoder.encode(item)).join("")
  for (const frame of text.split("\n\n").filter((frame) => frame.startsWith("data: {")))
    check(JSON.parse(frame.slice(6)))
  return text
}

const events = (...all: ReadonlyArray<OutputEvent>): StreamItem => ({ _tag: "Events", events: all })
const end = (output: Parameters<typeof answerWith>[0]): StreamItem => ({ _tag: "End", answer: answerWith(output) })
const words = (...all: ReadonlyArray<string>) => events(...all.map((text) => ({ _tag: "Text", text }) as const))

const HEAD =
  'data: {"id":"chatcmpl-01ARZ3NDEKTSV4RRFFQ69G5FAV","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o",'
const REST =
  ',"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":2,' +
  '"cache_creation_tokens":1},"completion_tokens_details":{"reasoning_tokens":3},"cost":0.001234567},"cost_usd":0.001234567,' +
  '"request_id":"req_01ARZ3NDEKTSV4RRFFQ69G5FAV","provider":"openai","resolved_model":"gpt-4o","routing":' +
  `${JSON.stringify(answerWith({}).routing)}}\n\n`
const DONE = "data: [DONE]\n\n"
const choice = (delta: string, finish = "null", logprobs = "null") =>
  `"choices":[{"index":0,"delta":${delta},"finish_reason":${finish},"logprobs":${logprobs}}]`
const frame = (delta: string, finish?: string, logprobs?: string) => `${HEAD}${choice(delta, finish, logprobs)}}\n\n`

describe("a stream of chunks", () => {
  const text = frame('{"role":"assistant","content":"Hel"}') + frame('{"content":"lo \\"you\\"\\n😀"}')

  it("of text ends with its finish reason, then usage and cost on an empty delta, then [DONE]", () => {
    assert.strictEqual(
      encode([words("Hel", 'lo "you"\n😀'), end({ finish: "stop" })]),
      text + frame("{}", '"stop"') + HEAD + choice("{}", '"stop"') + REST + DONE
    )
  })

  it("has OpenAI's usage chunk, without choices, when the request asks for it", () => {
    assert.strictEqual(
      encode([words("Hel", 'lo "you"\n😀'), end({ finish: "length" })], true),
      `${text}${frame("{}", '"length"')}${HEAD}"choices":[]${REST}${DONE}`
    )
  })

  it("of a tool call begins with its name and continues with pieces of its arguments", () => {
    const items = [
      events({ _tag: "ToolStart", index: 0, id: "call_1", name: "look" }),
      events({ _tag: "ToolDelta", index: 0, text: '{"at":' }, { _tag: "ToolDelta", index: 0, text: '"it"}' }),
      events({ _tag: "ToolStart", index: 1, id: "call_2", name: "hear" }),
      end({ finish: "tool_calls" })
    ]
    const started = (index: number, id: string, name: string) =>
      `"tool_calls":[{"index":${index},"id":"${id}","type":"function","function":{"name":"${name}","arguments":""}}]}`
    assert.strictEqual(
      encode(items, true),
      frame(`{"role":"assistant","content":"",${started(0, "call_1", "look")}`) +
        frame('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"at\\":"}}]}') +
        frame('{"tool_calls":[{"index":0,"function":{"arguments":"\\"it\\"}"}}]}') +
        frame(`{${started(1, "call_2", "hear")}`) +
        frame("{}", '"tool_calls"') +
        `${HEAD}"choices":[]${REST}${DONE}`
    )
  })

  it("has reasoning, a refusal and log probabilities in their own fields", () => {
    const items = [
      events({ _tag: "Reasoning", text: "hm" }, { _tag: "Refusal", text: "no" }),
      events({ _tag: "Logprobs", content: [{ token: "x" }] })
    ]
    assert.strictEqual(
      encode(items),
      frame('{"role":"assistant","content":"","reasoning":"hm","reasoning_content":"hm"}') +
        frame('{"refusal":"no"}') +
        frame("{}", "null", '{"content":[{"token":"x"}],"refusal":null}')
    )
  })

  it("sends the seal of reasoning when the reasoning ends", () => {
    const items = [
      events({ _tag: "Reasoning", text: "hm" }, { _tag: "ReasoningEnd", seal: "one" }, { _tag: "Text", text: "a" }),
      events({ _tag: "ReasoningEnd", seal: "two" })
    ]
    const detail = (members: string) => frame(`{"reasoning_details":[${members}]}`)
    assert.strictEqual(
      encode(items),
      frame('{"role":"assistant","content":"","reasoning":"hm","reasoning_content":"hm"}') +
        detail('{"type":"reasoning.text","text":"","signature":"one","format":"unknown","index":0}') +
        frame('{"content":"a"}') +
        detail('{"type":"reasoning.encrypted","data":"two","format":"unknown","index":1}')
    )
  })

  it("sends no finish reason and no usage before the end", () => {
    const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 }
    assert.strictEqual(encode([events({ _tag: "Finish", reason: "stop" }, { _tag: "Usage", usage })]), "")
    assert.strictEqual(encode([events({ _tag: "PromptUsage", usage })]), "")
  })

  it("has a comment as its keep-alive", () => {
    assert.strictEqual(
      encode([words("a"), { _tag: "KeepAlive" }]),
      `${frame('{"role":"assistant","content":"a"}')}: svc-processing\n\n`
    )
  })

  it("that breaks ends with an error chunk and [DONE]", () => {
    const broken = failure(
      { _tag: "UpstreamError", detail: "openai broke off", provider: "openai" },
      new Error("swordfish")
    )
    const error =
      '"cost_usd":0.000003,"request_id":"req_01ARZ3NDEKTSV4RRFFQ69G5FAV",' +
      '"error":{"message":"openai broke off; you pay for the output you received.","type":"upstream_error","code":"upstream_error","param":null}'
    assert.strictEqual(
      encode([words("a"), { _tag: "Error", failure: broken, cost: 3_000n }]),
      `${frame('{"role":"assistant","content":"a"}')}${HEAD}${choice('{"content":""}', '"error"')},${error}}\n\n${DONE}`
    )
  })

  it("that breaks before any output still begins with a role", () => {
    const items: ReadonlyArray<StreamItem> = [{ _tag: "Error", failure: failure({ _tag: "StoreUnavailable" }) }]
    assert.include(encode(items), choice('{"role":"assistant","content":""}', '"error"'))
  })

  it("without output begins with a role, which it sends once", () => {
    const text = encode([end({})])
    assert.strictEqual(text.split('"role":"assistant"').length, 2)
    assert.isTrue(text.startsWith(frame('{"role":"assistant","content":""}', '"stop"')))
  })

  it("has no line break within an event, whatever the text is", () => {
    const text = encode([words("a\n\nb\r\n\u2028c\u0000")])
    assert.lengthOf(text.split("\n"), 3)
    assert.notInclude(text, "\r")
  })
})

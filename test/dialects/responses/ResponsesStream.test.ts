import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ResponseStream } from "openai/lib/responses/ResponseStream"
import { ResponsesStreamEvent } from "../../../schemas/inference/ResponsesEvents.ts"
import type { Echo } from "../../../src/dialects/responses/ResponsesDecode.ts"
import { encodeResponse } from "../../../src/dialects/responses/ResponsesEncode.ts"
import { ResponsesStreamEncoder } from "../../../src/dialects/responses/ResponsesStream.ts"
import { failure } from "../../../src/domain/Failure.ts"
import { eventsOf, type Output, type OutputEvent, OutputFold } from "../../../src/domain/Output.ts"
import { describe as describeFailure } from "../../../src/http/Failures.ts"
import type { StreamItem } from "../../../src/domain/Answer.ts"
import { answerWith } from "../chat/answer.ts"

const check = Schema.decodeUnknownSync(ResponsesStreamEvent, { onExcessProperty: "error" })
const echo: Echo = { instructions: null, maxOutputTokens: 9, metadata: { a: "b" }, parallelToolCalls: true }

const textOf = (items: ReadonlyArray<StreamItem>): string => {
  const { created, model, requestId } = answerWith({})
  const encoder = new ResponsesStreamEncoder({ created, model, requestId, echo, describe: describeFailure })
  return items.map((item) => encoder.encode(item)).join("")
}

/** Returns the events of a stream, each checked for its contract, its frame and its number. */
const encode = (...items: ReadonlyArray<StreamItem>): ReadonlyArray<ResponsesStreamEvent> => {
  const frames = textOf(items).split("\n\n")
  assert.strictEqual(frames.pop(), "")
  return frames.map((frame, index) => {
    const [name = "", data = "", ...rest] = frame.split("\n")
    const event = check(JSON.parse(data.slice("data: ".length)))
    assert.deepStrictEqual([name, rest, event.sequence_number], [`event: ${event.type}`, [], index])
    return event
  })
}

const events = (...all: ReadonlyArray<OutputEvent>): StreamItem => ({ _tag: "Events", events: all })
const words = (...all: ReadonlyArray<string>) => events(...all.map((text) => ({ _tag: "Text", text }) as const))
const thought = (text: string) => events({ _tag: "Reasoning", text })
const start = (index: number) => ({ _tag: "ToolStart", index, id: `call_${index}`, name: `tool_${index}` }) as const
const delta = (index: number, text: string) => ({ _tag: "ToolDelta", index, text }) as const
const end = (output: Partial<Output>, balanceWarning?: string): StreamItem => ({
  _tag: "End",
  answer: answerWith(output, { balanceWarning })
})

const short = (all: ReadonlyArray<ResponsesStreamEvent>) =>
  all.map((event) => {
    const index = "output_index" in event ? ` ${event.output_index}` : ""
    return event.type.replace(/^response\./, "") + index
  })

const finalOf = (all: ReadonlyArray<ResponsesStreamEvent>) => {
  const last = all.at(-1)
  return last?.type === "response.completed" || last?.type === "response.incomplete"
    ? last.response
    : assert.fail(`ended with ${last?.type}`)
}

const begun = ["created", "in_progress"]
const opened = (index: number) => [`output_item.added ${index}`, `content_part.added ${index}`]
const closed = (index: number) => [
  `output_text.done ${index}`,
  `content_part.done ${index}`,
  `output_item.done ${index}`
]

describe("a stream of a response", () => {
  it("of text has one message, and ends with the whole answer", () => {
    const all = encode(words("Hel", "lo"), end({ finish: "stop" }))
    const deltas = ["output_text.delta 0", "output_text.delta 0"]
    assert.deepStrictEqual(short(all), [...begun, ...opened(0), ...deltas, ...closed(0), "completed"])
    assert.deepStrictEqual(finalOf(all), encodeResponse(answerWith({ text: "Hello", finish: "stop" }), echo))
  })

  it("ends reasoning when text begins, and text when a tool call begins", () => {
    const all = encode(thought("hm"), words("so"), events(start(0), delta(0, "{}")), end({ finish: "tool_calls" }))
    const output = { reasoning: "hm", text: "so", toolCalls: [{ id: "call_0", name: "tool_0", arguments: "{}" }] }
    assert.deepStrictEqual(short(all), [
      ...begun,
      "output_item.added 0",
      "reasoning_summary_part.added 0",
      "reasoning_summary_text.delta 0",
      "reasoning_summary_text.done 0",
      "reasoning_summary_part.done 0",
      "output_item.done 0",
      ...opened(1),
      "output_text.delta 1",
      ...closed(1),
      "output_item.added 2",
      "function_call_arguments.delta 2",
      "function_call_arguments.done 2",
      "output_item.done 2",
      "completed"
    ])
    assert.deepStrictEqual(finalOf(all), encodeResponse(answerWith({ ...output, finish: "tool_calls" }), echo))
  })

  it("has calls with interleaved arguments, each under its own index", () => {
    const turns = [start(0), start(1), delta(1, "b1"), delta(0, "a1"), delta(1, "b2"), delta(0, "a2"), delta(7, "?")]
    const all = encode(events(...turns), end({ finish: "tool_calls" }))
    assert.deepStrictEqual(short(all), [
      ...begun,
      "output_item.added 0",
      "output_item.added 1",
      ...[1, 0, 1, 0].map((index) => `function_call_arguments.delta ${index}`),
      "function_call_arguments.done 0",
      "output_item.done 0",
      "function_call_arguments.done 1",
      "output_item.done 1",
      "completed"
    ])
    assert.deepStrictEqual(
      finalOf(all).output.map((item) => item.type === "function_call" && [item.call_id, item.arguments]),
      [
        ["call_0", "a1a2"],
        ["call_1", "b1b2"]
      ]
    )
  })

  it("begins a new message after reasoning or a call, and joins all of them in `output_text`", () => {
    const all = encode(words("a"), thought("hm"), words("b"), events(start(0)), words("c"), end({ finish: "length" }))
    const { incomplete_details, output, output_text, status } = finalOf(all)
    assert.deepStrictEqual(
      output.map((item) => `${item.type} ${item.status}`),
      ["message completed", "reasoning completed", "message completed", "function_call completed", "message incomplete"]
    )
    assert.deepStrictEqual(
      [output_text, status, incomplete_details],
      ["abc", "incomplete", { reason: "max_output_tokens" }]
    )
    assert.lengthOf(new Set(output.map(({ id }) => id)), 5)
  })

  it("gives text the log probabilities that arrive right after it", () => {
    const weights = (token: string): OutputEvent => ({ _tag: "Logprobs", content: [{ token }] })
    const all = encode(
      events({ _tag: "Text", text: "a" }, weights("a"), { _tag: "Text", text: "b" }),
      events(weights("b")),
      end({ finish: "stop" })
    )
    const deltas = all.flatMap((event) =>
      event.type === "response.output_text.delta" ? [[event.delta, event.logprobs]] : []
    )
    assert.deepStrictEqual(deltas, [
      ["a", [{ token: "a" }]],
      ["b", []],
      ["", [{ token: "b" }]]
    ])
    const done = all.find((event) => event.type === "response.output_text.done")
    assert.deepStrictEqual(done?.logprobs, [{ token: "a" }, { token: "b" }])
    assert.deepStrictEqual(short(encode(events(weights("a")))), begun)
  })

  it("has its own events for a refusal, and the refusal as text in the final response", () => {
    const all = encode(events({ _tag: "Refusal", text: "no" }), end({ finish: "content_filter" }))
    assert.deepStrictEqual(short(all), [
      ...begun,
      ...opened(0),
      "refusal.delta 0",
      "refusal.done 0",
      "content_part.done 0",
      "output_item.done 0",
      "incomplete"
    ])
    assert.deepStrictEqual(finalOf(all), encodeResponse(answerWith({ refusal: "no", finish: "content_filter" }), echo))
  })

  it("warns of a low balance beside the final response", () => {
    const last = encode(words("a"), end({ finish: "stop" }, "below $5.00")).at(-1)
    assert.deepStrictEqual(last?.type === "response.completed" && last.balance_warning, {
      warning: "low_balance",
      threshold: "below $5.00"
    })
  })

  it("that breaks ends with the failed response and an error event, and nothing else", () => {
    const reason = { _tag: "UpstreamError", detail: "openai broke off", provider: "openai" } as const
    const broken = failure(reason, new Error("swordfish"))
    const all = encode(words("a"), { _tag: "Error", failure: broken, cost: 3_000n })
    assert.deepStrictEqual(short(all), [...begun, ...opened(0), "output_text.delta 0", "failed", "error"])
    const failed = all.at(-2)
    assert.deepStrictEqual(
      failed?.type === "response.failed" && [failed.response.status, failed.response.cost_usd, failed.response.error],
      [
        "failed",
        0.000003,
        { code: "upstream_error", message: "openai broke off; you pay for the output you received." }
      ]
    )
    assert.deepStrictEqual(all.at(-1), {
      type: "error",
      sequence_number: 6,
      code: "upstream_error",
      message: "openai broke off; you pay for the output you received.",
      param: null
    })
  })

  it("begins with the same two events, even when it has no output", () => {
    assert.deepStrictEqual(short(encode(end({ finish: "stop" }))), [...begun, "completed"])
    const none: StreamItem = { _tag: "Error", failure: failure({ _tag: "StoreUnavailable" }) }
    assert.deepStrictEqual(short(encode(none)), [...begun, "failed", "error"])
  })

  it("has a comment without a number as its keep-alive", () => {
    assert.include(textOf([words("a"), { _tag: "KeepAlive" }, words("b")]), "\n\n: svc-processing\n\nevent: ")
    assert.strictEqual(textOf([{ _tag: "KeepAlive" }]), ": svc-processing\n\n")
  })

  it("sends no finish reason and no usage before the end", () => {
    const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 }
    assert.deepStrictEqual(short(encode(events({ _tag: "Finish", reason: "stop" }, { _tag: "Usage", usage }))), begun)
    assert.deepStrictEqual(short(encode(events({ _tag: "PromptUsage", usage }))), begun)
  })

  it("has no line break within an event, whatever the text is", () => {
    const said = "a\n\nb\r\n\u2028c\u0000"
    assert.notInclude(textOf([words(said)]), "\r")
    const all = encode(words(said), end({ finish: "stop" }))
    assert.strictEqual(finalOf(all).output_text, said)
  })

  it("of a repeated answer ends with the same response as a whole one", () => {
    const output = {
      text: "so",
      reasoning: "hm",
      refusal: "no",
      toolCalls: [0, 1].map((index) => ({ id: `call_${index}`, name: "look", arguments: '{"at":1}' })),
      finish: "tool_calls" as const
    }
    const answer = answerWith(output)
    const all = encode(events(...eventsOf(answer.output)), { _tag: "End", answer })
    assert.deepStrictEqual(finalOf(all), encodeResponse(answer, echo))
  })
})

describe("the final response", () => {
  const weights: OutputEvent = {
    _tag: "Logprobs",
    content: [{ token: "a", logprob: -1, bytes: [97], top_logprobs: [] }]
  }
  const refused: OutputEvent = { _tag: "Refusal", text: "no" }
  const said = (text: string): OutputEvent => ({ _tag: "Text", text })
  const streams: ReadonlyArray<readonly [name: string, all: ReadonlyArray<OutputEvent>, finish: Output["finish"]]> = [
    ["an empty stream", [], "stop"],
    ["a refusal", [refused, refused], "content_filter"],
    ["a text and a refusal", [said("a"), refused], "stop"],
    ["log-probabilities", [said("a"), weights, said("b")], "stop"],
    ["a call without arguments", [start(0)], "tool_calls"],
    [
      "calls with interleaved arguments",
      [start(0), start(1), delta(1, "{"), delta(0, "{"), delta(1, "}"), delta(0, "}")],
      "tool_calls"
    ],
    [
      "text, reasoning and a call in turns",
      [said("a"), { _tag: "Reasoning", text: "hm" }, said("b"), start(0), said("c")],
      "length"
    ]
  ]
  for (const [name, all, finish] of streams) {
    it(`is what the official client assembles from ${name}`, async () => {
      const answered = encode(...all.map((event) => events(event)), end({ finish }))
      const lines = answered.map((event) => `${JSON.stringify(event)}\n`).join("")
      const read = ResponseStream.fromReadableStream(new Blob([lines]).stream() as never)
      const { output, output_text, status } = await read.finalResponse()
      const whole = finalOf(answered)
      assert.deepStrictEqual([status, output_text], [whole.status, whole.output_text])
      assert.deepStrictEqual(
        output.map(({ id, type }) => [id, type]),
        whole.output.map(({ id, type }) => [id, type])
      )
    })
  }

  it("has the items and ids of the whole answer, also when the answer is repeated", () => {
    const all: ReadonlyArray<OutputEvent> = [
      { _tag: "Reasoning", text: "a" },
      { _tag: "Text", text: "b" } as const,
      { _tag: "Reasoning", text: "c" } as const,
      start(0),
      delta(0, "{}"),
      { _tag: "Text", text: "d" } as const,
      { _tag: "Refusal", text: "e" } as const,
      start(1),
      delta(1, "{}")
    ]
    const folded = new OutputFold()
    for (const event of all) folded.push(event)
    const output = JSON.parse(JSON.stringify(folded.output())) as Output
    const streamed = finalOf(encode(events(...all), end({})))
    assert.deepStrictEqual(finalOf(encode(events(...eventsOf(output)), end({}))).output, streamed.output)
    assert.deepStrictEqual(encodeResponse(answerWith(output), echo).output, streamed.output)
  })
})

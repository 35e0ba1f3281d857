import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type OutputEvent, OutputFold } from "../../../src/domain/Output.ts"
import { decodeChat } from "../../../src/providers/anthropic/ChatDecode.ts"
import { chatStreamFold } from "../../../src/providers/anthropic/ChatStream.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const frame = (event: { readonly type: string; readonly [member: string]: unknown }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const start = (usage?: object) => frame({ type: "message_start", message: { role: "assistant", content: [], usage } })
const open = (index: number, content_block: object) => frame({ type: "content_block_start", index, content_block })
const delta = (index: number, more: object) => frame({ type: "content_block_delta", index, delta: more })
const text = (index: number, words: string) => delta(index, { type: "text_delta", text: words })
const json = (index: number, partial_json: string) => delta(index, { type: "input_json_delta", partial_json })
const close = (index: number) => frame({ type: "content_block_stop", index })
const stop = (stop_reason: string, usage?: object, more: object = {}) =>
  frame({ type: "message_delta", delta: { stop_reason, stop_sequence: null, ...more }, usage })
const PING = frame({ type: "ping" })
const END = frame({ type: "message_stop" })

const fold = (pieces: ReadonlyArray<Uint8Array>) => {
  const state = chatStreamFold("req_1")
  const events = pieces.flatMap((piece) => [...state.push(piece)])
  return { state, events: [...events, ...state.end()] }
}

const read = (words: string) => fold([bytesOf(words)])

const told = (words: string) => read(words).events

const transcript =
  start({ input_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 0, output_tokens: 1 }) +
  open(0, { type: "thinking", thinking: "", signature: "" }) +
  PING +
  delta(0, { type: "thinking_delta", thinking: "hm→" }) +
  delta(0, { type: "signature_delta", signature: "c2ln" }) +
  close(0) +
  ": comment\n\n" +
  open(1, { type: "redacted_thinking", data: "x" }) +
  close(1) +
  open(2, { type: "text", text: "" }) +
  text(2, "Grüß ") +
  delta(2, { type: "citations_delta", citation: { cited_text: "no" } }) +
  text(2, "😀") +
  close(2) +
  open(3, { type: "tool_use", id: "toolu_a", name: "f", input: {} }) +
  json(3, "") +
  json(3, '{"x":') +
  json(3, "1}") +
  close(3) +
  open(4, { type: "server_tool_use", id: "srv", name: "web_search", input: {} }) +
  json(4, '{"query":"no"}') +
  close(4) +
  open(5, { type: "tool_use", id: "toolu_b", name: "g", input: {} }) +
  json(5, "") +
  close(5) +
  stop("tool_use", {
    input_tokens: null,
    cache_creation_input_tokens: 3,
    output_tokens: 90,
    output_tokens_details: { thinking_tokens: 40 }
  }) +
  END

const expected: ReadonlyArray<OutputEvent> = [
  { _tag: "PromptUsage", usage: { input: 5, cached: 7, cacheWrite: 0 } },
  { _tag: "Reasoning", text: "hm→" },
  { _tag: "ReasoningEnd", data: { signature: "c2ln" } },
  { _tag: "ReasoningEnd", data: { redacted: "x" } },
  { _tag: "Text", text: "Grüß " },
  { _tag: "Text", text: "😀" },
  { _tag: "ToolStart", index: 0, id: "toolu_a", name: "f" },
  { _tag: "ToolDelta", index: 0, text: '{"x":' },
  { _tag: "ToolDelta", index: 0, text: "1}" },
  { _tag: "ToolStart", index: 1, id: "toolu_b", name: "g" },
  { _tag: "ToolDelta", index: 1, text: "{}" },
  { _tag: "Finish", reason: "tool_calls" },
  { _tag: "Usage", usage: { input: 5, cached: 7, cacheWrite: 3, output: 90, reasoning: 40 } }
]

describe("chatStreamFold", () => {
  for (const [name, words] of [
    ["line feeds", transcript],
    ["carriage returns and line feeds", transcript.replaceAll("\n", "\r\n")]
  ] as const) {
    it(`emits the same events wherever the bytes are split, with ${name}`, () => {
      const bytes = bytesOf(words)
      for (let at = 0; at <= bytes.length; at++) {
        const { events, state } = fold([bytes.subarray(0, at), bytes.subarray(at)])
        assert.deepStrictEqual(events, expected, `split at byte ${at}`)
        assert.isTrue(state.done)
      }
    })
  }

  it("folds to the same output as a complete answer", () => {
    const whole = {
      content: [
        { type: "thinking", thinking: "hm→", signature: "c2ln" },
        { type: "redacted_thinking", data: "x" },
        { type: "text", text: "Grüß 😀" },
        { type: "tool_use", id: "toolu_a", name: "f", input: { x: 1 } },
        { type: "server_tool_use", id: "srv", name: "web_search", input: { query: "no" } },
        { type: "tool_use", id: "toolu_b", name: "g", input: {} }
      ],
      stop_reason: "tool_use",
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 7,
        cache_creation_input_tokens: 3,
        output_tokens: 90,
        output_tokens_details: { thinking_tokens: 40 }
      }
    }
    const folded = new OutputFold()
    for (const event of told(transcript)) folded.push(event)
    const decoded = Result.getOrThrow(decodeChat(bytesOf(JSON.stringify(whole)), "req_1"))
    assert.deepStrictEqual(folded.output(), decoded)
  })

  it("reports the stop sequence that ended the stream", () => {
    const words =
      open(0, { type: "text", text: "a" }) + stop("stop_sequence", undefined, { stop_sequence: "END" }) + END
    assert.deepStrictEqual(told(words).at(-1), { _tag: "Finish", reason: "stop", stopSequence: "END" })
  })

  it("counts cache writes that only the start of the stream reports", () => {
    const cache_creation = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 4 }
    const began = start({ input_tokens: 5, cache_read_input_tokens: 7, cache_creation, output_tokens: 1 })
    const usage = { input: 5, cached: 7, cacheWrite: 34, cacheWriteLong: 4, output: 9, reasoning: 0 }
    assert.deepStrictEqual(told(began + stop("end_turn", { output_tokens: 9 }) + END).at(-1), { _tag: "Usage", usage })
    const repeated = { input_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 34, output_tokens: 9 }
    assert.deepStrictEqual(told(began + stop("end_turn", repeated) + END).at(-1), { _tag: "Usage", usage })
  })

  it("reads content in the start event of its block", () => {
    const words =
      open(0, { type: "thinking", thinking: "h" }) +
      open(1, { type: "text", text: "a" }) +
      text(1, "b") +
      open(2, { type: "tool_use", name: "f", input: { x: 1 } }) +
      close(2)
    assert.deepStrictEqual(told(words), [
      { _tag: "Reasoning", text: "h" },
      { _tag: "Text", text: "a" },
      { _tag: "Text", text: "b" },
      { _tag: "ToolStart", index: 0, id: "call_req1_0", name: "f" },
      { _tag: "ToolDelta", index: 0, text: '{"x":1}' }
    ])
  })

  it("closes a call with an unclosed block, and ignores deltas without a block", () => {
    const words = json(9, "{}") + open(0, { type: "tool_use", id: "a", name: "f" }) + stop("tool_use") + json(0, "{}")
    assert.deepStrictEqual(told(words + END), [
      { _tag: "ToolStart", index: 0, id: "a", name: "f" },
      { _tag: "ToolDelta", index: 0, text: "{}" },
      { _tag: "Finish", reason: "tool_calls" }
    ])
  })

  it("emits a refusal before its finish reason", () => {
    const words =
      text(0, "I") + stop("refusal", undefined, { stop_details: { type: "refusal", explanation: "blocked" } })
    assert.deepStrictEqual(told(words), [
      { _tag: "Text", text: "I" },
      { _tag: "Refusal", text: "blocked" },
      { _tag: "Finish", reason: "content_filter" }
    ])
  })

  const usages: ReadonlyArray<readonly [string, string, object | undefined]> = [
    [
      "totals at the end that correct all earlier counts",
      start({ input_tokens: 43, cache_read_input_tokens: 1, cache_creation_input_tokens: 2, output_tokens: 1 }) +
        stop("end_turn", {
          input_tokens: 61,
          cache_read_input_tokens: 10,
          cache_creation_input_tokens: 20,
          output_tokens: 2
        }),
      { input: 61, cached: 10, cacheWrite: 20, output: 2, reasoning: 0 }
    ],
    [
      "totals at the end that contain only the output",
      start({ input_tokens: 43, cache_read_input_tokens: 1, output_tokens: 1 }) +
        stop("end_turn", { output_tokens: 8 }),
      { input: 43, cached: 1, cacheWrite: 0, output: 8, reasoning: 0 }
    ],
    [
      "several ends, each with the total so far",
      start({ input_tokens: 4, output_tokens: 1 }) +
        stop("", { output_tokens: 5 }) +
        stop("end_turn", { output_tokens: 9 }),
      { input: 4, cached: 0, cacheWrite: 0, output: 9, reasoning: 0 }
    ],
    ["no usage from a start without an end", start({ input_tokens: 43, output_tokens: 1 }), undefined],
    [
      "no usage from an end without counts",
      start({ input_tokens: 43, output_tokens: 1 }) + stop("end_turn"),
      undefined
    ],
    ["no usage from an end without a start", stop("end_turn", { output_tokens: 9 }), undefined]
  ]
  for (const [name, words, usage] of usages) {
    it(`reads ${name}`, () => {
      const found = told(words).find((event) => event._tag === "Usage")
      assert.deepStrictEqual(found?.usage, usage)
    })
  }

  const prompts: ReadonlyArray<readonly [string, object | undefined, object | undefined]> = [
    [
      "bucket by bucket",
      { input_tokens: 10, cache_read_input_tokens: 300, cache_creation_input_tokens: 20, output_tokens: 1 },
      { input: 10, cached: 300, cacheWrite: 20 }
    ],
    [
      "with cache writes reported only by lifetime",
      { input_tokens: 10, cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 } },
      { input: 10, cached: 0, cacheWrite: 7, cacheWriteLong: 4 }
    ],
    [
      "without a cache",
      { input_tokens: 10, cache_read_input_tokens: null, cache_creation_input_tokens: null },
      { input: 10, cached: 0, cacheWrite: 0 }
    ],
    ["but not without usage in the start", undefined, undefined],
    ["but not without input tokens", { cache_read_input_tokens: 300, output_tokens: 1 }, undefined],
    ["but not with negative input tokens", { input_tokens: -10, cache_read_input_tokens: 300 }, undefined],
    ["but not with negative cached tokens", { input_tokens: 10, cache_read_input_tokens: -300 }, undefined],
    ["but not with cache writes that are a string", { input_tokens: 10, cache_creation_input_tokens: "20" }, undefined]
  ]
  for (const [name, said, usage] of prompts) {
    it(`emits prompt usage at the start, ${name}`, () => {
      const state = chatStreamFold("req_1")
      const expectedEvents = usage === undefined ? [] : [{ _tag: "PromptUsage", usage }]
      assert.deepStrictEqual(state.push(bytesOf(start(said))), expectedEvents as ReadonlyArray<OutputEvent>)
    })
  }

  it("reports whether the host has stopped and ended the stream", () => {
    const states = ["", text(0, "a"), stop("end_turn"), END].map((words) => read(words).state)
    assert.deepStrictEqual(
      states.map(({ stopped, done }) => [stopped, done]),
      [
        [false, false],
        [false, false],
        [true, false],
        [true, true]
      ]
    )
  })

  it("ignores events after message_stop", () => {
    assert.deepStrictEqual(told(END + text(0, "late")), [])
  })

  it("stops at an invalid event, after the events before it", () => {
    for (const [words, fault] of [
      ["data: nonsense\n\n", { _tag: "Malformed", detail: "an event of the stream is not a JSON object" }],
      ["data: []\n\n", { _tag: "Malformed", detail: "an event of the stream is not a JSON object" }],
      [
        frame({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
        { _tag: "ServerError", status: 529, detail: "Overloaded" }
      ],
      [
        frame({ type: "error", error: { type: "rate_limit_error", message: "slow" } }),
        { _tag: "RateLimited", retryAfterSeconds: undefined }
      ]
    ] as const) {
      const { events, state } = read(text(0, "a") + words + text(0, "b"))
      assert.deepStrictEqual(events, [{ _tag: "Text", text: "a" }])
      assert.deepStrictEqual(state.fault, fault)
    }
  })

  it("reports an event without an end as malformed", () => {
    const state = chatStreamFold("req_1")
    const block = bytesOf("x".repeat(1024 * 1024))
    for (let n = 0; n < 5; n++) state.push(block)
    assert.strictEqual(state.fault?._tag, "Malformed")
  })
})

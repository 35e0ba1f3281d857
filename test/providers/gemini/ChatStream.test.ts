import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { OutputFold, type OutputEvent } from "../../../src/domain/Output.ts"
import { decodeChat } from "../../../src/providers/gemini/ChatDecode.ts"
import { chatStreamFold } from "../../../src/providers/gemini/ChatStream.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const data = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\r\n\r\n`
const usageMetadata = (candidatesTokenCount: number, thoughtsTokenCount: number) => ({
  promptTokenCount: 29,
  cachedContentTokenCount: 9,
  candidatesTokenCount,
  thoughtsTokenCount,
  totalTokenCount: 29 + candidatesTokenCount + thoughtsTokenCount
})
const chunk = (parts: ReadonlyArray<unknown>, more: object = {}, usage?: object) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  ...(usage === undefined ? {} : { usageMetadata: usage })
})
const finish = (finishReason: string) => chunk([{ text: "" }], { finishReason })

const fold = (pieces: ReadonlyArray<Uint8Array>) => {
  const state = chatStreamFold("req_1")
  const events = pieces.flatMap((piece) => [...state.push(piece)])
  return { state, events: [...events, ...state.end()] }
}

const read = (...chunks: ReadonlyArray<unknown>) => fold([bytesOf(chunks.map(data).join(""))])

describe("chatStreamFold", () => {
  const chunks = [
    chunk([{ text: "hm→", thought: true }], {}, usageMetadata(0, 12)),
    chunk([{ text: "Grüß 😀" }], {}, usageMetadata(3, 12)),
    chunk(
      [
        { functionCall: { id: "fc1", name: "f", args: { x: "ß" } }, thoughtSignature: "c2ln" },
        { functionCall: { name: "g", args: {} } }
      ],
      {},
      usageMetadata(7, 12)
    ),
    chunk([{ text: "", thoughtSignature: "c2ln" }], { finishReason: "STOP" }, usageMetadata(8, 12))
  ]
  const transcript = `: keep-alive\r\n\r\n${chunks.map(data).join("")}`
  const expected: ReadonlyArray<OutputEvent> = [
    { _tag: "PromptUsage", usage: { input: 20, cached: 9, cacheWrite: 0 } },
    { _tag: "Reasoning", text: "hm→" },
    { _tag: "Text", text: "Grüß 😀" },
    { _tag: "ReasoningEnd", data: { signature: "c2ln", call: "fc1" } },
    { _tag: "ToolStart", index: 0, id: "fc1", name: "f" },
    { _tag: "ToolDelta", index: 0, text: '{"x":"ß"}' },
    { _tag: "ToolStart", index: 1, id: "call_req1_1", name: "g" },
    { _tag: "ToolDelta", index: 1, text: "{}" },
    { _tag: "ReasoningEnd", data: { signature: "c2ln" } },
    { _tag: "Finish", reason: "tool_calls" },
    { _tag: "Usage", usage: { input: 20, cached: 9, cacheWrite: 0, output: 20, reasoning: 12 } }
  ]

  for (const [name, text] of [
    ["carriage returns and line feeds", transcript],
    ["line feeds", transcript.replaceAll("\r\n", "\n")]
  ] as const) {
    it(`emits the same events wherever the bytes are split, with ${name}`, () => {
      const bytes = bytesOf(text)
      for (let at = 0; at <= bytes.length; at++) {
        const { events, state } = fold([bytes.subarray(0, at), bytes.subarray(at)])
        assert.deepStrictEqual(events, expected, `split at byte ${at}`)
        assert.isTrue(state.stopped)
      }
    })
  }

  it("emits prompt usage once it is counted, and again after a change", () => {
    const counted = (usage: object) => chunk([{ text: "a" }], {}, usage)
    const { events } = read(
      counted({ candidatesTokenCount: 1 }),
      counted({ promptTokenCount: 29 }),
      counted({ promptTokenCount: 29, candidatesTokenCount: 2 }),
      counted({ cachedContentTokenCount: 9 })
    )
    const text: OutputEvent = { _tag: "Text", text: "a" }
    const told = (input: number, cached: number): OutputEvent => ({
      _tag: "PromptUsage",
      usage: { input, cached, cacheWrite: 0 }
    })
    assert.deepStrictEqual(events.slice(0, -1), [text, told(29, 0), text, text, told(20, 9), text])
  })

  it("folds to the same output as a complete answer", () => {
    const output = new OutputFold()
    for (const event of expected) output.push(event)
    const parts = chunks.flatMap(({ candidates }) => candidates.flatMap(({ content }) => content.parts))
    const whole = chunk(parts, { finishReason: "STOP" }, usageMetadata(8, 12))
    assert.deepStrictEqual(Result.getOrThrow(decodeChat(bytesOf(JSON.stringify(whole)), "req_1")), output.output())
  })

  it("keeps the last usage report, also after the finish reason, and earlier counts that it omits", () => {
    const { events } = read(chunk([{ text: "a" }], {}, usageMetadata(1, 12)), finish("STOP"), {
      usageMetadata: { promptTokenCount: 29, candidatesTokenCount: 5 }
    })
    assert.deepStrictEqual(events.slice(-2), [
      { _tag: "Finish", reason: "stop" },
      { _tag: "Usage", usage: { input: 20, cached: 9, cacheWrite: 0, output: 17, reasoning: 12 } }
    ])
  })

  it("reports that the model has stopped, but waits for the end of the stream", () => {
    const states = [[], [chunk([{ text: "a" }])], [finish("FINISH_REASON_UNSPECIFIED")], [finish("STOP")]].map(
      (given) => read(...given).state
    )
    assert.deepStrictEqual(
      states.map(({ stopped, done }) => [stopped, done]),
      [
        [false, false],
        [false, false],
        [false, false],
        [true, false]
      ]
    )
  })

  it("reads on after a finish reason that is not the last", () => {
    const { events } = read(
      chunk([{ text: "a" }], { finishReason: "STOP" }),
      chunk([{ text: "b" }], { finishReason: "MAX_TOKENS" })
    )
    assert.deepStrictEqual(events, [
      { _tag: "Text", text: "a" },
      { _tag: "Text", text: "b" },
      { _tag: "Finish", reason: "length" }
    ])
  })

  it("stops at an invalid chunk, after the events before it", () => {
    const busy = { error: { code: 429, message: "busy", status: "RESOURCE_EXHAUSTED" } }
    for (const [given, tag] of [
      ["nonsense", "Malformed"],
      [1, "Malformed"],
      [busy, "RateLimited"],
      [[busy], "RateLimited"],
      [finish("MALFORMED_FUNCTION_CALL"), "Malformed"]
    ] as const) {
      const { events, state } = read(chunk([{ text: "a" }]), given, chunk([{ text: "b" }]))
      assert.deepStrictEqual(events, [{ _tag: "Text", text: "a" }])
      assert.strictEqual(state.fault?._tag, tag)
    }
  })

  it("reports a block before the first text as refused, and a later one as content_filter", () => {
    const blocked = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: usageMetadata(0, 0) }
    for (const given of [blocked, finish("SAFETY")]) {
      assert.strictEqual(read(given).state.fault?._tag, "Refused")
      const { events, state } = read(chunk([{ text: "a" }]), given)
      assert.isUndefined(state.fault)
      assert.deepInclude(events, { _tag: "Finish", reason: "content_filter" })
    }
  })

  it("reports an event without an end as malformed", () => {
    const state = chatStreamFold("req_1")
    const block = bytesOf("x".repeat(1024 * 1024))
    for (let n = 0; n < 5; n++) state.push(block)
    assert.strictEqual(state.fault?._tag, "Malformed")
  })
})

import { assert, describe, it } from "@effect/vitest"
import type { OutputEvent } from "../../../src/domain/Output.ts"
import { responsesFold } from "../../../src/providers/openai/ResponsesStream.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const event = (type: string, more: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const text = (delta: string) => event("response.output_text.delta", { output_index: 1, delta })
const added = (output_index: number, item: object) => event("response.output_item.added", { output_index, item })
const done = (output_index: number, item: object) => event("response.output_item.done", { output_index, item })
const args = (output_index: number, delta: string) =>
  event("response.function_call_arguments.delta", { output_index, delta })
const call = (call_id: string, name: string, said = "") => ({ type: "function_call", call_id, name, arguments: said })
const completed = (more: object = {}) => event("response.completed", { response: { status: "completed", ...more } })

const fold = (pieces: ReadonlyArray<Uint8Array>) => {
  const state = responsesFold("req_1")
  const events = pieces.flatMap((piece) => [...state.push(piece)])
  return { state, events: [...events, ...state.end()] }
}

const read = (said: string) => fold([bytesOf(said)])

describe("responsesFold", () => {
  const transcript =
    event("response.created", { response: { status: "in_progress" } }) +
    added(0, { type: "reasoning", summary: [] }) +
    event("response.reasoning_summary_text.delta", { output_index: 0, delta: "hm→" }) +
    added(1, { type: "message", content: [] }) +
    text("Grüß ") +
    text("😀") +
    event("response.output_text.done", { output_index: 1, text: "Grüß 😀" }) +
    added(2, call("a", "f")) +
    args(2, '{"x":') +
    added(3, call("b", "g")) +
    args(2, "1}") +
    done(2, call("a", "f", '{"x":1}')) +
    done(3, call("b", "g", "")) +
    completed({ usage: { input_tokens: 5, output_tokens: 7 } })
  const expected: ReadonlyArray<OutputEvent> = [
    { _tag: "Reasoning", text: "hm→" },
    { _tag: "Text", text: "Grüß " },
    { _tag: "Text", text: "😀" },
    { _tag: "ToolStart", index: 0, id: "a", name: "f" },
    { _tag: "ToolDelta", index: 0, text: '{"x":' },
    { _tag: "ToolStart", index: 1, id: "b", name: "g" },
    { _tag: "ToolDelta", index: 0, text: "1}" },
    { _tag: "ToolDelta", index: 1, text: "{}" },
    { _tag: "Finish", reason: "tool_calls" },
    { _tag: "Usage", usage: { input: 5, cached: 0, cacheWrite: 0, output: 7, reasoning: 0 } }
  ]

  it("emits the same events wherever the bytes are split", () => {
    const bytes = bytesOf(transcript)
    for (let at = 0; at <= bytes.length; at++) {
      const { events, state } = fold([bytes.subarray(0, at), bytes.subarray(at)])
      assert.deepStrictEqual(events, expected, `split at byte ${at}`)
      assert.isTrue(state.done)
    }
  })

  it("reads a call that arrives complete in one event, and refusals", () => {
    const { events } = read(
      event("response.refusal.delta", { delta: "no" }) + done(0, call("a", "f", "{}")) + completed()
    )
    assert.deepStrictEqual(events, [
      { _tag: "Refusal", text: "no" },
      { _tag: "ToolStart", index: 0, id: "a", name: "f" },
      { _tag: "ToolDelta", index: 0, text: "{}" },
      { _tag: "Finish", reason: "tool_calls" }
    ])
  })

  it("reads commentary as reasoning, and also as the answer when there is no other", () => {
    const begun = (place: number, phase: string) => added(place, { type: "message", phase, content: [] })
    const aside =
      begun(0, "commentary") + event("response.output_text.delta", { output_index: 0, delta: "so?" }) + done(0, {})
    const reasoning = { _tag: "Reasoning", text: "so?" } as const
    const stop = { _tag: "Finish", reason: "stop" } as const
    const answered = [reasoning, { _tag: "Text", text: "so?" } as const, stop]
    assert.deepStrictEqual(read(aside + begun(1, "final_answer") + text("so?") + completed()).events, answered)
    assert.deepStrictEqual(read(aside + completed()).events, answered)
    assert.deepStrictEqual(read(aside + done(1, call("a", "f", "{}")) + completed()).events, [
      reasoning,
      { _tag: "ToolStart", index: 0, id: "a", name: "f" },
      { _tag: "ToolDelta", index: 0, text: "{}" },
      { _tag: "Finish", reason: "tool_calls" }
    ])
  })

  it("reports why an answer was cut short, and adds no arguments to a truncated call", () => {
    const response = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    const { events } = read(added(0, call("a", "f")) + event("response.incomplete", { response }))
    assert.deepStrictEqual(events.at(-1), { _tag: "Finish", reason: "length" })
    assert.strictEqual(events.length, 2)
  })

  it("does not end the stream before the host does", () => {
    const { events, state } = read(text("a"))
    assert.deepStrictEqual(events, [{ _tag: "Text", text: "a" }])
    assert.isFalse(state.done || state.stopped)
  })

  const failed = { status: "failed", error: { code: "server_error", message: "m" } }
  for (const [name, said] of [
    ["a failed response", event("response.failed", { response: failed })],
    ["an error", event("error", { code: "server_error", message: "m", param: null })],
    ["an error nested in an object", event("error", { error: { type: "server_error", message: "m" } })]
  ] as const) {
    it(`fails with ${name}, after the events before it`, () => {
      const { events, state } = read(text("a") + said + text("b"))
      assert.deepStrictEqual(events, [{ _tag: "Text", text: "a" }])
      assert.deepStrictEqual(state.fault, { _tag: "ServerError", status: 500, detail: "m" })
      assert.isFalse(state.done)
    })
  }

  it("reports an event that is not JSON as malformed", () => {
    assert.deepInclude(read("data: {\n\n").state.fault, { _tag: "Malformed" })
  })
})

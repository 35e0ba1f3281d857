import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ResponsesStreamEvent } from "../../../schemas/inference/ResponsesEvents.ts"
import { type Emit, MessageItem, ReasoningItem } from "../../../src/dialects/responses/ResponsesItems.ts"

const check = Schema.decodeUnknownSync(ResponsesStreamEvent, { onExcessProperty: "error" })
const REQUEST = "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"

/** Returns the emitted events without their numbers, each checked against the contract. */
const emitted = (run: (emit: Emit) => void): ReadonlyArray<object> => {
  const events: Array<object> = []
  run((type, members) => {
    const { sequence_number: _, ...event } = check(JSON.parse(`{"type":"${type}","sequence_number":0,${members}}`))
    events.push(event)
  })
  return events
}

describe("a message", () => {
  const id = "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV_2"
  const place = { item_id: id, output_index: 2, content_index: 0 }
  const item = { id, type: "message", role: "assistant" }
  const part = (text: string) => ({ type: "output_text", text, annotations: [] })

  it("is added empty, continues with deltas, and ends with its whole text", () => {
    let whole: object = {}
    const events = emitted((emit) => {
      const message = new MessageItem(emit, REQUEST, 2)
      message.say('a "b"\n', [])
      message.say("c", [{ token: "c" }])
      message.close("completed")
      whole = message.whole()
    })
    const text = 'a "b"\nc'
    const done = { ...item, status: "completed", content: [part(text)] }
    assert.deepStrictEqual(events, [
      { type: "response.output_item.added", output_index: 2, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...place, part: part("") },
      { type: "response.output_text.delta", ...place, delta: 'a "b"\n', logprobs: [] },
      { type: "response.output_text.delta", ...place, delta: "c", logprobs: [{ token: "c" }] },
      { type: "response.output_text.done", ...place, text, logprobs: [{ token: "c" }] },
      { type: "response.content_part.done", ...place, part: part(text) },
      { type: "response.output_item.done", output_index: 2, item: done }
    ])
    assert.deepStrictEqual(whole, done)
  })

  it("streams a refusal as a separate part, which is text in the whole message", () => {
    let whole: object = {}
    const events = emitted((emit) => {
      const message = new MessageItem(emit, REQUEST, 2)
      message.say("Well", [])
      message.refuse("no")
      message.close("incomplete")
      whole = message.whole()
    })
    const second = { ...place, content_index: 1 }
    assert.deepStrictEqual(events.slice(3), [
      { type: "response.output_text.done", ...place, text: "Well", logprobs: [] },
      { type: "response.content_part.done", ...place, part: part("Well") },
      { type: "response.content_part.added", ...second, part: { type: "refusal", refusal: "" } },
      { type: "response.refusal.delta", ...second, delta: "no" },
      { type: "response.refusal.done", ...second, refusal: "no" },
      { type: "response.content_part.done", ...second, part: { type: "refusal", refusal: "no" } },
      {
        type: "response.output_item.done",
        output_index: 2,
        item: { ...item, status: "incomplete", content: [part("Well"), { type: "refusal", refusal: "no" }] }
      }
    ])
    assert.deepStrictEqual(whole, { ...item, status: "incomplete", content: [part("Well"), part("no")] })
  })

  it("assigns log probabilities that arrive alone to the text before them", () => {
    const after = (run: (message: MessageItem) => void) =>
      emitted((emit) => {
        const message = new MessageItem(emit, REQUEST, 2)
        run(message)
        message.weigh([{ token: "a" }])
      }).at(-1)
    const alone = { type: "response.output_text.delta", ...place, delta: "", logprobs: [{ token: "a" }] }
    assert.deepStrictEqual(
      after((message) => message.say("a", [])),
      alone
    )
    assert.propertyVal(
      after((message) => message.refuse("a")),
      "type",
      "response.refusal.delta"
    )
    assert.propertyVal(
      after(() => undefined),
      "type",
      "response.output_item.added"
    )
  })
})

describe("reasoning", () => {
  it("is streamed as a summary of one part", () => {
    const id = "rs_01ARZ3NDEKTSV4RRFFQ69G5FAV_0"
    const place = { item_id: id, output_index: 0, summary_index: 0 }
    const part = { type: "summary_text", text: "hm so" }
    const events = emitted((emit) => {
      const reasoning = new ReasoningItem(emit, REQUEST, 0)
      reasoning.think("hm")
      reasoning.think(" so")
      reasoning.close("completed")
    })
    const item = { id, type: "reasoning" }
    assert.deepStrictEqual(events, [
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", summary: [] } },
      { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
      { type: "response.reasoning_summary_text.delta", ...place, delta: "hm" },
      { type: "response.reasoning_summary_text.delta", ...place, delta: " so" },
      { type: "response.reasoning_summary_text.done", ...place, text: "hm so" },
      { type: "response.reasoning_summary_part.done", ...place, part },
      { type: "response.output_item.done", output_index: 0, item: { ...item, status: "completed", summary: [part] } }
    ])
  })
})

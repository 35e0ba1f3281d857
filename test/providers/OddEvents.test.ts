/** Streams that encode calls and counts in unusual ways: every adapter's fold reads the same from them. */
import { assert, describe, it } from "@effect/vitest"
import { type Output, OutputFold } from "../../src/domain/Output.ts"
import { laterUsage } from "../../src/domain/Usage.ts"
import { chatStreamFold as anthropicFold } from "../../src/providers/anthropic/ChatStream.ts"
import type { ChatFold } from "../../src/providers/wire/EventSource.ts"
import { chatStreamFold as geminiFold } from "../../src/providers/gemini/ChatStream.ts"
import { chatStreamFold as openAiFold } from "../../src/providers/openai/ChatStream.ts"
import { responsesFold } from "../../src/providers/openai/ResponsesStream.ts"

/** The folded output of these events, of which the last has no blank line after it. */
const read = (fold: ChatFold, events: ReadonlyArray<object | string>): Output => {
  const output = new OutputFold()
  const text = events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("")
  for (const event of fold.push(new TextEncoder().encode(text.slice(0, -1)))) output.push(event)
  for (const event of fold.flush()) output.push(event)
  assert.isUndefined(fold.fault)
  assert.isTrue(fold.stopped)
  for (const event of fold.end()) output.push(event)
  return output.output()
}

const callsOf = ({ toolCalls }: Output) => toolCalls.map((call) => `${call.name} ${call.arguments}`)
const countsOf = ({ usage }: Output) => usage && [usage.input, usage.cached, usage.output]

const openAi = (...calls: ReadonlyArray<ReadonlyArray<object>>) =>
  read(openAiFold("req_1"), [
    ...calls.map((tool_calls) => ({ choices: [{ delta: { tool_calls } }] })),
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    "[DONE]"
  ])

const named = (name: string, more: object = {}) => ({ ...more, function: { name, arguments: "" } })
const said = (text: string, more: object = {}) => ({ ...more, function: { arguments: text } })

describe("tool calls that are distinguished only by position", () => {
  const rows: ReadonlyArray<readonly [name: string, deltas: ReadonlyArray<ReadonlyArray<object>>]> = [
    [
      "without ids and indexes",
      [
        [named("f"), named("g")],
        [said('{"a":'), said('{"b":')],
        [said("1}"), said("2}")]
      ]
    ],
    [
      "with one name",
      [
        [named("f"), named("f")],
        [said('{"a":1}'), said('{"b":2}')]
      ]
    ],
    [
      "under one index",
      [
        [named("f", { index: 0 }), named("g", { index: 0 })],
        [said('{"a":1}', { index: 0 }), said('{"b":2}', { index: 0 })]
      ]
    ],
    [
      "with ids that come once",
      [
        [named("f", { id: "x" }), named("g", { id: "y" })],
        [said('{"a":1}'), said('{"b":2}')]
      ]
    ],
    [
      "complete, in one list after the other",
      [[{ function: { name: "f", arguments: '{"a":1}' } }], [{ function: { name: "g", arguments: '{"b":2}' } }]]
    ],
    [
      "with indexes that are strings",
      [
        [named("f", { index: "0" })],
        [named("g", { index: "1" })],
        [said('{"a":1}', { index: "0" })],
        [said('{"b":2}', { index: "1" })]
      ]
    ]
  ]
  for (const [name, deltas] of rows) {
    it(`are distinguished by OpenAI's chat: ${name}`, () => {
      const second = name === "with one name" ? "f" : "g"
      assert.deepStrictEqual(callsOf(openAi(...deltas)), ['f {"a":1}', `${second} {"b":2}`])
    })
  }

  it("are distinguished by Anthropic's Messages API, whose deltas have other indexes than their blocks or none", () => {
    const block = (name: string, index?: number) => ({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", name, input: {} }
    })
    const delta = (partial_json: string, index?: number) => ({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json }
    })
    const end = [{ type: "message_delta", delta: { stop_reason: "tool_use" } }, { type: "message_stop" }]
    for (const [first, second, at] of [
      [undefined, undefined, undefined],
      [0, 1, undefined],
      [1, 2, 0]
    ] as const) {
      const events = [block("f", first), delta('{"a":1}', at), { type: "content_block_stop", index: first }]
      const more = [block("g", second), delta('{"b":2}', at), { type: "content_block_stop", index: second }]
      assert.deepStrictEqual(callsOf(read(anthropicFold("req_1"), [...events, ...more, ...end])), [
        'f {"a":1}',
        'g {"b":2}'
      ])
    }
  })

  it("are distinguished by the Responses API by their ids, when they share an index or have none", () => {
    const item = (id: string, name: string, given = "") => ({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: given
    })
    for (const output_index of [0, undefined]) {
      const events = [
        { type: "response.output_item.added", output_index, item: item("a", "f") },
        { type: "response.function_call_arguments.delta", output_index, item_id: "fc_a", delta: '{"a":1}' },
        { type: "response.output_item.done", output_index, item: item("a", "f", '{"a":1}') },
        { type: "response.output_item.added", output_index, item: item("b", "g") },
        { type: "response.function_call_arguments.delta", output_index, item_id: "fc_b", delta: '{"b":2}' },
        { type: "response.output_item.done", output_index, item: item("b", "g", '{"b":2}') },
        { type: "response.completed", response: { status: "completed" } }
      ]
      assert.deepStrictEqual(callsOf(read(responsesFold("req_1"), events)), ['f {"a":1}', 'g {"b":2}'])
    }
  })
})

describe("content that arrives only at the end of an item or of the response", () => {
  const item = { type: "function_call", call_id: "a", name: "f", arguments: "" }
  const added = { type: "response.output_item.added", output_index: 0, item }
  const full = { ...item, arguments: '{"a":1}' }
  const done = { type: "response.output_item.done", output_index: 0, item: full }
  const argued = { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":1}' }
  const half = { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"a"' }
  const completed = (...output: ReadonlyArray<object>) => ({
    type: "response.completed",
    response: { status: "completed", output }
  })
  for (const [name, events] of [
    ["arguments in their done event", [added, argued, completed()]],
    ["arguments in all events", [added, half, argued, done, completed(full)]],
    ["arguments that the deltas contain in part", [added, half, argued, completed()]],
    ["arguments in the item", [added, done, completed()]],
    ["arguments in the response", [added, completed(full)]],
    ["the call in the item", [done, completed()]],
    ["the call in the response", [completed(full)]]
  ] as const) {
    it(`is read once: ${name}`, () => {
      assert.deepStrictEqual(callsOf(read(responsesFold("req_1"), events)), ['f {"a":1}'])
    })
  }

  const message = { type: "message", content: [{ type: "output_text", text: "hello" }] }
  const thought = { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] }
  const delta = { type: "response.output_text.delta", output_index: 1, delta: "hello" }
  const text = { type: "response.output_text.done", output_index: 1, text: "hello" }
  const thinking = { type: "response.reasoning_summary_text.done", output_index: 0, text: "hm" }
  const items = [
    { type: "response.output_item.done", output_index: 0, item: thought },
    { type: "response.output_item.done", output_index: 1, item: message }
  ]
  for (const [name, events] of [
    ["text in its done event", [thinking, text, completed()]],
    ["text in all events", [thinking, delta, text, ...items, completed(thought, message)]],
    ["text in the items", [...items, completed()]],
    ["text in the response", [completed(thought, message)]]
  ] as const) {
    it(`is read once: ${name}`, () => {
      const output = read(responsesFold("req_1"), events)
      assert.deepStrictEqual([output.reasoning, output.text], ["hm", "hello"])
    })
  }
})

describe("a usage of zero after a count", () => {
  it("keeps the prompt counts and the output counts", () => {
    const count = { input: 5, cached: 2, cacheWrite: 1, output: 7, reasoning: 3 }
    const none = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 }
    assert.deepStrictEqual(laterUsage(count, none), count)
    assert.deepStrictEqual(laterUsage(undefined, none), none)
    assert.deepStrictEqual(laterUsage(count, { ...none, output: 9 }), { ...count, output: 9, reasoning: 0 })
    assert.deepStrictEqual(laterUsage(count, { ...none, input: 6 }), { ...count, input: 6, cached: 0, cacheWrite: 0 })
  })

  it("keeps the earlier count in every adapter", () => {
    const chat = (prompt_tokens: number, completion_tokens: number) => ({
      choices: [],
      usage: { prompt_tokens, completion_tokens }
    })
    const stop = { choices: [{ delta: { content: "a" }, finish_reason: "stop" }] }
    const start = { type: "message_start", message: { usage: { input_tokens: 5, output_tokens: 1 } } }
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } }
    const delta = (input_tokens: number, output_tokens: number) => ({
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens, output_tokens }
    })
    const part = { content: { parts: [{ text: "a" }] }, finishReason: "STOP" }
    const gemini = (promptTokenCount: number, candidatesTokenCount: number) => ({
      candidates: [part],
      usageMetadata: { promptTokenCount, candidatesTokenCount }
    })
    const told = [
      read(openAiFold("req_1"), [chat(5, 7), stop, chat(0, 0)]),
      read(anthropicFold("req_1"), [start, block, delta(0, 7), delta(0, 0), { type: "message_stop" }]),
      read(geminiFold("req_1"), [gemini(5, 7), gemini(0, 0)])
    ]
    for (const output of told) assert.deepStrictEqual(countsOf(output), [5, 0, 7])
  })
})

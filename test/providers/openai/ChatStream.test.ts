import { assert, describe, it } from "@effect/vitest"
import type { OutputEvent } from "../../../src/domain/Output.ts"
import { chatStreamFold } from "../../../src/providers/openai/ChatStream.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const data = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: unknown, more: object = {}) => data({ choices: [{ index: 0, delta, ...more }] })
const call = (delta: object) => chunk({ tool_calls: [delta] })
const finish = (reason: string) => chunk({}, { finish_reason: reason })
const DONE = data("[DONE]")

const fold = (pieces: ReadonlyArray<Uint8Array>) => {
  const state = chatStreamFold("req_1")
  const events = pieces.flatMap((piece) => [...state.push(piece)])
  return { state, events: [...events, ...state.end()] }
}

const read = (text: string) => fold([bytesOf(text)])

const told = (text: string) => read(text).events

describe("chatStreamFold", () => {
  const transcript =
    chunk({ role: "assistant", content: "" }) +
    ": keep-alive\n\n" +
    chunk({ reasoning_content: "hm→" }) +
    chunk({ content: "Grüß 😀" }, { logprobs: { content: [{ token: "G" }] } }) +
    call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }) +
    call({ index: 0, function: { arguments: '{"x":' } }) +
    call({ index: 1, id: "b", type: "function", function: { name: "g", arguments: "" } }) +
    call({ index: 0, function: { arguments: "1}" } }) +
    call({ index: 1, function: { arguments: "{}" } }) +
    finish("tool_calls") +
    data({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } }) +
    DONE
  const expected: ReadonlyArray<OutputEvent> = [
    { _tag: "Reasoning", text: "hm→" },
    { _tag: "ReasoningEnd", data: { field: "reasoning_content" } },
    { _tag: "Text", text: "Grüß 😀" },
    { _tag: "Logprobs", content: [{ token: "G" }] },
    { _tag: "ToolStart", index: 0, id: "a", name: "f" },
    { _tag: "ToolDelta", index: 0, text: '{"x":' },
    { _tag: "ToolStart", index: 1, id: "b", name: "g" },
    { _tag: "ToolDelta", index: 0, text: "1}" },
    { _tag: "ToolDelta", index: 1, text: "{}" },
    { _tag: "Finish", reason: "tool_calls" },
    { _tag: "Usage", usage: { input: 5, cached: 0, cacheWrite: 0, output: 7, reasoning: 0 } }
  ]

  it("reports the stop sequence that ended the stream", () => {
    const ended = chunk({ content: "a" }) + chunk({}, { finish_reason: "stop", stop_reason: "END" }) + DONE
    assert.deepStrictEqual(told(ended).at(-1), { _tag: "Finish", reason: "stop", stopSequence: "END" })
  })

  for (const [name, text] of [
    ["line feeds", transcript],
    ["carriage returns and line feeds", transcript.replaceAll("\n", "\r\n")]
  ] as const) {
    it(`emits the same events wherever the bytes are split, with ${name}`, () => {
      const bytes = bytesOf(text)
      for (let at = 0; at <= bytes.length; at++) {
        const { events, state } = fold([bytes.subarray(0, at), bytes.subarray(at)])
        assert.deepStrictEqual(events, expected, `split at byte ${at}`)
        assert.isTrue(state.done)
      }
    })
  }

  it("reads reasoning under its other name, refusals, and content parts", () => {
    assert.deepStrictEqual(
      told(chunk({ reasoning: "r" }) + chunk({ refusal: "no" }) + chunk({ content: [{ type: "text", text: "p" }] })),
      [
        { _tag: "Reasoning", text: "r" },
        { _tag: "ReasoningEnd", data: { field: "reasoning" } },
        { _tag: "Refusal", text: "no" },
        { _tag: "Text", text: "p" }
      ]
    )
  })

  it("reads Mistral's thinking parts in the content as reasoning", () => {
    const reasoning = (text: string) => chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] })
    assert.deepStrictEqual(told(chunk({ content: "" }) + reasoning("h") + reasoning("m") + chunk({ content: "a" })), [
      { _tag: "Reasoning", text: "h" },
      { _tag: "Reasoning", text: "m" },
      { _tag: "ReasoningEnd", data: { field: "content" } },
      { _tag: "Text", text: "a" }
    ])
  })

  const tools: ReadonlyArray<
    readonly [string, string, ReadonlyArray<readonly [id: string, name: string, text: string]>]
  > = [
    [
      "ids and names that come with every delta",
      call({ index: 0, id: "a", function: { name: "f", arguments: "1" } }) +
        call({ index: 0, id: "a", function: { name: "f", arguments: "2" } }),
      [["a", "f", "12"]]
    ],
    [
      "calls without an index, distinguished by their ids",
      call({ id: "a", function: { name: "f", arguments: "1" } }) +
        call({ id: "b", function: { name: "f", arguments: "2" } }) +
        call({ function: { arguments: "3" } }) +
        call({ id: "a", function: { arguments: "4" } }),
      [
        ["a", "f", "14"],
        ["b", "f", "23"]
      ]
    ],
    [
      "calls with neither index nor id, distinguished by their names",
      call({ function: { name: "f", arguments: "1" } }) +
        call({ function: { arguments: "2" } }) +
        call({ function: { name: "g", arguments: "3" } }),
      [
        ["call_req1_0", "f", "12"],
        ["call_req1_1", "g", "3"]
      ]
    ],
    [
      "calls of the same name with neither index nor id, distinguished by the end of their arguments",
      chunk({ tool_calls: [1, 2].map((x) => ({ function: { name: "f", arguments: `{"x":${x}}` } })) }),
      [
        ["call_req1_0", "f", '{"x":1}'],
        ["call_req1_1", "f", '{"x":2}']
      ]
    ],
    [
      "complete calls that share one index and have no id",
      call({ index: 0, id: "", function: { name: "f", arguments: "{}" } }) +
        call({ index: 0, id: "", function: { name: "g", arguments: '{"y":1}' } }) +
        call({ index: 0, id: "", function: { name: "g", arguments: '{"y":2}' } }),
      [
        ["call_req1_0", "f", "{}"],
        ["call_req1_1", "g", '{"y":1}'],
        ["call_req1_2", "g", '{"y":2}']
      ]
    ],
    [
      "a name repeated in every delta of a call without an id",
      call({ index: 0, function: { name: "f", arguments: '{"x":"{}' } }) +
        call({ index: 0, function: { name: "f", arguments: '{}"}' } }) +
        call({ index: 0, function: { name: "f", arguments: "\n" } }) +
        call({ index: 0, function: { name: "f" } }),
      [["call_req1_0", "f", '{"x":"{}{}"}\n']]
    ],
    [
      "several calls under one index",
      call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }) +
        call({ index: 0, id: "b", function: { name: "f", arguments: "[]" } }),
      [
        ["a", "f", "{}"],
        ["b", "f", "[]"]
      ]
    ],
    [
      "a name that arrives after the id and the arguments",
      call({ index: 0, id: "a", function: { arguments: "1" } }) +
        call({ index: 0, function: { name: "f" } }) +
        call({ index: 0, function: { arguments: "2" } }),
      [["a", "f", "12"]]
    ],
    [
      "two calls in one delta, with arguments as JSON objects",
      chunk({ tool_calls: [{ function: { name: "f", arguments: { x: 1 } } }, { function: { name: "g" } }] }),
      [
        ["call_req1_0", "f", '{"x":1}'],
        ["call_req1_1", "g", "{}"]
      ]
    ],
    [
      "the legacy function_call field",
      chunk({ function_call: { name: "f", arguments: "" } }) + chunk({ function_call: { arguments: "{}" } }),
      [["call_req1_0", "f", "{}"]]
    ]
  ]
  it("emits empty arguments when a host sends none, unless the call is truncated", () => {
    const calls =
      call({ index: 0, id: "a", function: { name: "f", arguments: "" } }) +
      call({ index: 1, id: "b", function: { name: "g", arguments: '{"x":1}' } })
    const argued = (reason: string) =>
      told(calls + finish(reason) + DONE).flatMap((event) => (event._tag === "ToolDelta" ? [event.text] : []))
    assert.deepStrictEqual(argued("tool_calls"), ['{"x":1}', "{}"])
    assert.deepStrictEqual(argued("length"), ['{"x":1}'])
  })

  for (const [name, text, calls] of tools) {
    it(`reads ${name}`, () => {
      const events = told(text + finish("stop"))
      const starts = events.filter((event) => event._tag === "ToolStart")
      const made = starts.map((start, index) => {
        assert.strictEqual(start.index, index)
        const deltas = events.filter((event) => event._tag === "ToolDelta" && event.index === index)
        assert.notInclude(
          deltas.map((delta) => (delta as { text: string }).text),
          ""
        )
        return [start.id, start.name, deltas.map((delta) => (delta as { text: string }).text).join("")]
      })
      assert.deepStrictEqual<unknown>(made, calls)
      assert.deepStrictEqual(events.at(-1), { _tag: "Finish", reason: "tool_calls" })
    })
  }

  it("keeps the last of several usage reports, including one before the finish reason", () => {
    const counted = (completion: number) => ({ usage: { prompt_tokens: 1, completion_tokens: completion } })
    const text =
      data({ choices: [{ delta: { content: "a" } }], ...counted(1) }) +
      data({ choices: [{ delta: { content: "b" } }], ...counted(2) }) +
      data({ choices: [{ delta: {}, finish_reason: "stop" }], usage: null })
    assert.deepStrictEqual(told(text).slice(-2), [
      { _tag: "Finish", reason: "stop" },
      { _tag: "Usage", usage: { input: 1, cached: 0, cacheWrite: 0, output: 2, reasoning: 0 } }
    ])
  })

  it("emits prompt usage that arrives before the finish, and again after a change", () => {
    const counted = (usage: object) => data({ choices: [{ delta: { content: "a" } }], usage })
    const text =
      counted({ prompt_tokens: 9, completion_tokens: 0 }) +
      counted({ prompt_tokens: 9, completion_tokens: 1 }) +
      counted({ prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } }) +
      finish("stop") +
      data({ choices: [], usage: { prompt_tokens: 8, completion_tokens: 3 } })
    const said: OutputEvent = { _tag: "Text", text: "a" }
    assert.deepStrictEqual(told(text), [
      { _tag: "PromptUsage", usage: { input: 9, cached: 0, cacheWrite: 0 } },
      said,
      said,
      { _tag: "PromptUsage", usage: { input: 5, cached: 4, cacheWrite: 0 } },
      said,
      { _tag: "Finish", reason: "stop" },
      { _tag: "Usage", usage: { input: 8, cached: 0, cacheWrite: 0, output: 3, reasoning: 0 } }
    ])
  })

  it("reports whether the host has stopped and ended the stream", () => {
    const states = ["", chunk({ content: "a" }), finish("eos"), DONE].map((text) => read(text).state)
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

  it("ignores events after [DONE]", () => {
    assert.deepStrictEqual(told(DONE + chunk({ content: "late" })), [])
  })

  it("stops at an invalid chunk or a host's error, after the events before it", () => {
    for (const [text, tag] of [
      ["data: nonsense\n\n", "Malformed"],
      ["data: []\n\n", "Malformed"],
      [data({ error: { message: "busy", code: 429 } }), "RateLimited"],
      [finish("insufficient_system_resource"), "ServerError"]
    ] as const) {
      const { events, state } = read(chunk({ content: "a" }) + text + chunk({ content: "b" }))
      assert.deepStrictEqual(events, [{ _tag: "Text", text: "a" }])
      assert.strictEqual(state.fault?._tag, tag)
    }
  })

  it("reports an event without an end as malformed", () => {
    const state = chatStreamFold("req_1")
    const block = bytesOf("x".repeat(1024 * 1024))
    for (let n = 0; n < 5; n++) state.push(block)
    assert.strictEqual(state.fault?._tag, "Malformed")
  })
})

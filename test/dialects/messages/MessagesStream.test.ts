import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MessagesStreamEvent } from "../../../schemas/inference/MessagesAnswer.ts"
import { encodeMessage } from "../../../src/dialects/messages/MessagesEncode.ts"
import { MessagesStreamEncoder } from "../../../src/dialects/messages/MessagesStream.ts"
import { failure } from "../../../src/domain/Failure.ts"
import { eventsOf, type Output, OutputFold, type OutputEvent } from "../../../src/domain/Output.ts"
import { describe as describeFailure } from "../../../src/http/Failures.ts"
import type { StreamItem } from "../../../src/domain/Answer.ts"
import { answerWith } from "../chat/answer.ts"

const check = Schema.decodeUnknownSync(MessagesStreamEvent, { onExcessProperty: "error" })

const encode = (items: ReadonlyArray<StreamItem>, showsThinking = true): string => {
  const encoder = new MessagesStreamEncoder({
    requestId: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    created: 1_700_000_000,
    model: "gpt-4o",
    inputTokens: 42,
    showsThinking,
    describe: describeFailure
  })
  return items.map((item) => encoder.encode(item)).join("")
}

/** Returns the events of a stream, each checked against the contract. */
const eventsIn = (text: string): ReadonlyArray<MessagesStreamEvent> => {
  assert.isTrue(text.endsWith("\n\n"))
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((frame) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? assert.fail(frame)
      const event = check(JSON.parse(data!))
      assert.strictEqual(event.type, name)
      return event
    })
}

const events = (...all: ReadonlyArray<OutputEvent>): StreamItem => ({ _tag: "Events", events: all })
const text = (text: string): OutputEvent => ({ _tag: "Text", text })
const thought = (text: string): OutputEvent => ({ _tag: "Reasoning", text })
const refusal = (text: string): OutputEvent => ({ _tag: "Refusal", text })
const start = (index: number): OutputEvent => ({ _tag: "ToolStart", index, id: `call_${index}`, name: `tool_${index}` })
const args = (index: number, text: string): OutputEvent => ({ _tag: "ToolDelta", index, text })

type Delta = Extract<MessagesStreamEvent, { readonly type: "content_block_delta" }>["delta"]

/** Returns the text of a delta. Brackets mark a signature. */
const saidBy = (delta: Delta): string => {
  switch (delta.type) {
    case "text_delta":
      return delta.text
    case "thinking_delta":
      return delta.thinking
    case "signature_delta":
      return `[${delta.signature}]`
    case "input_json_delta":
      return delta.partial_json
  }
}

const endOf = (all: ReadonlyArray<OutputEvent>) => {
  const { finish, stopSequence } = foldOf(all)
  return { finish, stopSequence }
}

const foldOf = (all: ReadonlyArray<OutputEvent>) => {
  const fold = new OutputFold()
  for (const event of all) fold.push(event)
  return fold.output()
}

/** Returns the blocks of a stream, and checks that each is closed before the next and that their indexes are in order. */
const blocksOf = (all: ReadonlyArray<MessagesStreamEvent>) => {
  const blocks: Array<{ type: string; said: string; name?: string }> = []
  let open = false
  for (const event of all) {
    if (event.type === "content_block_start") {
      assert.strictEqual(event.index, blocks.length)
      assert.isFalse(open, "the previous block is still open")
      open = true
      const { content_block: block } = event
      blocks.push({
        type: block.type,
        said: "",
        ...(block.type === "tool_use" ? { name: block.name } : {})
      })
    } else if (event.type === "content_block_delta") {
      assert.strictEqual(event.index, blocks.length - 1)
      assert.isTrue(open)
      const { delta } = event
      blocks.at(-1)!.said += saidBy(delta)
    } else if (event.type === "content_block_stop") {
      assert.strictEqual(event.index, blocks.length - 1)
      open = false
    }
  }
  assert.isFalse(open)
  return blocks
}

/** Returns the stream of these events, encoded one at a time to the end. */
const streamed = (all: ReadonlyArray<OutputEvent>) =>
  // The encoder reads only the finish of the answer.
  eventsIn(encode([...all.map((event) => events(event)), { _tag: "End", answer: answerWith(endOf(all)) }]))

const { usage, ...said } = encodeMessage(answerWith({}), true)
const { cost_usd, provider, request_id, resolved_model, routing } = said
const extras = { usage, cost_usd, request_id, provider, resolved_model, routing }

describe("a stream of events", () => {
  it("goes from message_start to message_stop, byte for byte", () => {
    const items: ReadonlyArray<StreamItem> = [
      events(text("Hel"), text('lo "you"\n😀')),
      { _tag: "KeepAlive" },
      { _tag: "End", answer: answerWith({ text: 'Hello "you"\n😀', finish: "stop" }) }
    ]
    const frames = [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_01ARZ3NDEKTSV4RRFFQ69G5FAV","type":"message",' +
        '"role":"assistant","model":"gpt-4o","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":42,' +
        '"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},' +
        '"output_tokens":0,"output_tokens_details":{"thinking_tokens":0}}}}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo \\"you\\"\\n😀"}}',
      'event: ping\ndata: {"type":"ping"}',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
      `event: message_delta\ndata: ${JSON.stringify({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, ...extras })}`,
      'event: message_stop\ndata: {"type":"message_stop"}'
    ]
    assert.strictEqual(encode(items), frames.map((frame) => `${frame}\n\n`).join(""))
    eventsIn(encode(items))
  })

  it("sends no event for prompt usage that precedes the answer", () => {
    const prompt: OutputEvent = { _tag: "PromptUsage", usage: { input: 1, cached: 2, cacheWrite: 3 } }
    assert.deepStrictEqual(streamed([prompt, text("a")]), streamed([text("a")]))
  })

  it("closes a block and opens another whenever the kind of output changes", () => {
    const all = [thought("a"), thought("b"), text("c"), refusal("d"), start(0), args(0, "{"), args(0, "}"), text("e")]
    const blocks = blocksOf(streamed([...all, { _tag: "Finish", reason: "tool_calls" }]))
    assert.deepStrictEqual(blocks, [
      { type: "thinking", said: "ab" },
      { type: "text", said: "c" },
      { type: "text", said: "d" },
      { type: "tool_use", said: "{}", name: "tool_0" },
      { type: "text", said: "e" }
    ])
  })

  it("streams one call after another as they arrive", () => {
    const all = [start(0), args(0, '{"a":'), args(0, "1}"), start(1), args(1, "{}"), start(2), args(2, "{}")]
    const types = streamed(all).map(({ type }) => type.replace("content_block_", ""))
    const call = ["start", "delta", "stop"]
    assert.deepStrictEqual(types, [
      "message_start",
      "start",
      "delta",
      ...call.slice(1),
      ...call,
      ...call,
      "message_delta",
      "message_stop"
    ])
  })

  it("sends calls with interleaved arguments one after another, and what follows them at the end", () => {
    const all = [
      text("x"),
      start(0),
      start(1),
      args(0, '{"a"'),
      args(1, '{"b":2'),
      args(0, ":1}"),
      start(2),
      text("y"),
      args(1, "}"),
      args(2, '{"c":3}'),
      args(0, " ")
    ]
    const seen = streamed(all)
    assert.deepStrictEqual(blocksOf(seen), [
      { type: "text", said: "x" },
      { type: "tool_use", said: '{"a":1} ', name: "tool_0" },
      { type: "tool_use", said: '{"b":2}', name: "tool_1" },
      { type: "tool_use", said: '{"c":3}', name: "tool_2" },
      { type: "text", said: "y" }
    ])
  })

  it("has the same blocks as the whole answer, in the order in which they arrived", () => {
    const all = [
      thought("a"),
      text("b"),
      thought("c"),
      text("d"),
      start(0),
      args(0, "{}"),
      text("e"),
      thought("f"),
      start(1),
      args(1, "{}")
    ]
    const folded = new OutputFold()
    for (const event of all) folded.push(event)
    const output = JSON.parse(JSON.stringify(folded.output())) as Output
    for (const shows of [true, false]) {
      const whole = encodeMessage(answerWith(output), shows).content.map(({ type }) => type)
      const kinds = (one: ReadonlyArray<OutputEvent>) =>
        blocksOf(eventsIn(encode([events(...one), { _tag: "End", answer: answerWith(endOf(all)) }], shows)))
      assert.deepStrictEqual(
        kinds(all).map(({ type }) => type),
        whole
      )
      assert.deepStrictEqual(kinds(eventsOf(output)), kinds(all))
    }
  })

  it("closes calls with missing or broken arguments, and drops blanks that arrive too late", () => {
    assert.deepStrictEqual(blocksOf(streamed([start(0), start(1), args(1, '{"b":')])), [
      { type: "tool_use", said: "", name: "tool_0" },
      { type: "tool_use", said: '{"b":', name: "tool_1" }
    ])
    assert.deepStrictEqual(blocksOf(streamed([start(0), args(0, "{}"), start(1), args(0, " "), args(1, "{}")])), [
      { type: "tool_use", said: "{}", name: "tool_0" },
      { type: "tool_use", said: "{}", name: "tool_1" }
    ])
  })

  it("wraps arguments that are not an object in one, as the whole answer does", () => {
    const all = ["[1", ",2]", " ", " {", "}", "", "hello"]
    const calls: ReadonlyArray<ReadonlyArray<string>> = [
      all.slice(0, 2),
      all.slice(2, 5),
      all.slice(5, 6),
      all.slice(6)
    ]
    const events = calls.flatMap((texts, index) => [start(index), ...texts.map((text) => args(index, text))])
    const whole = encodeMessage(answerWith(foldOf(events)), true).content
    const inputs = whole.map((block) => (block.type === "tool_use" ? block.input : assert.fail(block.type)))
    assert.deepStrictEqual(inputs, [{ arguments: "[1,2]" }, {}, {}, { arguments: "hello" }])
    const said = blocksOf(streamed(events)).map((block) => JSON.parse(block.said === "" ? "{}" : block.said))
    assert.deepStrictEqual(said, inputs)
  })

  it("loses nothing that follows calls whose arguments are not objects", () => {
    const all = [
      start(0),
      start(1),
      args(0, "null"),
      text("a"),
      start(2),
      args(2, "[1]"),
      thought("b"),
      start(3),
      args(3, '{"c":'),
      refusal("no")
    ]
    const seen = streamed(all)
    const whole = encodeMessage(answerWith(foldOf(all)), true)
    assert.deepStrictEqual(
      blocksOf(seen).map(({ type }) => type),
      whole.content.map(({ type }) => type)
    )
    const last = seen.at(-2)
    assert.strictEqual(last?.type === "message_delta" && last.delta.stop_reason, whole.stop_reason)
  })

  it("signs thinking where it ends, as the whole answer does", () => {
    const end = (seal: string) => ({ _tag: "ReasoningEnd", seal }) as const
    const first = [thought("a"), end("one"), text("b")]
    const finish = { _tag: "Finish", reason: "stop" } as const
    const cases: ReadonlyArray<ReadonlyArray<OutputEvent>> = [
      [...first, finish],
      // Without a later call the second seal has no use.
      [...first, end("two"), finish],
      [...first, end("two"), start(0), args(0, "{}"), finish],
      [end("one"), start(0), args(0, "{}"), end("two"), start(1), args(1, "{}"), finish],
      [start(0), args(0, '{"a":'), end("two"), args(0, "1}"), finish]
    ]
    for (const shows of [true, false]) {
      for (const all of cases) {
        const items: ReadonlyArray<StreamItem> = [events(...all), { _tag: "End", answer: answerWith(endOf(all)) }]
        const { content } = encodeMessage(answerWith(foldOf(all)), shows)
        const blocks = blocksOf(eventsIn(encode(items, shows))).map(({ said, type }) => [type, said])
        const whole = content.map((block) => {
          if (block.type === "thinking") return [block.type, `${block.thinking}[${block.signature}]`]
          if (block.type === "tool_use") return [block.type, JSON.stringify(block.input)]
          return [block.type, block.type === "text" ? block.text : ""]
        })
        assert.deepStrictEqual(blocks, whole, JSON.stringify(all))
      }
    }
  })

  it("omits empty texts, log probabilities, and the text of thinking that the request does not want", () => {
    const all: ReadonlyArray<OutputEvent> = [thought("a"), text(""), { _tag: "Logprobs", content: [1] }, text("b")]
    const end: StreamItem = { _tag: "End", answer: answerWith(endOf(all)) }
    assert.deepStrictEqual(blocksOf(eventsIn(encode([events(...all), end], false))), [
      { type: "thinking", said: "" },
      { type: "text", said: "b" }
    ])
    assert.deepStrictEqual(
      eventsIn(encode([end])).map(({ type }) => type),
      ["message_start", "message_delta", "message_stop"]
    )
  })

  it("ends with an error event when it breaks, and nothing more", () => {
    const failed = failure({ _tag: "UpstreamError", detail: "lost" })
    const seen = eventsIn(encode([events(text("a")), { _tag: "Error", failure: failed, cost: 3_000n }]))
    assert.deepStrictEqual(seen.at(-1), {
      type: "error",
      error: { ...describeFailure(failed), type: "api_error" },
      request_id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      cost_usd: 0.000003
    })
    assert.deepStrictEqual(
      seen.map(({ type }) => type),
      ["message_start", "content_block_start", "content_block_delta", "error"]
    )
  })

  it("derives the stop reason from the events that it sent", () => {
    const reasonOf = (...all: ReadonlyArray<OutputEvent>) => {
      const last = streamed(all).at(-2)
      return last?.type === "message_delta" ? [last.delta.stop_reason, last.delta.stop_sequence] : assert.fail()
    }
    const finish = (reason: "stop" | "length", stopSequence?: string): OutputEvent =>
      stopSequence === undefined ? { _tag: "Finish", reason } : { _tag: "Finish", reason, stopSequence }
    assert.deepStrictEqual(reasonOf(start(0), finish("stop")), ["tool_use", null])
    assert.deepStrictEqual(reasonOf(refusal("no"), finish("stop")), ["refusal", null])
    assert.deepStrictEqual(reasonOf(text("a"), finish("stop", "END")), ["stop_sequence", "END"])
    assert.deepStrictEqual(reasonOf(start(0), finish("length")), ["max_tokens", null])
  })

  it("has the content of the whole message", () => {
    const all = [
      thought("a"),
      text("b"),
      start(0),
      args(0, '{"x":1}'),
      { _tag: "Finish", reason: "tool_calls" } as const
    ]
    const whole = encodeMessage(answerWith(foldOf(all)), true)
    const blocks = blocksOf(streamed(all)).map(({ said, type }) => [type, said])
    assert.deepStrictEqual(
      blocks,
      whole.content.map((block) => [
        block.type,
        block.type === "text"
          ? block.text
          : block.type === "thinking"
            ? block.thinking
            : block.type === "tool_use"
              ? JSON.stringify(block.input)
              : block.data
      ])
    )
  })
})

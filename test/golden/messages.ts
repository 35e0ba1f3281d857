/** Anthropic's messages. */
import { assert } from "@effect/vitest"
import { type Call, MAX_TOKENS, type Question, type Turn } from "./cases.ts"
import { type Dialect, inputOf, type Json, type Said, type WireEvent } from "./dialect.ts"

const blocksOf = (turn: Turn): ReadonlyArray<object> => {
  switch (turn.role) {
    case "user": {
      const text = { type: "text", text: turn.text }
      if (turn.image === undefined) return [text]
      const { data, type } = turn.image
      return [text, { type: "image", source: { type: "base64", media_type: type, data } }]
    }
    case "assistant": {
      const calls = turn.calls.map((call: Call) => ({ type: "tool_use", ...call }))
      return [{ type: "text", text: turn.text }, ...calls]
    }
    case "tool":
      return [{ type: "tool_result", tool_use_id: turn.callId, content: turn.text }]
  }
}

const systemOf = ({ cached, system }: Question): object => {
  if (system === undefined) return {}
  const block = { type: "text", text: system, cache_control: { type: "ephemeral" } }
  return { system: cached === undefined ? system : [block] }
}

const ask = (question: Question, model: string, stream: boolean): object => {
  const { mustCall, parallel, schema, stop, thinking, tools, turns } = question
  return {
    model,
    max_tokens: MAX_TOKENS,
    ...systemOf(question),
    messages: turns.map((turn) => ({ role: turn.role === "tool" ? "user" : turn.role, content: blocksOf(turn) })),
    ...(tools === undefined
      ? {}
      : { tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })) }),
    ...(mustCall === undefined
      ? {}
      : {
          tool_choice: { type: "any", ...(parallel === undefined ? {} : { disable_parallel_tool_use: false }) }
        }),
    ...(schema === undefined ? {} : { output_config: { format: { type: "json_schema", schema } } }),
    ...(thinking === undefined ? {} : { thinking: { type: "enabled", budget_tokens: thinking } }),
    ...(stop === undefined ? {} : { stop_sequences: stop }),
    ...(stream ? { stream } : {})
  }
}

/** The type and the text field of a delta, by the type of its block. */
const deltas: Readonly<Record<string, readonly [type: string, member: string]>> = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  tool_use: ["input_json_delta", "partial_json"]
}

/** Returns a block with its joined deltas. */
const closed = (block: Json, text: string): Json => {
  if (block.type === "redacted_thinking") return block
  if (block.type === "tool_use") return { ...block, input: text === "" ? {} : inputOf(text) }
  return { ...block, [block.type]: text }
}

/** Joins the blocks of a stream. Blocks must come one after the other, numbered in order, with deltas of their own type. */
class BlocksFold {
  readonly content: Array<Json> = []
  #block: Json
  #text = ""

  get isOpen(): boolean {
    return this.#block !== undefined
  }

  /** Adds an event. Returns whether it belongs to a block. */
  push({ content_block, delta, index, type }: Json): boolean {
    if (!type.startsWith("content_block_")) return false
    assert.strictEqual(index, this.content.length)
    if (type === "content_block_start") {
      assert.isFalse(this.isOpen, "the block before must be closed")
      this.#block = content_block
      this.#text = ""
      return true
    }
    assert.isTrue(this.isOpen, `${type} must belong to a block`)
    if (type === "content_block_delta" && delta.type === "signature_delta") {
      assert.deepStrictEqual([this.#block.type, this.#block.signature], ["thinking", ""])
      this.#block = { ...this.#block, signature: delta.signature }
    } else if (type === "content_block_delta") {
      const [kind, member] = deltas[this.#block.type] ?? assert.fail(this.#block.type)
      assert.strictEqual(delta.type, kind)
      this.#text += delta[member]
    } else this.close()
    return true
  }

  close(): void {
    this.content.push(closed(this.#block, this.#text))
    this.#block = undefined
  }
}

/** Returns the start of the message and the events after it, without pings. Each event must be named by its type. */
const afterStart = (events: ReadonlyArray<WireEvent>) => {
  for (const { data, event } of events) assert.strictEqual(event, data.type)
  const [first, ...others] = events.map(({ data }) => data).filter(({ type }) => type !== "ping")
  assert.strictEqual(first.type, "message_start")
  assert.deepInclude(first.message, { content: [], stop_reason: null, stop_sequence: null })
  return { message: first.message, others }
}

const fold = (events: ReadonlyArray<WireEvent>): Json => {
  const { message, others } = afterStart(events)
  assert.deepStrictEqual(others.pop(), { type: "message_stop" })
  const { delta, type, ...last } = others.pop()
  assert.strictEqual(type, "message_delta")
  const blocks = new BlocksFold()
  for (const event of others) assert.isTrue(blocks.push(event), event.type)
  assert.isFalse(blocks.isOpen, "the last block must be closed")
  return { ...message, content: blocks.content, ...delta, ...last }
}

const textOf = (content: ReadonlyArray<Json>): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("")

const broken = (events: ReadonlyArray<WireEvent>) => {
  const { others } = afterStart(events)
  const { cost_usd, error, request_id, type, ...more } = others.pop()
  assert.isAbove(cost_usd, 0)
  assert.deepStrictEqual([type, request_id, more], ["error", "req_<id>", {}])
  const blocks = new BlocksFold()
  for (const event of others) assert.isTrue(blocks.push(event), event.type)
  if (blocks.isOpen) blocks.close()
  return { text: textOf(blocks.content), code: error.code }
}

const finishes: Readonly<Record<string, Said["finish"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter"
}

const said = ({ content, cost_usd, routing, stop_reason, usage }: Json): Said => ({
  reasoning: content.map((block: Json) => (block.type === "thinking" ? block.thinking : "")).join(""),
  text: textOf(content),
  calls: content.flatMap(({ id, input, name, type }: Json) => (type === "tool_use" ? [{ id, name, input }] : [])),
  finish: finishes[stop_reason] ?? assert.fail(stop_reason),
  usage: {
    input: usage.input_tokens,
    cached: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.thinking_tokens
  },
  cost: cost_usd,
  routing
})

export const messages: Dialect = {
  name: "messages",
  path: "/messages",
  streams: true,
  headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  ask,
  fold,
  broken,
  said,
  bare: (answer) => answer,
  codeOf: ({ error, type }) => {
    assert.strictEqual(type, "error")
    return error.code
  }
}

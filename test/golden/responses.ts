/** OpenAI's responses. */
import { assert } from "@effect/vitest"
import { MAX_TOKENS, type Question, SCHEMA_NAME, type Turn } from "./cases.ts"
import { type Dialect, inputOf, type Json, type Said, type WireEvent } from "./dialect.ts"

const itemsOf = (turn: Turn): ReadonlyArray<object> => {
  switch (turn.role) {
    case "user": {
      if (turn.image === undefined) return [{ role: "user", content: turn.text }]
      const image_url = `data:${turn.image.type};base64,${turn.image.data}`
      const content = [
        { type: "input_text", text: turn.text },
        { type: "input_image", image_url, detail: "auto" }
      ]
      return [{ role: "user", content }]
    }
    case "assistant": {
      const calls = turn.calls.map(({ id, input, name }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify(input)
      }))
      return [{ role: "assistant", content: turn.text }, ...calls]
    }
    case "tool":
      return [{ type: "function_call_output", call_id: turn.callId, output: turn.text }]
  }
}

const ask = (question: Question, model: string, stream: boolean): object | undefined => {
  const { cached, mustCall, parallel, schema, stop, system, thinking, tools, turns } = question
  if (stop !== undefined || cached !== undefined) return undefined
  return {
    model,
    max_output_tokens: MAX_TOKENS,
    ...(system === undefined ? {} : { instructions: system }),
    input: turns.flatMap(itemsOf),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: "function", ...tool })) }),
    ...(mustCall === undefined ? {} : { tool_choice: "required" }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: true }),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: "json_schema", name: SCHEMA_NAME, schema, strict: true } } }),
    ...(thinking === undefined ? {} : { reasoning: { max_tokens: thinking } }),
    ...(stream ? { stream } : {})
  }
}

/** The field and the part of one kind of text in the events that add, extend and end it. */
interface Kind {
  readonly member: "text" | "refusal"
  readonly part: (text: string) => Json
}

const kinds: Readonly<Record<string, Kind>> = {
  output_text: { member: "text", part: (text) => ({ type: "output_text", text, annotations: [] }) },
  refusal: { member: "refusal", part: (refusal) => ({ type: "refusal", refusal }) },
  reasoning_summary_text: { member: "text", part: (text) => ({ type: "summary_text", text }) }
}

/** Joins one item of a stream. Every event must have the item's id and its indexes. */
class ItemFold {
  readonly #item: Json
  readonly #at: number
  readonly #parts: Array<Json> = []
  #text = ""
  #spoken = false
  done: Json

  constructor(item: Json, at: number) {
    this.#item = item
    this.#at = at
    assert.strictEqual(item.status, "in_progress")
  }

  push(event: Json): void {
    const { type, sequence_number: _number, output_index, item_id, content_index, summary_index, ...said } = event
    assert.isUndefined(this.done, `${type} must not follow the end of the item`)
    assert.strictEqual(output_index, this.#at)
    if (type === "response.output_item.done") return this.#end(said.item)
    assert.strictEqual(item_id, this.#item.id)
    if (this.#item.type !== "function_call") assert.strictEqual(content_index ?? summary_index, this.#parts.length)
    this.#say(type.slice("response.".length), said)
  }

  #say(type: string, said: Json): void {
    switch (type) {
      case "content_part.added":
      case "reasoning_summary_part.added":
        this.#text = ""
        this.#spoken = false
        assert.deepStrictEqual(said.part, this.#part(said.part.type))
        return
      case "content_part.done":
      case "reasoning_summary_part.done":
        assert.isTrue(this.#spoken, "the text must be done before its part")
        assert.deepStrictEqual(said.part, this.#part(said.part.type))
        this.#parts.push(said.part)
        return
      case "function_call_arguments.delta":
        this.#text += said.delta
        return
      case "function_call_arguments.done":
        assert.deepStrictEqual(said, { name: this.#item.name, arguments: this.#text })
        return
      default:
        return this.#grow(type, said)
    }
  }

  #grow(type: string, said: Json): void {
    const [, name, step] = /^(\w+)\.(delta|done)$/.exec(type) ?? assert.fail(type)
    const { member } = kinds[name ?? ""] ?? assert.fail(type)
    if (step === "delta") {
      this.#text += said.delta
      return
    }
    assert.strictEqual(said[member], this.#text, type)
    this.#spoken = true
  }

  #part(type: string): Json {
    return kinds[type === "summary_text" ? "reasoning_summary_text" : type]?.part(this.#text)
  }

  #end(item: Json): void {
    const { type } = this.#item
    const content =
      type === "function_call"
        ? { arguments: this.#text }
        : type === "reasoning"
          ? { summary: this.#parts }
          : { content: this.#parts }
    this.done = { ...this.#item, status: item.status, ...content }
    assert.deepStrictEqual(item, this.done)
  }
}

/** Turns a refusal into text, as a plain answer has it. */
const asWhole = (item: Json): Json =>
  item.type === "message"
    ? {
        ...item,
        content: item.content.map((part: Json) =>
          part.type === "refusal" ? { type: "output_text", text: part.refusal, annotations: [] } : part
        )
      }
    : item

/** Returns the response and the events after the first two. Events must be numbered from 0 and named by their types. */
const afterBeginning = (events: ReadonlyArray<WireEvent>) => {
  events.forEach(({ data, event }, at) => {
    assert.strictEqual(event, data.type)
    assert.strictEqual(data.sequence_number, at)
  })
  const [created, inProgress, ...others] = events.map(({ data }) => data)
  assert.deepStrictEqual([created.type, inProgress.type], ["response.created", "response.in_progress"])
  assert.deepStrictEqual(created.response, inProgress.response)
  assert.deepInclude(created.response, { status: "in_progress", output: [], usage: null })
  return { begun: created.response, others }
}

const itemsIn = (events: ReadonlyArray<Json>): ReadonlyArray<ItemFold> => {
  const items: Array<ItemFold> = []
  for (const event of events) {
    if (event.type === "response.output_item.added") {
      assert.strictEqual(event.output_index, items.length)
      items.push(new ItemFold(event.item, items.length))
    } else (items[event.output_index] ?? assert.fail(event.type)).push(event)
  }
  return items
}

const fold = (events: ReadonlyArray<WireEvent>): Json => {
  const { begun, others } = afterBeginning(events)
  const { response, type } = others.pop()
  assert.strictEqual(type, `response.${response.status}`)
  const output = itemsIn(others).map(({ done }) => asWhole(done))
  assert.deepStrictEqual(Object.keys(begun).toSorted(), Object.keys(response).toSorted())
  return { ...begun, ...response, output, output_text: textOf(output) }
}

const textOf = (output: ReadonlyArray<Json>): string =>
  output.flatMap((item) => (item.type === "message" ? item.content.map(({ text }: Json) => text) : [])).join("")

const broken = (events: ReadonlyArray<WireEvent>) => {
  const { begun, others } = afterBeginning(events)
  const error = others.pop()
  const failed = others.pop()
  assert.strictEqual(failed.type, "response.failed")
  const { code, message } = error
  const { cost_usd } = failed.response
  assert.isAbove(cost_usd, 0)
  assert.deepStrictEqual(failed.response, { ...begun, status: "failed", error: { code, message }, cost_usd })
  assert.deepStrictEqual(Object.keys(error), ["type", "sequence_number", "code", "message", "param"])
  assert.strictEqual(error.type, "error")
  itemsIn(others)
  const text = others.map(({ delta, type }) => (type === "response.output_text.delta" ? delta : "")).join("")
  return { text, code: error.code }
}

const finishOf = ({ incomplete_details, output, status }: Json): Said["finish"] => {
  assert.strictEqual(status, incomplete_details === null ? "completed" : "incomplete")
  if (incomplete_details !== null) return incomplete_details.reason === "content_filter" ? "content_filter" : "length"
  return output.some(({ type }: Json) => type === "function_call") ? "tool_calls" : "stop"
}

const said = (answer: Json): Said => {
  const { cost_usd, output, output_text, routing, usage } = answer
  const { cache_creation_tokens, cached_tokens } = usage.input_tokens_details
  assert.strictEqual(usage.total_tokens, usage.input_tokens + usage.output_tokens)
  assert.strictEqual(output_text, textOf(output))
  return {
    reasoning: output
      .flatMap(({ summary, type }: Json) => (type === "reasoning" ? summary.map(({ text }: Json) => text) : []))
      .join(""),
    text: output_text,
    calls: output.flatMap((item: Json) =>
      item.type === "function_call" ? [{ id: item.call_id, name: item.name, input: inputOf(item.arguments) }] : []
    ),
    finish: finishOf(answer),
    usage: {
      input: usage.input_tokens - cached_tokens - cache_creation_tokens,
      cached: cached_tokens,
      cacheWrite: cache_creation_tokens,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens
    },
    cost: cost_usd,
    routing
  }
}

export const responses: Dialect = {
  name: "responses",
  path: "/responses",
  streams: true,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  ask,
  fold,
  broken,
  said,
  bare: ({ output, ...rest }) => ({
    ...rest,
    output: output.map((item: Json) =>
      item.type === "function_call" ? { ...item, arguments: inputOf(item.arguments) } : item
    )
  }),
  codeOf: ({ error }) => error.code
}

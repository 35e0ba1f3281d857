/** Chat completions, and the legacy chat, which is a subset of them. */
import { assert } from "@effect/vitest"
import { MAX_TOKENS, type Question, SCHEMA_NAME, type Turn } from "./cases.ts"
import { type Dialect, inputOf, type Json, type Said, type WireEvent } from "./dialect.ts"

const messageOf = (turn: Turn): object => {
  switch (turn.role) {
    case "user": {
      if (turn.image === undefined) return { role: "user", content: turn.text }
      const url = `data:${turn.image.type};base64,${turn.image.data}`
      const image = { type: "image_url", image_url: { url } }
      return { role: "user", content: [{ type: "text", text: turn.text }, image] }
    }
    case "assistant": {
      const calls = turn.calls.map(({ id, input, name }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input) }
      }))
      return { role: "assistant", content: turn.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
    }
    case "tool":
      return { role: "tool", tool_call_id: turn.callId, content: turn.text }
  }
}

const systemOf = ({ cached, system }: Question): ReadonlyArray<object> => {
  if (system === undefined) return []
  const part = { type: "text", text: system, cache_control: { type: "ephemeral" } }
  return [{ role: "system", content: cached === undefined ? system : [part] }]
}

const messagesOf = (question: Question): ReadonlyArray<object> => [
  ...systemOf(question),
  ...question.turns.map(messageOf)
]

const ask = (question: Question, model: string, stream: boolean): object => {
  const { mustCall, parallel, schema, stop, thinking, tools } = question
  return {
    model,
    max_tokens: MAX_TOKENS,
    messages: messagesOf(question),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
    ...(mustCall === undefined ? {} : { tool_choice: "required" }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: true }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: { name: SCHEMA_NAME, schema, strict: true } } }),
    ...(thinking === undefined ? {} : { reasoning: { max_tokens: thinking } }),
    ...(stop === undefined ? {} : { stop }),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {})
  }
}

/** Returns the chunks of a stream. All must have the same id and head, only the first a role, and `[DONE]` must be last. */
const chunksOf = (events: ReadonlyArray<WireEvent>): ReadonlyArray<Json> => {
  assert.strictEqual(events.at(-1)?.data, "[DONE]")
  const chunks = events.slice(0, -1).map(({ data }) => data)
  const { created, id, model } = chunks[0]
  chunks.forEach((chunk, at) => {
    assert.deepInclude(chunk, { id, object: "chat.completion.chunk", created, model }, `chunk ${at}`)
    const [choice] = chunk.choices
    assert.strictEqual(choice?.delta.role, at === 0 ? "assistant" : undefined, `the role in chunk ${at}`)
  })
  return chunks
}

/** Joins tool calls in the order of their start. A call's first delta has its id and name, the others only arguments. */
class CallsFold {
  readonly calls: Array<Json> = []

  push(delta: Json): void {
    const known = this.calls[delta.index]
    if (known === undefined) {
      assert.strictEqual(delta.index, this.calls.length)
      this.calls.push({ id: delta.id, type: delta.type, function: { ...delta.function } })
      return
    }
    assert.deepStrictEqual(Object.keys(delta), ["index", "function"])
    assert.deepStrictEqual(Object.keys(delta.function), ["arguments"])
    known.function.arguments += delta.function.arguments
  }
}

const messageIn = (chunks: ReadonlyArray<Json>): Json => {
  const message: Json = { role: "assistant", content: "", refusal: null }
  const calls = new CallsFold()
  const details: Array<Json> = []
  for (const { choices } of chunks) {
    const delta = choices[0]?.delta ?? {}
    message.content += delta.content ?? ""
    for (const name of ["reasoning", "reasoning_content"]) {
      if (delta[name] !== undefined) message[name] = (message[name] ?? "") + delta[name]
    }
    for (const detail of delta.reasoning_details ?? []) details.push(detail)
    if (delta.refusal !== undefined) message.refusal = (message.refusal ?? "") + delta.refusal
    for (const call of delta.tool_calls ?? []) calls.push(call)
  }
  // A recording's reasoning is one block, whose text precedes its signature.
  assert.isAtMost(details.length, 1)
  const [detail] = details
  if (detail?.type === "reasoning.text") message.reasoning_details = [{ ...detail, text: message.reasoning }]
  else if (detail !== undefined) message.reasoning_details = details
  return calls.calls.length === 0 ? message : { ...message, tool_calls: calls.calls }
}

const fold = (events: ReadonlyArray<WireEvent>): Json => {
  const chunks = chunksOf(events)
  const { choices: none, object: _, ...last } = chunks.at(-1)
  assert.deepStrictEqual(none, [], "the usage chunk must have no choices")
  const finishes = chunks.slice(0, -1).map(({ choices }) => choices[0].finish_reason)
  const finish = finishes.pop()
  assert.isString(finish, "the last chunk with a choice must have the finish reason")
  assert.isTrue(
    finishes.every((one) => one === null),
    "no earlier chunk may have a finish reason"
  )
  const logprobs = chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])
  return {
    ...last,
    object: "chat.completion",
    system_fingerprint: null,
    choices: [
      {
        index: 0,
        message: messageIn(chunks),
        finish_reason: finish,
        logprobs: logprobs.length === 0 ? null : { content: logprobs, refusal: null }
      }
    ]
  }
}

const broken = (events: ReadonlyArray<WireEvent>) => {
  const chunks = chunksOf(events)
  const { choices, cost_usd, error, request_id } = chunks.at(-1)
  assert.isAbove(cost_usd, 0)
  assert.strictEqual(request_id, "req_<id>")
  assert.deepStrictEqual(choices, [{ index: 0, delta: { content: "" }, finish_reason: "error", logprobs: null }])
  assert.deepStrictEqual(Object.keys(error), ["message", "type", "code", "param"])
  return { text: messageIn(chunks).content, code: error.code }
}

const said = ({ choices, cost_usd, routing, usage }: Json): Said => {
  const [{ finish_reason, message }] = choices
  const { cached_tokens, cache_creation_tokens } = usage.prompt_tokens_details
  assert.strictEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
  return {
    reasoning: message.reasoning ?? "",
    text: message.content + (message.refusal ?? ""),
    calls: (message.tool_calls ?? []).map(({ function: call, id }: Json) => ({
      id,
      name: call.name,
      input: inputOf(call.arguments)
    })),
    finish: finish_reason,
    usage: {
      input: usage.prompt_tokens - cached_tokens - cache_creation_tokens,
      cached: cached_tokens,
      cacheWrite: cache_creation_tokens,
      output: usage.completion_tokens,
      reasoning: usage.completion_tokens_details.reasoning_tokens
    },
    cost: cost_usd,
    routing
  }
}

/** Returns the answer with the arguments of its calls as values. */
const bare = ({ choices, ...rest }: Json): Json => ({
  ...rest,
  choices: choices.map(({ message, ...choice }: Json) => ({
    ...choice,
    message: {
      ...message,
      tool_calls: message.tool_calls?.map((call: Json) => ({
        ...call,
        function: { ...call.function, arguments: inputOf(call.function.arguments) }
      }))
    }
  }))
})

export const chat: Dialect = {
  name: "chat",
  path: "/chat/completions",
  streams: true,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  ask,
  fold,
  broken,
  said,
  bare,
  codeOf: ({ error }) => error.code
}

/** The legacy chat, which has no streams and only a part of the fields. */
export const legacy: Dialect = {
  ...chat,
  name: "legacy",
  path: "/chat",
  streams: false,
  ask: (question, model) =>
    [question.tools, question.schema, question.thinking, question.cached].every((one) => one === undefined)
      ? ask(question, model, false)
      : undefined,
  said: (answer) => {
    assert.isFalse(answer.cached)
    return said(answer)
  }
}

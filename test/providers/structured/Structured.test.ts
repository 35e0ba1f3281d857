/** Enforced formats: which candidates' answers the gateway checks, what it requests, and what it does with each answer. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Conversation, Message, OutputFormat } from "../../../src/domain/Conversation.ts"
import type { Capability } from "../../../src/domain/Model.ts"
import { emptyOutput, type Output } from "../../../src/domain/Output.ts"
import { promptBound } from "../../../src/domain/TokenBound.ts"
import type { ChatCall, Provider } from "../../../src/providers/Provider.ts"
import { ProviderError } from "../../../src/providers/ProviderError.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { enforceFormat, enforcedSchema, inWords, isStructured } from "../../../src/providers/structured/Structured.ts"
import type { Check } from "../../../src/providers/structured/StructuredCheck.ts"
import { verdictOf } from "../../../src/providers/structured/StructuredVerdict.ts"
import { TestClock } from "effect/testing"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall, drain, joined } from "../calls.ts"

const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] }
const anyObject = { type: "object" }
const byName = { type: "json_schema", name: "n", strict: true } as const
const format: OutputFormat = { ...byName, schema }
const whatever: OutputFormat = { ...byName, schema: undefined }

const able = (...capabilities: ReadonlyArray<Capability>) => candidate("up", { model: { capabilities } })
const plain = able()

/** A format in a request without tools. */
const alone = (one: OutputFormat) => ({ format: one, tools: [] })

const system = (text: string): Message => ({ role: "system", content: [{ type: "text", text }] })
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] })

describe("the gateway", () => {
  it("leaves a schema to a candidate whose model and provider support structured outputs", () => {
    const native = able("structured_outputs")
    assert.isTrue(isStructured(native))
    assert.isFalse(isStructured(plain))
    assert.isFalse(isStructured({ ...native, offer: { ...native.offer, unsupported: ["structured_outputs"] } }))
  })

  it("checks an answer that the candidate does not keep to the format itself", () => {
    const [json, native] = [able("json_mode"), able("structured_outputs")]
    const schemas = (one: OutputFormat) => [plain, json, native].map((who) => enforcedSchema(alone(one), who))
    assert.deepStrictEqual(schemas({ type: "text" }), [undefined, undefined, undefined])
    assert.deepStrictEqual(schemas({ type: "json_object" }), [anyObject, undefined, anyObject])
    assert.deepStrictEqual(schemas(format), [schema, schema, undefined])
    assert.deepStrictEqual(schemas(whatever), [anyObject, anyObject, undefined])
  })

  it("checks an answer when the host would close an object with free property names", () => {
    const capabilities = ["structured_outputs"] as const
    const claude = candidate("anthropic", { model: { capabilities, vendor: "anthropic" } })
    const map = { type: "object", additionalProperties: { type: "number" } }
    const named = { type: "object", properties: { a: { type: "number" } } }
    const cases: ReadonlyArray<readonly [schema: object, checked: boolean]> = [
      [named, false],
      [{ ...named, additionalProperties: false }, false],
      [{ type: "object", additionalProperties: false }, false],
      [{ type: "array", items: named }, false],
      [map, true],
      [{ type: "object" }, true],
      [{ type: ["object", "null"] }, true],
      [{ ...named, patternProperties: { "^x": named } }, true],
      [{ type: "object", properties: { scores: map } }, true],
      [{ type: "array", items: map }, true],
      [{ anyOf: [named, map] }, true],
      [{ ...named, $defs: { Scores: map } }, true],
      [{ ...named, properties: { next: { $ref: "#" } } }, true],
      [{ ...named, properties: { next: { $ref: "#/$defs/Named" } }, $defs: { Named: named } }, false]
    ]
    for (const [one, checked] of cases) {
      const conversation = alone({ ...byName, schema: one as Readonly<Record<string, unknown>> })
      assert.deepStrictEqual(enforcedSchema(conversation, claude), checked ? (one as never) : undefined)
      assert.isUndefined(enforcedSchema(conversation, able("structured_outputs")))
    }
  })

  it("checks an answer when the host rejects a JSON format beside functions", () => {
    const gemini = (upstreamId: string) =>
      candidate("gemini", { upstreamId, model: { capabilities: ["json_mode", "structured_outputs"] } })
    const tools = [{ name: "t", description: undefined, parameters: undefined, strict: undefined }]
    for (const one of [format, { type: "json_object" }] as const) {
      const form = one === format ? schema : anyObject
      assert.deepStrictEqual(enforcedSchema({ format: one, tools }, gemini("gemini-2.5-flash")), form)
      assert.isUndefined(enforcedSchema({ format: one, tools }, gemini("gemini-3.1-pro-preview")))
      assert.isUndefined(enforcedSchema(alone(one), gemini("gemini-2.5-flash")))
    }
    const words = inWords(
      asked("", { format, tools, toolChoice: { type: "none" } }),
      gemini("gemini-2.5-flash"),
      schema
    )
    assert.deepStrictEqual(words.format, { type: "text" })
  })
})

const wordsOf = ({ messages }: Conversation) =>
  messages
    .filter(({ role }) => role === "system")
    .map(({ content }) => content.map((part) => (part.type === "text" ? part.text : "")))

describe("the instructions for a format", () => {
  const words = (one: OutputFormat, messages: ReadonlyArray<Message>, who = plain) =>
    inWords(asked("", { messages, format: one }), who, enforcedSchema(alone(one), who) ?? {})

  it("contain the schema, and follow the system messages at the beginning", () => {
    const alone = words(format, [user("hi"), system("late")])
    assert.deepStrictEqual(
      alone.messages.map(({ role }) => role),
      ["system", "user", "system"]
    )
    const [[said] = []] = wordsOf(alone)
    assert.include(said, "JSON Schema")
    assert.isTrue(said?.endsWith(`\n${JSON.stringify(schema)}`))
    const joinedWith = words(format, [system("One."), system("Two."), user("hi")])
    assert.deepStrictEqual(wordsOf(joinedWith), [["One."], [`Two.\n\n${said}`]])
    assert.deepStrictEqual(joinedWith.messages.at(-1), user("hi"))
    assert.deepStrictEqual(wordsOf(words(format, [system("Only.")])), [[`Only.\n\n${said}`]])
  })

  it("leave a text that ends at a cache breakpoint unchanged", () => {
    const kept = { type: "text", text: "Long.", cacheBreakpoint: true } as const
    const { messages } = words({ type: "json_object" }, [{ role: "system", content: [kept] }, user("hi")])
    const [first, second] = messages[0]?.content ?? []
    assert.deepStrictEqual(first, kept)
    assert.isTrue(second?.type === "text" && second.text.includes("JSON object"))
  })

  it("go with a model's JSON mode, for objects, unless the model may call tools", () => {
    const json = able("json_mode")
    const formatOf = (one: OutputFormat, who = json) => words(one, [user("hi")], who).format.type
    assert.deepStrictEqual(formatOf(format), "json_object")
    assert.deepStrictEqual(formatOf(whatever), "json_object")
    assert.deepStrictEqual(formatOf({ ...byName, schema: { type: "array" } }), "text")
    assert.deepStrictEqual(formatOf(format, plain), "text")
    const tools = [{ name: "t", description: undefined, parameters: undefined, strict: undefined }]
    const withTools = (type: "auto" | "none") =>
      inWords(asked("", { format, tools, toolChoice: { type } }), json, schema).format.type
    assert.deepStrictEqual([withTools("auto"), withTools("none")], ["text", "json_object"])
  })

  it("stay within the prompt bound that the hold covers", () => {
    // No text has more tokens than bytes, and this is what the instructions and their message add to the bare request.
    for (const one of [
      format,
      whatever,
      { type: "json_object" } as const,
      { ...byName, schema: { title: "é".repeat(99) } }
    ]) {
      for (const messages of [[user("hi")], [system("s"), user("hi")]]) {
        const before = asked("", { messages, format: one })
        const after = inWords(before, plain, enforcedSchema(alone(one), plain) ?? {})
        assert.isAtMost(promptBound({ ...after, format: { type: "text" } }).most, promptBound(before).most)
      }
    }
  })
})

const direct: Check = (job) => Effect.sync(() => verdictOf(job))

const answering = (output: Partial<Output>, seen: Array<ChatCall> = []): Provider => ({
  id: "up",
  stopsBillingOnAbort: true,
  chat: (call) => {
    seen.push(call)
    return Effect.succeed({ ...emptyOutput, finish: "stop", ...output })
  },
  chatStream: () => Effect.die("a stream was requested")
})

const call = (one: OutputFormat = format) => chatCall({ candidate: plain, conversation: asked("hi", { format: one }) })

const faultOf = <A>(effect: Effect.Effect<A, ProviderError>) => Effect.map(Effect.flip(effect), ({ fault }) => fault)

const usage = { input: 5, cached: 0, cacheWrite: 0, output: 3, reasoning: 0 }

describe("an enforced answer", () => {
  const good: ReadonlyArray<readonly [string, string]> = [
    ["unchanged", '{"a": 1}'],
    ["without its code fence", '```json\n{"a": 1}\n```'],
    ["without the words around it", 'Here you are: {"a": 1}. Good luck!']
  ]
  for (const [name, text] of good) {
    it.effect(`is returned ${name}, with usage and finish reason, streamed or not`, () =>
      Effect.gen(function* () {
        const given = enforceFormat(answering({ text, reasoning: "Well.", usage }), direct)
        const whole = yield* given.chat(call())
        assert.deepStrictEqual(whole, { ...emptyOutput, text: '{"a": 1}', reasoning: "Well.", finish: "stop", usage })
        const source = yield* given.chatStream(call())
        assert.isTrue(source.collected)
        const events = (yield* drain(source)).flat()
        assert.strictEqual(joined(events, "Text"), '{"a": 1}')
        assert.deepStrictEqual(
          events.map(({ _tag }) => _tag),
          ["Reasoning", "Text", "Finish", "Usage"]
        )
      }).pipe(Effect.scoped)
    )
  }

  it.effect("keeps the log-probabilities only of a text that is returned unchanged", () =>
    Effect.gen(function* () {
      const of = (text: string) => enforceFormat(answering({ text, logprobs: [1] }), direct).chat(call())
      assert.deepStrictEqual((yield* of('{"a":1}')).logprobs, [1])
      assert.isUndefined((yield* of(' {"a":1}')).logprobs)
    })
  )

  it.effect("fails when it does not match the schema, before any of it is returned", () =>
    Effect.gen(function* () {
      const off = enforceFormat(answering({ text: '{"a":"SECRET"}', usage }), direct)
      const fault = { _tag: "OffSchema", detail: "#/a: type" } as const
      assert.deepStrictEqual(yield* faultOf(off.chat(call())), fault)
      assert.deepStrictEqual(yield* faultOf(Effect.scoped(off.chatStream(call()))), fault)
      const words = enforceFormat(answering({ text: "SECRET" }), direct)
      assert.deepStrictEqual(yield* faultOf(words.chat(call())), {
        _tag: "OffSchema",
        detail: "the answer is not one JSON value"
      })
      const list = enforceFormat(answering({ text: "[1]" }), direct)
      const object = faultOf(list.chat(call({ type: "json_object" })))
      assert.deepStrictEqual(yield* object, { _tag: "OffSchema", detail: "#: type" })
      const thought = enforceFormat(answering({ reasoning: "Well." }), direct)
      assert.strictEqual((yield* faultOf(thought.chat(call())))._tag, "OffSchema")
    })
  )

  const others: ReadonlyArray<readonly [string, Partial<Output>]> = [
    [
      "with a tool call",
      { text: "I look.", toolCalls: [{ id: "c", name: "t", arguments: "{}" }], finish: "tool_calls" }
    ],
    ["with a refusal", { refusal: "No." }],
    ["truncated by its output limit", { text: '{"a":', finish: "length" }],
    ["truncated by a content filter", { text: "{", finish: "content_filter" }],
    ["ended by a stop sequence", { text: "{", stopSequence: "a" }],
    ["empty", {}]
  ]
  for (const [name, output] of others) {
    it.effect(`is returned unchanged when it is ${name}`, () =>
      Effect.gen(function* () {
        const given = yield* enforceFormat(answering(output), direct).chat(call())
        assert.deepStrictEqual(given, { ...emptyOutput, finish: "stop", ...output })
      })
    )
  }

  it.effect("is requested in the system prompt, without the format that the model does not support", () =>
    Effect.gen(function* () {
      const seen: Array<ChatCall> = []
      yield* enforceFormat(answering({ text: '{"a":1}' }, seen), direct).chat(call())
      assert.deepStrictEqual(seen, [{ ...call(), conversation: inWords(call().conversation, plain, schema) }])
    })
  )

  it.effect("is requested unchanged when the model supports the format, or when the request is for text", () =>
    Effect.gen(function* () {
      const seen: Array<ChatCall> = []
      const given = enforceFormat(answering({ text: "SECRET" }, seen), direct)
      const calls = [{ ...call(), candidate: able("structured_outputs") }, call({ type: "text" })]
      for (const one of calls) assert.strictEqual((yield* given.chat(one)).text, "SECRET")
      assert.deepStrictEqual(seen, calls)
      const streamed = enforceFormat(makeSandbox("up"), direct)
      for (const one of calls) {
        const source = yield* Effect.scoped(streamed.chatStream(one))
        assert.isUndefined(source.collected)
        assert.isAbove((yield* drain(source)).length, 1)
      }
    })
  )

  it.effect("is not requested when the gateway cannot check the schema", () =>
    Effect.gen(function* () {
      const seen: Array<ChatCall> = []
      const given = enforceFormat(answering({ text: "{}" }, seen), direct)
      const fault = yield* faultOf(given.chat(call({ ...byName, schema: { $ref: "#/$defs/none" } })))
      const refused = {
        _tag: "SchemaRefused",
        field: "response_format",
        detail: "a `$ref` must have a target in the schema"
      } as const
      assert.deepStrictEqual(fault, refused)
      const named = call({ ...byName, field: "text.format.schema", schema: { type: "strng" } })
      assert.deepStrictEqual(yield* faultOf(given.chat(named)), {
        ...refused,
        field: "text.format.schema",
        detail: "`type` must be a type of JSON Schema"
      })
      const busy = enforceFormat(answering({}, seen), () =>
        Effect.succeed({ _tag: "Unchecked", detail: "why", busy: true })
      )
      assert.deepStrictEqual(yield* faultOf(busy.chat(call())), { _tag: "OffSchema", detail: "why" })
      assert.deepStrictEqual(seen, [])
    })
  )

  it.effect("is not requested for 10 minutes after a schema check timed out, and a schema is checked once", () =>
    Effect.gen(function* () {
      const seen: Array<ChatCall> = []
      let looks = 0
      const slow = enforceFormat(answering({}, seen), () =>
        Effect.sync(() => ({ _tag: "Unchecked", detail: `look ${++looks}` }) as const)
      )
      const fault = { _tag: "SchemaRefused", field: "response_format", detail: "look 1", passing: true } as const
      for (const again of [1, 2]) assert.deepStrictEqual(yield* faultOf(slow.chat(call())), fault, `${again}`)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* faultOf(slow.chat(call())), { ...fault, detail: "look 2" })
      assert.deepStrictEqual(seen, [])
      const texts: Array<string | undefined> = []
      const quick = enforceFormat(answering({ text: '{"a":1}' }), (job) => {
        texts.push(job.text)
        return direct(job)
      })
      yield* quick.chat(call())
      yield* quick.chat(call())
      assert.deepStrictEqual(texts, [undefined, '{"a":1}', '{"a":1}'])
    })
  )

  it.effect("is not requested after repeated invalid answers, for that schema or for the whole account", () =>
    Effect.gen(function* () {
      const seen: Array<ChatCall> = []
      const off = enforceFormat(answering({ text: "no" }, seen), direct)
      const of = (accountId: string, form: OutputFormat = format) => faultOf(off.chat({ ...call(form), accountId }))
      for (const time of [1, 2, 3]) assert.strictEqual((yield* of("one"))._tag, "OffSchema", `${time}`)
      assert.deepInclude(yield* of("one"), { _tag: "SchemaRefused", passing: true })
      assert.lengthOf(seen, 3)
      assert.strictEqual((yield* of("other"))._tag, "OffSchema")
      const varied = (title: number): OutputFormat => ({ ...byName, schema: { ...schema, title: `${title}` } })
      for (let title = 4; title <= 10; title++) assert.strictEqual((yield* of("one", varied(title)))._tag, "OffSchema")
      const limit = { limit: 10, retryAfterSeconds: 60 }
      assert.deepInclude(yield* of("one", varied(11)), { _tag: "SchemaRefused", limit })
      assert.lengthOf(seen, 11)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* of("one", varied(11)))._tag, "OffSchema")
      assert.deepInclude(yield* of("one"), { _tag: "SchemaRefused", passing: true })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* of("one"))._tag, "OffSchema")
    })
  )

  it.effect("fails with the provider's failure, and is cancelled when the caller disconnects", () =>
    Effect.gen(function* () {
      const broken = { _tag: "Broken", detail: "X" } as const
      const failing: Provider = {
        ...answering({}),
        chat: () => Effect.fail(new ProviderError({ provider: "up", fault: broken }))
      }
      assert.deepStrictEqual(yield* faultOf(enforceFormat(failing, direct).chat(call())), broken)
      let left = false
      const endless: Provider = {
        ...answering({}),
        chat: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (left = true)))
      }
      const stream = Effect.scoped(enforceFormat(endless, direct).chatStream(call()))
      const fiber = yield* Effect.forkChild(stream, { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.isTrue(left)
    })
  )

  it.effect("of the sandbox matches any schema, and a steered text is checked", () =>
    Effect.gen(function* () {
      const double = enforceFormat(makeSandbox("up"), direct)
      const sample = yield* double.chat(call())
      assert.deepStrictEqual(JSON.parse(sample.text), { a: 1 })
      const steered = double.chat({ ...call(), steering: "text=no" })
      assert.strictEqual((yield* faultOf(steered))._tag, "OffSchema")
      const malformed = double.chat({ ...call(), steering: "fault=malformed" })
      assert.strictEqual((yield* faultOf(malformed))._tag, "Malformed")
    })
  )
})

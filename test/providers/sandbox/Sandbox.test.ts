import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Conversation, Reasoning } from "../../../src/domain/Conversation.ts"
import { OutputFold } from "../../../src/domain/Output.ts"
import { maximumCost, outputWithin, tokenCost, type TokenPrice } from "../../../src/domain/Pricing.ts"
import { noTokens } from "../../../src/domain/Usage.ts"
import type { ChatCall } from "../../../src/providers/Provider.ts"
import type { ProviderError } from "../../../src/providers/ProviderError.ts"
import type { TokenLogprob } from "../../../src/providers/sandbox/Logprobs.ts"
import { makeSandbox } from "../../../src/providers/sandbox/Sandbox.ts"
import { asked } from "../../support/Conversations.ts"
import { candidate, chatCall, clocks, drain, price, nextOf } from "../calls.ts"

const double = makeSandbox("up")

const batches = (call: ChatCall) => Effect.scoped(Effect.flatMap(double.chatStream(call), drain))

const folded = (call: ChatCall) =>
  Effect.map(batches(call), (all) => {
    const fold = new OutputFold()
    for (const event of all.flat()) fold.push(event)
    return fold.output()
  })

const faultOf = <A, R>(effect: Effect.Effect<A, ProviderError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.fault)

const steered = (steering: string, more: Partial<ChatCall> = {}) => chatCall({ steering, ...more })

const weather = {
  name: "weather",
  description: undefined,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: undefined
}
const clock = { ...weather, name: "clock", parameters: undefined }

const talk = (more: Partial<Conversation>) => chatCall({ conversation: asked("hello", more) })

const thinker = candidate("up", { model: { capabilities: ["streaming", "reasoning"], hiddenReasoning: true } })
const reasoning = (requested: Partial<Reasoning>, more: Partial<ChatCall> = {}) =>
  chatCall({
    candidate: thinker,
    conversation: asked("hello", {
      reasoning: { effort: undefined, maxTokens: undefined, enabled: undefined, ...requested }
    }),
    ...more
  })

describe("the sandbox's answers", () => {
  it.effect("are the same complete and streamed, on every call", () =>
    Effect.gen(function* () {
      const schema = weather.parameters
      for (const call of [
        chatCall(),
        talk({ tools: [weather] }),
        talk({ ...asked("weather and clock"), tools: [clock, weather] }),
        talk({ sampling: { logprobs: true, topLogprobs: 3, stop: ["in place"] } }),
        reasoning({ effort: "high" }),
        talk({ format: { type: "json_schema", name: "n", schema, strict: true } }),
        steered("output_tokens=50,reasoning_tokens=10,cached_tokens=1"),
        steered("text=One%20two%20three", { maxOutputTokens: 2 })
      ]) {
        const whole = yield* double.chat(call)
        assert.deepStrictEqual(yield* folded(call), whole)
        assert.deepStrictEqual(yield* double.chat(call), whole)
      }
    })
  )

  it.effect("repeat the question, in chunks of a few words", () =>
    Effect.gen(function* () {
      const all = yield* batches(chatCall())
      assert.isAbove(all.length, 5)
      const output = yield* double.chat(chatCall())
      assert.strictEqual(output.text, 'You said "hello". The sandbox answers in place of model-1.')
      assert.strictEqual(output.finish, "stop")
      assert.deepStrictEqual(output.usage, { input: 2, cached: 0, cacheWrite: 0, output: 15, reasoning: 0 })
      assert.deepStrictEqual(
        all.at(-1)?.map((event) => event._tag),
        ["Finish", "Usage"]
      )
    })
  )

  it.effect("count no more prompt tokens than the bound", () =>
    Effect.gen(function* () {
      const call = chatCall({ conversation: asked("x".repeat(4_000)), promptBound: 900 })
      assert.strictEqual((yield* double.chat(call)).usage?.input, 900)
    })
  )

  it.effect("call the chosen tool, or else the first", () =>
    Effect.gen(function* () {
      const tools = [weather, clock]
      const called = (more: Partial<Conversation>) =>
        Effect.map(double.chat(talk({ tools, ...more })), ({ toolCalls, finish }) => [
          finish,
          ...toolCalls.map((call) => `${call.name}(${call.arguments})`)
        ])
      const first = ["tool_calls", 'weather({"city":"sample city"})']
      assert.deepStrictEqual(yield* called({}), first)
      const [question] = talk({}).conversation.messages
      const reminder = { role: "system", content: [{ type: "text", text: "Be brief." }] } as const
      assert.deepStrictEqual(yield* called({ messages: [question!, reminder] }), first)
      assert.deepStrictEqual(yield* called({ toolChoice: { type: "required" } }), first)
      assert.deepStrictEqual(yield* called({ toolChoice: { type: "tool", name: "clock" } }), [
        "tool_calls",
        "clock({})"
      ])
      assert.deepStrictEqual(yield* called({ toolChoice: { type: "none" } }), ["stop"])
    })
  )

  it.effect("call all tools that the user's last message names, in the order of the tools", () =>
    Effect.gen(function* () {
      const called = (words: string, more: Partial<Conversation> = {}) =>
        Effect.map(double.chat(talk({ ...asked(words), tools: [weather, clock], ...more })), ({ toolCalls }) =>
          toolCalls.map(({ id, name }) => `${id} ${name}`)
        )
      const id = "call_req0123456789abcdef"
      const both = [`${id}_0 weather`, `${id}_1 clock`]
      assert.deepStrictEqual(yield* called("What does the clock say, and the weather?"), both)
      assert.deepStrictEqual(yield* called("clock, weather", { toolChoice: { type: "required" } }), both)
      assert.deepStrictEqual(yield* called("Call clock."), [`${id}_0 clock`])
      assert.deepStrictEqual(yield* called("It weathers clock-wise."), [`${id}_0 weather`])
      assert.deepStrictEqual(yield* called("clock, weather", { parallelToolCalls: false }), [`${id}_0 weather`])
      assert.deepStrictEqual(yield* called("the clock", { parallelToolCalls: false }), [`${id}_0 clock`])
      const one = { toolChoice: { type: "tool", name: "clock" } } as const
      assert.deepStrictEqual(yield* called("clock, weather", one), [`${id}_0 clock`])
    })
  )

  it.effect("end before the first stop sequence, and report it", () =>
    Effect.gen(function* () {
      const stopped = (stop: ReadonlyArray<string>, more: Partial<ChatCall> = {}) =>
        Effect.map(double.chat({ ...talk({ sampling: { stop } }), ...more }), (output) => [
          output.text,
          output.finish,
          output.stopSequence,
          output.usage?.output
        ])
      assert.deepStrictEqual(yield* stopped(["place", "", " answers", "hell"]), ['You said "', "stop", "hell", 3])
      assert.deepStrictEqual(yield* stopped(["nowhere", ""]), [
        'You said "hello". The sandbox answers in place of model-1.',
        "stop",
        undefined,
        15
      ])
      assert.deepStrictEqual(yield* stopped([" The"], { maxOutputTokens: 2 }), ["You said", "length", undefined, 2])
      assert.deepStrictEqual(yield* stopped(["c"], { steering: "text=abcabc" }), ["ab", "stop", "c", 1])
    })
  )

  it.effect("have log-probabilities on request", () =>
    Effect.gen(function* () {
      const { logprobs, text } = yield* double.chat(talk({ sampling: { logprobs: true, topLogprobs: 2 } }))
      const entries = (logprobs ?? []) as ReadonlyArray<TokenLogprob>
      assert.strictEqual(entries.map((entry) => entry.token).join(""), text)
      assert.deepStrictEqual(new Set(entries.map((entry) => entry.top_logprobs.length)), new Set([2]))
      assert.isUndefined((yield* double.chat(talk({ sampling: { logprobs: false } }))).logprobs)
    })
  )

  it.effect("show reasoning of a reasoning model on request, within the output limit", () =>
    Effect.gen(function* () {
      const THOUGHT = "Considering what was asked. "
      const rows: ReadonlyArray<readonly [Partial<Reasoning>, number, number]> = [
        [{}, 1_000, 0],
        [{ enabled: false, effort: "high" }, 1_000, 0],
        [{ effort: "none" }, 1_000, 0],
        [{ maxTokens: 0 }, 1_000, 0],
        [{ enabled: true }, 1_000, 7],
        [{ effort: "minimal" }, 1_000, 7],
        [{ maxTokens: 3 }, 1_000, 3],
        [{ effort: "high" }, 8, 4],
        [{ effort: "high" }, 1, 0]
      ]
      for (const [requested, maxOutputTokens, tokens] of rows) {
        const output = yield* double.chat(reasoning(requested, { maxOutputTokens }))
        assert.strictEqual(output.usage?.reasoning, tokens)
        assert.strictEqual(output.reasoning, THOUGHT.slice(0, tokens * 4))
        assert.notStrictEqual(output.text, "")
        assert.strictEqual(output.usage?.output, Math.min(maxOutputTokens, 15 + tokens))
      }
      const unable = yield* double.chat(reasoning({ effort: "high" }, { candidate: candidate("up") }))
      assert.deepInclude(unable, { reasoning: "" })
      const steeredToo = yield* double.chat(reasoning({ effort: "high" }, { steering: "reasoning_tokens=90" }))
      assert.deepStrictEqual([steeredToo.reasoning, steeredToo.usage?.reasoning], [THOUGHT, 90])
    })
  )

  it.effect("contain the result of a tool", () =>
    Effect.gen(function* () {
      const call = talk({
        tools: [weather],
        messages: [
          ...asked("hello").messages,
          { role: "assistant", content: [], toolCalls: [{ id: "a", name: "weather", arguments: "{}" }] },
          { role: "tool", toolCallId: "a", content: [{ type: "text", text: "21 °C" }] },
          { role: "tool", toolCallId: "b", content: [{ type: "text", text: "sunny" }] }
        ]
      })
      const { text, toolCalls } = yield* double.chat(call)
      assert.deepStrictEqual([text, toolCalls], ["The tool answered: 21 °C sunny", []])
    })
  )

  it.effect("are JSON on request", () =>
    Effect.gen(function* () {
      const schema = weather.parameters
      const bySchema = yield* double.chat(
        talk({ format: { type: "json_schema", name: "n", schema, strict: undefined } })
      )
      assert.deepStrictEqual(JSON.parse(bySchema.text), { city: "sample city" })
      const free = yield* double.chat(talk({ format: { type: "json_object" } }))
      assert.property(JSON.parse(free.text), "answer")
    })
  )

  it.effect("stop at the output limit", () =>
    Effect.gen(function* () {
      const cut = yield* double.chat(steered("text=h%C3%A9%C3%A9%C3%A9%C3%A9", { maxOutputTokens: 1 }))
      assert.deepStrictEqual([cut.text, cut.finish, cut.usage?.output], ["hé", "length", 1])
      const thought = yield* double.chat(steered("reasoning_tokens=99", { maxOutputTokens: 10 }))
      assert.deepStrictEqual([thought.text, thought.finish], ["", "length"])
      assert.deepInclude(thought.usage, { output: 10, reasoning: 10 })
      const tool = yield* double.chat({ ...talk({ tools: [weather] }), maxOutputTokens: 1 })
      assert.deepStrictEqual([tool.toolCalls[0]?.arguments, tool.finish], ['{"ci', "length"])
    })
  )

  it.effect("have the steered length and token counts", () =>
    Effect.gen(function* () {
      const output = yield* double.chat(steered("output_tokens=500,reasoning_tokens=100,cached_tokens=1"))
      assert.deepStrictEqual([output.text.length, output.finish], [1_600, "stop"])
      assert.deepStrictEqual(output.usage, { input: 1, cached: 1, cacheWrite: 0, output: 500, reasoning: 100 })
      assert.notStrictEqual(output.reasoning, "")
      const hidden = candidate("up", { model: { hiddenReasoning: true } })
      assert.strictEqual((yield* double.chat(steered("reasoning_tokens=1", { candidate: hidden }))).reasoning, "")
    })
  )

  it.effect("report wrong usage or none, as steered", () =>
    Effect.gen(function* () {
      const honest = (yield* double.chat(chatCall())).usage ?? noTokens
      const wrong = (yield* double.chat(steered("fault=wrong_usage"))).usage
      assert.deepInclude(wrong, { input: honest.input * 10, output: honest.output * 10 })
      const silent = steered("fault=no_usage")
      assert.isUndefined((yield* double.chat(silent)).usage)
      assert.isUndefined((yield* folded(silent)).usage)
    })
  )

  const tiered: TokenPrice = {
    unit: "token",
    perRequest: 1_234_567n,
    tiers: [price.tiers[0], { abovePromptTokens: 50, rates: { ...price.tiers[0].rates, output: 33_333_333n } }]
  }
  const freeOutput: TokenPrice = {
    ...price,
    tiers: [{ abovePromptTokens: 0, rates: { ...price.tiers[0].rates, output: 0n } }]
  }
  for (const [name, given] of [
    ["a plain price", price],
    ["tiers and a fee", tiered],
    ["free output", freeOutput]
  ] as const) {
    it.effect(`cost as much as the hold, or less than one token more, with ${name}`, () =>
      Effect.gen(function* () {
        for (const held of [maximumCost(given, 100, 1_000), maximumCost(given, 100, 0) + 1n, 987_654_321n]) {
          const call = steered("usage=held", { candidate: candidate("up", { price: given }), held })
          const usage = (yield* double.chat(call)).usage ?? noTokens
          const cost = tokenCost(given, usage)
          assert.isTrue(cost >= held)
          const one = usage.output > 0 ? { ...usage, output: usage.output - 1 } : { ...usage, input: usage.input - 1 }
          assert.isTrue(tokenCost(given, one) < held)
          if (given !== freeOutput) {
            assert.strictEqual(usage.input, 100)
            assert.isAtLeast(usage.output, outputWithin(given, 100, held))
          }
        }
      })
    )
  }
})

describe("the sandbox's faults", () => {
  it.effect("are immediate, for complete and streamed answers", () =>
    Effect.gen(function* () {
      for (const [fault, expected] of [
        ["rate_limit", { _tag: "RateLimited", retryAfterSeconds: 1 }],
        ["error", { _tag: "ServerError", status: 500, detail: "a simulated server error" }],
        ["malformed", { _tag: "Malformed", detail: "a simulated answer that is not JSON" }]
      ] as const) {
        const call = steered(`fault=${fault}`)
        assert.deepStrictEqual(yield* faultOf(double.chat(call)), expected)
        assert.deepStrictEqual(yield* faultOf(batches(call)), expected)
      }
    })
  )

  it.effect("include an empty answer, which ends without content", () =>
    Effect.gen(function* () {
      const output = yield* double.chat(steered("fault=empty"))
      assert.deepStrictEqual([output.text, output.finish, output.usage?.output], ["", "stop", 0])
      assert.lengthOf(yield* batches(steered("fault=empty")), 1)
    })
  )

  it.effect("include a broken stream, which breaks after the steered number of chunks", () =>
    Effect.gen(function* () {
      for (const [after, chunks] of [
        ["", 1],
        [",after=0", 0],
        [",after=3", 3],
        [",after=999", 3]
      ] as const) {
        const text = after === ",after=999" ? ",text=a%20b%20c" : ""
        const seen: Array<unknown> = []
        const fault = yield* double.chatStream(steered(`fault=break${after}${text}`)).pipe(
          Effect.flatMap((source) =>
            Effect.forever(Effect.tap(nextOf(source), (events) => Effect.sync(() => seen.push(events))))
          ),
          Effect.scoped,
          faultOf
        )
        assert.strictEqual(fault._tag, "Broken")
        assert.lengthOf(seen, chunks)
      }
      assert.strictEqual((yield* faultOf(double.chat(steered("fault=break"))))._tag, "Broken")
    })
  )

  const stalls = [
    ["fault=stall,after=0", { ...clocks, firstTokenMs: 1_000 }, "first_token", 1_000],
    ["fault=stall", { ...clocks, idleMs: 2_000 }, "idle", 2_000],
    ["fault=stall,after=2", { ...clocks, totalMs: 3_000 }, "total", 3_000],
    ["latency_ms=600,fault=error", { ...clocks, firstTokenMs: 500 }, "first_token", 500]
  ] as const
  for (const [steering, given, name, ms] of stalls) {
    it.effect(`include ${steering}, which stays silent until the ${name} limit`, () =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(faultOf(batches(steered(steering, { clocks: given }))))
        yield* TestClock.adjust(ms - 1)
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(yield* Fiber.join(fiber), { _tag: "TimedOut", clock: name })
      })
    )
  }

  it.effect("run into only the total limit for a complete answer", () =>
    Effect.gen(function* () {
      const call = steered("fault=stall,after=0", { clocks: { ...clocks, firstTokenMs: 1, idleMs: 1, totalMs: 5_000 } })
      const fiber = yield* Effect.forkChild(faultOf(double.chat(call)))
      yield* TestClock.adjust(4_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), { _tag: "TimedOut", clock: "total" })
    })
  )

  it.effect("include slowness, which is two seconds to the first token by default", () =>
    Effect.gen(function* () {
      for (const [steering, ms] of [
        ["fault=slow,text=a", 2_000],
        ["fault=slow,latency_ms=70,text=a", 70],
        ["latency_ms=70,chunk_ms=10,text=a%20b%20c", 90]
      ] as const) {
        for (const answer of [folded(steered(steering)), double.chat(steered(steering))]) {
          const fiber = yield* Effect.forkChild(answer)
          yield* TestClock.adjust(ms - 1)
          assert.isUndefined(fiber.pollUnsafe())
          yield* TestClock.adjust(1)
          assert.strictEqual((yield* Fiber.join(fiber)).finish, "stop")
        }
      }
    })
  )

  it.effect("apply to the named provider only; the steered answer applies to all", () =>
    Effect.gen(function* () {
      const call = steered("fault=error,provider=other,latency_ms=50,usage=held,text=mine")
      const output = yield* double.chat(call)
      assert.deepStrictEqual([output.text, output.usage?.output], ["mine", 1])
      assert.strictEqual((yield* faultOf(double.chat(steered("fault=error,provider=up"))))._tag, "ServerError")
    })
  )

  it.effect("include a rejection of an invalid steering header", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* faultOf(double.chat(steered("fault=no"))), { _tag: "Refused", status: 400 })
    })
  )
})

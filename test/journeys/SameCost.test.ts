/** One question costs the same in every dialect: it has the same hold, the same tokens and the same receipt. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { type Delivered, type Dialect, dialects, type Question } from "../support/Dialects.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { dataOf, type Frame } from "../support/Streams.ts"

const schema = {
  type: "object",
  properties: { sky: { enum: ["grey"] }, degrees: { type: "integer" } },
  required: ["sky", "degrees"],
  additionalProperties: false
}
const image = "data:image/png;base64,iVBORw0KGgo="

interface Asked extends Omit<Question, "model"> {
  readonly more?: { readonly budget_cents?: number; readonly routing?: object }
}

const questions: Readonly<Record<string, Asked>> = {
  text: { text: "How warm is it in Oslo? Ångström, 氷点下.", system: "Be brief.", maxTokens: 300 },
  "text without a cap": { text: "How warm is it in Oslo?" },
  "an image": { text: "What is this?", image, maxTokens: 300 },
  "a tool call": {
    text: "How warm is it in Oslo?",
    tools: true,
    maxTokens: 300,
    more: { routing: { require_parameters: true } }
  },
  "a tool result": { text: "How warm is it?", tools: true, toolAnswer: "minus four", maxTokens: 300 },
  reasoning: { text: "Think of Oslo", effort: "low", maxTokens: 3_000 },
  "structured output": { text: "How is the sky in Oslo?", schema, maxTokens: 300 },
  "an answer cut short": { text: "Tell me all of Oslo", maxTokens: 7 },
  "an answer that uses its whole hold": { text: "Tell me all of Oslo", maxTokens: 300 },
  "an answer without reported usage": { text: "Tell me of Oslo", maxTokens: 300 },
  "a budget": { text: "Hello", maxTokens: 300, more: { budget_cents: 90 } }
}

/** The sandbox's instructions for each question. */
const steerings: Readonly<Record<string, string>> = {
  text: "cached_tokens=5",
  "a tool call": "cached_tokens=7",
  reasoning: "reasoning_tokens=64,output_tokens=100,cached_tokens=3",
  "an answer cut short": "output_tokens=90",
  "an answer that uses its whole hold": "usage=held",
  "an answer without reported usage": "fault=no_usage"
}

interface Paid extends Delivered {
  readonly receipt: Frame
}

/** Sends one request. Its cost and usage must equal those of its receipt. */
const ask = Effect.fnUntraced(function* (
  service: Service,
  key: string,
  dialect: Dialect,
  { body, steering, stream }: { body: object; steering: string; stream: boolean }
) {
  const headers = { "x-svc-cache": "false", ...(steering === "" ? {} : { "x-svc-sandbox": steering }) }
  const response = yield* post(`${service.api}${dialect.path}`, key, body, headers)
  const said = response.status === 200 ? "" : yield* Effect.promise(() => response.text())
  assert.strictEqual(response.status, 200, `${dialect.name}: ${said}`)
  assert.isNull(response.headers.get("x-svc-ignored-parameters"), dialect.name)
  const delivered = stream ? dialect.fold(yield* dataOf(response)) : dialect.read(yield* json(response))
  const receipt = yield* receiptOf(service, key, delivered.requestId)
  assert.strictEqual(receipt.cost_usd, delivered.cost, dialect.name)
  assert.deepStrictEqual(receipt.usage, {
    input_tokens: delivered.usage.input,
    cached_tokens: delivered.usage.cached,
    cache_creation_tokens: delivered.usage.cacheWrite,
    output_tokens: delivered.usage.output,
    reasoning_tokens: delivered.usage.reasoning
  })
  return { ...delivered, receipt }
})

/** Returns the fields of a receipt that must be equal in every dialect: all except those that identify the request. */
const factsOf = (receipt: Frame): Frame => {
  const { created_at: _at, id: _id, operation: _operation, timings: _timings, trace_id: _trace, ...facts } = receipt
  return facts
}

const same = ({ calls, cost, reasoning, receipt, text, usage }: Paid) => ({
  calls,
  cost,
  reasoning,
  text,
  usage,
  receipt: factsOf(receipt)
})

/** Sends a question in every dialect that can express it. */
const askAll = Effect.fnUntraced(function* (service: Service, key: string, question: Question, steering = "") {
  const all: Array<{ readonly name: string; readonly stream: boolean; readonly paid: Paid }> = []
  for (const stream of [false, true]) {
    for (const dialect of dialects) {
      const body = dialect.ask(question, stream)
      if (body === undefined) continue
      all.push({ name: dialect.name, stream, paid: yield* ask(service, key, dialect, { body, steering, stream }) })
    }
  }
  return all
})

const checkSame = (name: string, all: Effect.Success<ReturnType<typeof askAll>>, whole: boolean) => {
  const [first, ...others] = all.filter(({ stream }) => stream !== whole)
  if (first === undefined) return assert.fail(`no dialect could express ${name}`)
  for (const other of others) {
    assert.deepStrictEqual(same(other.paid), same(first.paid), `${name}: ${other.name} and ${first.name} must be equal`)
  }
  return first.paid
}

const checkQuestion = (name: string, all: Effect.Success<ReturnType<typeof askAll>>, capped: boolean) => {
  assert.isAtLeast(all.length, capped ? 6 : 4, name)
  const whole = checkSame(name, all, true)
  const streamed = checkSame(name, all, false)
  assert.isAbove(whole.cost, 0)
  const { held_usd: _whole, streamed: isStreamed, ...receipt } = same(whole).receipt
  const { held_usd: _streamed, streamed: wasStreamed, ...other } = same(streamed).receipt
  assert.deepStrictEqual([isStreamed, wasStreamed], [false, true])
  assert.deepStrictEqual({ ...same(streamed), receipt: other }, { ...same(whole), receipt }, `${name}: streamed`)
  // Without a cap the hold of a stream grows.
  if (capped) assert.strictEqual(whole.receipt.held_usd, streamed.receipt.held_usd)
}

/** Returns the estimated hold for a question. */
const estimated = (service: Service, key: string, question: Question) =>
  Effect.map(
    Effect.flatMap(post(`${service.api}/estimate`, key, dialects[0]?.ask(question, false)), json),
    (estimate): number => estimate.hold_usd
  )

describe("a question in the sandbox", () => {
  // A model with visible reasoning, one with hidden reasoning, one with price tiers, and one without reasoning.
  const models = {
    "claude-sonnet-4-6": "anthropic",
    "gpt-5-mini": "openai",
    "gemini-2.5-pro": "gemini",
    "gpt-4o-mini": "openai"
  }
  for (const [model, provider] of Object.entries(models)) {
    it.live(`to ${model} has the same hold, usage, cost and receipt in every dialect`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(50)
        let cost = 0n
        for (const [name, question] of Object.entries(questions)) {
          // The measured performance of providers must not decide the routing.
          const more = { ...question.more, routing: { ...question.more?.routing, providers: { only: [provider] } } }
          const all = yield* askAll(service, inferenceKey, { ...question, model, more }, steerings[name])
          checkQuestion(name, all, question.maxTokens !== undefined)
          const [first] = all
          const estimate = yield* estimated(service, inferenceKey, { ...question, model, more })
          // Without a cap the hold may exceed the estimate.
          if (question.maxTokens !== undefined) assert.strictEqual(first?.paid.receipt.held_usd, estimate)
          for (const { paid } of all) cost += nano(paid.cost)
        }
        assert.deepStrictEqual(yield* service.balance(account.id), { posted: 50_000_000_000n - cost, held: 0n })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("with a preset has the same usage, cost and receipt in every dialect", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(50)
      const routing = { providers: { only: ["anthropic"] }, allow_fallbacks: false }
      yield* service.preset(account.id, "brief", {
        model: "claude-sonnet-4-6",
        instructions: "Be brief, and speak of ships.",
        max_tokens: 200,
        temperature: 0.4,
        stop: ["sandbox"],
        routing
      })
      yield* service.preset(account.id, "thinker", {
        models: ["claude-sonnet-4-6", "gpt-5-mini"],
        reasoning: { effort: "low" },
        budget_cents: 80,
        routing
      })
      for (const model of ["@brief", "@thinker"]) {
        for (const more of [{}, { routing: { strategy: "cost" } }]) {
          const question = { model, text: "What of the sea?", maxTokens: 300, more }
          checkQuestion(model, yield* askAll(service, inferenceKey, question), true)
        }
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("to svc/auto or a chain has the same model, usage, cost and receipt in every dialect", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(50)
      const routing = { providers: { only: ["openai"] } }
      const text = "Write a function in TypeScript that sorts a list of ships by their length"
      const auto = { model: "svc/auto", text, maxTokens: 300, more: { routing } }
      checkQuestion("svc/auto", yield* askAll(service, inferenceKey, auto), true)
      const chain = { ...auto, model: "claude-sonnet-4-6,gpt-5-mini" }
      checkQuestion("a chain", yield* askAll(service, inferenceKey, chain), true)
    }).pipe(Effect.scoped)
  )

  it.live("has the same token count in both dialects that count tokens", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0)
      const counting = { messages: "/messages/count_tokens", responses: "/responses/input_tokens" }
      for (const [name, question] of Object.entries(questions)) {
        const counts = new Set<number>()
        for (const { ask: words, name: dialect } of dialects) {
          const path = counting[dialect as keyof typeof counting]
          if (path === undefined) continue
          const body = words({ ...question, model: "gpt-4o-mini", maxTokens: 300 }, false)
          counts.add((yield* Effect.flatMap(post(`${service.api}${path}`, inferenceKey, body), json)).input_tokens)
        }
        const [count, ...others] = counts
        assert.isAbove(count ?? 0, 5)
        assert.deepStrictEqual(others, [], name)
      }
    }).pipe(Effect.scoped)
  )

  it.live("whose stream breaks has the same charge in every dialect", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(50)
      const paid: Array<Frame> = []
      for (const dialect of dialects) {
        const only = { routing: { providers: { only: ["openai"] } } }
        const body = dialect.ask(
          { model: "gpt-4o-mini", text: "Tell me all of Oslo", maxTokens: 300, more: only },
          true
        )
        if (body === undefined) continue
        const steering = { "x-svc-sandbox": "fault=break,after=4,output_tokens=90" }
        const response = yield* post(`${service.api}${dialect.path}`, inferenceKey, body, steering)
        yield* dataOf(response)
        const id = response.headers.get("x-request-id")
        const receipt = yield* receiptOf(service, inferenceKey, id)
        assert.deepInclude(receipt, { status: "failed", usage_basis: "counted" })
        assert.isAbove(receipt.cost_usd, 0)
        paid.push(factsOf(receipt))
      }
      assert.lengthOf(paid, 3)
      for (const other of paid.slice(1)) assert.deepStrictEqual(other, paid[0])
    }).pipe(Effect.scoped)
  )

  it.live("above the balance gets 402 with the same amount in every dialect", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0.0001)
      for (const [name, asked] of Object.entries(questions)) {
        if (asked.maxTokens === undefined) continue
        const question = { ...asked, model: "claude-sonnet-4-6", maxTokens: 30_000 }
        const said = new Set<string>()
        for (const dialect of dialects) {
          const body = dialect.ask(question, false)
          if (body === undefined) continue
          const response = yield* post(`${service.api}${dialect.path}`, inferenceKey, body)
          assert.strictEqual(response.status, 402, `${name}: ${dialect.name}`)
          const { error, limit_source } = yield* json(response)
          said.add(`${limit_source}: ${error.message}`)
        }
        assert.strictEqual(said.size, 1, [...said].join("\n"))
        assert.match([...said].join(), /^balance: This request may cost \$0\.\d+/)
      }
    }).pipe(Effect.scoped)
  )
})

interface Wire {
  readonly model: string
  readonly env: (origin: string) => Record<string, string>
  readonly whole: object
  readonly streamed: string
}

const events = (all: ReadonlyArray<object>) => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")
const named = (all: ReadonlyArray<{ readonly type: string }>) =>
  all.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("")

const chatUsage = {
  prompt_tokens: 1_000,
  completion_tokens: 200,
  total_tokens: 1_200,
  prompt_tokens_details: { cached_tokens: 600 },
  completion_tokens_details: { reasoning_tokens: 150 }
}
const input = { input_tokens: 300, cache_read_input_tokens: 600, cache_creation_input_tokens: 100 }
const geminiAnswer = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello there" }] }, finishReason: "STOP" }],
  usageMetadata: {
    promptTokenCount: 1_000,
    cachedContentTokenCount: 600,
    candidatesTokenCount: 50,
    thoughtsTokenCount: 150,
    totalTokenCount: 1_200
  }
}

/** Hosts that give one fixed answer, each in the wire format of one vendor. */
const wires: Readonly<Record<string, Wire>> = {
  OpenAI: {
    model: "gpt-5-mini",
    env: (origin) => ({ OPENAI_API_KEY: "planted", OPENAI_BASE_URL: origin }),
    whole: {
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello there" } }],
      usage: chatUsage
    },
    streamed: `${events([
      { choices: [{ index: 0, delta: { content: "Hello " }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: "there" }, finish_reason: "stop" }] },
      { choices: [], usage: chatUsage }
    ])}data: [DONE]\n\n`
  },
  Anthropic: {
    model: "claude-sonnet-4-5",
    env: (origin) => ({ ANTHROPIC_API_KEY: "planted", ANTHROPIC_BASE_URL: origin }),
    whole: {
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "Hello there" }],
      stop_reason: "end_turn",
      usage: { ...input, output_tokens: 200 }
    },
    streamed: named([
      { type: "message_start", message: { type: "message", content: [], usage: { ...input, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello there" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 200 } },
      { type: "message_stop" }
    ] as ReadonlyArray<{ readonly type: string }>)
  },
  Gemini: {
    model: "gemini-2.5-flash",
    env: (origin) => ({ GEMINI_API_KEY: "planted", GEMINI_BASE_URL: origin }),
    whole: geminiAnswer,
    streamed: events([geminiAnswer])
  }
}

const bodyOf = async (request: IncomingMessage): Promise<Frame> => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  return JSON.parse(text)
}

describe("a question to a provider", () => {
  for (const [vendor, { env, model, streamed, whole }] of Object.entries(wires)) {
    it.live(`with ${vendor}'s wire format has the same upstream body, hold and cost in every dialect`, () =>
      Effect.gen(function* () {
        const bodies: Array<{ readonly stream: boolean; readonly body: Frame }> = []
        const answer = async (request: IncomingMessage, response: ServerResponse) => {
          const body = await bodyOf(request)
          const stream = body.stream === true || request.url?.includes(":stream") === true
          bodies.push({ stream, body })
          response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" })
          response.end(stream ? streamed : JSON.stringify(whole))
        }
        const host = yield* upstream((request, response) => void answer(request, response))
        const service = yield* startService({ SANDBOX: "off", ...env(host.origin) })
        const { inferenceKey } = yield* service.account(50)
        // The answer is fixed and matches no schema, so structured output is left out.
        for (const name of ["text", "text without a cap", "an image", "a tool result", "reasoning"]) {
          const question = questions[name]!
          bodies.length = 0
          const all = yield* askAll(service, inferenceKey, { ...question, model })
          checkQuestion(name, all, question.maxTokens !== undefined)
          const { cached, input: fresh, output } = all[0]!.paid.usage
          assert.deepStrictEqual([cached, output, all[0]!.paid.text], [600, 200, "Hello there"])
          assert.isAbove(fresh, 0)
          assert.lengthOf(bodies, all.length)
          for (const stream of [false, true]) {
            const [first, ...others] = bodies.filter((one) => one.stream === stream)
            for (const other of others) assert.deepStrictEqual(other.body, first?.body, name)
          }
        }
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }
})

/** Providers that spend the whole cap on reasoning, which is the largest output that a request allows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { upstream } from "../providers/upstream.ts"
import { dialects } from "../support/Dialects.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"

// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>

/** A wire format: the cap and the reasoning budget in a request, and an answer that used the whole cap. */
interface Wire {
  readonly capOf: (body: Json) => number
  readonly budgetOf: (body: Json) => number | undefined
  readonly whole: (cap: number) => Json
  readonly events: (cap: number) => ReadonlyArray<Json>
}

const PROMPT = 5
const TEXT = "Ok."

const chatUsage = (cap: number) => ({
  prompt_tokens: PROMPT,
  completion_tokens: cap,
  total_tokens: PROMPT + cap,
  completion_tokens_details: { reasoning_tokens: cap - 1 }
})
const choice = { index: 0, finish_reason: "length" }
const chat: Wire = {
  capOf: (body) => body["max_completion_tokens"] ?? body["max_tokens"],
  budgetOf: (body) => body["reasoning"]?.max_tokens,
  whole: (cap) => ({ choices: [{ ...choice, message: { role: "assistant", content: TEXT } }], usage: chatUsage(cap) }),
  events: (cap) => [{ choices: [{ ...choice, delta: { content: TEXT } }] }, { choices: [], usage: chatUsage(cap) }]
}

const answerOf = (cap: number) => ({
  status: "incomplete",
  incomplete_details: { reason: "max_output_tokens" },
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: TEXT }] }],
  usage: {
    input_tokens: PROMPT,
    output_tokens: cap,
    total_tokens: PROMPT + cap,
    output_tokens_details: { reasoning_tokens: cap - 1 }
  }
})
const responses: Wire = {
  capOf: (body) => body["max_output_tokens"],
  budgetOf: () => undefined,
  whole: answerOf,
  events: (cap) => [
    { type: "response.output_text.delta", delta: TEXT, output_index: 0 },
    { type: "response.incomplete", response: answerOf(cap) }
  ]
}

const anthropic: Wire = {
  capOf: (body) => body["max_tokens"],
  budgetOf: (body) => body["thinking"]?.budget_tokens,
  whole: (cap) => ({
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: TEXT }],
    stop_reason: "max_tokens",
    usage: { input_tokens: PROMPT, output_tokens: cap }
  }),
  events: (cap) => [
    { type: "message_start", message: { usage: { input_tokens: PROMPT, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
    { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: cap } },
    { type: "message_stop" }
  ]
}

const candidateOf = (cap: number) => ({
  candidates: [{ content: { role: "model", parts: [{ text: TEXT }] }, finishReason: "MAX_TOKENS" }],
  usageMetadata: { promptTokenCount: PROMPT, candidatesTokenCount: 1, thoughtsTokenCount: cap - 1 }
})
const gemini: Wire = {
  capOf: (body) => body["generationConfig"].maxOutputTokens,
  budgetOf: (body) => body["generationConfig"].thinkingConfig?.thinkingBudget,
  whole: candidateOf,
  events: (cap) => [candidateOf(cap)]
}

const wireOf = (url: string): Wire => {
  if (url.includes("/models/")) return gemini
  if (url.includes("/messages")) return anthropic
  return url.includes("/responses") ? responses : chat
}

/** The output that a request allowed its provider. */
interface Spent {
  readonly path: string
  readonly cap: number
  readonly budget: number | undefined
}

const host = Effect.gen(function* () {
  const spent: Array<Spent> = []
  const { origin } = yield* upstream((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (piece) => (text += piece))
    request.on("end", () => {
      const url = request.url ?? ""
      const body = JSON.parse(text) as Json
      const wire = wireOf(url)
      const cap = wire.capOf(body)
      spent.push({ path: url, cap, budget: wire.budgetOf(body) })
      const streams = body["stream"] === true || url.includes(":stream")
      response.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" })
      if (!streams) return void response.end(JSON.stringify(wire.whole(cap)))
      for (const event of wire.events(cap)) {
        const name = typeof event["type"] === "string" ? `event: ${event["type"]}\n` : ""
        response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
      }
      response.end()
    })
  })
  return { origin, spent }
})

/** A model for each adapter and each way to set the reasoning effort. */
const MODELS: ReadonlyArray<readonly [model: string, path: RegExp, tools?: true]> = [
  ["gpt-5-mini", /chat\/completions/],
  ["gpt-5.5", /responses/, true],
  ["claude-haiku-4-5", /messages/],
  ["claude-opus-4-8", /messages/],
  ["gemini-2.5-flash", /models/],
  ["gemini-3.5-flash", /models/],
  ["qwen/qwen3-32b", /own.*chat\/completions/]
]

const start = Effect.gen(function* () {
  const { origin, spent } = yield* host
  const path = join(yield* temporaryDirectory, "hosts.json")
  const own = { id: "own", base_url: `${origin}/own/v1`, models: { "qwen/qwen3-32b": "qwen3-32b" } }
  writeFileSync(path, JSON.stringify([own]))
  const service = yield* startService({
    SANDBOX: "off",
    PROVIDERS_FILE: path,
    GEMINI_API_KEY: "k",
    GEMINI_BASE_URL: `${origin}/v1beta`,
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: `${origin}/v1`,
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: origin
  })
  return { service, spent }
})

describe("the hold for a reasoning model", () => {
  for (const stream of [false, true]) {
    it.live(
      `covers the largest output with its reasoning, ${stream ? "streamed" : "plain"}, in every dialect`,
      () =>
        Effect.gen(function* () {
          const { service, spent } = yield* start
          for (const [model, path, tools] of MODELS) {
            for (const { ask, name, path: at } of dialects) {
              for (const [usd, maxTokens] of [
                [50, undefined],
                [50, 3_000],
                [0.004, undefined]
              ] as const) {
                const more = maxTokens === undefined ? {} : { maxTokens }
                const body = ask({ model, text: "Go.", effort: "high", ...(tools ? { tools } : {}), ...more }, stream)
                if (body === undefined) continue
                const { inferenceKey } = yield* service.account(usd)
                spent.length = 0
                const title = `${model}, ${name}, ${maxTokens ?? "no cap"}, $${usd}`
                const response = yield* post(`${service.api}${at}`, inferenceKey, body)
                const id = response.headers.get("x-request-id") ?? ""
                const answer = yield* Effect.promise(() => response.text())
                // A balance below the prompt and the smallest output gets 402, and no provider is called.
                if (response.status === 402 && usd < 1) {
                  assert.lengthOf(spent, 0, title)
                  continue
                }
                assert.strictEqual(response.status, 200, `${title}: ${answer}`)
                const [one] = spent
                assert.match(one!.path, path, title)
                assert.isAtMost(one!.cap, maxTokens ?? 64_000, title)
                assert.isBelow(one!.budget ?? 0, one!.cap, title)
                const receipt = yield* receiptOf(service, inferenceKey, id)
                assert.strictEqual(receipt.usage.output_tokens, one!.cap, title)
                assert.strictEqual(receipt.absorbed_usd, 0, title)
                assert.isAbove(receipt.cost_usd, 0, title)
                assert.isAtMost(receipt.cost_usd, receipt.held_usd, title)
                assert.isAtMost(receipt.held_usd, usd, title)
              }
            }
          }
          assert.deepStrictEqual(yield* service.faults, [])
        }).pipe(Effect.scoped),
      120_000
    )
  }
})

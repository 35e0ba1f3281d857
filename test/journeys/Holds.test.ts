import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, startService, type Service } from "../support/Service.ts"
import { dialects } from "../support/Dialects.ts"

const hello = "Say hello."
const english = readFileSync("test/support/texts/english.txt", "utf8")

/** Returns English text of this many bytes. */
const textOf = (bytes: number) => english.repeat(Math.ceil(bytes / english.length)).slice(0, bytes)

const estimateOf = (service: Service, key: string, body: object) =>
  Effect.flatMap(post(`${service.api}/estimate`, key, body), json)

/** A request, the body of its estimate, and its path. */
interface Case {
  readonly path: string
  readonly body: object
  readonly asked: object
}

const work: ReadonlyArray<Case> = [
  ...[
    { model: "text-embedding-3-small", input: [textOf(3_000), "a cat"] },
    { model: "voyage-4", input: textOf(500) }
  ].map((body) => ({ path: "/embeddings", body, asked: body })),
  {
    path: "/rerank",
    body: { model: "rerank-2.5", query: "which cat?", documents: [textOf(2_000), "a cat"] },
    asked: { model: "rerank-2.5", input: "which cat?", documents: [textOf(2_000), "a cat"] }
  },
  {
    path: "/audio/speech",
    body: { model: "tts-1", input: hello, voice: "alloy" },
    asked: { model: "tts-1", input: hello }
  },
  {
    path: "/images/generations",
    body: { model: "gpt-image-1", prompt: "a kite", n: 2 },
    asked: { model: "gpt-image-1", prompt: "a kite", n: 2 }
  },
  ...[
    ["veo-3", 8],
    ["seedance-2.0", 5],
    ["grok-imagine-video", 6]
  ].map(([model, duration]) => ({
    path: "/videos",
    body: { model, duration, prompt: "a kite", aspect_ratio: "16:9" },
    asked: { model, duration, prompt: "a kite" }
  })),
  ...["tavily-search", "sonar-search"].map((model) => ({
    path: "/search",
    body: { model, query: "kites" },
    asked: { model, input: "kites" }
  }))
]

const questions = [
  { model: "gpt-4o-mini", text: textOf(12_000), maxTokens: 40 },
  { model: "claude-haiku-4-5", text: textOf(4_000), system: textOf(2_000), tools: true, maxTokens: 40 },
  { model: "deepseek-v4-pro", text: textOf(44_000) },
  { model: "gpt-4o", text: hello, more: { budget_cents: 5 } }
]

const chats: ReadonlyArray<Case> = dialects.flatMap(({ ask, path }) =>
  questions.flatMap((question) => {
    const body = ask(question, false)
    const asked = dialects.find((one) => one.path === "/chat/completions")?.ask(question, false)
    return body === undefined || asked === undefined ? [] : [{ path, body, asked }]
  })
)

/** Checks that a balance of exactly the estimated hold suffices, and that a nano-USD less gets 402. */
const holdsExactly = (service: Service, { asked, body, path }: Case) =>
  Effect.gen(function* () {
    const { account, inferenceKey } = yield* service.account(0)
    const name = `${path} ${JSON.stringify(asked).slice(0, 60)}`
    const { affordable, hold_usd } = yield* estimateOf(service, inferenceKey, asked)
    assert.isFalse(affordable, name)
    yield* service.customers.topUp(account, nano(hold_usd) - 1n)
    assert.isFalse((yield* estimateOf(service, inferenceKey, asked)).affordable, name)
    const refused = yield* post(`${service.api}${path}`, inferenceKey, body)
    assert.strictEqual(refused.status, 402, name)
    yield* service.customers.topUp(account, 1n)
    assert.isTrue((yield* estimateOf(service, inferenceKey, asked)).affordable, name)
    const served = yield* post(`${service.api}${path}`, inferenceKey, body)
    assert.isBelow(served.status, 300, `${name}: ${yield* Effect.promise(() => served.text())}`)
  })

describe("a hold", () => {
  it.live("equals the estimate to the nano-USD, for every operation except chat", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      for (const one of work) yield* holdsExactly(service, one)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("equals the estimate to the nano-USD, for chat in every dialect", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      assert.isAbove(chats.length, 12)
      for (const one of chats) yield* holdsExactly(service, one)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is not estimated for a video that would be refused: both answer the same error", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(100)
      for (const [model, duration] of [
        ["veo-3", 5],
        ["veo-3", 15],
        ["grok-imagine-video", 14]
      ] as const) {
        const asked = { model, duration, prompt: "a kite" }
        const videos = yield* post(`${service.api}/videos`, inferenceKey, { ...asked, aspect_ratio: "16:9" })
        const estimate = yield* post(`${service.api}/estimate`, inferenceKey, asked)
        assert.strictEqual(estimate.status, videos.status, `${model} ${duration}`)
        if (videos.status === 400) assert.deepStrictEqual((yield* json(estimate)).error, (yield* json(videos)).error)
      }
      const five = yield* post(`${service.api}/estimate`, inferenceKey, { model: "veo-3", duration: 5 })
      assert.strictEqual(five.status, 400)
      assert.strictEqual((yield* json(five)).error.param, "duration")
    }).pipe(Effect.scoped)
  )

  it.live("of a long prompt fits into a small balance that covers the request", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      for (const [usd, model, bytes] of [
        [0.1, "gpt-4o", 44_000],
        [0.1, "deepseek-v4-pro", 44_000],
        [0.5, "claude-sonnet-4-5", 300_000],
        [0.5, "gpt-4o-mini", 400_000]
      ] as const) {
        const { inferenceKey } = yield* service.account(usd)
        const body = { model, max_tokens: 300, messages: [{ role: "user", content: textOf(bytes) }] }
        const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
        assert.strictEqual(answer.status, 200, `${model}, ${bytes} bytes for ${usd}`)
        const { cost_usd, request_id } = yield* json(answer)
        const receipt = yield* receiptOf(service, inferenceKey, request_id)
        assert.isAtMost(receipt.held_usd, usd)
        assert.strictEqual(receipt.cost_usd, cost_usd)
        assert.strictEqual(receipt.absorbed_usd, 0)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

describe("an output without a cap", () => {
  const steered = { "x-svc-sandbox": "output_tokens=12000" }

  it.live("is capped by budget_cents in every dialect, streamed or not", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(100)
      for (const { ask, name, path, read } of dialects) {
        const question = { model: "gpt-4o", text: hello, more: { budget_cents: 5 } }
        const body = ask(question, false)
        if (body === undefined || "max_tokens" in body) continue
        const answer = yield* post(`${service.api}${path}`, inferenceKey, body, steered)
        assert.strictEqual(answer.status, 200, name)
        const { cost, requestId, usage } = read(yield* json(answer))
        const receipt = yield* receiptOf(service, inferenceKey, requestId)
        assert.isAtMost(receipt.held_usd, 0.05, name)
        assert.isAbove(cost, 0.04, name)
        assert.isAtMost(cost, 0.05, name)
        assert.isBelow(usage.output, 5_000, name)
        assert.strictEqual(receipt.finish_reason, "length", name)
        const asked = ask(question, true)
        if (asked === undefined) continue
        const stream = yield* post(`${service.api}${path}`, inferenceKey, asked, steered)
        const id = stream.headers.get("x-request-id") ?? ""
        assert.strictEqual(stream.status, 200, name)
        yield* Effect.promise(() => stream.text())
        const streamed = yield* receiptOf(service, inferenceKey, id)
        assert.isAtMost(streamed.cost_usd, 0.05, name)
        assert.strictEqual(streamed.finish_reason, "length", name)
        assert.strictEqual(streamed.absorbed_usd, 0, name)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is capped by a low balance, streamed or not", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      for (const stream of [false, true]) {
        const { inferenceKey } = yield* service.account(0.02)
        const body = { model: "gpt-4o", stream, messages: [{ role: "user", content: hello }] }
        const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, body, steered)
        assert.strictEqual(answer.status, 200)
        const id = answer.headers.get("x-request-id") ?? ""
        yield* Effect.promise(() => answer.text())
        const receipt = yield* receiptOf(service, inferenceKey, id)
        assert.isAtMost(receipt.cost_usd, 0.02)
        assert.isAbove(receipt.cost_usd, 0.015)
        assert.deepStrictEqual([receipt.finish_reason, receipt.absorbed_usd], ["length", 0])
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "gets 400 when budget_cents covers less than the prompt and 256 tokens, or less than the prompt and max_tokens",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { inferenceKey } = yield* service.account(100)
        const messages = [{ role: "user", content: hello }]
        for (const more of [{ budget_cents: 0.2 }, { budget_cents: 5, max_tokens: 10_000 }]) {
          const refused = yield* post(`${service.api}/chat/completions`, inferenceKey, {
            model: "gpt-4o",
            messages,
            ...more
          })
          assert.strictEqual(refused.status, 400)
          assert.strictEqual((yield* json(refused)).error.code, "no_model_in_budget")
        }
      }).pipe(Effect.scoped)
  )
})

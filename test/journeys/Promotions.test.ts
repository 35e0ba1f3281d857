import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Changes } from "../../src/catalogue/Changes.ts"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const HOUR_MS = 3_600_000
const model = "gpt-4o-mini"
const messages = [{ role: "user", content: "What is it worth to you?" }]

/** Writes a catalogue file with these changes. */
const catalogueFile = (changes: Partial<Changes>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-test-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    ),
    (directory) => {
      const path = join(directory, "catalogue.json")
      writeFileSync(path, JSON.stringify(changes))
      return path
    }
  )

/** The real clock, which a test can move forward. */
class MovedClock {
  readonly clock: Clock.Clock
  aheadMs = 0

  constructor(real: Clock.Clock) {
    const now = () => real.currentTimeMillisUnsafe() + this.aheadMs
    this.clock = Object.create(real, {
      currentTimeMillisUnsafe: { value: now },
      currentTimeMillis: { value: Effect.sync(now) }
    }) as Clock.Clock
  }
}

const iso = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString()

const promotion = (discountPercent: number) => ({
  model,
  label: "Winter",
  discountPercent,
  startsAt: iso(-HOUR_MS),
  endsAt: iso(HOUR_MS)
})

const detail = (service: Service) => Effect.flatMap(get(`${service.api}/models/${model}`, ""), json)
const estimate = (service: Service, key: string, body: object) =>
  Effect.flatMap(post(`${service.api}/estimate`, key, body), json)

describe("a promotion", () => {
  it.live("applies to the listing, estimate, hold, charge and receipt, to the nano-USD", () =>
    Effect.gen(function* () {
      const listed = yield* startService()
      const service = yield* startService({
        CATALOGUE_FILE: yield* catalogueFile({ promotions: [promotion(12.5)] })
      })
      const list = (yield* detail(listed)).pricing
      const { history, overlay, pricing } = yield* detail(service)
      assert.deepInclude(pricing.promotion, { label: "Winter", discountPercent: 12.5 })
      assert.isBelow(Date.parse(pricing.promotion.startsAt), Date.now())
      assert.isAbove(Date.parse(pricing.promotion.endsAt), Date.now())
      assert.strictEqual(pricing.listPerUnitUsd, list.meteredPromptPerToken)
      const rates = ["meteredPromptPerToken", "meteredCachedPromptPerToken", "meteredCompletionPerToken"] as const
      for (const rate of rates) {
        assert.strictEqual(BigInt(Math.round(pricing[rate] * 1e12)) * 8n, BigInt(Math.round(list[rate] * 1e12)) * 7n)
      }
      assert.strictEqual(history.at(-1).event, "promotion_started")
      assert.deepStrictEqual(overlay, { isOverlay: false, dispatch: "provider", overrideStatus: "none" })

      const body = { model, messages, max_tokens: 400 }
      const { account, inferenceKey } = yield* service.account(0)
      const { breakdown, hold_usd } = yield* estimate(service, inferenceKey, body)
      assert.strictEqual(breakdown[0].price_per_input_token, pricing.meteredPromptPerToken)
      const full = yield* listed.account(0)
      const before = yield* estimate(listed, full.inferenceKey, body)
      assert.isAtMost(hold_usd, before.hold_usd * 0.875 + 1e-9)
      assert.isAtLeast(hold_usd, before.hold_usd * 0.875 - 1e-12)

      // The balance must cover exactly the discounted hold.
      yield* service.customers.topUp(account, nano(hold_usd) - 1n)
      const chat = () =>
        post(`${service.api}/chat/completions`, inferenceKey, body, {
          "x-svc-sandbox": "output_tokens=333,cached_tokens=4"
        })
      assert.strictEqual((yield* chat()).status, 402)
      yield* service.customers.topUp(account, 1n)
      const answer = yield* Effect.flatMap(chat(), json)
      const receipt = yield* receiptOf(service, inferenceKey, answer.request_id)
      assert.deepStrictEqual(receipt.price.promotion, { label: "Winter", discount_percent: 12.5 })
      assert.strictEqual(receipt.held_usd, hold_usd)
      const pico = (usd: number) => BigInt(Math.round(usd * 1e12))
      const exact =
        pico(pricing.meteredPromptPerToken) * BigInt(receipt.usage.input_tokens) +
        pico(pricing.meteredCachedPromptPerToken) * BigInt(receipt.usage.cached_tokens) +
        pico(pricing.meteredCompletionPerToken) * BigInt(receipt.usage.output_tokens)
      const charged = (exact + 999n) / 1_000n
      assert.deepStrictEqual([receipt.usage.cached_tokens, receipt.usage.output_tokens], [4, 333])
      assert.strictEqual(nano(receipt.cost_usd), charged)
      assert.strictEqual(nano(answer.cost_usd), charged)
      assert.strictEqual((yield* service.balance(account.id)).posted, nano(hold_usd) - charged)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("that ends during a request applies to that request, and not to the next one", () =>
    Effect.gen(function* () {
      const arrived = Promise.withResolvers<void>()
      const go = Promise.withResolvers<void>()
      const host = yield* upstream((request, response) => {
        request.resume()
        request.on("end", () => {
          arrived.resolve()
          void go.promise.then(() =>
            response.writeHead(200, { "content-type": "application/json" }).end(
              JSON.stringify({
                id: "chatcmpl-1",
                object: "chat.completion",
                created: 1,
                model: "whatever",
                choices: [{ index: 0, message: { role: "assistant", content: "Little." }, finish_reason: "stop" }],
                usage: { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 }
              })
            )
          )
        })
      })
      const moved = new MovedClock(yield* Clock.Clock)
      const service = yield* startService({
        OPENAI_API_KEY: "sk-test",
        OPENAI_BASE_URL: `${host.origin}/v1`,
        CATALOGUE_FILE: yield* catalogueFile({ promotions: [promotion(50)] })
      }).pipe(Effect.provideService(Clock.Clock, moved.clock))
      const { account, inferenceKey } = yield* service.account(10)
      const body = { model, messages, max_tokens: 300, routing: { providers: { only: ["openai"] } } }
      const running = yield* Effect.forkChild(
        Effect.flatMap(post(`${service.api}/chat/completions`, inferenceKey, body), json)
      )
      yield* Effect.promise(() => arrived.promise)
      const during = (yield* detail(service)).pricing
      assert.strictEqual(during.promotion.discountPercent, 50)
      moved.aheadMs = 2 * HOUR_MS
      const after = yield* detail(service)
      assert.isNull(after.pricing.promotion)
      assert.strictEqual(after.pricing.meteredPromptPerToken, during.listPerUnitUsd)
      assert.strictEqual(after.history.at(-1).event, "promotion_ended")
      go.resolve()
      const answer = yield* Fiber.join(running)
      const first = yield* receiptOf(service, inferenceKey, answer.request_id)
      assert.deepStrictEqual(first.price.promotion, { label: "Winter", discount_percent: 50 })
      const next = yield* Effect.flatMap(post(`${service.api}/chat/completions`, inferenceKey, body), json)
      const second = yield* receiptOf(service, inferenceKey, next.request_id)
      assert.notProperty(second.price, "promotion")
      assert.strictEqual(nano(second.cost_usd), nano(first.cost_usd) * 2n)
      assert.strictEqual(second.held_usd, first.held_usd * 2)
      assert.strictEqual((yield* service.balance(account.id)).posted, nano(10) - nano(first.cost_usd) * 3n)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("with an invalid discount stops the start with an error that names the file and the field", () =>
    Effect.gen(function* () {
      const path = yield* catalogueFile({ promotions: [promotion(120)] })
      const error = yield* Effect.flip(startService({ CATALOGUE_FILE: path }))
      assert.include(
        String(error),
        `CATALOGUE_FILE ${path}: promotions, entry 1 (${model}), field discountPercent: must be`
      )
    }).pipe(Effect.scoped)
  )
})

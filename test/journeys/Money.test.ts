import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, startService, type Service } from "../support/Service.ts"

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello, what does this cost?" }] }

const estimate = (service: Service, key: string, body: object) =>
  Effect.flatMap(post(`${service.api}/estimate`, key, body), json)

describe("money", () => {
  it.live("lets exactly as many concurrent requests through as the balance covers, and answers 402 to the others", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const body = { ...chat, max_tokens: 100 }
      const poor = yield* service.account(0)
      const { hold_usd } = yield* estimate(service, poor.inferenceKey, body)
      const hold = nano(hold_usd)
      yield* service.customers.topUp(poor.account, hold * 37n)
      const responses = yield* Effect.forEach(
        Array.from({ length: 200 }),
        () => post(`${service.api}/chat/completions`, poor.inferenceKey, body, { "x-svc-sandbox": "usage=held" }),
        { concurrency: "unbounded" }
      )
      const statuses = responses.map((response) => response.status)
      assert.strictEqual(statuses.filter((status) => status === 200).length, 37)
      assert.strictEqual(statuses.filter((status) => status === 402).length, 163)
      assert.deepStrictEqual(yield* service.balance(poor.account.id), { posted: 0n, held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("shows the same cost in the answer and on the receipt, and charges exactly that", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const before = (yield* service.balance(account.id)).posted
      const answer = yield* Effect.flatMap(
        post(`${service.api}/chat/completions`, inferenceKey, chat, {
          "x-svc-sandbox": "output_tokens=120,cached_tokens=5,reasoning_tokens=20"
        }),
        json
      )
      const receipt = yield* receiptOf(service, inferenceKey, answer.request_id)
      const after = (yield* service.balance(account.id)).posted
      assert.isAbove(answer.cost_usd, 0)
      assert.strictEqual(receipt.cost_usd, answer.cost_usd)
      assert.strictEqual(before - after, nano(answer.cost_usd))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

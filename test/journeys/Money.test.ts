import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, startService, type Service } from "../support/Service.ts"

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello, what does this cost?" }] }

const estimate = (service: Service, key: string, body: object) =>
  Effect.flatMap(post(`${service.api}/estimate`, key, body), json)

describe("the balance", () => {
  it.live("covers exactly as many concurrent requests as it has holds for, and the others get 402", () =>
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

  it.live("decreases by exactly the cost that the answer and the receipt show", () =>
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

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sessionClient } from "../support/Mcp.ts"
import { get, json, post, startService } from "../support/Service.ts"

const open = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey } = yield* service.account(10)
  const client = yield* sessionClient(service.origin, inferenceKey)
  const call = (name: string, args: object = {}) =>
    // oxlint-disable-next-line typescript/no-explicit-any
    Effect.promise((): Promise<any> => client.callTool({ name, arguments: { ...args } }))
  const chat = Effect.flatMap(
    post(`${service.api}/chat/completions`, inferenceKey, {
      model: "gpt-4o-mini",
      messages: [{ role: "user", content: "Hello!" }]
    }),
    json
  )
  return { service, inferenceKey, call, chat }
})

describe("the tools that read an account", () => {
  it.live("return its balance after a request, and the rest of the key's budget", () =>
    Effect.gen(function* () {
      const { call, chat } = yield* open
      const { cost_usd } = yield* chat
      const { structuredContent } = yield* call("get_balance")
      assert.approximately(structuredContent.balance_usd, 10 - cost_usd, 1e-9)
      assert.deepInclude(structuredContent, { held_usd: 0, currency: "USD", low_balance: false, budget_left_usd: null })
    }).pipe(Effect.scoped)
  )

  it.live("return the same usage and receipts as the API", () =>
    Effect.gen(function* () {
      const { call, chat, inferenceKey, service } = yield* open
      const { request_id: id } = yield* chat
      const usage = yield* call("get_usage", { period: "1d" })
      assert.deepStrictEqual(
        usage.structuredContent,
        yield* Effect.flatMap(get(`${service.api}/usage?period=1d`, inferenceKey), json)
      )
      assert.strictEqual(usage.structuredContent.totals.requests, 1)
      const listed = yield* call("list_requests", { status: "succeeded" })
      assert.strictEqual(listed.structuredContent.data[0].id, id)
      const receipt = yield* call("get_receipt", { request_id: id })
      assert.deepStrictEqual(
        receipt.structuredContent,
        yield* Effect.flatMap(get(`${service.api}/requests/${id}`, inferenceKey), json)
      )
    }).pipe(Effect.scoped)
  )

  it.live("answer `not_found` for a receipt of another account", () =>
    Effect.gen(function* () {
      const { call, chat, service } = yield* open
      const { request_id: id } = yield* chat
      const other = yield* service.account(1)
      const client = yield* sessionClient(service.origin, other.inferenceKey)
      // oxlint-disable-next-line typescript/no-explicit-any
      const asked: any = yield* Effect.promise(() =>
        client.callTool({ name: "get_receipt", arguments: { request_id: id } })
      )
      assert.isTrue(asked.isError)
      assert.strictEqual(asked._meta.error.code, "not_found")
      assert.isUndefined((yield* call("get_receipt", { request_id: id })).isError)
    }).pipe(Effect.scoped)
  )
})

/** `/batch`: many requests in one call. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ErrorBody } from "../../schemas/Errors.ts"
import { BatchList } from "../../schemas/inference/Batch.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const decode = Schema.decodeUnknownSync(BatchList, { onExcessProperty: "error" })
const decodeError = Schema.decodeUnknownSync(ErrorBody, { onExcessProperty: "error" })

const hello = (word: string, more: object = {}) => ({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: `Say ${word}` }],
  ...more
})

/** Allows no fallback, so that a fault of the sandbox can fail one request of a batch. */
const alone = { routing: { allow_fallbacks: false } }
const claude = { model: "claude-sonnet-4-5", max_tokens: 50, messages: [{ role: "user", content: "Say no" }] }
const failing = { "x-svc-sandbox": "fault=error,provider=anthropic" }

const run = (service: Service, key: string, requests: unknown, headers: Record<string, string> = {}) =>
  post(`${service.api}/batch`, key, { requests }, headers)

const spent = (service: Service, accountId: string, usd: number) =>
  Effect.map(service.balance(accountId), ({ held, posted }) => {
    assert.strictEqual(held, 0n, "no hold is left")
    return BigInt(usd) * 1_000_000_000n - posted
  })

describe("a batch", () => {
  it.live("serves requests of several operations, each with its own receipt and charge", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(100)
      const response = yield* run(service, inferenceKey, [
        { custom_id: "a", body: hello("one") },
        { url: "/messages", params: claude },
        { custom_id: "c", url: "/responses", body: { model: "gpt-4o-mini", input: "three" } },
        { url: "/embeddings", body: { model: "text-embedding-3-small", input: ["four"], dimensions: 8 } }
      ])
      assert.strictEqual(response.status, 200)
      const body = decode(yield* json(response))
      assert.strictEqual(body.request_id, response.headers.get("x-request-id"))
      assert.deepStrictEqual(
        body.data.map(({ custom_id, error, index }) => [index, custom_id, error]),
        [
          [0, "a", null],
          [1, null, null],
          [2, "c", null],
          [3, null, null]
        ]
      )
      const answers = body.data.map(({ response: one }) => one!)
      assert.deepStrictEqual(
        answers.map((one) => one.body["object"] ?? one.body["type"]),
        ["chat.completion", "message", "response", "list"]
      )
      let cost = 0n
      for (const [index, operation] of ["chat.completions", "messages", "responses", "embeddings"].entries()) {
        const { body: answer, request_id, status_code } = answers[index]!
        assert.strictEqual(status_code, 200)
        const receipt = yield* receiptOf(service, inferenceKey, request_id)
        assert.deepInclude(receipt, { operation, status: "succeeded" })
        assert.isAbove(receipt.cost_usd, 0)
        if (operation !== "messages") assert.strictEqual(answer["cost_usd"], receipt.cost_usd)
        cost += nano(receipt.cost_usd)
      }
      assert.strictEqual(nano(body.cost_usd), cost)
      assert.strictEqual(yield* spent(service, account.id, 100), cost)
      const own = yield* receiptOf(service, inferenceKey, body.request_id)
      assert.deepInclude(own, { operation: "batch", status: "succeeded", cost_usd: 0 })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is validated as a whole before any request starts, and the 400 names the field", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const fine = { custom_id: "a", body: hello("one") }
      const wrong = [
        [[], "requests", "validation_error"],
        [Array.from({ length: 101 }, () => ({ body: hello("one") })), "requests", "validation_error"],
        [[fine, { ...fine }], "requests[1].custom_id", "validation_error"],
        [[fine, 7], "requests[1]", "validation_error"],
        [[fine, {}], "requests[1].body", "validation_error"],
        [[fine, { body: hello("one"), params: hello("one") }], "requests[1].params", "validation_error"],
        [[fine, { body: hello("one"), more: 1 }], "requests[1].more", "validation_error"],
        [[fine, { url: "/speech", body: {} }], "requests[1].url", "validation_error"],
        [[fine, { body: hello("one", { temperature: 3 }) }], "requests[1].body.temperature", "validation_error"],
        [[fine, { params: hello("one", { stream: true }) }], "requests[1].params.stream", "validation_error"],
        [[fine, { body: hello("one", { n: 2 }) }], "requests[1].body.n", "unsupported_parameter"],
        [[fine, { body: hello("one", { model: "nobody/none" }) }], "requests[1].body.model", "unknown_model"],
        [
          [fine, { url: "/embeddings", body: { model: "text-embedding-3-small", input: "a", more: 1 } }],
          "requests[1].body.more",
          "validation_error"
        ],
        [
          [fine, { url: "/embeddings", body: { model: "text-embedding-3-small", input: "a ".repeat(40_000) } }],
          "requests[1].body.input",
          "context_length_exceeded"
        ]
      ] as const
      for (const [requests, param, code] of wrong) {
        const response = yield* run(service, inferenceKey, requests)
        const { error } = decodeError(yield* json(response))
        assert.deepStrictEqual([response.status, error.param, error.code], [400, param, code])
      }
      const other = yield* post(`${service.api}/batch`, inferenceKey, { requests: [fine], more: 1 })
      assert.strictEqual((yield* json(other)).error.param, "more")
      const { data } = yield* Effect.flatMap(get(`${service.api}/requests`, inferenceKey), json)
      assert.deepStrictEqual(data, [])
      assert.strictEqual(yield* spent(service, account.id, 1), 0n)
    }).pipe(Effect.scoped)
  )

  it.live("starts no request and answers 402 when the sum of the holds exceeds the balance", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      // The balance covers one of them, which costs $0.30 at $15 per million tokens.
      const dear = { url: "/messages", body: { ...claude, max_tokens: 20_000 } }
      const response = yield* run(service, inferenceKey, [dear, dear, dear, dear])
      const body = decodeError(yield* json(response))
      assert.deepStrictEqual(
        [response.status, body.error.code, body.limit_source],
        [402, "insufficient_credits", "balance"]
      )
      assert.strictEqual((yield* run(service, inferenceKey, [dear, dear])).status, 200)
      const { data } = yield* Effect.flatMap(get(`${service.api}/requests`, inferenceKey), json)
      assert.lengthOf(data, 3)
      assert.isAbove(Number(yield* spent(service, account.id, 1)), 0)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("stops at the first failure, keeps the served answers, and resumes under its idempotency key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(100)
      const requests = [
        ...Array.from({ length: 7 }, (_, at) => ({ custom_id: `c${at}`, body: hello(`number ${at}`) })),
        { custom_id: "fails", body: { ...claude, ...alone } },
        ...Array.from({ length: 20 }, (_, at) => ({ body: hello(`number ${at + 8}`) }))
      ]
      const key = { "idempotency-key": "the list" }
      const response = yield* run(service, inferenceKey, requests, { ...key, ...failing })
      const failed = decodeError(yield* json(response))
      assert.deepStrictEqual(
        [response.status, failed.error.code, failed.error.param, failed.failed_index],
        [500, "batch_request_failed", "requests[7]", 7]
      )
      const completed = failed.completed!
      assert.isBelow(completed.length, requests.length - 1, "the requests after the failure do not start")
      assert.isFalse(completed.some(({ index }) => index === 7))
      const before = yield* spent(service, account.id, 100)
      assert.strictEqual(
        completed.reduce((all, { response: one }) => all + nano(Number(one!.body["cost_usd"])), 0n),
        before
      )
      const { data } = yield* Effect.flatMap(get(`${service.api}/requests?status=failed`, inferenceKey), json)
      assert.sameMembers(
        data.map(({ operation }: { readonly operation: string }) => operation),
        ["batch", "chat.completions"]
      )

      const second = yield* run(service, inferenceKey, requests, key)
      assert.strictEqual(second.status, 200)
      assert.isNull(second.headers.get("idempotency-replayed"))
      const done = decode(yield* json(second))
      assert.lengthOf(done.data, requests.length)
      for (const one of completed)
        assert.deepStrictEqual(done.data[one.index], one, "must be the answer of the first try")
      assert.strictEqual(yield* spent(service, account.id, 100), nano(done.cost_usd))

      const third = yield* run(service, inferenceKey, requests, key)
      assert.strictEqual(third.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(yield* json(third), done)
      assert.strictEqual(yield* spent(service, account.id, 100), nano(done.cost_usd))
      const reused = yield* run(service, inferenceKey, requests.slice(1), key)
      assert.deepStrictEqual([reused.status, (yield* json(reused)).error.code], [422, "idempotency_key_reused"])
      const receipt = yield* receiptOf(service, inferenceKey, done.data[3]!.response!.request_id)
      assert.strictEqual(receipt.idempotency_key, "the list:3")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("fails again on retry when a request was refused under zero_retention, which keeps no answer to replay", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, inferenceKey } = yield* service.account(100)
      const routing = { data_policy: "zero_retention" }
      // The URL is not an image. The gateway finds that out after the hold.
      const image = { type: "image_url", image_url: { url: `${service.api}/models` } }
      const refused = { ...claude, messages: [{ role: "user", content: [image] }], routing }
      const requests = [{ body: { ...claude, routing } }, { body: refused }]
      const costs: Array<bigint> = []
      for (const said of ["must be a PNG", "was not stored"]) {
        const response = yield* run(service, inferenceKey, requests, { "idempotency-key": "one" })
        assert.strictEqual(response.status, 500)
        const { completed, error, failed_index } = decodeError(yield* json(response))
        assert.deepStrictEqual([error.code, failed_index], ["batch_request_failed", 1])
        assert.include(error.message, said)
        assert.deepStrictEqual(
          completed?.map(({ index }) => index),
          [0]
        )
        costs.push(yield* spent(service, account.id, 100))
      }
      assert.isAbove(Number(costs[0]), 0)
      assert.strictEqual(costs[1], costs[0])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("holds money only for the unserved requests when it resumes", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const long = { ...claude, max_tokens: 30_000 }
      const open = { model: "gemini-2.5-flash", max_tokens: 10, messages: long.messages }
      const requests = [{ url: "/messages", body: long }, { body: { ...open, ...alone } }]
      const key = { "idempotency-key": "rest" }
      const steering = { "x-svc-sandbox": "fault=error,provider=gemini,output_tokens=29000" }
      const first = yield* run(service, inferenceKey, requests, { ...key, ...steering })
      assert.strictEqual(first.status, 500)
      assert.isAbove(Number(yield* spent(service, account.id, 1)), 400_000_000)
      const again = yield* run(service, inferenceKey, requests, key)
      assert.strictEqual(again.status, 200)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("may spend the whole balance, and never more", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(0.02)
      // Without a cap each request may use up to 16,384 tokens, about a cent. Together they get the whole balance.
      const requests = Array.from({ length: 30 }, (_, at) => ({ body: hello(`number ${at}`) }))
      const response = yield* run(service, inferenceKey, requests, { "x-svc-sandbox": "usage=held" })
      assert.strictEqual(response.status, 200)
      const body = decode(yield* json(response))
      const { held, posted } = yield* service.balance(account.id)
      assert.strictEqual(held, 0n)
      assert.strictEqual(posted, 20_000_000n - nano(body.cost_usd))
      assert.isAtLeast(Number(posted), 0)
      assert.isBelow(Number(posted), 1_000_000)
      assert.strictEqual(body.balance_warning?.warning, "low_balance")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { operating } from "../http/handlers/operator/scene.ts"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const model = "gpt-4o-mini"
const messages = [{ role: "user", content: "What is it worth to you?" }]
const actor = { type: "operator", id: "test" } as const
const pico = (usd: number) => BigInt(Math.round(usd * 1e12))

const asked = (service: Service, key: string, path: string, body: object) =>
  Effect.flatMap(post(`${service.api}${path}`, key, body), json)
const pricing = (service: Service, key: string) =>
  Effect.map(Effect.flatMap(get(`${service.api}/models/${model}`, key), json), ({ pricing }) => pricing)

describe("the markup of an account", () => {
  it.live("applies to this account's prices, estimate, hold, charge and receipt, to the nano-USD", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const usual = yield* service.account(10)
      const { account, inferenceKey } = yield* service.account(10)
      yield* service.accounts.setMarkup(account, 2_500, actor)
      const [list, own] = [yield* pricing(service, ""), yield* pricing(service, inferenceKey)]
      assert.deepStrictEqual(yield* pricing(service, usual.inferenceKey), list)
      for (const rate of ["meteredPromptPerToken", "meteredCompletionPerToken"] as const) {
        assert.strictEqual(pico(own[rate]) * 4n, pico(list[rate]) * 5n)
      }
      const body = { model, messages, max_tokens: 50 }
      const [cheap, dear] = [
        yield* asked(service, usual.inferenceKey, "/estimate", body),
        yield* asked(service, inferenceKey, "/estimate", body)
      ]
      assert.closeTo(dear.hold_usd, cheap.hold_usd * 1.25, 2e-9)
      const answer = yield* asked(service, inferenceKey, "/chat/completions", body)
      const receipt = yield* receiptOf(service, inferenceKey, answer.request_id)
      assert.strictEqual(receipt.held_usd, dear.hold_usd)
      assert.strictEqual(receipt.price.output, own.meteredCompletionPerToken)
      const { input_tokens: input, output_tokens: output } = receipt.usage
      const cost = pico(receipt.price.input) * BigInt(input) + pico(receipt.price.output) * BigInt(output)
      assert.strictEqual(nano(receipt.cost_usd), (cost + 999n) / 1_000n)
      assert.strictEqual((yield* service.balance(account.id)).posted, nano(10) - nano(receipt.cost_usd))
      // The margin is visible to operators only.
      const operate = operating(service, yield* service.operatorKey)
      const { body: report } = yield* operate("GET", `/report?account_id=${account.id}`)
      assert.closeTo(report.totals.margin_basis_points, 2_000, 1)
      assert.notMatch(JSON.stringify(receipt), /markup/)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("applies to every other operation, and lowers prices when it is negative", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const usual = yield* service.account(10)
      const { account, inferenceKey } = yield* service.account(10)
      yield* service.accounts.setMarkup(account, -5_000, actor)
      const work: ReadonlyArray<readonly [string, object]> = [
        ["/embeddings", { model: "text-embedding-3-small", input: ["a cat", "a dog"] }],
        ["/images", { model: "flux-dev", prompt: "a kite", size: "64x64" }],
        ["/search", { query: "tea" }]
      ]
      for (const [path, body] of work) {
        const [whole, half] = [
          yield* asked(service, usual.inferenceKey, path, body),
          yield* asked(service, inferenceKey, path, body)
        ]
        assert.closeTo(half.cost_usd, whole.cost_usd / 2, 1e-9, path)
      }
      const videoRequest = { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9" }
      const [whole, half] = [
        yield* asked(service, usual.inferenceKey, "/videos", videoRequest),
        yield* asked(service, inferenceKey, "/videos", videoRequest)
      ]
      const held = yield* Effect.forEach(
        [
          [usual.inferenceKey, whole],
          [inferenceKey, half]
        ] as const,
        ([key, { request_id: id }]) => receiptOf(service, key, id)
      )
      assert.strictEqual(nano(held[0].settled_usd), nano(held[1].settled_usd) * 2n)
    }).pipe(Effect.scoped)
  )

  it.live("changes on every node for new requests, and not for a running one", () =>
    Effect.gen(function* () {
      const [arrived, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const host = yield* upstream((request, response) => {
        request.resume().on("end", () => {
          arrived.resolve()
          void go.promise.then(() =>
            response.writeHead(200, { "content-type": "application/json" }).end(
              JSON.stringify({
                id: "chatcmpl-1",
                object: "chat.completion",
                created: 1,
                model: "whatever",
                choices: [{ index: 0, message: { role: "assistant", content: "Little." }, finish_reason: "stop" }],
                usage: { prompt_tokens: 10, completion_tokens: 200, total_tokens: 210 }
              })
            )
          )
        })
      })
      const settings = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${host.origin}/v1` }
      const one = yield* startService(settings)
      const other = yield* startService({ ...settings, DATABASE_URL: one.databaseUrl })
      const { account, inferenceKey } = yield* one.account(10)
      const body = { model, messages, max_tokens: 300, routing: { providers: { only: ["openai"] } } }
      const ask = asked(other, inferenceKey, "/chat/completions", body)
      const running = yield* Effect.forkChild(ask)
      yield* Effect.promise(() => arrived.promise)
      const operate = operating(one, yield* one.operatorKey)
      const change = yield* operate("PATCH", `/accounts/${account.id}/markup`, { markup_basis_points: 10_000 })
      assert.deepStrictEqual(change.body.data, { id: account.id, object: "account", markup_basis_points: 10_000 })
      go.resolve()
      const first = yield* receiptOf(other, inferenceKey, (yield* Fiber.join(running)).request_id)
      // The other node has cached the key with its old markup until its next hold is refused for that.
      yield* ask
      const later = yield* receiptOf(other, inferenceKey, (yield* ask).request_id)
      assert.strictEqual(nano(later.cost_usd), nano(first.cost_usd) * 2n)
      assert.strictEqual(nano(later.held_usd), nano(first.held_usd) * 2n)
      const [line] = yield* one.audit(account.id)
      assert.deepInclude(line, { type: "account.markup_changed", actor_type: "operator", outcome: "succeeded" })
      assert.deepStrictEqual(line?.changes, { markup_basis_points: { from: 0, to: 10_000 } })
      assert.deepStrictEqual(yield* one.faults, [])
    }).pipe(Effect.scoped)
  )
})

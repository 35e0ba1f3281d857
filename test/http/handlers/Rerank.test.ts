import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../../support/Amounts.ts"
import { get, json, post, startService } from "../../support/Service.ts"

const asked = { model: "rerank-2.5", query: "cats", documents: ["dogs bark", "cats purr and cats sleep", "cats run"] }

describe("POST /rerank", () => {
  it.live("returns the best first, charges exact tokens, and replays under its idempotency key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const ask = (more: object) =>
        post(`${service.api}/rerank`, inferenceKey, { ...asked, ...more }, { "idempotency-key": JSON.stringify(more) })
      const body = { top_n: 2, return_documents: true }
      const answer = yield* json(yield* ask(body))
      assert.deepStrictEqual(
        answer.results.map(({ document }: { readonly document: { readonly text: string } }) => document.text),
        ["cats purr and cats sleep", "cats run"]
      )
      const { held, posted } = yield* service.balance(account.id)
      assert.deepStrictEqual([held, 10_000_000_000n - posted], [0n, nano(answer.cost_usd)])
      const again = yield* ask(body)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(yield* json(again), answer)
      const receipt = yield* Effect.flatMap(get(`${service.api}/requests/${answer.request_id}`, inferenceKey), json)
      assert.deepInclude(receipt, { operation: "rerank", provider: "voyage", usage_basis: "reported" })
      assert.strictEqual(receipt.usage.input_tokens, answer.usage.total_tokens)
    }).pipe(Effect.scoped)
  )

  it.live("rejects unsupported requests, and charges nothing for them or for failures", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const rows = [
        [{ model: "voyage-4" }, 400, "unknown_model", "model"],
        [{ query: "" }, 400, "validation_error", "query"],
        [{ documents: ["a", "word ".repeat(40_000)] }, 400, "context_length_exceeded", "documents"],
        [{ top_k: 1 }, 400, "validation_error", "top_k"]
      ] as const
      for (const [more, status, code, param] of rows) {
        const response = yield* post(`${service.api}/rerank`, inferenceKey, { ...asked, ...more })
        assert.deepInclude((yield* json(response)).error, { code, param })
        assert.strictEqual(response.status, status)
      }
      const failed = yield* post(`${service.api}/rerank`, inferenceKey, asked, { "x-svc-sandbox": "fault=error" })
      assert.strictEqual(failed.status, 502)
      assert.deepInclude(yield* service.balance(account.id), { posted: 10_000_000_000n, held: 0n })
    }).pipe(Effect.scoped)
  )
})

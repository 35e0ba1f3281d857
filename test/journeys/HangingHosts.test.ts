/** A host that accepts a plain request and never answers. In every dialect the gateway falls back, and charges the fallback only. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../support/Amounts.ts"
import { dialects } from "../support/Dialects.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, startService } from "../support/Service.ts"

const hanging = { "x-svc-sandbox": "fault=stall,provider=openai" }

/** The first model has other providers, which would be called before the second model. */
const routing = { timeouts: { first_token_ms: 1_500 }, providers: { only: ["openai", "anthropic"] } }

describe("a host that never answers a plain request", () => {
  for (const { ask, name, path, read } of dialects) {
    it.live(`times out at first_token_ms, and the next model of the chain serves: ${name}`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account()
        const before = yield* service.balance(account.id)
        // Not every dialect has `models`, but all take a chain as the model.
        const model = "gpt-4o-mini,claude-haiku-4-5"
        const body = ask({ model, text: "Are you there?", maxTokens: 50, more: { routing } }, false)
        const startedAt = performance.now()
        const response = yield* post(`${service.api}${path}`, inferenceKey, body, hanging)
        const answer = yield* json(response)
        assert.strictEqual(response.status, 200, JSON.stringify(answer))
        assert.isBelow(performance.now() - startedAt, 15_000)
        const { cost, requestId } = read(answer)
        const receipt = yield* receiptOf(service, inferenceKey, requestId)
        assert.deepStrictEqual([receipt.resolved_model, receipt.status], ["claude-haiku-4-5", "succeeded"])
        assert.strictEqual(receipt.routing.provider_attempts.at(0).outcome, "failed_over")
        const after = yield* service.balance(account.id)
        assert.deepStrictEqual([before.posted - after.posted, after.held], [nano(cost), 0n])
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { giveBack, onceBack, takeAway } from "../support/Outage.ts"
import { get, json, post, startService } from "../support/Service.ts"

const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Are you there?" }] }

describe("a database outage", () => {
  it.live(
    "gives 503 with Retry-After on every operation that needs the database, and the gateway recovers by itself",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(1)
        const paid = post(`${service.api}/chat/completions`, inferenceKey, body)
        assert.strictEqual((yield* paid).status, 200)
        const before = yield* service.balance(account.id)
        yield* takeAway(service.databaseUrl)
        const calls = [
          paid,
          post(`${service.api}/estimate`, inferenceKey, body),
          get(`${service.api}/requests`, inferenceKey)
        ]
        for (const call of calls) {
          const response = yield* call
          assert.strictEqual(response.status, 503)
          assert.match(response.headers.get("retry-after") ?? "", /^[1-9]/)
          assert.strictEqual((yield* json(response)).error.code, "store_unavailable")
        }
        assert.strictEqual((yield* get(`${service.api}/models/gpt-4o-mini`, inferenceKey)).status, 200)
        yield* giveBack(service.databaseUrl)
        assert.strictEqual((yield* onceBack(get(`${service.api}/key`, inferenceKey))).status, 200)
        assert.deepStrictEqual(yield* service.balance(account.id), before)
        assert.strictEqual((yield* paid).status, 200)
      }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { BalanceReport } from "../../../schemas/management/Account.ts"
import { get, json, startService } from "../../support/Service.ts"

const decode = Schema.decodeUnknownSync(BalanceReport, { onExcessProperty: "error" })

describe("the balance of an account", () => {
  it.live("shows the balance, the held part, and whether the balance is low", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [rich, poor] = [yield* service.account(5), yield* service.account(4.99)]
      const balanceOf = (key: string) =>
        Effect.map(Effect.flatMap(get(`${service.api}/management/balance`, key), json), (body) => decode(body).data)
      assert.deepStrictEqual(yield* balanceOf(rich.managementKey), {
        ...{ balance_usd: 5, held_usd: 0, available_usd: 5, currency: "USD", low_balance: false },
        ...{ simulated_usd: 0, starter_credit_usd: 0 }
      })
      assert.deepStrictEqual(yield* balanceOf(poor.managementKey), {
        ...{ balance_usd: 4.99, held_usd: 0, available_usd: 4.99, currency: "USD", low_balance: true },
        ...{ simulated_usd: 0, starter_credit_usd: 0 }
      })
      const { status } = yield* get(`${service.api}/management/balance`, rich.inferenceKey)
      assert.strictEqual(status, 403)
    }).pipe(Effect.scoped)
  )
})

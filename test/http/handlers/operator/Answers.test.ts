import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { OperatorCaller } from "../../../../schemas/Access.ts"
import { StateRefused } from "../../../../src/account/Accounts.ts"
import { RefundRefused } from "../../../../src/billing/Refunds.ts"
import { asOperator, conflicts } from "../../../../src/http/handlers/operator/Answers.ts"

describe("the operator's answers", () => {
  it.effect("name the key in the audit log of the account", () =>
    Effect.map(Effect.provideService(asOperator("account"), OperatorCaller, { keyId: "key" }), (asker) =>
      assert.deepStrictEqual(asker, { accountId: "account", actor: { type: "operator", id: "key" } })
    )
  )

  it.effect("turn a refused change into a conflict with the same message", () =>
    Effect.gen(function* () {
      for (const refused of [
        new StateRefused({ message: "It is closed." }),
        new RefundRefused({ message: "It is closed" })
      ]) {
        const error = yield* Effect.flip(conflicts(Effect.fail(refused)))
        assert.deepInclude(error, { reason: { _tag: "Conflict", detail: "It is closed." } })
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Caller, type Principal } from "../../../schemas/Access.ts"
import { requireFunds } from "../../../src/http/handlers/Funds.ts"
import { Unavailable } from "../../../src/platform/database/Sql.ts"

const principal: Principal = {
  keyId: "k",
  accountId: "a",
  projectId: null,
  kind: "inference",
  scopes: [],
  limitScale: 1,
  budgets: [],
  budgetsEpoch: 0
}

const outcome = (balance: Parameters<typeof requireFunds>[0]["balance"]) =>
  requireFunds({ balance }).pipe(
    Effect.as("funded" as const),
    Effect.catch(({ reason }) => Effect.succeed(reason)),
    Effect.provideService(Caller, principal)
  )

describe("a free operation with later costs", () => {
  it.effect("is allowed for accounts with money, available or held", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome(() => Effect.succeed({ posted: 1n, held: 1n })), "funded")
      const refused = {
        ...({ _tag: "InsufficientCredits", limitSource: "balance" } as const),
        needed: 1n,
        available: 0n,
        posted: 0n
      }
      assert.deepEqual(yield* outcome(() => Effect.succeed({ posted: 0n, held: 0n })), refused)
      assert.deepEqual(yield* outcome(() => Effect.undefined), refused)
      const away = yield* outcome(() => Effect.fail(new Unavailable({ store: "database", cause: "away" })))
      assert.deepEqual(away, { _tag: "StoreUnavailable" })
    })
  )
})

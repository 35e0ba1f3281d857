import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp } from "./commandLine.ts"

describe("topups list", () => {
  it.live("shows top-ups that need an operator, and why", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      assert.deepStrictEqual((yield* command("topups list")).stdout, ["No top-up needs an operator."])
      const { account_id: account } = yield* json("account create --email ann@example.com --balance-usd 0")
      const id = "1".repeat(24)
      yield* query(`INSERT INTO top_up (id, account_id, amount_cents, processor, return_url, ask_at, attention)
        VALUES ('${id}', '${account}', 2500, 'stripe', 'http://127.0.0.1:1', now(), 'the amount differs')`)
      const { data } = yield* json("topups list")
      assert.deepInclude(data[0], { id, email: "ann@example.com", amount_usd: 25, refunded_usd: 0, status: "open" })
      assert.match((yield* command("topups list")).stdout.join(), /\$25\.00 {2}open .* the amount differs/)
    }).pipe(Effect.scoped)
  )
})

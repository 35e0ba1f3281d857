import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startService } from "../support/Service.ts"
import { commandWith } from "./commandLine.ts"

describe("sandbox clear", () => {
  it.live("voids only simulated money, reports the amount, and does nothing a second time", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account } = yield* service.account(25, "play")
      yield* service.account(7)
      yield* service.customers.topUp(account, 3_000_000_000n)
      const clear = (more = "") => commandWith({ DATABASE_URL: service.databaseUrl }, `sandbox clear ${more}`)
      const said = yield* clear()
      assert.deepStrictEqual([said.code, said.stderr], [0, []])
      assert.match(said.stdout.join("\n"), /voided: \$25\.00 in 1 account/)
      assert.deepStrictEqual(yield* service.balance(account.id), {
        posted: 3_000_000_000n,
        held: 0n,
        play: { posted: 0n, held: 0n }
      })
      const again = yield* clear("--json")
      assert.deepStrictEqual(JSON.parse(again.stdout.join("")), {
        accounts: 0,
        simulated_usd: 0,
        requests_cancelled: 0,
        keys_revoked: 0,
        left_usd: 0
      })
      const [line] = yield* service.audit(account.id)
      assert.deepInclude(line, {
        type: "balance.simulated_voided",
        actor_type: "operator",
        changes: { simulated_usd: 25, requests_cancelled: 0 }
      })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

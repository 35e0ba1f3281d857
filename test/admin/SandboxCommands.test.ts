import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AskOperator } from "../../src/admin/Confirm.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { startService } from "../support/Service.ts"
import { commandWith } from "./commandLine.ts"

describe("sandbox clear", () => {
  it.live("voids only simulated money, reports the amount, and does nothing a second time", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("sandbox")
      const clear = (more = "") => commandWith({ DATABASE_URL: url }, `sandbox clear ${more}`)
      const account = yield* Effect.scoped(
        Effect.gen(function* () {
          const service = yield* startService({ DATABASE_URL: url })
          const made = yield* service.account(25, "play")
          yield* service.account(7)
          yield* service.customers.topUp(made.account, 3_000_000_000n)
          const served = yield* clear("--yes")
          assert.deepStrictEqual(
            [served.code, served.stderr],
            [1, ["error: A gateway serves this database. Stop every gateway, then run this command again."]]
          )
          assert.deepStrictEqual(yield* service.faults, [])
          return made.account
        })
      )
      const declined = yield* Effect.provideService(clear(), AskOperator, () => Effect.succeed("n"))
      assert.deepStrictEqual(declined.stderr, ["error: The operator declined; nothing changed."])
      const said = yield* clear("--yes")
      assert.deepStrictEqual([said.code, said.stderr], [0, []])
      assert.match(said.stdout.join("\n"), /voided: \$25\.00 in 1 account/)
      const again = yield* clear("--yes --json")
      assert.deepStrictEqual(JSON.parse(again.stdout.join("")), {
        accounts: 0,
        simulated_usd: 0,
        requests_cancelled: 0,
        keys_revoked: 0,
        left_usd: 0
      })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(
          yield* sql`SELECT b.posted, b.held, p.posted AS play, p.held AS play_held FROM balance b
            JOIN play_balance p USING (account_id) WHERE b.account_id = ${account.id}`,
          [{ posted: 3_000_000_000n, held: 0n, play: 0n, play_held: 0n }]
        )
        assert.deepStrictEqual(
          yield* sql`SELECT type, actor_type, changes FROM audit_event WHERE account_id = ${account.id} ORDER BY id DESC LIMIT 1`,
          [
            {
              type: "balance.simulated_voided",
              actor_type: "operator",
              changes: { simulated_usd: 25, requests_cancelled: 0 }
            }
          ]
        )
      }).pipe(Effect.provide(layerUrl(url, 1)))
    }).pipe(Effect.scoped)
  )
})

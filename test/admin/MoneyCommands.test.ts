import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp, state } from "./commandLine.ts"

describe("money commands", () => {
  it.live("move money once per reference, whichever account and amount a repetition names", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1")
      yield* json("account create --email bob@example.com --balance-usd 1")
      const line = "topup --email ann@example.com --amount-usd 25 --reference INV-17"
      const first = yield* json(line)
      assert.deepInclude(first, { amount_usd: 25, balance_usd: 26, reference: "INV-17", repeated: false })
      assert.deepStrictEqual(yield* json(line), { ...first, repeated: true })
      const said = yield* command(line)
      assert.match(said.stdout.join("\n"), /^No money moved: the reference INV-17 was already used for \$25\.00/)
      const before = yield* query(state)
      for (const other of ["ann@example.com --amount-usd 26", "bob@example.com --amount-usd 25"]) {
        const refused = yield* command(`topup --email ${other} --reference INV-17 --json`)
        assert.deepStrictEqual([refused.code, refused.stdout], [1, []])
        assert.match(refused.stderr.join("\n"), /INV-17 was used on \d{4}-.* for \$25\.00 of ann@example\.com/)
      }
      assert.deepStrictEqual(yield* query(state), before)
      const [adjusted, again] = yield* Effect.all(
        ["first", "second"].map(() =>
          json("adjust --email ann@example.com --amount-usd -5 --reason twice --reference R1")
        ),
        { concurrency: 2 }
      )
      assert.sameMembers([adjusted.repeated, again.repeated], [true, false])
      assert.strictEqual(adjusted.balance_usd, 21)
      assert.isTrue((yield* json("ledger verify")).ok)
    }).pipe(Effect.scoped)
  )

  it.live("correct a balance in the books with a reason, and never below the held amount", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      const { account_id: id } = yield* json("account create --email ann@example.com --balance-usd 25")
      const adjusted = yield* json("adjust --email ann@example.com --amount-usd -5 --reason duplicate")
      assert.deepStrictEqual(adjusted, { account_id: id, email: "ann@example.com", amount_usd: -5, balance_usd: 20 })
      yield* json("adjust --email ann@example.com --amount-usd 0.5 --reason goodwill")
      const booked = yield* query(`SELECT debit, credit, amount, kind FROM transfer WHERE kind = 'adjust' ORDER BY id`)
      assert.deepStrictEqual(booked, [
        { debit: id, credit: "house:adjustments", amount: 5_000_000_000n, kind: "adjust" },
        { debit: "house:adjustments", credit: id, amount: 500_000_000n, kind: "adjust" }
      ])
      const { data } = yield* json("audit --email ann@example.com --limit 2")
      assert.deepStrictEqual(
        data.map(({ changes, type }: { changes: object; type: string }) => [type, changes]),
        [
          ["balance.adjusted", { amount_usd: 0.5, reason: "goodwill" }],
          ["balance.adjusted", { amount_usd: -5, reason: "duplicate" }]
        ]
      )
      yield* query("UPDATE balance SET held = 20000000000")
      const refused = yield* command("adjust --email ann@example.com --amount-usd -0.6 --reason more")
      assert.deepStrictEqual(
        [refused.code, refused.stderr],
        [1, ["error: $0.60 cannot be taken: $0.50 of the balance is real money that is not held."]]
      )
      yield* json("adjust --email ann@example.com --amount-usd -0.5 --reason more")
      yield* query("UPDATE balance SET held = 0")
      assert.isTrue((yield* json("ledger verify")).ok)
    }).pipe(Effect.scoped)
  )

  it.live("add nothing to a closed account, and take what is left out of it", () =>
    Effect.gen(function* () {
      const { command, json } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 5")
      yield* json("topup --email ann@example.com --amount-usd 2 --reference INV-1")
      yield* json("account close ann@example.com --reason requested")
      for (const line of ["topup --amount-usd 25", "adjust --amount-usd 25 --reason goodwill"]) {
        const refused = yield* command(`${line} --email ann@example.com`)
        assert.deepStrictEqual(
          [refused.code, refused.stdout, refused.stderr],
          [
            1,
            [],
            ["error: The account ann@example.com is closed; only `adjust` with a negative amount moves its money."]
          ]
        )
      }
      assert.isTrue((yield* json("topup --email ann@example.com --amount-usd 2 --reference INV-1")).repeated)
      const paidOut = yield* json("adjust --email ann@example.com --amount-usd -7 --reason paid")
      assert.strictEqual(paidOut.balance_usd, 0)
    }).pipe(Effect.scoped)
  )
})

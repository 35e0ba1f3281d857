import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp } from "./commandLine.ts"

describe("topups list", () => {
  it.live("shows top-ups that need an operator, and the reason", () =>
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

describe("topups settle and dismiss", () => {
  it.live("credit or dismiss a top-up once, with a reason, and require a confirmation for a large amount", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      const { account_id: account } = yield* json("account create --email ann@example.com --balance-usd 0")
      const attend = (digit: string, cents: number) =>
        query(`INSERT INTO top_up (id, account_id, amount_cents, processor, return_url, session_id, ask_at, stopped, attention)
          VALUES ('${digit.repeat(24)}', '${account}', ${cents}, 'stripe', 'http://127.0.0.1:1', 'cs_${digit}', now(), true, 'differs')`)
      for (const [digit, cents] of [
        ["1", 2_500],
        ["2", 900_000]
      ] as const)
        yield* attend(digit, cents)
      const one = "1".repeat(24)
      const settle = `topups settle ${one} --reason checked --amount-usd 24.99 --reference T-1`
      assert.deepInclude(yield* json(settle), {
        id: one,
        amount_usd: 24.99,
        status: "paid",
        balance_usd: 24.99,
        repeated: false
      })
      assert.match((yield* command(settle)).stdout.join(), /^Nothing happened: the reference T-1 was already used/)
      const again = yield* command(`topups settle ${one} --reason again`)
      assert.match(again.stderr.join(), /error: Top-up 1+ is paid and needs no operator/)
      const large = yield* command(`topups settle ${"2".repeat(24)} --reason checked`)
      assert.match(large.stderr.join(), /requires --yes when there is no terminal/)
      const dismissed = yield* command(`topups dismiss ${"2".repeat(24)} --reason refunded`)
      assert.match(
        dismissed.stdout.join(),
        /^No money moved\. Top-up 2+ is expired and needs no operator; the balance of ann@/
      )
      assert.deepStrictEqual((yield* json("topups list")).data, [])
      assert.include((yield* command(`topups dismiss ${"3".repeat(24)} --reason r`)).stderr.join(), "top-up")
      assert.include(
        (yield* command("ledger verify")).stdout.join("\n"),
        "ok      top_ups_equal_transfers         1 top-ups"
      )
    }).pipe(Effect.scoped)
  )
})

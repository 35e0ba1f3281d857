import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { post, startService } from "../support/Service.ts"
import { setUp } from "./commandLine.ts"

describe("account list", () => {
  it.live("lists every account once, newest first, page by page, with its money", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      for (const name of ["ann", "bob", "cyd", "dan", "eve"]) {
        yield* json(`account create --email ${name}@example.com --balance-usd 2.5`)
      }
      yield* query("UPDATE balance SET held = 500000000")
      const emails: Array<string> = []
      let after = ""
      for (const size of [2, 2, 1]) {
        const page = yield* json(`account list --limit 2${after}`)
        assert.strictEqual(page.data.length, size)
        emails.push(...page.data.map(({ email }: { email: string }) => email))
        after = ` --after ${page.next}`
        assert.strictEqual(page.next === null, size === 1)
      }
      assert.deepStrictEqual(
        emails,
        ["eve", "dan", "cyd", "bob", "ann"].map((name) => `${name}@example.com`)
      )
      const [first] = (yield* json("account list --limit 1")).data
      assert.deepInclude(first, { balance_usd: 2.5, held_usd: 0.5, play_balance_usd: 0, state: "active" })
      const lines = (yield* command("account list --limit 2")).stdout.join("\n").split("\n")
      assert.match(lines[0]!, /^ID +EMAIL +STATE +BALANCE +HELD +PLAY +CREATED$/)
      assert.match(lines[1]!, /^[0-9a-f]{24} {2}eve@example\.com {2}active +\$2\.50 {2}\$0\.50 {2}\$0\.00 {2}\d{4}-/)
      assert.match(lines[3]!, /^More accounts match: add --after [0-9a-f]{24}$/)
    }).pipe(Effect.scoped)
  )

  it.live("searches by part of the address, by the start of the id and by state", () =>
    Effect.gen(function* () {
      const { command, json } = yield* setUp
      const ids: Array<string> = []
      for (const email of ["ann@one.example", "a%b@two.example"]) {
        ids.push((yield* json(`account create --email ${email} --balance-usd 0`)).account_id)
      }
      const found = (line: string) =>
        Effect.map(json(`account list ${line}`), ({ data }) => data.map(({ id }: { id: string }) => id))
      assert.deepStrictEqual(yield* found("--search ONE.ex"), [ids[0]])
      // The search is not a pattern: a percent sign matches itself.
      assert.deepStrictEqual(yield* found("--search %"), [ids[1]])
      assert.deepStrictEqual(yield* found(`--search ${ids[1]}`), [ids[1]])
      assert.deepStrictEqual(yield* found("--state active"), [ids[1], ids[0]])
      assert.deepStrictEqual(yield* found("--state closed"), [])
      assert.deepStrictEqual((yield* command("account list --search nothing")).stdout, ["No account matches."])
      const missing = yield* command(`account list --after ${"f".repeat(24)}`)
      assert.match(missing.stderr.join(), /There is no account f{24}/)
    }).pipe(Effect.scoped)
  )
})

describe("account show", () => {
  it.live("shows money, spending, keys, open requests and budgets by id or address", () =>
    Effect.gen(function* () {
      const { command, json, query, url } = yield* setUp
      const service = yield* startService({ DATABASE_URL: url })
      const { account, inferenceKey } = yield* service.account(5)
      const { key } = yield* service.keys.create({
        accountId: account.id,
        kind: "inference",
        name: "capped",
        scopes: [],
        budget: { limitCents: 250, period: "monthly" },
        actor: { type: "operator", id: "test" }
      })
      for (const paying of [inferenceKey, key]) {
        const answer = yield* post(`${service.api}/chat/completions`, paying, {
          model: "openai/gpt-5-mini",
          messages: [{ role: "user", content: "hello" }]
        })
        assert.strictEqual(answer.status, 200)
      }
      const [{ cost, capped } = { cost: 0n, capped: 0n }] = yield* query<{ cost: bigint; capped: bigint }>(
        "SELECT sum(settled)::int8 AS cost, min(settled) FILTER (WHERE budgets <> '{}') AS capped FROM request"
      )
      const shown = yield* json(`account show ${account.id}`)
      assert.deepInclude(shown, { id: account.id, email: account.email, state: "active", open_requests: 0 })
      assert.deepStrictEqual(shown.keys, { active: 3, inactive: 0 })
      assert.isAbove(shown.spent_30d_usd, 0)
      assert.strictEqual(shown.spent_30d_usd, Number(cost) / 1e9)
      assert.strictEqual(shown.balance_usd, Number(5_000_000_000n - cost) / 1e9)
      assert.strictEqual(shown.budgets.length, 1)
      assert.deepInclude(shown.budgets[0], {
        scope: "key",
        name: "capped",
        limit_usd: 2.5,
        spent_usd: Number(capped) / 1e9,
        held_usd: 0
      })
      assert.deepStrictEqual(yield* json(`account show ${account.email.toUpperCase()}`), shown)
      const text = (yield* command(`account show ${account.id}`)).stdout.join("\n")
      for (const part of [
        /^State +active$/m,
        /^Keys +3 active, 0 revoked or expired$/m,
        /^Spent +\$0\.\d+ in 30 days$/m
      ])
        assert.match(text, part)
      const missing = yield* command("account show nobody@example.com")
      assert.deepStrictEqual([missing.code, missing.stderr], [1, ["error: There is no account nobody@example.com."]])
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, json as bodyOf, post, startService } from "../support/Service.ts"
import { setUp, state } from "./commandLine.ts"

describe("refund", () => {
  it.live("refunds part of a request, then the rest, and shows both on the receipt and in the audit log", () =>
    Effect.gen(function* () {
      const { command, json, query, url } = yield* setUp
      const service = yield* startService({ DATABASE_URL: url })
      const { account, inferenceKey } = yield* service.account(5)
      const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, {
        model: "openai/gpt-5-mini",
        messages: [{ role: "user", content: "hello" }]
      })
      const id = answer.headers.get("x-request-id") ?? ""
      const { settled_usd: settled } = yield* json(`request show ${id}`)
      const part = yield* json(`refund ${id} --amount-usd 0.000001 --reason slow --reference T-1`)
      assert.deepInclude(part, { request_id: id, amount_usd: 0.000001, refunded_usd: 0.000001, repeated: false })
      const before = yield* query(state)
      assert.deepStrictEqual(yield* json(`refund ${id} --amount-usd 0.000001 --reason slow --reference T-1`), {
        ...part,
        repeated: true
      })
      const much = yield* command(`refund ${id} --amount-usd 1 --reason slow`)
      assert.strictEqual(much.code, 1)
      assert.match(much.stderr.join(), /settled \$0\.\d+ and refunded \$0\.000001; at most \$0\.\d+ can be refunded/)
      assert.deepStrictEqual(yield* query(state), before)
      const said = (yield* command(`refund ${id} --reason outage`)).stdout.join()
      assert.match(
        said,
        /^Refunded \$0\.\d+ of req_\S+ to caller-0@example\.com\. The request cost \$0\.00; the balance is \$5\.00\.$/
      )
      const receipt = yield* bodyOf(yield* get(`${service.api}/requests/${id}`, inferenceKey))
      assert.deepInclude(receipt, { cost_usd: 0, refunded_usd: settled, settled_usd: settled })
      const shown = yield* json(`request show ${id}`)
      assert.deepStrictEqual(
        shown.transfers.map(({ kind }: { kind: string }) => kind),
        ["settle", "refund", "refund"]
      )
      const { data } = yield* json(`audit --email ${account.email} --limit 1`)
      assert.deepInclude(data[0], { type: "request.refunded", resource: { type: "request", id } })
      assert.strictEqual(data[0].changes.reason, "outage")
      assert.strictEqual((yield* json(`account show ${account.id}`)).spent_30d_usd, 0)
      assert.isTrue((yield* json("ledger verify")).ok)
    }).pipe(Effect.scoped)
  )

  it.live("refuses an unknown request", () =>
    Effect.gen(function* () {
      const { command } = yield* setUp
      const refused = yield* command(`refund req_${"0".repeat(26)} --reason outage`)
      assert.deepStrictEqual(refused.stderr, [`error: There is no request req_${"0".repeat(26)}.`])
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { post, startService } from "../support/Service.ts"
import { eventually } from "../support/Eventually.ts"

const actor = { type: "operator", id: "test" } as const

const valuesOf = (text: string, metric: string): ReadonlyMap<string, number> =>
  new Map(
    [...text.matchAll(new RegExp(`^${metric}(?:\\{gen_ai_provider_name="([^"]*)"\\})? (\\S+)$`, "gm"))].map(
      ([, provider = "", value]) => [provider, Number(value)] as const
    )
  )

describe("the daily figures", () => {
  it.live("show revenue, cost and margin by provider, and report a margin below the floor once", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const service = yield* startService({ MARGIN_FLOOR: "12.5", LOG_LEVEL: "Warn" }, [
        Logger.map(Logger.formatLogFmt, (text) => void said.push(text))
      ])
      const { account, inferenceKey } = yield* service.account(10)
      const metrics = Effect.promise(() => fetch(`${service.ops}/metrics`).then((answer) => answer.text()))
      const empty = yield* metrics
      assert.strictEqual(valuesOf(empty, "svc_day_revenue_nano_usd").get("openai"), 0)
      assert.strictEqual(valuesOf(empty, "svc_day_margin_low").get(""), 0)
      // 10 % beyond the catalogue's price leaves 9.09 % of the revenue.
      yield* service.accounts.setMarkup(account, 1_000, actor)
      const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
      const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
      assert.strictEqual(answer.status, 200)
      const spent = 10_000_000_000 - Number((yield* service.balance(account.id)).posted)
      const text = yield* eventually(
        metrics,
        (now) => (valuesOf(now, "svc_day_revenue_nano_usd").get("openai") ?? 0) > 0
      )
      const [revenue, cost, margin] = ["revenue", "provider_cost", "margin"].map((name) =>
        valuesOf(text, `svc_day_${name}_nano_usd`).get("openai")
      )
      assert.strictEqual(revenue, spent)
      assert.closeTo(cost!, spent / 1.1, 2)
      assert.strictEqual(margin, revenue! - cost!)
      assert.strictEqual(valuesOf(text, "svc_day_absorbed_nano_usd").get("openai"), 0)
      const steering = { "x-svc-sandbox": "fault=malformed" }
      const alone = { ...body, routing: { providers: { only: ["openai"] } } }
      assert.strictEqual((yield* post(`${service.api}/chat/completions`, inferenceKey, alone, steering)).status, 502)
      const after = yield* eventually(
        metrics,
        (now) => (valuesOf(now, "svc_day_attempt_cost_nano_usd").get("openai") ?? 0) > 0
      )
      const wasted = valuesOf(after, "svc_day_attempt_cost_nano_usd").get("openai")!
      assert.strictEqual(valuesOf(after, "svc_provider_attempt_cost_nano_usd_total").get("openai"), wasted)
      assert.strictEqual(valuesOf(after, "svc_day_margin_nano_usd").get("openai"), margin! - wasted)
      assert.strictEqual(valuesOf(text, "svc_day_margin_low").get(""), 1)
      const low = said.filter((line) => line.includes("MARGIN_FLOOR"))
      assert.strictEqual(low.length, 1)
      assert.match(low[0]!, /the margin of \d{4}-\d\d-\d\d is 9\.0\d %, which is below MARGIN_FLOOR \(12\.5 %\)/)
    }).pipe(Effect.scoped)
  )
})

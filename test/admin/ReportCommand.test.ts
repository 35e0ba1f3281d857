import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { upstream } from "../providers/upstream.ts"
import { get, json as bodyOf, post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { setUp } from "./commandLine.ts"

const MODEL = "gpt-4o-mini"

/** A host that reports 10 prompt tokens, 200 output tokens and these further usage fields. */
const host = (also: () => object) =>
  upstream((request, response) => {
    request.resume().on("end", () => {
      const usage = { prompt_tokens: 10, completion_tokens: 200, total_tokens: 210, ...also() }
      const choices = [{ index: 0, message: { role: "assistant", content: "Little." }, finish_reason: "stop" }]
      const body = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "whatever", choices, usage }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
    })
  })

const rate = (inputUsdPerMillion: number, outputUsdPerMillion: number) => [
  { model: MODEL, provider: "openai", unit: "token", inputUsdPerMillion, outputUsdPerMillion, source: "test" }
]

const scene = Effect.gen(function* () {
  const admin = yield* setUp
  const reported: { also: object } = { also: {} }
  const { origin } = yield* host(() => reported.also)
  const CATALOGUE_FILE = join(yield* temporaryDirectory, "catalogue.json")
  writeFileSync(CATALOGUE_FILE, JSON.stringify({ prices: rate(1, 2), costs: rate(0.5, 1) }))
  const service = yield* startService({
    DATABASE_URL: admin.url,
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: `${origin}/v1`,
    CATALOGUE_FILE
  })
  const { account, inferenceKey } = yield* service.account(10)
  const ask = (also: object) =>
    Effect.gen(function* () {
      reported.also = also
      const body = { model: MODEL, messages: [{ role: "user", content: "What is it worth?" }], max_tokens: 300 }
      const routing = { providers: { only: ["openai"] } }
      const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, { ...body, routing })
      assert.strictEqual(answer.status, 200)
      return answer.headers.get("x-request-id") ?? ""
    })
  return { ...admin, service, account, inferenceKey, ask }
})

describe("report", () => {
  it.live("shows the provider's cost beside the price, by the price list or as the provider reported it", () =>
    Effect.gen(function* () {
      const { account, ask, command, inferenceKey, json, service } = yield* scene
      const listed = yield* ask({})
      const billed = yield* ask({ cost: 0.000_377 })
      yield* json(`refund ${listed} --amount-usd 0.0001 --reason goodwill`)
      const totals = {
        requests: 2,
        revenue_usd: 0.00072,
        provider_cost_usd: 0.000582,
        attempt_cost_usd: 0,
        margin_usd: 0.000138,
        margin_basis_points: 1_916,
        uncosted_requests: 0,
        absorbed_usd: 0
      }
      const today = new Date().toISOString().slice(0, 10)
      const byDay = yield* json("report")
      assert.deepStrictEqual(byDay.data, [{ day: today, ...totals }])
      assert.deepStrictEqual(byDay.totals, totals)
      const byAll = yield* json(`report --by account,model,provider --account ${account.email}`)
      assert.deepStrictEqual(byAll.data, [
        { account: account.id, model: MODEL, provider: "openai", email: account.email, ...totals }
      ])
      assert.deepStrictEqual((yield* json("report --from 2020-01-01 --to 2020-12-31")).data, [])
      assert.deepStrictEqual((yield* json("report --play")).data, [])
      assert.deepStrictEqual((yield* command("report --by model --csv")).stdout, [
        [
          "model,requests,revenue_usd,provider_cost_usd,attempt_cost_usd,margin_usd,margin_percent,uncosted_requests,absorbed_usd",
          `${MODEL},2,0.00072,0.000582,0.00,0.000138,19.16,0,0.00`
        ].join("\n")
      ])
      assert.deepInclude(yield* json(`request show ${listed}`), { provider_cost_usd: 0.000205, settled_usd: 0.00041 })
      assert.deepInclude(yield* json(`request show ${billed}`), { provider_cost_usd: 0.000377, settled_usd: 0.00041 })
      const said = (yield* command(`request show ${billed}`)).stdout.join()
      assert.include(said, "Cost       $0.000377 charged by the provider, which leaves $0.000033")
      // The owner of the account sees only prices, wherever a request is shown.
      for (const path of ["/requests", `/requests/${billed}`, "/usage?period=1d"]) {
        const shown = JSON.stringify(yield* bodyOf(yield* get(`${service.api}${path}`, inferenceKey)))
        assert.notInclude(shown, "0.000377")
        assert.notMatch(shown, /provider_?cost|billed/i)
      }
      assert.isTrue((yield* json("ledger verify")).ok)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("shows the cost of failed attempts beside the cost of those that served", () =>
    Effect.gen(function* () {
      const { command, inferenceKey, json, service } = yield* scene
      const messages = [{ role: "user", content: "What is it worth?" }]
      const body = { model: "meta-llama/llama-3.3-70b-instruct", messages, max_tokens: 30 }
      const steering = { "x-svc-sandbox": "fault=malformed" }
      const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, body, steering)
      assert.strictEqual(answer.status, 502)
      const id = answer.headers.get("x-request-id") ?? ""
      const shown = yield* json(`request show ${id}`)
      const costs: ReadonlyArray<{ readonly cost_usd: number }> = shown.attempt_costs
      assert.isAbove(costs.length, 0)
      const sum = costs.reduce((total, { cost_usd: cost }) => total + cost, 0)
      assert.closeTo(shown.attempt_cost_usd, sum, 1e-12)
      const { totals } = yield* json("report --by provider")
      assert.deepInclude(totals, { revenue_usd: 0, provider_cost_usd: 0, attempt_cost_usd: shown.attempt_cost_usd })
      assert.closeTo(totals.margin_usd, -sum, 1e-12)
      const said = (yield* command(`request show ${id}`)).stdout.join()
      assert.match(said, /Cost {7}\$0\.0\S+ estimated for attempt 1, meta-llama\/llama-3\.3-70b-instruct at \S+\n/)
      assert.match(said, /\$0\.00 charged by the provider, which leaves -\$0\.0/)
      assert.match((yield* command("report")).stdout.join(), /COST +ATTEMPTS +MARGIN/)
      assert.isTrue((yield* json("ledger verify")).ok)
    }).pipe(Effect.scoped)
  )

  it.live("rejects an impossible range", () =>
    Effect.gen(function* () {
      const { command } = yield* setUp
      const late = yield* command("report --from 2026-02-01 --to 2026-01-01")
      assert.strictEqual(late.code, 1)
      assert.include(late.stderr.join(), "`from` must not be after `to`; got 2026-02-01, which is after 2026-01-01")
      assert.include((yield* command("report --by hour")).stderr.join(), "day, account, model, provider")
    }).pipe(Effect.scoped)
  )

  it.live("says why it is empty when all money is simulated", () =>
    Effect.gen(function* () {
      const { command } = yield* setUp
      const { code, stdout } = yield* command("report --from 2026-01-01 --to 2026-01-31")
      assert.deepStrictEqual(
        [code, stdout.join("\n").split("\n")],
        [
          0,
          [
            "Days 2026-01-01 to 2026-01-31 (UTC)",
            "No request was paid with real money in these days; the report leaves out simulated money. `--play` reports that."
          ]
        ]
      )
    }).pipe(Effect.scoped)
  )
})

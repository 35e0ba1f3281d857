import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { UsageReport } from "../../../schemas/account/Usage.ts"
import { get, json, post, startService } from "../../support/Service.ts"

const report = Schema.decodeUnknownSync(UsageReport, { onExcessProperty: "error" })
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

const figures = [
  "requests",
  "prompt_tokens",
  "cached_tokens",
  "cache_creation_tokens",
  "completion_tokens",
  "reasoning_tokens"
] as const

describe("GET /usage", () => {
  it.live("adds up to the charges of the answers, immediately", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { api } = service
      const { account, inferenceKey: key } = yield* service.account(10)
      const other = yield* service.account(10)
      yield* post(`${api}/chat/completions`, other.inferenceKey, chat)
      const steering = { "x-svc-sandbox": "output_tokens=50,cached_tokens=2,reasoning_tokens=5" }
      let [cost, prompt] = [0, 0]
      for (const model of ["gpt-4o-mini", "gpt-4o", "gpt-4o-mini"]) {
        const answer = yield* Effect.flatMap(post(`${api}/chat/completions`, key, { ...chat, model }, steering), json)
        cost += answer.cost_usd
        prompt += answer.usage.prompt_tokens
      }
      const failing = { ...chat, routing: { allow_fallbacks: false } }
      yield* post(`${api}/chat/completions`, key, failing, { "x-svc-sandbox": "fault=error" })
      for (const period of ["1d", "7d", "30d"]) {
        const reported = report(yield* Effect.flatMap(get(`${api}/usage?period=${period}`, key), json))
        assert.strictEqual(reported.period, period)
        assert.closeTo(reported.totals.cost_usd, cost, 1e-9)
        const { completion_tokens, cached_tokens, prompt_tokens, reasoning_tokens, requests } = reported.totals
        assert.deepStrictEqual(
          [requests, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens],
          [4, prompt, 150, 6, 15]
        )
        for (const name of figures) {
          const sum = reported.data.reduce((all, bucket) => all + bucket[name], 0)
          assert.strictEqual(sum, reported.totals[name], name)
        }
        const width = period === "1d" ? 3_600 : 86_400
        assert.strictEqual(
          (reported.end_time - reported.start_time) / width,
          period === "1d" ? 24 : Number.parseInt(period)
        )
        for (const bucket of reported.data) assert.strictEqual(bucket.end_time - bucket.start_time, width)
        assert.strictEqual(reported.balance_usd, Number((yield* service.balance(account.id)).posted) / 1e9)
        assert.deepStrictEqual(
          reported.data.map(({ start_time, model, provider }) => [start_time, model, provider ?? "~"]),
          reported.data
            .map(({ start_time, model, provider }) => [start_time, model, provider ?? "~"])
            .toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("covers 30 days by default, and rejects other periods", () =>
    Effect.gen(function* () {
      const { account, api } = yield* startService()
      const { inferenceKey } = yield* account(0)
      const usage = (query: string) => get(`${api}/usage${query}`, inferenceKey)
      assert.strictEqual(report(yield* Effect.flatMap(usage(""), json)).period, "30d")
      for (const query of ["?period=2d", "?period=", "?period=1d&period=7d"]) {
        const answer = yield* usage(query)
        const { error } = yield* json(answer)
        assert.deepStrictEqual([answer.status, error.code, error.param], [400, "invalid_period", "period"], query)
      }
      const { error } = yield* Effect.flatMap(usage("?days=3"), json)
      assert.deepStrictEqual([error.code, error.param], ["validation_error", "days"])
      for (const path of ["/models", "/requests"]) {
        const { error } = yield* Effect.flatMap(get(`${api}${path}?period=1d`, inferenceKey), json)
        assert.deepStrictEqual([error.code, error.param], ["validation_error", "period"], path)
      }
    }).pipe(Effect.scoped)
  )
})

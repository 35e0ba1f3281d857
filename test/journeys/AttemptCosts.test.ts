/** The operator's cost of attempts that served no answer. It is recorded and shown to the operator; no account sees or pays it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { verifyUsageBooks } from "../../src/usage/UsageBooks.ts"
import type { SqlClient } from "effect/sql"
import { operatorScene } from "../http/handlers/operator/scene.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { post } from "../support/Service.ts"
import { spendSeenBy } from "../support/ProviderSpend.ts"
import { eventually } from "../support/Eventually.ts"

const messages = [{ role: "user", content: "What does a failure cost?" }]
const chat = { model: "gpt-4o-mini", messages, max_tokens: 50 }
const alone = { routing: { allow_fallbacks: false, providers: { only: ["openai"] } } }

/** One request of each operation, by its path. */
const works: Readonly<Record<string, object>> = {
  "/chat/completions": { ...chat, ...alone },
  "/embeddings": { model: "text-embedding-3-small", input: ["a cat", "a dog"] },
  "/rerank": { model: "rerank-2.5", query: "cats", documents: ["about dogs", "about cats"] },
  "/images/generations": { model: "flux-dev", prompt: "a kite", size: "64x64", n: 2 },
  "/audio/speech": { model: "tts-1", input: "Hello!", voice: "alloy" },
  "/search": { query: "tea" }
}

/** A gateway with an operator and an account, and functions that read the account's requests as the operator sees them. */
const scene = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const found = yield* operatorScene(env)
    const { inferenceKey, operate, service } = found
    const ask = (path: string, body: object, steering: string) =>
      Effect.gen(function* () {
        const response = yield* post(`${service.api}${path}`, inferenceKey, body, { "x-svc-sandbox": steering })
        yield* Effect.promise(() => response.arrayBuffer())
        return { status: response.status, id: response.headers.get("x-request-id") ?? "" }
      })
    /** Reads the receipt as the operator sees it, after the request has ended. */
    const receipt = (id: string) =>
      Effect.map(
        eventually(
          operate("GET", `/requests/${id}`),
          ({ body }) => body.data !== undefined && body.data.status !== "open"
        ),
        ({ body }) => body.data
      )
    const report = (by: string) => Effect.map(operate("GET", `/report?by[]=${by}`), ({ body }) => body)
    /** Sets OpenAI's daily spend limit, and waits until the gateway applies it. */
    const limitSpend = (usd: number) =>
      Effect.andThen(
        operate("PATCH", "/spend/openai", { limit_usd: usd }),
        eventually(spendSeenBy(service, "openai"), ({ limit }) => limit === Math.round(usd * 1e9))
      )
    return { ...found, ask, limitSpend, receipt, report }
  })

/** Adds every ended request to the daily rollups. */
const rollUp = (sql: SqlClient.SqlClient) =>
  Effect.andThen(
    sql`CREATE OR REPLACE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT -60000::bigint'`,
    Effect.repeat(
      sql<{ left: bigint }>`SELECT (SELECT count(*) FROM attempt_cost)
        + (SELECT count(*) FROM request WHERE id >= (SELECT through FROM usage_rollup_state)) AS left`,
      { schedule: Schedule.spaced("200 millis"), until: ([row]) => row?.left === 0n }
    )
  )

describe("a failed attempt", () => {
  it.live("costs the operator the usage it reported, and the account pays only for the attempt that served", () =>
    Effect.gen(function* () {
      const { ask, inferenceKey, receipt, report, service } = yield* scene()
      const { id, status } = yield* ask("/chat/completions", chat, "fault=empty,provider=openai,output_tokens=7")
      assert.strictEqual(status, 200)
      const shown = yield* receipt(id)
      const [wasted] = shown.attempt_costs
      assert.deepInclude(wasted, { attempt_index: 0, provider: "openai", model: "gpt-4o-mini", basis: "reported" })
      assert.isAbove(wasted.cost_usd, 0)
      assert.deepStrictEqual([shown.attempt_costs.length, shown.attempt_cost_usd], [1, wasted.cost_usd])
      assert.notStrictEqual(shown.provider, "openai")
      assert.isAbove(shown.provider_cost_usd, 0)
      const own = yield* receiptOf(service, inferenceKey, id)
      assert.notMatch(JSON.stringify(own), /attempt_cost/)
      assert.strictEqual(own.cost_usd, shown.cost_usd)
      const { data, totals } = yield* report("provider")
      assert.deepStrictEqual(
        data.map((row: Record<string, unknown>) => [
          row["provider"],
          row["requests"],
          row["provider_cost_usd"],
          row["attempt_cost_usd"]
        ]),
        [
          ["openai", 0, 0, wasted.cost_usd],
          [shown.provider, 1, shown.provider_cost_usd, 0]
        ].toSorted((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1))
      )
      assert.closeTo(totals.margin_usd, shown.cost_usd - shown.provider_cost_usd - wasted.cost_usd, 1e-12)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("has an estimated cost for every operation when it reports no usage, and costs the account nothing", () =>
    Effect.gen(function* () {
      const { account, ask, receipt, report, service } = yield* scene()
      let sum = 0
      for (const [path, body] of Object.entries(works)) {
        const served = yield* receipt((yield* ask(path, body, "fault=no_usage")).id)
        const before = yield* service.balance(account.id)
        const failed = yield* receipt((yield* ask(path, body, "fault=malformed")).id)
        assert.deepInclude(failed, { status: "failed", cost_usd: 0, provider_cost_usd: null }, path)
        assert.deepStrictEqual(yield* service.balance(account.id), before, path)
        const costs: ReadonlyArray<{
          readonly attempt_index: number
          readonly basis: string
          readonly cost_usd: number
        }> = failed.attempt_costs
        for (const [index, { attempt_index: at, basis, cost_usd: cost }] of costs.entries()) {
          assert.deepStrictEqual([at, basis], [index, "estimated"], path)
          assert.isAbove(cost, 0, path)
          // The estimate of a chat has the prompt only, because no output came.
          if (path === "/chat/completions") assert.isBelow(cost, served.provider_cost_usd, path)
          else assert.strictEqual(cost, served.provider_cost_usd, path)
        }
        const all = costs.reduce((total, { cost_usd: cost }) => total + cost, 0)
        assert.closeTo(failed.attempt_cost_usd, all, 1e-12, path)
        assert.strictEqual(costs.length, failed.routing.provider_attempts.length, path)
        sum += failed.attempt_cost_usd
      }
      const live = yield* report("model")
      assert.closeTo(live.totals.attempt_cost_usd, sum, 1e-9)
      yield* rollUp(service.sql)
      assert.deepStrictEqual(yield* report("model"), live)
      assert.deepInclude(yield* verifyUsageBooks(service.sql), { ok: true })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("has a recorded cost when its answer violates the schema, and when it belongs to a line of a batch", () =>
    Effect.gen(function* () {
      const { ask, operate, receipt, service, inferenceKey } = yield* scene()
      const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
      const format = { type: "json_schema", json_schema: { name: "place", schema } }
      // A model without structured outputs, whose answers the gateway checks.
      const asked = { model: "nova-pro", messages, max_tokens: 50, response_format: format }
      const { id, status } = yield* ask("/chat/completions", asked, "text=no%20JSON")
      assert.strictEqual(status, 502)
      const shown = yield* receipt(id)
      assert.deepInclude(shown.attempt_costs[0], { attempt_index: 0, basis: "reported" })
      const batch = { requests: [{ body: chat }] }
      const headers = { "x-svc-sandbox": "fault=malformed,provider=openai" }
      const answer = yield* post(`${service.api}/batch`, inferenceKey, batch, headers)
      assert.strictEqual(answer.status, 200)
      const { body } = yield* operate("GET", "/requests?operation=chat.completions&status=succeeded")
      assert.deepInclude(body.data[0].attempt_costs[0], { provider: "openai", basis: "estimated" })
    }).pipe(Effect.scoped)
  )

  it.live("has no cost when the provider answered with an error or a rate limit", () =>
    Effect.gen(function* () {
      const { ask, receipt } = yield* scene()
      for (const fault of ["rate_limit", "error"]) {
        const shown = yield* receipt((yield* ask("/chat/completions", chat, `fault=${fault},provider=openai`)).id)
        assert.deepInclude(shown, { status: "succeeded", attempt_cost_usd: 0, attempt_costs: [] }, fault)
        assert.isAbove(shown.routing.provider_attempts.length, 1)
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "costs its prompt when it times out or breaks before output, and is not counted twice when it breaks after output",
    () =>
      Effect.gen(function* () {
        const { ask, receipt } = yield* scene()
        const impatient = { ...chat, stream: true, routing: { timeouts: { first_token_ms: 200 } } }
        for (const fault of ["stall", "break"]) {
          const steering = `fault=${fault},after=0,provider=openai`
          const shown = yield* receipt((yield* ask("/chat/completions", impatient, steering)).id)
          assert.strictEqual(shown.status, "succeeded", fault)
          assert.deepInclude(
            shown.attempt_costs[0],
            { attempt_index: 0, provider: "openai", basis: "estimated" },
            fault
          )
        }
        const steering = "fault=break,after=2,provider=openai,output_tokens=20"
        const broken = yield* receipt((yield* ask("/chat/completions", impatient, steering)).id)
        assert.deepInclude(broken, { status: "failed", provider: "openai", attempt_costs: [] })
        assert.isAbove(broken.provider_cost_usd, 0)
        assert.strictEqual(broken.provider_cost_usd, broken.cost_usd)
      }).pipe(Effect.scoped)
  )

  it.live("costs its prompt when the client disconnects before any output", () =>
    Effect.gen(function* () {
      const { account, limitSpend, inferenceKey, operate, receipt, service } = yield* scene()
      // With a spend limit, the operator sees the reservation of an attempt after its start.
      yield* limitSpend(1)
      const leave = new AbortController()
      const headers = {
        authorization: `Bearer ${inferenceKey}`,
        "content-type": "application/json",
        "x-svc-sandbox": "latency_ms=60000"
      }
      const body = JSON.stringify({ ...chat, ...alone })
      const calling = fetch(`${service.api}/chat/completions`, { method: "POST", headers, body, signal: leave.signal })
      const left = Effect.promise(() =>
        calling.then(
          () => "answered",
          () => "left"
        )
      )
      const open = service.sql<{ id: string }>`SELECT id FROM request WHERE account_id = ${account.id}`
      const [row] = yield* eventually(open, (rows) => rows.length === 1)
      yield* eventually(operate("GET", "/spend"), ({ body }) => body.data[0].reserved_usd > 0)
      leave.abort()
      assert.strictEqual(yield* left, "left")
      const shown = yield* receipt(row?.id ?? "")
      assert.deepInclude(shown, { status: "cancelled", cost_usd: 0 })
      assert.deepInclude(shown.attempt_costs[0], { provider: "openai", basis: "estimated" })
    }).pipe(Effect.scoped)
  )

  it.live("counts toward the provider's daily spend limit, which then answers 503", () =>
    Effect.gen(function* () {
      const { account, ask, limitSpend, operate, service } = yield* scene()
      const body = { ...chat, ...alone, max_tokens: 1 }
      yield* limitSpend(0.00003)
      const statuses: Array<number> = []
      for (let round = 0; round < 60 && !statuses.includes(503); round++) {
        statuses.push((yield* ask("/chat/completions", body, "fault=empty,output_tokens=1")).status)
        yield* Effect.sleep("50 millis")
      }
      assert.include(statuses, 503)
      const { body: list } = yield* eventually(operate("GET", "/spend"), ({ body }) => body.data[0].settled_usd > 0)
      assert.isAtMost(list.data[0].settled_usd, 0.00003)
      assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n)
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { RequestList, RequestReceipt } from "../../../schemas/account/Requests.ts"
import { receiptOf } from "../../../src/http/handlers/Requests.ts"
import { noTokens } from "../../../src/domain/Usage.ts"
import { USUAL_FROM_MS, writeUsual } from "../../support/Receipts.ts"
import { get, json, post, startService } from "../../support/Service.ts"

const receipt = Schema.decodeUnknownSync(RequestReceipt, { onExcessProperty: "error" })
const list = Schema.decodeUnknownSync(RequestList, { onExcessProperty: "error" })
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] }

const customer = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey: key } = yield* service.account(10)
  return {
    ask: (body: object, headers: Record<string, string> = {}) =>
      post(`${service.api}/chat/completions`, key, { ...chat, ...body }, headers),
    one: (id: string) => Effect.map(Effect.flatMap(get(`${service.api}/requests/${id}`, key), json), receipt),
    page: (query = "") => Effect.map(Effect.flatMap(get(`${service.api}/requests?${query}`, key), json), list)
  }
})

describe("receipts", () => {
  it.live("show the same facts as the answer, and its price", () =>
    Effect.gen(function* () {
      const { ask, one } = yield* customer
      const headers = { "idempotency-key": "k", "x-svc-sandbox": "output_tokens=50,cached_tokens=2" }
      const answer = yield* Effect.flatMap(ask({ max_tokens: 80 }, headers), json)
      const said = yield* one(answer.request_id)
      assert.deepStrictEqual(
        [said.status, said.model, said.resolved_model, said.provider, said.operation, said.finish_reason],
        ["succeeded", "gpt-4o-mini", "gpt-4o-mini", answer.provider, "chat.completions", "stop"]
      )
      assert.deepStrictEqual(
        [said.streamed, said.usage_basis, said.idempotency_key, said.error],
        [false, "reported", "k", null]
      )
      const { price, usage } = said
      if (price?.unit !== "token" || usage === null || "units" in usage) return assert.fail("not of tokens")
      assert.strictEqual(usage.input_tokens + usage.cached_tokens, answer.usage.prompt_tokens)
      assert.strictEqual(usage.output_tokens, 50)
      const cost =
        usage.input_tokens * price.input + usage.cached_tokens * price.cached_input + usage.output_tokens * price.output
      assert.closeTo(said.cost_usd, cost, 1e-9)
      assert.strictEqual(said.cost_usd, answer.cost_usd)
      assert.isAtLeast(said.held_usd, said.settled_usd)
      assert.deepStrictEqual([said.absorbed_usd, said.refunded_usd], [0, 0])
      assert.deepStrictEqual(said.routing, answer.routing)
      assert.isAtLeast(said.timings.total_ms ?? -1, said.timings.hold_ms ?? 0)
      const streamed = yield* ask({ stream: true })
      yield* Effect.promise(() => streamed.text())
      const { timings } = yield* one(streamed.headers.get("x-request-id") ?? "")
      assert.isNotNull(timings.first_token_ms)
      for (const { attempts, ...spans } of [said.timings, timings]) {
        const [attempt] = attempts
        assert.strictEqual(attempts.length, 1)
        for (const [name, ms] of Object.entries({ ...spans, ...attempt })) {
          if (ms !== null) assert.match(String(ms), /^\d+(\.\d{1,3})?$/, name)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("show the reason of a failure and no cost", () =>
    Effect.gen(function* () {
      const { ask, one } = yield* customer
      const response = yield* ask({ stream: true }, { "x-svc-sandbox": "fault=error" })
      const { error } = yield* json(response)
      const said = yield* one(response.headers.get("x-request-id") ?? "")
      assert.deepStrictEqual(said.error, { code: error.code, message: error.message })
      assert.deepStrictEqual([said.status, said.cost_usd, said.usage_basis], ["failed", 0, "none"])
      assert.isTrue(said.streamed)
    }).pipe(Effect.scoped)
  )

  it.live("show a counted basis for a request whose process died", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey: key } = yield* service.account(10)
      const stalled = { "x-svc-sandbox": "fault=stall,after=3" }
      const stream = yield* post(`${service.api}/chat/completions`, key, { ...chat, stream: true }, stalled)
      const id = stream.headers.get("x-request-id") ?? ""
      const receiptNow = Effect.map(Effect.flatMap(get(`${service.api}/requests/${id}`, key), json), receipt)
      assert.deepInclude(yield* receiptNow, { status: "open", usage_basis: "none", cost_usd: 0 })
      yield* service.sql`UPDATE request SET progress = 4800, expires_at = now() - interval '1 second' WHERE id = ${id}`
      assert.strictEqual(yield* service.ledger.expireOverdue, 1)
      yield* Effect.promise(async () => stream.body?.cancel())
      const said = yield* receiptNow
      assert.deepInclude(said, { status: "failed", usage_basis: "counted", cost_usd: 0.0000048, usage: null })
      assert.strictEqual(said.error?.code, "request_expired")
    }).pipe(Effect.scoped)
  )

  it.live("are listed newest first, page by page, without a gap or a repeat", () =>
    Effect.gen(function* () {
      const { ask, page } = yield* customer
      const ids: Array<string> = []
      for (let sent = 0; sent < 7; sent++) {
        ids.unshift((yield* Effect.flatMap(ask(sent % 2 === 0 ? {} : { model: "gpt-4o" }), json)).request_id)
      }
      const seen: Array<string> = []
      let cursor: string | null = ""
      let pages = 0
      while (cursor !== null) {
        const { data, next_cursor }: typeof RequestList.Type = yield* page(
          `limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`
        )
        seen.push(...data.map(({ id }) => id))
        cursor = next_cursor
        pages += 1
      }
      assert.deepStrictEqual(seen, ids)
      assert.strictEqual(pages, 3)
      const ofModel = yield* page("model=gpt-4o&status=succeeded")
      assert.deepStrictEqual(
        ofModel.data.map(({ id }) => id),
        ids.filter((_, at) => at % 2 === 1)
      )
      assert.isNull(ofModel.next_cursor)
      assert.deepStrictEqual((yield* page("status=failed")).data, [])
      assert.lengthOf((yield* page("limit=7")).data, 7)
      assert.isNull((yield* page("limit=7")).next_cursor)
    }).pipe(Effect.scoped)
  )
})

describe("receipts of an account with more requests than one page searches", () => {
  it.live("are found by each filter, on pages that report how far they searched", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey: key } = yield* service.account(10)
      const accountId = account.id
      yield* writeUsual(service.sql, { accountId, keyId: "k" }, 100_100)
      const page = (query: string) =>
        Effect.map(Effect.flatMap(get(`${service.api}/requests?${query}`, key), json), list)
      const ended = { next_cursor: null, searched_to: null }
      for (const query of ["status=failed", "status=failed&model=rare"]) {
        const found = yield* page(query)
        assert.deepInclude(found, ended, query)
        assert.deepStrictEqual(
          found.data.map(({ created_at, model, status }) => [created_at, model, status]),
          [[USUAL_FROM_MS / 1_000 + 1, "rare", "failed"]],
          query
        )
      }
      for (const query of ["status=cancelled", "status=open", "status=open&model=rare", "status=failed&model=usual"]) {
        assert.deepInclude(yield* page(query), { ...ended, data: [] }, query)
      }
      for (const query of ["model=rare", "model=no-such-model", "status=succeeded&model=rare"]) {
        const first = yield* page(query)
        assert.deepStrictEqual([first.data, first.searched_to], [[], USUAL_FROM_MS / 1_000 + 101], query)
        const second = yield* page(`${query}&cursor=${first.next_cursor}`)
        assert.deepInclude(second, ended, query)
        assert.lengthOf(second.data, query === "model=rare" ? 1 : 0)
      }
      const usual = yield* page("status=succeeded&model=usual&limit=1")
      assert.deepStrictEqual(
        [usual.data.length, usual.next_cursor, usual.searched_to],
        [1, usual.data[0]!.id, USUAL_FROM_MS / 1_000 + 100_100]
      )
    }).pipe(Effect.scoped)
  )

  it.live("are found by key, project, provider, operation and time", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const owner = yield* service.signedIn(account.id)
      const project = yield* service.project(account.id, "p")
      const actor = { type: "operator", id: "test" } as const
      const other = yield* service.keys.create({
        accountId: account.id,
        kind: "inference",
        name: "other",
        scopes: [],
        projectId: project.id,
        actor
      })
      const idOf = (response: Response) => response.headers.get("x-request-id")!
      const first = idOf(yield* post(`${service.api}/chat/completions`, inferenceKey, chat))
      const embedding = { model: "text-embedding-3-small", input: "a" }
      const second = idOf(yield* post(`${service.api}/embeddings`, other.key, embedding))
      const ask = (query: string) => Effect.promise(() => fetch(`${service.api}/requests?${query}`, { headers: owner }))
      const found = (query: string) =>
        Effect.map(Effect.flatMap(ask(query), json), (body) => list(body).data.map(({ id }) => id))
      const [receiptOfFirst] = list(yield* Effect.flatMap(ask("operation=chat.completions"), json)).data
      const now = Math.floor(Date.now() / 1_000)
      for (const [query, ids] of [
        ["", [second, first]],
        [`key_id=${other.id}`, [second]],
        [`project_id=${project.id}`, [second]],
        ["operation=embeddings", [second]],
        ["operation=no-such-operation", []],
        [`provider=${receiptOfFirst!.provider}&operation=chat.completions`, [first]],
        ["provider=no-such-provider", []],
        [`key_id=${other.id}&model=gpt-4o-mini`, []],
        [`start_time=${now - 60}&end_time=${now + 60}`, [second, first]],
        [`start_time=${now - 60}&status=succeeded&key_id=${other.id}`, [second]],
        [`end_time=${now - 60}`, []],
        [`start_time=${now + 60}`, []],
        [`start_time=${now - 60}&cursor=${second}`, [first]],
        [`min_cost_usd=${receiptOfFirst!.cost_usd}`, [first]],
        [`max_cost_usd=${receiptOfFirst!.cost_usd}`, [second, first]],
        ["min_cost_usd=1", []],
        ["max_latency_ms=60000", [second, first]],
        ["min_latency_ms=60000&max_latency_ms=70000", []]
      ] as const) {
        assert.deepStrictEqual(yield* found(query), [...ids], query)
      }
      for (const [query, param] of [
        ["key_id=x", "key_id"],
        ["project_id=", "project_id"],
        ["provider=%00", "provider"],
        ["operation=%00", "operation"],
        ["operation=", "operation"],
        ["start_time=-1", "start_time"],
        ["end_time=1.5", "end_time"],
        ["min_cost_usd=-1", "min_cost_usd"],
        ["max_latency_ms=x", "max_latency_ms"],
        ["start_time=5&end_time=5", "end_time"]
      ] as const) {
        const refused = yield* ask(query)
        const { error } = yield* json(refused)
        assert.deepStrictEqual([refused.status, error.param], [400, param], query)
      }
    }).pipe(Effect.scoped)
  )
})

describe("receiptOf", () => {
  const opened = { streamed: false, queueMs: 1, traceId: null }
  const rowOf = (price: object, closed: object): Parameters<typeof receiptOf>[0] => ({
    id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    account_id: "a",
    key_id: "k",
    project_id: null,
    operation: "search",
    model: "m",
    status: "succeeded",
    created_at: new Date(0),
    closed_at: new Date(1_000),
    held: 16_000_000n,
    settled: 16_000_000n,
    absorbed: 0n,
    refunded: 0n,
    resolved_model: "m",
    provider: "p",
    opened: { ...opened, prices: [{ model: "m", provider: "p", ...price }] },
    closed,
    play: null,
    idempotency_key: null
  })
  const promotion = { label: "Launch", discountPercent: 50 }

  it("shows units and the price of one", () => {
    const perRequest = { unit: "request", perUnit: 8_000_000_000, promotion }
    const usage = { units: 2, unit: "request" }
    const said = receipt(receiptOf(rowOf(perRequest, { usage, basis: "reported" })))
    assert.deepStrictEqual(said.usage, { units: 2, unit: "request" })
    assert.deepStrictEqual(said.price, {
      unit: "request",
      per_unit: 0.008,
      promotion: { label: "Launch", discount_percent: 50 }
    })
    assert.strictEqual(said.cost_usd, 0.016)
  })

  it("shows why a request was refused for lack of money", () => {
    const amounts = { needed: "30000000", available: "20000000", posted: "1000000000" }
    const error = { _tag: "InsufficientCredits", limitSource: "balance", ...amounts }
    const row = rowOf({ unit: "request", perUnit: 1 }, { usage: { units: 0, unit: "request" }, basis: "none", error })
    const said = receipt(receiptOf(row)).error
    assert.strictEqual(said?.code, "insufficient_credits")
    assert.match(said?.message ?? "", /\$0\.03/)
  })

  it("shows tokens at the rates of their price tier, for rows of every version", () => {
    const perToken = {
      perRequest: 0,
      tiers: [
        [0, 1_000_000, 0, 0, 0],
        [100, 2_000_000, 0, 0, 0]
      ]
    }
    const said = receipt(receiptOf(rowOf(perToken, { usage: { ...noTokens, input: 101 }, basis: "reported" })))
    assert.deepInclude(said.price, { unit: "token", input: 0.000002 })
    assert.deepInclude(said.usage, { input_tokens: 101 })
    const ended = receipt(receiptOf(rowOf(perToken, { error: { _tag: "InternalError" } })))
    assert.deepInclude(ended.price, { unit: "token", input: 0.000001 })
    assert.isNull(ended.usage)
  })
})

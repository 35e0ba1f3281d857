/** Presets through the public API: both ways to name one, the request's own values, and the preset on headers and receipts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../support/Amounts.ts"
import { takeAway } from "../support/Outage.ts"
import { receiptOfResponse } from "../support/ReadReceipts.ts"
import { get, json, post, startService } from "../support/Service.ts"
import { frames, lastFrame, textOf } from "../support/Streams.ts"

const messages = [{ role: "user", content: "Hello!" }]
const actor = { type: "operator", id: "test" } as const

/** Both ways to name the preset `p`. */
const ways = [
  { named: "model", path: "/chat/completions", model: { model: "@p" } },
  { named: "path", path: "/presets/p/chat/completions", model: {} }
] as const

/** Starts a gateway and creates an account that has the preset `p` with this configuration. */
const having = (config: object) =>
  Effect.gen(function* () {
    const service = yield* startService()
    const { account, inferenceKey: key } = yield* service.account(10)
    yield* service.preset(account.id, "p", config)
    const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
      post(`${service.api}${path}`, key, { messages, ...body }, headers)
    const update = (config: object) =>
      service.presets.update({ accountId: account.id, slug: "p", actor, change: { config } })
    return { service, account, key, ask, update }
  })

const presetOf = ({ headers }: Response) => [headers.get("x-svc-preset"), headers.get("x-svc-preset-version")]

const codeOf = (response: Response) => Effect.map(json(response), ({ error }) => [response.status, error.code])

describe("a preset", () => {
  for (const { model, named, path } of ways) {
    it.live(`named by ${named} supplies the fields that the request omits`, () =>
      Effect.gen(function* () {
        const routing = { providers: { only: ["azure"] }, strategy: "cost" }
        const { ask, key, service } = yield* having({
          models: ["gpt-4o-mini", "gpt-4o"],
          max_tokens: 5,
          routing,
          instructions: "i".repeat(4_000)
        })
        const response = yield* ask(path, model, { "x-svc-sandbox": "output_tokens=90" })
        assert.strictEqual(response.status, 200)
        assert.deepStrictEqual(presetOf(response), ["p", "1"])
        const answer = yield* json(response)
        assert.deepStrictEqual([answer.model, answer.resolved_model, answer.provider], ["@p", "gpt-4o-mini", "azure"])
        assert.strictEqual(answer.choices[0].finish_reason, "length")
        assert.strictEqual(answer.usage.completion_tokens, 5)
        assert.isAbove(answer.usage.prompt_tokens, 900, "the prompt must contain the instructions")
        assert.deepInclude(answer.routing, {
          requested_models: ["gpt-4o-mini", "gpt-4o"],
          strategy: "cost",
          source: "request"
        })
        const receipt = yield* receiptOfResponse(service, key, response)
        assert.deepInclude(receipt, { preset: "p", model: "@p", resolved_model: "gpt-4o-mini" })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )

    it.live(`named by ${named} yields to the fields of the request`, () =>
      Effect.gen(function* () {
        const { ask } = yield* having({
          model: "gpt-4o-mini",
          max_completion_tokens: 5,
          routing: { strategy: "cost", data_policy: "no_training", allow_fallbacks: false }
        })
        const said = { max_tokens: 7, routing: { strategy: "quality" }, models: ["gpt-4o", "gpt-4o-mini"] }
        const response = yield* ask(path, { ...model, ...said }, { "x-svc-sandbox": "output_tokens=90" })
        const answer = yield* json(response)
        assert.strictEqual(response.status, 200, JSON.stringify(answer))
        assert.deepStrictEqual(presetOf(response), ["p", "1"])
        assert.strictEqual(answer.usage.completion_tokens, 7)
        assert.deepInclude(answer.routing, {
          requested_models: said.models,
          strategy: "quality",
          data_policy: "no_training",
          fallbacks_allowed: false
        })
      }).pipe(Effect.scoped)
    )

    it.live(`named by ${named} leaves unknown fields ignored, also one called constructor or __proto__`, () =>
      Effect.gen(function* () {
        const { key, service } = yield* having({ model: "gpt-4o-mini" })
        const { api } = service
        for (const name of ["constructor", "__proto__", "toString"]) {
          const body = JSON.stringify({ messages, ...model }).replace(/}$/, `,"${name}":{}}`)
          const response = yield* post(`${api}${path}`, key, body)
          assert.strictEqual(response.status, 200, name)
          assert.strictEqual(response.headers.get("x-svc-ignored-parameters"), name)
        }
      }).pipe(Effect.scoped)
    )

    it.live(`named by ${named} serves streams, and the receipt names it`, () =>
      Effect.gen(function* () {
        const { ask, key, service } = yield* having({ model: "gpt-4o-mini", max_tokens: 40 })
        const response = yield* ask(path, { ...model, stream: true })
        assert.deepStrictEqual(presetOf(response), ["p", "1"])
        const all = yield* frames(response)
        assert.strictEqual(all[0].model, "@p")
        assert.deepStrictEqual(lastFrame(all).routing.requested_models, ["gpt-4o-mini"])
        assert.deepInclude(yield* receiptOfResponse(service, key, response), { preset: "p", streamed: true })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("offers no tools and has no stop sequences when a request in any dialect sends empty lists", () =>
    Effect.gen(function* () {
      const look = { type: "function", function: { name: "look", parameters: { type: "object" } } }
      const { key, service } = yield* having({
        model: "gpt-4o-mini",
        tools: [look],
        tool_choice: "required",
        stop: ["answers"]
      })
      const said = (path: string, body: object) =>
        Effect.flatMap(post(`${service.api}${path}`, key, { model: "@p", ...body }), json)
      const chat = { messages, tools: [], stop: [] }
      const full = (yield* said("/chat/completions", chat)).choices[0].message
      assert.include(full.content, "answers")
      assert.isUndefined(full.tool_calls)
      const texts = yield* said("/messages", { messages, max_tokens: 90, tools: [], stop_sequences: [] })
      assert.deepStrictEqual(texts.content, [{ type: "text", text: full.content }])
      const answer = yield* said("/responses", { input: messages, tools: [] })
      assert.deepStrictEqual(
        answer.output.map(({ type }: { readonly type: string }) => type),
        ["message"]
      )
      const calls = yield* said("/messages", { messages, max_tokens: 90 })
      assert.strictEqual(calls.stop_reason, "tool_use", "the preset supplies the tools that the request omits")
    }).pipe(Effect.scoped)
  )

  it.live("is replaced by the models that a request to its path names, and the answer echoes them", () =>
    Effect.gen(function* () {
      const { ask } = yield* having({ model: "gpt-4o-mini" })
      const echoed = (body: object) =>
        Effect.map(Effect.flatMap(ask("/presets/p/chat/completions", body), json), ({ model, routing }) => [
          model,
          routing.requested_models
        ])
      assert.deepStrictEqual(yield* echoed({ model: "gpt-4o" }), ["gpt-4o", ["gpt-4o"]])
      assert.deepStrictEqual(yield* echoed({ models: ["gpt-4o", "o3"] }), ["gpt-4o", ["gpt-4o", "o3"]])
      assert.deepStrictEqual(yield* echoed({ model: "@p" }), ["@p", ["gpt-4o-mini"]])
      assert.deepStrictEqual(yield* echoed({ model: null, models: null }), ["@p", ["gpt-4o-mini"]])
      const other = yield* ask("/presets/p/chat/completions", { model: "@q" })
      assert.deepStrictEqual(yield* codeOf(other), [400, "invalid_fallback_chain"])
      const chained = yield* ask("/chat/completions", { model: "@p,gpt-4o" })
      assert.deepStrictEqual(yield* codeOf(chained), [400, "invalid_fallback_chain"])
    }).pipe(Effect.scoped)
  )

  it.live("accepts up to 100 messages and up to 131,072 output tokens on its path, and answers 400 beyond", () =>
    Effect.gen(function* () {
      const { ask } = yield* having({ model: "gpt-4o-mini", instructions: "Be brief." })
      const path = "/presets/p/chat/completions"
      const many = (count: number) => ask(path, { messages: Array.from({ length: count }, () => messages[0]) })
      assert.strictEqual((yield* many(100)).status, 200)
      for (const count of [0, 101]) assert.deepStrictEqual(yield* codeOf(yield* many(count)), [400, "validation_error"])
      for (const name of ["max_tokens", "max_completion_tokens"]) {
        assert.strictEqual((yield* ask(path, { [name]: 131_072 })).status, 200)
        const refused = yield* ask(path, { [name]: 131_073 })
        const { error } = yield* json(refused)
        assert.deepStrictEqual([refused.status, error.param], [400, name])
        assert.deepStrictEqual(presetOf(refused), ["p", "1"], "a refusal must have the headers of the preset")
        assert.strictEqual((yield* ask("/chat/completions", { model: "@p", [name]: 131_073 })).status, 200)
      }
    }).pipe(Effect.scoped)
  )

  it.live("gives 404 when it does not exist or belongs to another account", () =>
    Effect.gen(function* () {
      const { service } = yield* having({ model: "gpt-4o-mini" })
      const { inferenceKey } = yield* service.account(10)
      for (const slug of ["p", "none", "", "P", "a b", "é", "%00", "x".repeat(80)]) {
        const escaped = slug === "%00" ? slug : encodeURIComponent(slug)
        const byModel = yield* post(`${service.api}/chat/completions`, inferenceKey, {
          model: `@${decodeURIComponent(slug)}`,
          messages
        })
        assert.deepStrictEqual(yield* codeOf(byModel), [404, "not_found"], slug)
        assert.deepStrictEqual(presetOf(byModel), [null, null])
        if (slug === "") continue
        const byPath = yield* post(`${service.api}/presets/${escaped}/chat/completions`, inferenceKey, { messages })
        assert.deepStrictEqual(yield* codeOf(byPath), [404, "not_found"], slug)
      }
    }).pipe(Effect.scoped)
  )

  it.live("keeps its version for a running request, and serves the next requests with the new version", () =>
    Effect.gen(function* () {
      const { ask, update } = yield* having({ model: "gpt-4o-mini" })
      const running = yield* ask("/chat/completions", { model: "@p", stream: true }, { "x-svc-sandbox": "chunk_ms=30" })
      assert.deepStrictEqual(presetOf(running), ["p", "1"])
      yield* update({ model: "gpt-4o" })
      for (const { model, path } of ways) {
        const response = yield* ask(path, model)
        assert.deepStrictEqual(presetOf(response), ["p", "2"])
        assert.strictEqual((yield* json(response)).resolved_model, "gpt-4o")
      }
      const old = yield* frames(running)
      assert.strictEqual(lastFrame(old).resolved_model, "gpt-4o-mini")
      assert.notStrictEqual(textOf(old), "")
    }).pipe(Effect.scoped)
  )

  it.live("does not change what an idempotency key replays: after an update a repeat gets the first answer", () =>
    Effect.gen(function* () {
      const { account, ask, service, update } = yield* having({ model: "gpt-4o-mini" })
      const asked = [false, true].flatMap((stream) =>
        ways.map(({ model, named, path }) => ({ path, key: `${named} ${stream}`, body: { ...model, stream } }))
      )
      const once = ({ body, key, path }: (typeof asked)[number]) => ask(path, body, { "idempotency-key": key })
      const read = (response: Response) =>
        response.headers.get("content-type")?.startsWith("text/event-stream") === true
          ? Effect.map(frames(response), (all) => [textOf(all), lastFrame(all).request_id])
          : Effect.map(json(response), (answer) => [answer.choices[0].message.content, answer.request_id])
      const first = yield* Effect.forEach(asked, (one) => Effect.flatMap(once(one), read))
      const { posted } = yield* service.balance(account.id)
      yield* update({ model: "gpt-4o", instructions: "Be brief." })
      for (const [index, one] of asked.entries()) {
        const again = yield* once(one)
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true", one.key)
        assert.deepStrictEqual(presetOf(again), ["p", "1"], "a replay must name the version of the first answer")
        assert.deepStrictEqual(yield* read(again), first[index])
      }
      assert.strictEqual((yield* service.balance(account.id)).posted, posted)
      const other = yield* ask("/presets/p/chat/completions", { max_tokens: 9 }, { "idempotency-key": "path false" })
      assert.deepStrictEqual(yield* codeOf(other), [422, "idempotency_key_reused"])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("has idempotency keys of its own on its path", () =>
    Effect.gen(function* () {
      const { account, ask, service } = yield* having({ model: "gpt-4o-mini" })
      yield* service.preset(account.id, "q", { model: "gpt-4o" })
      const by = (slug: string) =>
        Effect.flatMap(ask(`/presets/${slug}/chat/completions`, {}, { "idempotency-key": "k" }), json)
      assert.strictEqual((yield* by("p")).resolved_model, "gpt-4o-mini")
      assert.strictEqual((yield* by("q")).resolved_model, "gpt-4o")
    }).pipe(Effect.scoped)
  )

  it.live("takes exactly the hold that its estimate reports", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey: key } = yield* service.account(0)
      yield* service.preset(account.id, "p", {
        models: ["gpt-4o-mini", "gpt-4o"],
        max_tokens: 300,
        instructions: "i".repeat(8_000)
      })
      const body = { model: "@p", messages }
      const estimate = yield* post(`${service.api}/estimate`, key, body)
      assert.deepStrictEqual(presetOf(estimate), ["p", "1"])
      const { hold_usd, max_cost_usd, model, resolved_models } = yield* json(estimate)
      assert.deepStrictEqual([model, resolved_models], ["@p", ["gpt-4o-mini", "gpt-4o"]])
      assert.strictEqual(max_cost_usd, hold_usd)
      yield* service.customers.topUp(account, nano(hold_usd) - 1n)
      for (const { model, path } of ways) {
        const refused = yield* post(`${service.api}${path}`, key, { ...model, messages })
        assert.deepStrictEqual(yield* codeOf(refused), [402, "insufficient_credits"])
      }
      yield* service.customers.topUp(account, 1n)
      const served = yield* post(`${service.api}/presets/p/chat/completions`, key, { messages })
      assert.strictEqual(served.status, 200)
      assert.strictEqual((yield* receiptOfResponse(service, key, served)).held_usd, hold_usd)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("may name svc/auto and its router options", () =>
    Effect.gen(function* () {
      const { ask } = yield* having({ model: "svc/auto", router: { allowed_models: ["gpt-4o-mini"] } })
      for (const path of ["/chat/completions", "/chat"]) {
        const answer = yield* Effect.flatMap(ask(path, { model: "@p" }), json)
        assert.deepStrictEqual([answer.model, answer.resolved_model], ["@p", "gpt-4o-mini"], path)
        assert.deepStrictEqual(answer.routing.router.candidates, ["gpt-4o-mini"], path)
      }
    }).pipe(Effect.scoped)
  )

  it.live("serves the legacy chat, whose cache misses after a new version", () =>
    Effect.gen(function* () {
      const { ask, key, service, update } = yield* having({ model: "gpt-4o-mini", temperature: 0 })
      const chat = () =>
        Effect.flatMap(ask("/chat", { model: "@p" }), (response) =>
          Effect.map(json(response), ({ cached, model, resolved_model }) => [
            ...presetOf(response),
            cached,
            model,
            resolved_model
          ])
        )
      assert.deepStrictEqual(yield* chat(), ["p", "1", false, "@p", "gpt-4o-mini"])
      assert.deepStrictEqual(yield* chat(), ["p", "1", true, "@p", "gpt-4o-mini"])
      yield* update({ model: "gpt-4o-mini", instructions: "Be brief.", temperature: 0 })
      assert.deepStrictEqual(yield* chat(), ["p", "2", false, "@p", "gpt-4o-mini"])
      const { data } = yield* Effect.flatMap(get(`${service.api}/requests`, key), json)
      assert.deepStrictEqual(
        data.map((receipt: { readonly preset?: string }) => receipt.preset),
        ["p", "p"]
      )
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("gives 503 instead of 404 while the database is away", () =>
    Effect.gen(function* () {
      const { ask, service } = yield* having({ model: "gpt-4o-mini" })
      yield* ask("/chat/completions", { model: "gpt-4o-mini" })
      yield* takeAway(service.databaseUrl)
      for (const { model, path } of ways) {
        assert.deepStrictEqual(yield* codeOf(yield* ask(path, model)), [503, "store_unavailable"])
      }
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { ChatCompletion, ChatCompletionChunk } from "../../schemas/inference/ChatCompletions.ts"
import { RoutingSummary } from "../../schemas/Routing.ts"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { managing } from "../support/Management.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { frames, lastFrame } from "../support/Streams.ts"

const CODE = "Write a Python function that merges two sorted lists."

/** A prompt that the rules cannot classify. */
const UNCLEAR = "The meeting is at noon in the blue room"

const ask = (content: string, more: object = {}) => ({
  model: "svc/auto",
  messages: [{ role: "user", content }],
  ...more
})

const chat = (service: Service, key: string, body: object, headers: Record<string, string> = {}) =>
  post(`${service.api}/chat/completions`, key, body, headers)

const answered = (service: Service, key: string, body: object) =>
  Effect.gen(function* () {
    const response = yield* chat(service, key, body)
    const answer = yield* json(response)
    assert.strictEqual(response.status, 200, JSON.stringify(answer))
    return answer
  })

const closed = { onExcessProperty: "error" } as const

/** Starts a fake host of the classifier that answers with the label of its script. */
const judge = Effect.gen(function* () {
  const script = { answer: "math" as string | "stall" | "fail" }
  const seen: Array<{
    readonly model: string
    readonly temperature?: number
    readonly messages: ReadonlyArray<{ readonly content: string }>
  }> = []
  const { origin } = yield* upstream((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      seen.push(JSON.parse(Buffer.concat(chunks).toString("utf8")))
      if (script.answer === "stall") return
      response.writeHead(script.answer === "fail" ? 500 : 200, { "content-type": "application/json" })
      response.end(
        JSON.stringify({
          id: "1",
          object: "chat.completion",
          choices: [{ index: 0, message: { role: "assistant", content: script.answer }, finish_reason: "stop" }],
          usage: { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102 }
        })
      )
    })
  })
  return { origin, script, seen }
})

/** Starts a gateway whose providers are simulated, except OpenAI, which serves the classifier. */
const judged = (origin: string, timeout: string) =>
  startService({
    OPENAI_API_KEY: "sk-planted",
    OPENAI_BASE_URL: origin,
    AUTO_CLASSIFIER_MODEL: "gpt-4.1-nano",
    AUTO_CLASSIFIER_TIMEOUT: timeout
  })

const router = { allowed_models: ["anthropic/*", "google/*"] }

const metricsOf = (service: Service) =>
  Effect.promise(() => fetch(`${service.ops}/metrics`).then((response) => response.text()))

const counted = (text: string, name: string, label: string): number =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(name) && line.includes(label))
      ?.split(" ")
      .at(-1)
  )

describe("svc/auto", () => {
  it.live("shows the same routing decision in the answer, the stream and the receipt", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const body = yield* answered(service, inferenceKey, ask(CODE))
      const answer = Schema.decodeUnknownSync(ChatCompletion)(body, closed)
      const decision = answer.routing.router!
      assert.deepStrictEqual(
        [answer.model, answer.routing.requested_models, decision.task, decision.classified_by, decision.override],
        ["svc/auto", ["svc/auto"], "code", "regex", null]
      )
      assert.strictEqual(answer.resolved_model, decision.candidates[0])
      assert.include(decision.reasoning, answer.resolved_model)
      const receipt = yield* receiptOf(service, inferenceKey, answer.request_id)
      const kept = Schema.decodeUnknownSync(RoutingSummary)(receipt.routing, closed)
      assert.deepStrictEqual(kept.router, decision)
      assert.deepStrictEqual([receipt.model, receipt.resolved_model], ["svc/auto", answer.resolved_model])
      const stream = yield* chat(service, inferenceKey, ask(CODE, { stream: true }))
      const last = Schema.decodeUnknownSync(ChatCompletionChunk)(lastFrame(yield* frames(stream)), closed)
      assert.deepStrictEqual(last.routing?.router, decision)
      const { held, posted } = yield* service.balance(account.id)
      assert.deepStrictEqual([nano(10) - posted, held], [nano(answer.cost_usd) + nano(last.cost_usd!), 0n])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("falls back to its next candidate when the first one fails", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const request = ask(CODE, {
        router: { allowed_models: ["gpt-4o", "claude-haiku-4-5"] },
        routing: { providers: { only: ["openai", "anthropic"] } }
      })
      const first = yield* answered(service, inferenceKey, request)
      const faulty = { "x-svc-sandbox": `fault=error,provider=${first.provider}` }
      const again = yield* Effect.flatMap(chat(service, inferenceKey, request, faulty), json)
      assert.deepStrictEqual(again.routing.router, first.routing.router)
      const { candidates } = again.routing.router
      assert.deepStrictEqual([first.resolved_model, again.resolved_model], candidates)
      assert.strictEqual(again.routing.provider_attempts[0].outcome, "failed_over")
    }).pipe(Effect.scoped)
  )

  it.live("accepts a balance of exactly the estimated hold, and answers 402 to a nano-USD less", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const rich = yield* service.account(10)
      for (const request of [ask(CODE, { max_tokens: 300 }), ask("¿Quién descubrió la penicilina?"), ask(UNCLEAR)]) {
        const estimate = yield* Effect.flatMap(post(`${service.api}/estimate`, rich.inferenceKey, request), json)
        const enough = yield* service.account(estimate.hold_usd)
        const short = yield* service.account(estimate.hold_usd - 1e-9)
        assert.strictEqual((yield* chat(service, short.inferenceKey, request)).status, 402)
        const answer = yield* answered(service, enough.inferenceKey, request)
        assert.deepStrictEqual(estimate.resolved_models, answer.routing.router.candidates)
      }
    }).pipe(Effect.scoped)
  )

  it.live("refuses a fallback chain and invalid options, naming the field", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const refused = (body: object) =>
        Effect.gen(function* () {
          const response = yield* chat(service, inferenceKey, body)
          const { error } = yield* json(response)
          return [response.status, error.code, error.param, error.message] as const
        })
      for (const chain of [{ model: "svc/auto,gpt-4o" }, { model: undefined, models: ["gpt-4o", "svc/auto"] }]) {
        assert.strictEqual((yield* refused({ ...ask("hi"), ...chain }))[1], "invalid_fallback_chain")
      }
      const tier = yield* refused(ask("hi", { router: { cost_tier: "cheap" } }))
      assert.deepStrictEqual(tier.slice(0, 3), [400, "validation_error", "router.cost_tier"])
      const none = yield* refused(ask("hi", { router: { allowed_models: ["nobody/*"] } }))
      assert.deepStrictEqual(none.slice(0, 2), [503, "no_provider_available"])
      assert.include(none[3], "router.allowed_models")
      const dear = yield* refused(ask(CODE, { budget_cents: 0.000001, max_tokens: 1_000 }))
      assert.deepStrictEqual(dear.slice(0, 2), [400, "no_model_in_budget"])
      const cheap = yield* answered(service, inferenceKey, ask(CODE, { budget_cents: 0.02, max_tokens: 200 }))
      assert.isAtMost(cheap.cost_usd, 0.0002)
      const plain = { model: "gpt-4o-mini", router: { cost_tier: "low" }, session_id: "s" }
      const ignored = yield* chat(service, inferenceKey, { ...ask("hi"), ...plain })
      assert.strictEqual(ignored.headers.get("x-svc-ignored-parameters"), "router, session_id")
      const plugin = { plugins: [{ id: "auto-router", allowed_models: ["gpt-4o-mini"] }] }
      assert.strictEqual((yield* answered(service, inferenceKey, ask("hi", plugin))).resolved_model, "gpt-4o-mini")
    }).pipe(Effect.scoped)
  )

  it.live("keeps the model of a pinned session", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [one, other] = [yield* service.account(10), yield* service.account(10)]
      const pinned = (content: string, key: string, more: object = {}) =>
        answered(service, key, ask(content, { session_id: "s", router: { pin_model: true }, ...more }))
      const first = yield* pinned(CODE, one.inferenceKey)
      const second = yield* pinned("Write a haiku about the sea", one.inferenceKey)
      assert.strictEqual(second.resolved_model, first.resolved_model)
      assert.deepStrictEqual(second.routing.router.considered[0], { model: first.resolved_model, reason: "pinned" })
      const elsewhere = yield* pinned("Write a haiku about the sea", other.inferenceKey)
      assert.notStrictEqual(elsewhere.resolved_model, first.resolved_model)
      const excluded = { router: { pin_model: true, excluded_models: [first.resolved_model] } }
      const moved = yield* pinned(CODE, one.inferenceKey, excluded)
      assert.notStrictEqual(moved.resolved_model, first.resolved_model)
      assert.strictEqual((yield* pinned(CODE, one.inferenceKey)).resolved_model, first.resolved_model)
    }).pipe(Effect.scoped)
  )
})

describe("the classifier of svc/auto", () => {
  it.live("labels a prompt that the rules leave open, once per account and text, at the operator's cost", () =>
    Effect.gen(function* () {
      const { origin, script, seen } = yield* judge
      const service = yield* judged(origin, "30 seconds")
      const { account, inferenceKey } = yield* service.account(10)
      const request = ask(UNCLEAR, { router })
      const first = yield* answered(service, inferenceKey, request)
      assert.deepStrictEqual([first.routing.router.task, first.routing.router.classified_by], ["math", "llm"])
      assert.lengthOf(seen, 1)
      assert.deepStrictEqual([seen[0]!.model, seen[0]!.temperature], ["gpt-4.1-nano", 0])
      assert.include(seen[0]!.messages.at(-1)!.content, UNCLEAR)
      assert.deepStrictEqual(
        first.routing.provider_attempts.map((attempt: { provider: string }) => attempt.provider),
        [first.provider]
      )
      assert.notStrictEqual(first.provider, "openai")
      script.answer = "writing"
      const second = yield* answered(service, inferenceKey, request)
      assert.deepStrictEqual([second.routing.router.task, second.routing.router.classified_by], ["math", "llm-cached"])
      assert.lengthOf(seen, 1)
      const stranger = yield* service.account(10)
      const third = yield* answered(service, stranger.inferenceKey, request)
      assert.deepStrictEqual([third.routing.router.task, third.routing.router.classified_by], ["writing", "llm"])
      const { held, posted } = yield* service.balance(account.id)
      assert.deepStrictEqual([nano(10) - posted, held], [nano(first.cost_usd) + nano(second.cost_usd), 0n])
      const text = yield* metricsOf(service)
      assert.strictEqual(counted(text, "svc_auto_requests_total", '"llm"'), 2)
      assert.strictEqual(counted(text, "svc_auto_requests_total", '"llm-cached"'), 1)
      assert.strictEqual(counted(text, "svc_auto_classifier_calls_total", '"labelled"'), 2)
      assert.strictEqual(counted(text, "svc_auto_classifier_cost_nano_usd_total", ""), 2 * (100 * 100 + 2 * 400))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "gets no call that the request's restrictions forbid, that the rules make needless, or that a refused request would waste",
    () =>
      Effect.gen(function* () {
        const { origin, script, seen } = yield* judge
        const service = yield* judged(origin, "30 seconds")
        const { inferenceKey } = yield* service.account(10)
        const by = (body: object) =>
          Effect.map(answered(service, inferenceKey, body), (answer) => answer.routing.router.classified_by)
        const routings = [
          { data_policy: "zero_retention" },
          { providers: { only: ["anthropic"] } },
          { providers: { ignore: ["openai", "azure", "openrouter"] } }
        ]
        for (const routing of routings) assert.strictEqual(yield* by(ask(UNCLEAR, { router, routing })), "regex")
        assert.strictEqual(yield* by(ask(CODE, { router })), "regex")
        const estimate = yield* Effect.flatMap(
          post(`${service.api}/estimate`, inferenceKey, ask(UNCLEAR, { router })),
          json
        )
        const poor = yield* service.account(estimate.hold_usd / 2)
        assert.strictEqual((yield* chat(service, poor.inferenceKey, ask(UNCLEAR, { router }))).status, 402)
        assert.deepStrictEqual(seen, [])
        const other = yield* service.account(10)
        const under = { "idempotency-key": "once" }
        const known = ask(CODE, { router })
        assert.strictEqual((yield* chat(service, other.inferenceKey, known, under)).status, 200)
        assert.strictEqual((yield* chat(service, other.inferenceKey, ask(UNCLEAR, { router }), under)).status, 422)
        const actor = { type: "operator", id: "test" } as const
        const wanted = { accountId: other.account.id, kind: "inference", name: "o", scopes: [], actor } as const
        const gone = yield* service.keys.create(wanted)
        assert.strictEqual((yield* chat(service, gone.key, known)).status, 200)
        yield* service.keys.revoke(gone.id, actor)
        assert.strictEqual((yield* chat(service, gone.key, ask(UNCLEAR, { router }))).status, 401)
        assert.deepStrictEqual(seen, [])
        const session = { router: { ...router, pin_model: true }, session_id: "s" }
        assert.strictEqual(yield* by(ask(UNCLEAR, session)), "llm")
        script.answer = "code"
        assert.strictEqual(yield* by(ask(`${UNCLEAR} again`, session)), "regex")
        assert.lengthOf(seen, 1)
      }).pipe(Effect.scoped)
  )

  it.live("gets no prompt of a key that another node has moved to a project with zero_retention", () =>
    Effect.gen(function* () {
      const { origin, seen } = yield* judge
      const service = yield* judged(origin, "30 seconds")
      const { account, managementKey } = yield* service.account(10)
      const manage = managing(service, managementKey)
      const closed = (yield* manage("POST", "/projects", { name: "closed", data_policy: "zero_retention" })).body.data
        .id
      const actor = { type: "operator", id: "test" } as const
      const wanted = { accountId: account.id, kind: "inference", name: "k", scopes: [], actor } as const
      const { id, key } = yield* service.keys.create(wanted)
      assert.strictEqual((yield* chat(service, key, ask(CODE, { router }))).status, 200)
      yield* service.keys.update({ accountId: account.id, id, actor, change: { projectId: closed } })
      const met = yield* chat(service, key, ask(UNCLEAR, { router }))
      assert.deepStrictEqual([met.status, (yield* json(met)).error.code], [503, "store_unavailable"])
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.scoped)
  )

  it.live("leaves the decision to the rules when it fails, answers no label or times out", () =>
    Effect.gen(function* () {
      const { origin, script, seen } = yield* judge
      const patient = yield* judged(origin, "30 seconds")
      const hurried = yield* judged(origin, "2 seconds")
      // After its failure, the judge's figures may be worse than those of a simulated provider.
      const routing = { providers: { ignore: ["azure", "openrouter"] } }
      for (const [service, answer] of [
        [patient, "fail"],
        [patient, "I think that this is math."],
        [hurried, "stall"]
      ] as const) {
        script.answer = answer
        const { account, inferenceKey } = yield* service.account(10)
        const before = seen.length
        const body = yield* answered(service, inferenceKey, ask(UNCLEAR, { router, routing }))
        assert.deepStrictEqual([body.routing.router.task, body.routing.router.classified_by], ["general", "regex"])
        assert.strictEqual(seen.length, before + 1)
        assert.strictEqual(nano(10) - (yield* service.balance(account.id)).posted, nano(body.cost_usd))
      }
      assert.strictEqual(counted(yield* metricsOf(patient), "svc_auto_classifier_calls_total", '"unlabelled"'), 2)
    }).pipe(Effect.scoped)
  )

  it.live("must be a text model of the catalogue, or the gateway does not start", () =>
    Effect.gen(function* () {
      for (const model of ["nobody", "svc/auto", "text-embedding-3-small"]) {
        const exit = yield* Effect.exit(Effect.scoped(startService({ AUTO_CLASSIFIER_MODEL: model })))
        assert.isTrue(
          Exit.isFailure(exit) &&
            String(exit.cause).includes(`AUTO_CLASSIFIER_MODEL must name a text model; got ${model}`)
        )
      }
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { frames, hangUpAfter, lastFrame, textOf } from "../support/Streams.ts"

const ask = (more: object = {}) => ({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "Only once, please" }],
  ...more
})

const chat = (
  service: Service,
  key: string,
  body: object,
  idempotencyKey: string,
  headers: Record<string, string> = {}
) => post(`${service.api}/chat/completions`, key, body, { "idempotency-key": idempotencyKey, ...headers })

const errorOf = (response: Response) => Effect.map(json(response), (body) => [response.status, body.error.code])

const endedStatus = (service: Service, key: string, id: string): Effect.Effect<string> =>
  Effect.flatMap(receiptOf(service, key, id), ({ status }) =>
    status === "open" ? endedStatus(service, key, id) : Effect.succeed(status)
  )

describe("an idempotency key", () => {
  it.live("replays a finished answer byte for byte, and charges once", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const first = yield* chat(service, inferenceKey, ask(), "order-1")
      const again = yield* chat(service, inferenceKey, ask(), '"order-1"')
      const { posted } = yield* service.balance(account.id)
      assert.strictEqual(first.headers.get("idempotency-replayed"), null)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.notStrictEqual(first.headers.get("x-request-id"), again.headers.get("x-request-id"))
      const [text, replayed] = yield* Effect.promise(() => Promise.all([first.text(), again.text()]))
      assert.strictEqual(replayed, text)
      const answer = JSON.parse(text)
      assert.strictEqual(1_000_000_000n - posted, nano(answer.cost_usd))
      const members = yield* chat(service, inferenceKey, { messages: ask().messages, model: "gpt-4o-mini" }, "order-1")
      assert.deepStrictEqual(yield* json(members), answer)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("replays a stream with the same content, usage and last chunk", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }]
      for (const body of [ask({ stream: true }), ask({ stream: true, tools })]) {
        const key = JSON.stringify(body).length.toString()
        const first = yield* frames(yield* chat(service, inferenceKey, body, key))
        const { posted } = yield* service.balance(account.id)
        const response = yield* chat(service, inferenceKey, body, key)
        const again = yield* frames(response)
        assert.strictEqual(response.headers.get("idempotency-replayed"), "true")
        assert.strictEqual(textOf(again), textOf(first))
        assert.strictEqual(again[0].id, first[0].id)
        assert.strictEqual(JSON.stringify(lastFrame(again)), JSON.stringify(lastFrame(first)))
        assert.strictEqual((yield* service.balance(account.id)).posted, posted)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "lets one of many concurrent requests run, and answers 409 with retry-after to the others until it ends",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account(1)
        const responses = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => chat(service, inferenceKey, ask(), "race", { "x-svc-sandbox": "latency_ms=150" }),
          { concurrency: "unbounded" }
        )
        const served = responses.filter((response) => response.status === 200)
        const waiting = responses.filter((response) => response.status === 409)
        assert.strictEqual(served.length + waiting.length, 20)
        assert.isAtLeast(served.length, 1)
        assert.deepStrictEqual(
          served.filter((response) => response.headers.get("idempotency-replayed") === null).length,
          1
        )
        for (const response of waiting) {
          assert.strictEqual(response.headers.get("retry-after"), "1")
          assert.strictEqual(response.headers.get("x-should-retry"), "true")
          assert.deepStrictEqual(yield* errorOf(response), [409, "idempotency_request_in_progress"])
        }
        const answer = yield* json(served[0]!)
        const { posted } = yield* service.balance(account.id)
        assert.strictEqual(1_000_000_000n - posted, nano(answer.cost_usd))
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("answers 422 to a different request of the same account, and serves one of another account", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [one, two] = [yield* service.account(1), yield* service.account(1)]
      assert.strictEqual((yield* chat(service, one.inferenceKey, ask(), "shared")).status, 200)
      const other = yield* chat(service, one.inferenceKey, ask({ temperature: 0.5 }), "shared")
      assert.deepStrictEqual(yield* errorOf(other), [422, "idempotency_key_reused"])
      const streamed = yield* chat(service, one.inferenceKey, ask({ stream: true }), "shared")
      assert.deepStrictEqual(yield* errorOf(streamed), [422, "idempotency_key_reused"])
      const foreign = yield* chat(service, two.inferenceKey, ask({ temperature: 0.5 }), "shared")
      assert.strictEqual(foreign.headers.get("idempotency-replayed"), null)
      assert.strictEqual(foreign.status, 200)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is free again after a failure without a charge", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const failed = yield* chat(service, inferenceKey, ask(), "again", { "x-svc-sandbox": "fault=error" })
      assert.strictEqual(failed.status, 502)
      const served = yield* chat(service, inferenceKey, ask(), "again")
      assert.deepStrictEqual([served.status, served.headers.get("idempotency-replayed")], [200, null])
      const poor = yield* service.account(0)
      assert.strictEqual((yield* chat(service, poor.inferenceKey, ask(), "later")).status, 402)
      yield* service.customers.topUp(poor.account, 1_000_000_000n)
      assert.strictEqual((yield* chat(service, poor.inferenceKey, ask(), "later")).status, 200)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("answers 409 for a cancelled stream and under zero_retention, of which no answer is kept", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const url = `${service.api}/chat/completions`
      const headers = { "idempotency-key": "cut", "x-svc-sandbox": "chunk_ms=15" }
      const { requestId } = yield* hangUpAfter(url, inferenceKey, ask({ stream: true }), headers, 2)
      assert.strictEqual(yield* endedStatus(service, inferenceKey, requestId), "cancelled")
      const repeat = yield* chat(service, inferenceKey, ask({ stream: true }), "cut")
      assert.strictEqual(repeat.headers.get("x-should-retry"), "false")
      const body = yield* json(repeat)
      assert.deepStrictEqual([body.error.code, body.request_id], ["idempotency_result_unavailable", requestId])

      const silent = { model: "claude-sonnet-4-5", routing: { data_policy: "zero_retention" } }
      const first = yield* chat(service, inferenceKey, ask(silent), "silent")
      assert.strictEqual(first.status, 200)
      const second = yield* chat(service, inferenceKey, ask(silent), "silent")
      assert.deepStrictEqual(yield* errorOf(second), [409, "idempotency_result_unavailable"])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("replays odd characters and final refusals unchanged, and answers 409 for an answer over 1 MiB", () =>
    Effect.gen(function* () {
      const answers: Record<string, { readonly status: number; readonly content: string }> = {
        odd: { status: 200, content: 'a\u0000b \ud83d half \\u0000 "quoted" \u2028' },
        large: { status: 200, content: "x".repeat(1_048_576) },
        refused: { status: 400, content: "" }
      }
      let calls = 0
      const host = yield* upstream((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text))
        request.on("end", () => {
          calls += 1
          const { content, status } = answers[/case (\w+)/.exec(body)?.[1] ?? ""]!
          const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }]
          const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 }
          const error = { message: "too odd for this model", type: "invalid_request_error", code: null }
          response.writeHead(status, { "content-type": "application/json" })
          response.end(JSON.stringify(status === 200 ? { choices, usage } : { error }))
        })
      })
      const service = yield* startService({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${host.origin}/v1` })
      const { account, inferenceKey } = yield* service.account(1)
      const routing = { providers: { only: ["openai"] } }
      const twice = (name: string) =>
        Effect.gen(function* () {
          const body = { ...ask({ routing }), messages: [{ role: "user", content: `case ${name}` }] }
          const texts: Array<string> = []
          const statuses: Array<number> = []
          const replayed: Array<string | null> = []
          for (const response of [
            yield* chat(service, inferenceKey, body, name),
            yield* chat(service, inferenceKey, body, name)
          ]) {
            statuses.push(response.status)
            replayed.push(response.headers.get("idempotency-replayed"))
            texts.push(yield* Effect.promise(() => response.text()))
          }
          return { statuses, texts, replayed }
        })
      const odd = yield* twice("odd")
      assert.deepStrictEqual(odd.statuses, [200, 200])
      assert.strictEqual(odd.texts[1], odd.texts[0])
      assert.strictEqual(JSON.parse(odd.texts[0]!).choices[0].message.content, answers["odd"]?.content)
      const large = yield* twice("large")
      assert.deepStrictEqual(large.statuses, [200, 409])
      assert.strictEqual(JSON.parse(large.texts[1]!).error.code, "idempotency_result_unavailable")
      assert.strictEqual(JSON.parse(large.texts[1]!).request_id, JSON.parse(large.texts[0]!).request_id)
      const { posted } = yield* service.balance(account.id)
      const refused = yield* twice("refused")
      assert.deepStrictEqual(refused.statuses, [400, 400])
      assert.strictEqual(refused.texts[1], refused.texts[0])
      assert.deepStrictEqual(refused.replayed, [null, "true"])
      assert.strictEqual((yield* service.balance(account.id)).posted, posted)
      assert.strictEqual(calls, 3)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("replays the answer of a model that is now retired", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-test-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const CATALOGUE_FILE = join(directory, "catalogue.json")
      writeFileSync(CATALOGUE_FILE, JSON.stringify({ statuses: [{ model: "gpt-4o-mini", status: "retired" }] }))
      const before = yield* startService()
      const { account, inferenceKey } = yield* before.account(1)
      const first = yield* Effect.flatMap(chat(before, inferenceKey, ask(), "old"), (response) =>
        Effect.promise(() => response.text())
      )
      const after = yield* startService({ DATABASE_URL: before.databaseUrl, CATALOGUE_FILE })
      const again = yield* chat(after, inferenceKey, ask(), "old")
      assert.deepStrictEqual([again.status, again.headers.get("idempotency-replayed")], [200, "true"])
      assert.strictEqual(yield* Effect.promise(() => again.text()), first)
      const other = yield* chat(after, inferenceKey, ask({ temperature: 0.5 }), "old")
      assert.deepStrictEqual(yield* errorOf(other), [422, "idempotency_key_reused"])
      const fresh = yield* chat(after, inferenceKey, ask(), "new")
      assert.deepStrictEqual(yield* errorOf(fresh), [503, "no_provider_available"])
      const actor = { type: "operator", id: "test" } as const
      const revoked = { accountId: account.id, kind: "inference", name: "o", scopes: [], actor } as const
      const key = yield* after.keys.create(revoked)
      assert.strictEqual((yield* chat(after, key.key, ask(), "old")).status, 200)
      yield* after.keys.revoke(key.id, actor)
      const refused = yield* chat(after, key.key, ask(), "old")
      assert.deepStrictEqual(yield* errorOf(refused), [401, "invalid_api_key"])
      assert.deepStrictEqual(yield* after.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("replays the answer of a preset that is now deleted", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const { messages } = ask()
      yield* service.preset(account.id, "p", { model: "gpt-4o-mini" })
      const bodies = [
        ["/presets/p/chat/completions", { messages }],
        ["/chat/completions", { model: "@p", messages, stream: true }],
        ["/chat", { model: "@p", messages }],
        ["/messages", { model: "@p", messages, max_tokens: 100 }]
      ] as const
      const send = (key: string) =>
        Effect.forEach(bodies, ([path, body]) =>
          post(`${service.api}${path}`, inferenceKey, body, { "idempotency-key": key, "x-svc-cache": "false" })
        )
      const said = (responses: ReadonlyArray<Response>) =>
        Effect.promise(() => Promise.all(responses.map((response) => response.text())))
      const before = yield* said(yield* send("mine"))
      const { posted } = yield* service.balance(account.id)
      yield* service.presets.remove({ accountId: account.id, slug: "p", actor: { type: "operator", id: "test" } })
      const again = yield* send("mine")
      assert.deepStrictEqual(
        again.map(({ headers, status }) => [status, headers.get("idempotency-replayed"), headers.get("x-svc-preset")]),
        bodies.map(() => [200, "true", "p"])
      )
      const [byPath, stream, ...others] = yield* said(again)
      assert.deepStrictEqual([byPath, ...others], [before[0], ...before.slice(2)])
      assert.include(stream, JSON.stringify(JSON.parse(before[0]!).choices[0].message.content))
      assert.strictEqual((yield* service.balance(account.id)).posted, posted)
      for (const fresh of yield* send("other")) assert.deepStrictEqual(yield* errorOf(fresh), [404, "not_found"])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("replays nothing to a revoked API key that the node has cached", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const actor = { type: "operator", id: "test" } as const
      const other = yield* service.keys.create({
        accountId: account.id,
        kind: "inference",
        name: "o",
        scopes: [],
        actor
      })
      assert.strictEqual((yield* chat(service, other.key, ask(), "mine")).status, 200)
      yield* service.keys.revoke(other.id, actor)
      assert.deepStrictEqual(yield* errorOf(yield* chat(service, other.key, ask(), "mine")), [401, "invalid_api_key"])
      const rightful = yield* chat(service, inferenceKey, ask(), "mine")
      assert.strictEqual(rightful.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

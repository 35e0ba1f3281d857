import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { ServerResponse } from "node:http"
import { AnswerMemory } from "../../../src/providers/pool/AnswerMemory.ts"
import { countEmbed } from "../../../src/domain/WorkSize.ts"
import { upstream } from "../../providers/upstream.ts"
import { nano } from "../../support/Amounts.ts"
import { type ReceivedSpan, startCollector } from "../../support/Collector.ts"
import { get, json, post, startService, unread } from "../../support/Service.ts"

const model = "text-embedding-3-small"

/** A text of many more tokens than the window of 8,192. */
const long = "word ".repeat(9_000)

describe("POST /embeddings", () => {
  it.live("rejects unsupported requests without a charge", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const rows = [
        [{ model: "gpt-4o-mini", input: "a" }, 400, "unknown_model", "model"],
        [{ model: "no-such-model", input: "a" }, 400, "unknown_model", "model"],
        [{ model: `${model},voyage-4`, input: "a" }, 400, "unknown_model", "model"],
        [{ model, input: ["a", long] }, 400, "context_length_exceeded", "input"],
        [{ model, input: Array.from({ length: 8_193 }, () => 1) }, 400, "context_length_exceeded", "input"],
        [{ model, input: "a", dimensions: 5_000 }, 400, "validation_error", "dimensions"],
        [{ model: "voyage-4", input: [1, 2] }, 400, "validation_error", "input"],
        [{ model, input: ["a", ""] }, 400, "validation_error", "input[1]"]
      ] as const
      for (const [body, status, code, param] of rows) {
        const response = yield* post(`${service.api}/embeddings`, inferenceKey, body)
        const answer = yield* json(response)
        assert.deepInclude(answer.error, { code, param })
        assert.strictEqual(response.status, status)
        if (code === "validation_error") assert.strictEqual(answer.details[0].field, param)
      }
      assert.deepInclude(yield* service.balance(account.id), { posted: 10_000_000_000n, held: 0n })
      const fits = yield* post(`${service.api}/embeddings`, inferenceKey, { model, input: "word ".repeat(8_000) })
      assert.strictEqual(fits.status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("truncates a long input when the request asks for it", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const ask = (truncation: boolean) =>
        post(`${service.api}/embeddings`, inferenceKey, { model: "voyage-4", input: long.repeat(4), truncation })
      assert.deepStrictEqual([(yield* ask(false)).status, (yield* ask(true)).status], [400, 200])
    }).pipe(Effect.scoped)
  )

  it.live("returns 402 when the balance does not cover the hold", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0.000_01)
      const ask = (input: string) => post(`${service.api}/embeddings`, inferenceKey, { model, input })
      assert.strictEqual((yield* ask("a cat")).status, 200)
      const dear = yield* ask("word ".repeat(2_000))
      assert.strictEqual(dear.status, 402)
      assert.deepInclude(yield* json(dear), { limit_source: "balance" })
    }).pipe(Effect.scoped)
  )

  it.live("charges nothing for a failure, falls back, and counts tokens that no provider reports", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const ask = (steering: string) =>
        post(`${service.api}/embeddings`, inferenceKey, { model, input: "a cat" }, { "x-svc-sandbox": steering })
      const failed = yield* ask("fault=error")
      assert.deepStrictEqual([failed.status, (yield* json(failed)).error.code], [502, "upstream_error"])
      assert.deepInclude(yield* service.balance(account.id), { posted: 10_000_000_000n, held: 0n })
      assert.strictEqual((yield* ask("fault=error,provider=openai")).status, 200)
      assert.strictEqual((yield* json(yield* ask("fault=no_usage"))).usage.prompt_tokens, 2)
    }).pipe(Effect.scoped)
  )

  it.live("returns a long answer completely and does not store it for a replay", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const input = Array.from({ length: 600 }, (_, index) => `text ${index}`)
      const ask = () => post(`${service.api}/embeddings`, inferenceKey, { model, input }, { "idempotency-key": "long" })
      const first = yield* ask()
      const text = yield* Effect.promise(() => first.text())
      assert.strictEqual(first.headers.get("content-length"), String(Buffer.byteLength(text)))
      const answer = JSON.parse(text)
      assert.deepStrictEqual(
        answer.data.map(({ index }: { readonly index: number }) => index),
        [...input.keys()]
      )
      const charged = yield* service.balance(account.id)
      const again = yield* ask()
      assert.deepInclude(yield* json(again), { request_id: answer.request_id })
      assert.strictEqual(again.status, 409)
      assert.deepStrictEqual(yield* service.balance(account.id), charged)
    }).pipe(Effect.scoped)
  )

  const inputs = Array.from({ length: 400 }, (_, index) => `text ${index}`)
  const vector = Array.from({ length: 1_536 }, (_, index) => 0.001 * (index + 1))
  const listed = inputs.map((_, index) => JSON.stringify({ object: "embedding", index, embedding: vector }))
  const opening = `{"object":"list","data":[${listed.slice(0, 200).join()}`
  const closing = `,${listed.slice(200).join()}],"model":"m","usage":{"prompt_tokens":1000,"total_tokens":1000}}`

  /** A service before a host that writes the first half of a long answer, and on when it is told to. */
  const halfwayWith = Effect.fnUntraced(function* (env: Record<string, string>) {
    const hosts: Array<ServerResponse> = []
    const { origin } = yield* upstream((request, response) => {
      request.resume().on("end", () => response.writeHead(200).write(opening, () => hosts.push(response)))
    })
    const service = yield* startService({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${origin}/v1`, ...env })
    const { account, inferenceKey } = yield* service.account(10)
    const gone = new AbortController()
    const response = yield* Effect.promise(() =>
      fetch(`${service.api}/embeddings`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${inferenceKey}`,
          "content-type": "application/json",
          "idempotency-key": "half"
        },
        body: JSON.stringify({ model, input: inputs }),
        signal: gone.signal
      })
    )
    const host = hosts[0] ?? assert.fail("nobody was asked")
    const settled = Effect.repeat(service.balance(account.id), { until: ({ held }) => held === 0n })
    return { service, account, inferenceKey, response, host, gone, settled }
  })
  const halfway = Effect.suspend(() => halfwayWith({}))

  it.live("starts a long response before its last vector arrives, and ends it after the settle", () =>
    Effect.gen(function* () {
      const { host, response, service, settled } = yield* halfway
      assert.strictEqual(response.status, 200)
      host.end(closing)
      const text = yield* Effect.promise(() => response.text())
      const answer = JSON.parse(text)
      assert.deepInclude(answer, { object: "list", model, usage: { prompt_tokens: 1_000, total_tokens: 1_000 } })
      assert.lengthOf(answer.data, inputs.length)
      assert.include(text, listed.join())
      assert.strictEqual((yield* settled).posted, 10_000_000_000n - nano(answer.cost_usd))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("cuts a long response off when its host fails, and charges the part that was sent", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector()
      for (const breakOff of [
        (host: ServerResponse) => host.destroy(),
        (host: ServerResponse) => host.end(closing.replace('"index":200', '"index":7')),
        (host: ServerResponse) => host.end()
      ]) {
        const { host, inferenceKey, response, service, settled } = yield* halfwayWith({
          ...collector.environment
        })
        breakOff(host)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => response.text()))))
        const tokens = countEmbed({ inputs: inputs.slice(0, 200) })
        assert.strictEqual((yield* settled).posted, 10_000_000_000n - 20n * BigInt(tokens))
        const [receipt] = (yield* json(yield* get(`${service.api}/requests`, inferenceKey))).data
        assert.deepInclude(receipt, { status: "failed", usage_basis: "counted" })
        assert.strictEqual(receipt.usage.input_tokens, tokens)
        assert.deepInclude(receipt.routing.provider_attempts[0], { provider: "openai", outcome: "failed" })
        const ended = Effect.as(Effect.sleep("10 millis"), collector)
        const spans = Effect.map(ended, (told) => told.trace(receipt.trace_id))
        const isServer = ({ kind }: ReceivedSpan) => kind === "server"
        const server = (yield* Effect.repeat(spans, { until: (all) => all.some(isServer) })).find(isServer)
        assert.isTrue(server?.failed)
        assert.strictEqual(server?.attributes["http.response.status_code"], 200)
        assert.isUndefined(server?.attributes["svc.client_left"])
        const again = yield* post(
          `${service.api}/embeddings`,
          inferenceKey,
          { model, input: inputs },
          { "idempotency-key": "half" }
        )
        assert.deepStrictEqual([again.status, again.headers.get("x-should-retry")], [409, "false"])
        assert.deepInclude(yield* json(again), { request_id: receipt.id })
        assert.deepStrictEqual(yield* service.faults, [])
      }
    }).pipe(Effect.scoped)
  )

  it.live("charges a client that disconnects from a long response, because the request still completes", () =>
    Effect.gen(function* () {
      const { account, gone, host, inferenceKey, service, settled } = yield* halfway
      gone.abort()
      assert.isAbove(Number((yield* service.balance(account.id)).held), 0)
      host.end(closing)
      assert.isBelow(Number((yield* settled).posted), 10_000_000_000)
      const again = yield* post(
        `${service.api}/embeddings`,
        inferenceKey,
        { model, input: inputs },
        { "idempotency-key": "half" }
      )
      assert.deepStrictEqual([again.status, (yield* json(again)).error.code], [409, "idempotency_result_unavailable"])
    }).pipe(Effect.scoped)
  )

  it.live("keeps the memory of a long answer reserved until its reader has it or disconnects", () =>
    Effect.gen(function* () {
      const memory = yield* AnswerMemory
      const many = Array.from({ length: 1_500 }, (_, index) => `text ${index}`)
      const all = many.map((_, index) => JSON.stringify({ object: "embedding", index, embedding: vector }))
      const inOrder = `{"data":[${all.join()}],"usage":{"prompt_tokens":9,"total_tokens":9}}`
      const reversed = `{"data":[${all.toReversed().join()}],"usage":{"prompt_tokens":9,"total_tokens":9}}`
      for (const whole of [inOrder, reversed]) {
        const { origin } = yield* upstream((request, response) => {
          request.resume().on("end", () => response.end(whole))
        })
        const service = yield* startService({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${origin}/v1` })
        const { account, inferenceKey } = yield* service.account(10)
        const socket = yield* unread(service, inferenceKey, "/embeddings", { model, input: many })
        const settled = ({ posted }: { readonly posted: bigint }) => posted < 10_000_000_000n
        yield* Effect.repeat(service.balance(account.id), { until: settled })
        assert.strictEqual(memory.free, 464)
        socket.destroy()
        yield* Effect.repeat(Effect.as(Effect.sleep(1), memory), { until: ({ free }) => free === 512 })
        const read = yield* post(`${service.api}/embeddings`, inferenceKey, { model, input: many })
        assert.lengthOf((yield* json(read)).data, many.length)
        yield* Effect.repeat(Effect.as(Effect.sleep(1), memory), { until: ({ free }) => free === 512 })
        assert.deepStrictEqual(yield* service.faults, [])
      }
    }).pipe(Effect.scoped)
  )
})

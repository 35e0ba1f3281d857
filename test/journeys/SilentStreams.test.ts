/** Hosts that are slow to send their first token: keep-alive comments, fallback, the client's answer and the charge. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { KeepAliveInterval } from "../../src/inference/Pipe.ts"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { dialects } from "../support/Dialects.ts"
import { endedReceiptOf } from "../support/ReadReceipts.ts"
import { post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"

const MODEL = "meta-llama/llama-3.3-70b-instruct"
const TEXT = "It works."
const INTERVAL_MS = 100

const event = (data: object | string) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`
const answer = [
  event({ choices: [{ index: 0, delta: { content: TEXT }, finish_reason: null }] }),
  event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 9 } }),
  event("[DONE]")
].join("")

const serves = (response: ServerResponse) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).end(answer)
const fails = (response: ServerResponse) =>
  response.writeHead(500, { "content-type": "application/json" }).end('{"error":{"message":"planted"}}')

/** Returns two hosts for each way to send a request, so that the failures of one way open no breaker of another. */
const hostsOf = (way: number) => [`a${way}`, `b${way}`] as const

/** Hosts that answer when the test releases them. Hosts that are not in `silent` fail. */
const scene = Effect.gen(function* () {
  const waiting = new Map<string, ServerResponse>()
  const asked: Array<string> = []
  const silent = new Set<string>()
  const { origin } = yield* upstream((request, response) => {
    const host = request.url?.split("/")[1] ?? ""
    request.resume()
    request.on("end", () => {
      asked.push(host)
      if (silent.has(host)) waiting.set(host, response)
      else fails(response)
    })
  })
  const file = join(yield* temporaryDirectory, "hosts.json")
  const hostOf = (id: string) => ({ id, base_url: `${origin}/${id}/v1`, models: { [MODEL]: "m" } })
  writeFileSync(file, JSON.stringify(ways.flatMap((_, way) => hostsOf(way).map(hostOf))))
  const service = yield* startService({ PROVIDERS_FILE: file, OUTBOUND_ALLOW_LOOPBACK: "1", SANDBOX: "off" }).pipe(
    Effect.provideService(KeepAliveInterval, INTERVAL_MS)
  )
  const { account, inferenceKey } = yield* service.account(10)
  yield* service.preset(account.id, "slow", { model: MODEL })
  const release = (host: string, how: (response: ServerResponse) => unknown) => {
    how(waiting.get(host)!)
    waiting.delete(host)
  }
  const ask = (way: number) => {
    const [a, b] = hostsOf(way)
    const { body, path } = ways[way]!
    const routing = { providers: { only: [a, b], order: [a, b] } }
    return post(`${service.api}${path}`, inferenceKey, { ...body, routing })
  }
  const receiptOf = (response: Response) => endedReceiptOf(service, inferenceKey, response.headers.get("x-request-id"))
  return { account, ask, asked, receiptOf, release, service, silent }
})

/** Reads a body piece by piece. */
const reading = (response: Response) => {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ""
  const until = (enough: (text: string) => boolean): Effect.Effect<string> =>
    Effect.promise(async () => {
      while (!enough(text)) {
        const { done, value } = await reader.read()
        if (done) break
        text += decoder.decode(value, { stream: true })
      }
      return text
    })
  return { until, all: until(() => false), leave: Effect.promise(() => reader.cancel()) }
}

interface Way {
  readonly name: string
  readonly path: string
  readonly body: object
  /** The comment that keeps the connection alive. */
  readonly comment: string
  /** Matches a stream that ended with an error. */
  readonly failed: RegExp
}

const wordsOf: Record<string, Pick<Way, "comment" | "failed">> = {
  "/chat/completions": { comment: ": svc-processing\n\n", failed: /"finish_reason":"error".*"code":"upstream_error"/ },
  "/messages": { comment: 'event: ping\ndata: {"type":"ping"}\n\n', failed: /event: error\ndata: \{"type":"error"/ },
  "/responses": { comment: ": svc-processing\n\n", failed: /event: response\.failed[^]*event: error\n/ }
}

const inDialects: ReadonlyArray<Way> = dialects.flatMap((dialect) => {
  const question = { text: "Are you there?", maxTokens: 50 }
  const body = dialect.ask({ model: MODEL, ...question }, true)
  const words = wordsOf[dialect.path]
  if (body === undefined || words === undefined) return []
  const preset = dialect.ask({ model: "@slow", ...question }, true)!
  return [
    { name: dialect.name, path: dialect.path, body, ...words },
    { name: `${dialect.name} with a preset`, path: dialect.path, body: preset, ...words }
  ]
})

const ways: ReadonlyArray<Way> = [
  ...inDialects,
  { ...inDialects[0]!, name: "chat completions at a preset's path", path: "/presets/slow/chat/completions" }
]

const times = (text: string, comment: string): number => text.split(comment).length - 1

describe("a stream whose provider is silent", () => {
  it.live(
    "gets keep-alive comments in every dialect, and still falls back to the next provider before the first content",
    () =>
      Effect.gen(function* () {
        assert.lengthOf(ways, 7)
        const { account, ask, asked, receiptOf, release, service, silent } = yield* scene
        let spent = 0n
        for (const [way, { comment, name }] of ways.entries()) {
          const [a, b] = hostsOf(way)
          silent.add(a).add(b)
          asked.length = 0
          const response = yield* ask(way)
          assert.strictEqual(response.status, 200, name)
          assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
          const read = reading(response)
          const heard = yield* read.until((text) => times(text, comment) >= 2)
          assert.notInclude(heard, TEXT)
          assert.deepStrictEqual(asked, [a])
          release(a, fails)
          const before = times(heard, comment)
          yield* read.until((text) => times(text, comment) > before && asked.length === 2)
          release(b, serves)
          assert.include(yield* read.all, TEXT, name)
          const receipt = yield* receiptOf(response)
          assert.strictEqual(receipt.status, "succeeded", name)
          assert.deepStrictEqual(
            receipt.routing.provider_attempts.map((attempt: { provider: string; outcome: string }) => [
              attempt.provider,
              attempt.outcome
            ]),
            [
              [a, "failed_over"],
              [b, "served"]
            ]
          )
          spent += nano(receipt.cost_usd)
        }
        assert.isTrue(spent > 0n)
        assert.deepStrictEqual(yield* service.balance(account.id), { posted: 10_000_000_000n - spent, held: 0n })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("gets 502 for a failure before the first comment, and an error event for a later one, without a charge", () =>
    Effect.gen(function* () {
      const { account, ask, receiptOf, release, service, silent } = yield* scene
      for (const [way, { comment, failed, name }] of ways.entries()) {
        const plain = yield* ask(way)
        assert.strictEqual(plain.status, 502, name)
        assert.match(plain.headers.get("content-type") ?? "", /json/)
        yield* Effect.promise(() => plain.text())

        const [a] = hostsOf(way)
        silent.add(a)
        const response = yield* ask(way)
        assert.strictEqual(response.status, 200, name)
        const read = reading(response)
        yield* read.until((text) => text.includes(comment))
        release(a, fails)
        const text = yield* read.all
        assert.match(text, failed, name)
        assert.notInclude(text, "planted")
        const receipt = yield* receiptOf(response)
        assert.deepInclude(receipt, { status: "failed", cost_usd: 0 })
        assert.strictEqual(receipt.error.code, "upstream_error")
      }
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: 10_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("costs nothing when the client disconnects", () =>
    Effect.gen(function* () {
      const { account, ask, asked, receiptOf, service, silent } = yield* scene
      for (const [way, { comment, name }] of ways.entries()) {
        const [a] = hostsOf(way)
        silent.add(a)
        const response = yield* ask(way)
        const read = reading(response)
        yield* read.until((text) => text.includes(comment))
        yield* read.leave
        assert.deepInclude(yield* receiptOf(response), { status: "cancelled", cost_usd: 0 }, name)
      }
      assert.lengthOf(asked, ways.length)
      assert.deepStrictEqual(yield* service.balance(account.id), { posted: 10_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

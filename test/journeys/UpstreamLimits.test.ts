/** Requests whose providers all answer 429, in every dialect and for every paid operation. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { upstream } from "../providers/upstream.ts"
import { dialects } from "../support/Dialects.ts"
import { json, post, startService } from "../support/Service.ts"

const limited = { "x-svc-sandbox": "fault=rate_limit" }

const question = { model: "gpt-4o-mini", text: "Are you there?", maxTokens: 50 }

interface Asked {
  readonly name: string
  readonly path: string
  readonly body: object
}

const chats = dialects.flatMap(({ ask, name, path }): ReadonlyArray<Asked> =>
  [false, true].flatMap((stream) => {
    const body = ask(question, stream)
    return body === undefined ? [] : [{ name: `${name}${stream ? ", streamed" : ""}`, path, body }]
  })
)

const works: ReadonlyArray<Asked> = [
  { name: "embeddings", path: "/embeddings", body: { model: "text-embedding-3-small", input: "a cat" } },
  { name: "rerank", path: "/rerank", body: { model: "rerank-2.5", query: "cats", documents: ["dogs", "cats"] } },
  { name: "speech", path: "/audio/speech", body: { model: "tts-1", input: "Hello!", voice: "alloy" } },
  { name: "images", path: "/images/generations", body: { model: "flux-dev", prompt: "a kite", size: "64x64" } },
  { name: "search", path: "/search", body: { query: "tea" } }
]

describe("a request whose providers all answer 429", () => {
  for (const { body, name, path } of [...chats, ...works]) {
    it.live(`gets 429 with their Retry-After and costs nothing: ${name}`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account()
        const before = yield* service.balance(account.id)
        const response = yield* post(`${service.api}${path}`, inferenceKey, body, limited)
        const answer = yield* json(response)
        assert.strictEqual(response.status, 429, JSON.stringify(answer))
        assert.strictEqual(answer.code ?? answer.error.code, "rate_limit_exceeded")
        assert.strictEqual(answer.upstream_rate_limited, true)
        assert.strictEqual(response.headers.get("retry-after"), "1")
        assert.strictEqual(response.headers.get("x-should-retry"), "true")
        assert.deepStrictEqual(yield* service.balance(account.id), before)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("gets the shortest Retry-After of its providers, and 502 when one of them failed otherwise", () =>
    Effect.gen(function* () {
      const answers: Record<string, readonly [status: number, retryAfter: string]> = {
        a: [429, "40"],
        b: [429, "20"]
      }
      const { origin } = yield* upstream((request, response) => {
        const [status, retryAfter] = answers[request.url?.split("/")[1] ?? ""] ?? [404, ""]
        request.resume()
        response
          .writeHead(status, { "retry-after": retryAfter })
          .end(JSON.stringify({ error: { message: "scripted" } }))
      })
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-limits-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const model = "meta-llama/llama-3.3-70b-instruct"
      const other = "qwen/qwen3.7-plus"
      const file = join(directory, "hosts.json")
      const hostOf = (id: string) => ({ id, base_url: `${origin}/${id}/v1`, models: { [model]: "m", [other]: "n" } })
      writeFileSync(file, JSON.stringify([hostOf("a"), hostOf("b")]))
      const service = yield* startService({ PROVIDERS_FILE: file, OUTBOUND_ALLOW_LOOPBACK: "1", SANDBOX: "off" })
      const { inferenceKey } = yield* service.account()
      const ask = (asked: string) =>
        post(`${service.api}/chat/completions`, inferenceKey, {
          model: asked,
          messages: [{ role: "user", content: "Are you there?" }],
          routing: { providers: { order: ["a", "b"] } }
        })
      const refused = yield* ask(model)
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "20"])
      answers["b"] = [500, "1"]
      const failed = yield* ask(other)
      assert.deepStrictEqual([failed.status, (yield* json(failed)).error.code], [502, "upstream_error"])
    }).pipe(Effect.scoped)
  )
})
